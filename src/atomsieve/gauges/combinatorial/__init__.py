"""Gauges over atoms that a combinatorial algorithm finds: paths, permutations, trees, bases, sets."""

from atomsieve.gauges.combinatorial.base_polytope import BasePolytope
from atomsieve.gauges.combinatorial.birkhoff import Birkhoff
from atomsieve.gauges.combinatorial.coverage import Coverage
from atomsieve.gauges.combinatorial.lovasz import LovaszNorm
from atomsieve.gauges.combinatorial.paths import PathsInDAG
from atomsieve.gauges.combinatorial.permutahedron import Permutahedron
from atomsieve.gauges.combinatorial.structure import Combinatorial
from atomsieve.gauges.combinatorial.trees import SpanningTrees

__all__ = [
    "BasePolytope",
    "Birkhoff",
    "Combinatorial",
    "Coverage",
    "LovaszNorm",
    "PathsInDAG",
    "Permutahedron",
    "SpanningTrees",
]
