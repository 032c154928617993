"""Gauges: blocks of coefficients with their prices."""

from .gauge import Gauge
from .matrix import Matrix

__all__ = ["Gauge", "Matrix"]
