"""Penalty shapes phi: one file each."""

from atomsieve.penalties.ball import Ball
from atomsieve.penalties.base import Penalty
from atomsieve.penalties.linear import Linear
from atomsieve.penalties.linear_square import LinearSquare
from atomsieve.penalties.log_barrier import LogBarrier
from atomsieve.penalties.power import Power
from atomsieve.penalties.square import Square

__all__ = ["Ball", "Linear", "LinearSquare", "LogBarrier", "Penalty", "Power", "Square"]
