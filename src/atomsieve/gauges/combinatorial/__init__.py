"""Gauges over atoms that a combinatorial algorithm finds: paths, permutations, trees, bases, sets."""

from atomsieve.gauges.combinatorial.paths import PathsInDAG
from atomsieve.gauges.combinatorial.structure import Combinatorial

__all__ = ["Combinatorial", "PathsInDAG"]
