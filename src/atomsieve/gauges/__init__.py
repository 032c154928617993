"""Gauges: one file each; `calculus` makes new gauges from existing ones."""

from atomsieve.gauges.atoms import Atoms
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.calculus import Image, Positive, Product, Scaled, Union
from atomsieve.gauges.combinatorial import (
    BasePolytope,
    Birkhoff,
    Coverage,
    LovaszNorm,
    PathsInDAG,
    Permutahedron,
    SpanningTrees,
)
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.group import Group
from atomsieve.gauges.ksparse import KSparse
from atomsieve.gauges.ksupport import KSupport
from atomsieve.gauges.l1 import L1
from atomsieve.gauges.l2 import L2
from atomsieve.gauges.latent_group import LatentGroup
from atomsieve.gauges.linf import LInf
from atomsieve.gauges.nonnegative import NonNegative
from atomsieve.gauges.nuclear import Nuclear
from atomsieve.gauges.oracle import Oracle
from atomsieve.gauges.owl import OWL
from atomsieve.gauges.psd_trace import PSDTrace
from atomsieve.gauges.shifted import Shifted
from atomsieve.gauges.signal import TotalVariation, TrendFilter
from atomsieve.gauges.simplex import Simplex
from atomsieve.gauges.slope import OSCAR, SLOPE
from atomsieve.gauges.sparse_group import SparseGroup

__all__ = [
    "L1",
    "L2",
    "OSCAR",
    "OWL",
    "SLOPE",
    "Atom",
    "Atoms",
    "BasePolytope",
    "Birkhoff",
    "BlockGauge",
    "Coverage",
    "Evidence",
    "Facts",
    "Gauge",
    "Group",
    "Image",
    "KSparse",
    "KSupport",
    "LInf",
    "LatentGroup",
    "LovaszNorm",
    "NonNegative",
    "Nuclear",
    "Oracle",
    "PSDTrace",
    "PathsInDAG",
    "Permutahedron",
    "Positive",
    "Product",
    "Scaled",
    "Shifted",
    "Simplex",
    "SpanningTrees",
    "SparseGroup",
    "TotalVariation",
    "TrendFilter",
    "Union",
]
