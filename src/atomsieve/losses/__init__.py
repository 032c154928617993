"""Losses: one file each. A loss is pointwise and holds no data."""

from atomsieve.losses.base import Loss
from atomsieve.losses.huber import Huber
from atomsieve.losses.logistic import Logistic
from atomsieve.losses.multinomial import Multinomial
from atomsieve.losses.poisson import Poisson
from atomsieve.losses.squared import Squared
from atomsieve.losses.squared_hinge import SquaredHinge

__all__ = ["Huber", "Logistic", "Loss", "Multinomial", "Poisson", "Squared", "SquaredHinge"]
