"""New gauges from existing ones."""

from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.calculus.positive import Positive
from atomsieve.gauges.calculus.product import Product
from atomsieve.gauges.calculus.scaled import Scaled
from atomsieve.gauges.calculus.union import Union

__all__ = ["Image", "Positive", "Product", "Scaled", "Union"]
