"""Gauges: each kind is a class, found by its name."""

from typing import Any

from flint import arb

from ..data import Data
from .assignments import Birkhoff
from .bases import BasePolytope
from .blocks import L2, Group, LInf
from .coordinates import L1, NonNegative, Simplex
from .coverings import LovaszNorm
from .gauge import Gauge
from .graphs import GraphJumps
from .matrix import Matrix
from .ordered import OWL, KSparse, KSupport
from .parts import Parts
from .paths import PathsInDAG
from .rankings import Permutahedron
from .spanning import SpanningTrees
from .sparse_groups import SparseGroup
from .spectral import Nuclear, PSDTrace
from .steps import Steps
from .tree import Tree

LISTED = (PathsInDAG, Birkhoff, SpanningTrees, Permutahedron, BasePolytope, LovaszNorm)
SPECTRAL = (Nuclear, PSDTrace)
ALL = (
    L1,
    NonNegative,
    Simplex,
    Group,
    Parts,
    L2,
    LInf,
    OWL,
    KSupport,
    KSparse,
    SparseGroup,
    GraphJumps,
    *SPECTRAL,
    *LISTED,
)
KINDS: dict[str, type[Gauge]] = {kind.__name__: kind for kind in ALL}

__all__ = ["KINDS", "Gauge", "Matrix", "Steps", "Tree", "gauge_of"]


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
            stated = piece["matrix"]
            stated_by = stated.keys() if isinstance(stated, dict) else ()
            kind = Steps if "steps" in stated_by else Tree if "tree" in stated_by else Matrix
            matrix = kind(stated, data, matrix)
        piece = piece["gauge"]
    gauge = KINDS[piece["type"]](piece, scale, matrix, data, form)
    return gauge.in_orthant() if upward else gauge
