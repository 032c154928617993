"""Sparse models by generalized conditional gradients, with safe screening of the atoms that cannot matter.

Minimise `F(A x + B b) + phi(kappa_P(x))`: a smooth loss, a gauge over atoms, a convex penalty shape.
"""

from atomsieve.certificate import Certificate
from atomsieve.certificate.verification import verify
from atomsieve.gauges import L1, L2, Atoms, Group, Image, LInf, NonNegative, Scaled, Simplex
from atomsieve.losses import Huber, Logistic, Multinomial, Poisson, Squared, SquaredHinge
from atomsieve.methods import GCG, Away, Corrective, Pairwise
from atomsieve.path import Path, path
from atomsieve.penalties import Ball, Linear, LinearSquare, LogBarrier, Power, Square
from atomsieve.problem import Point, Problem
from atomsieve.result import Result
from atomsieve.solve import solve
from atomsieve.status import Status
from atomsieve.steps import LineSearch, OpenLoop, ShortStep
from atomsieve.trace import Progress, Trace

__version__ = "0.1.0.dev0"

__all__ = [
    "GCG",
    "L1",
    "L2",
    "Atoms",
    "Away",
    "Ball",
    "Certificate",
    "Corrective",
    "Group",
    "Huber",
    "Image",
    "LInf",
    "LineSearch",
    "Linear",
    "LinearSquare",
    "LogBarrier",
    "Logistic",
    "Multinomial",
    "NonNegative",
    "OpenLoop",
    "Pairwise",
    "Path",
    "Point",
    "Poisson",
    "Power",
    "Problem",
    "Progress",
    "Result",
    "Scaled",
    "ShortStep",
    "Simplex",
    "Square",
    "Squared",
    "SquaredHinge",
    "Status",
    "Trace",
    "path",
    "solve",
    "verify",
]
