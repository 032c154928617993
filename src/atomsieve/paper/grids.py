"""Handwritten 4 against 9, and the penalties of Figure 4's three rows over their hyper-parameters.

The paper prints neither the grids nor how pixels are scaled: here they lie in [0, 1], there is no intercept, as in the
paper, and each grid runs from a model of one pixel to one that the method is far from solving in 10,000 iterations.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from atomsieve.datasets import load_mnist
from atomsieve.paper.numbers import short
from atomsieve.penalties import Ball, LogBarrier, Penalty, Square
from atomsieve.typing import Array, Mask

ROWS = ("square", "ball", "barrier")
"""The rows of Figure 4, from the top."""

SYMBOLS = {"square": "λ", "ball": "C", "barrier": "β"}
"""The hyper-parameter of each row."""

LABELS = {
    "square": (r"$h(x) = \frac{\lambda}{2} \|x\|_1^2$", r"$\lambda$"),
    "ball": (r"$h(x) = \iota_{CP}(x)$", r"$C$"),
    "barrier": (r"log-barrier, $C = 10$", r"$\beta$"),
}
"""What is minimised in each row, and the name of its hyper-parameter."""

RADIUS = 10.0
"""The radius of the log-barrier, as in the paper."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of 4 (label -1) and 9 (label 1), one row each, for training and for testing."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array

    @property
    def side(self) -> int:
        """Pixels along each side of an image."""
        return int(np.sqrt(self.X.shape[1]))

    @property
    def constant(self) -> Mask:
        """Pixels that are the same in every image of the training set."""
        return np.asarray((self.X[0] == self.X).all(axis=0))


def load_pair(source: str) -> Digits:
    """Return the digits of "mnist", 28 x 28, or of "scikit-learn", 8 x 8, of which every third is for testing."""
    if source == "mnist":
        return Digits(*load_mnist(), *load_mnist(test=True))
    images, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, (4, 9))
    X, y = images[chosen] / 16.0, np.where(labels[chosen] == 9, 1.0, -1.0)
    test = np.arange(len(y)) % 3 == 2
    return Digits(X[~test], y[~test], X[test], y[test])


def powers(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten between two exponents, to four digits.

    >>> powers(-1, 1, 5)
    [0.1, 0.3162, 1.0, 3.162, 10.0]
    """
    return [float(f"{10.0**exponent:.4g}") for exponent in np.linspace(low, high, count)]


def paper_grids(count: int = 13, widest: int = 3) -> dict[str, list[float]]:
    """Return the hyper-parameters of every row, balls up to a radius of ten to the power of `widest`."""
    return {"square": powers(-5, 1, count), "ball": powers(-1, widest, count), "barrier": powers(-2, 4, count)}


def penalty_of(row: str, parameter: float) -> Penalty:
    """Return the penalty of a row at a value of its hyper-parameter."""
    if row == "barrier":
        return LogBarrier(RADIUS, sharpness=parameter)
    return Square(parameter) if row == "square" else Ball(parameter)


def name_of(row: str, parameter: float) -> str:
    """Return a penalty in words.

    >>> name_of("ball", 46.42)
    'ball, C = 46.42'
    """
    return f"{row}, {SYMBOLS[row]} = {short(parameter)}"


def points_of(grids: dict[str, list[float]]) -> list[tuple[str, float]]:
    """Return all pairs of a row and a hyper-parameter, in order."""
    return [(row, parameter) for row in ROWS for parameter in grids[row]]


def misclassified(X: Array, y: Array, x: Array) -> float:
    """Return the share of wrong labels, where a prediction of 0, a blank under all pixels of the model, is a 4."""
    return float(np.mean((X @ x > 0) != (y > 0)))
