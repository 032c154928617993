"""Gauges: each kind is a class, found by its name."""

from typing import Any

from flint import arb

from ..data import Data
from .blocks import L2, Group, LInf
from .coordinates import L1, NonNegative, Simplex
from .gauge import Gauge
from .matrix import Matrix
from .ordered import OWL, KSparse, KSupport
from .parts import Parts
from .sparse_groups import SparseGroup
from .spectral import Nuclear, PSDTrace

ALL = (L1, NonNegative, Simplex, Group, Parts, L2, LInf, OWL, KSupport, KSparse, SparseGroup, Nuclear, PSDTrace)
KINDS: dict[str, type[Gauge]] = {kind.__name__: kind for kind in ALL}

__all__ = ["KINDS", "Gauge", "Matrix", "gauge_of"]


def gauge_of(piece: dict[str, Any], data: Data, form: list[int]) -> Gauge:
    """Return the gauge that a certificate states; Scaled, Image and Atoms are around it."""
    matrix: Matrix | None = None
    scale, upward = arb(1), False
    while "gauge" in piece:
        if piece["type"] == "Scaled":
            scale = scale * arb(piece["radius"])
        elif piece["type"] == "Orthant":
            upward = True
        else:
            matrix = Matrix(piece["matrix"], data, matrix)
        piece = piece["gauge"]
    gauge = KINDS[piece["type"]](piece, scale, matrix, data, form)
    return gauge.in_orthant() if upward else gauge
