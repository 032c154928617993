"""New gauges from existing ones."""

from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.calculus.scaled import Scaled

__all__ = ["Image", "Scaled"]
