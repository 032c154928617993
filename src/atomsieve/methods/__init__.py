"""Methods: how to find the next state. The loop is in run/solve.py."""

from atomsieve.methods.away import Away
from atomsieve.methods.base import Method
from atomsieve.methods.corrective.method import Corrective
from atomsieve.methods.gcg import GCG
from atomsieve.methods.pairwise import Pairwise

__all__ = ["GCG", "Away", "Corrective", "Method", "Pairwise"]
