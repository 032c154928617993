"""Runs: the only loop, when it ends, what it shows and what it returns; paths of runs."""
