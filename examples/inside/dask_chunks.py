"""
A dask array in chunks of rows
==============================

Each worker holds some rows. Products with A', Gram matrices and losses are made there and added up in a tree; what
comes to the client is as long as the features. With a ``dask.distributed.Client`` the same lines run on a cluster.
"""

import dask.array as da

from atomsieve import Linear, Problem, solve

X = da.random.normal(size=(1_000_000, 50), chunks=(100_000, 50)).persist()
y = (X[:, 0] - X[:, 1] + da.random.normal(size=1_000_000, chunks=100_000)).persist()
result = solve(Problem(X, y, penalty=Linear(0.05)))
print(result)
print(result.certificate())
