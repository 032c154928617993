"""The core as it is built for vectors of four numbers (AVX2 and FMA): the same functions."""

from atomsieve.core._plain import best as best
from atomsieve.core._plain import kept as kept
from atomsieve.core._plain import quadratic as quadratic
from atomsieve.core._plain import restricted as restricted
from atomsieve.core._plain import store as store
from atomsieve.core._plain import take_blas as take_blas
from atomsieve.core._plain import wide_vectors as wide_vectors
