"""What the datasets, the objective, the solvers and the scripts of the benchmark share."""
