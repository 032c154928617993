"""The fit itself, which is the same on every cluster: a model, its proof and a file of the proof.

    python fit.py tcp://scheduler:8786 's3://bucket/table/*.parquet' target certificate.json

The data frame stays on the workers. What comes here is as long as the features, and the targets.
"""

import sys

import dask.dataframe as frames
from distributed import Client

from atomsieve import Linear, Problem, solve


def fit(source, target, strength=0.1):
    """Return the solution for a column of a table, explained by all others."""
    table = frames.read_parquet(source).persist()
    X, y = table.drop(columns=target).astype("float64"), table[target].astype("float64")
    return solve(Problem(X, y, penalty=Linear(strength), intercept=True))


def main():
    """Fit on the cluster of a scheduler."""
    address, source, target, file = sys.argv[1:]
    with Client(address):
        result = fit(source, target)
        certificate = result.certificate()
        print(result)
        print(certificate)
        certificate.save(file)


if __name__ == "__main__":
    main()
