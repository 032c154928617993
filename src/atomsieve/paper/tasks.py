"""Small real data sets for resampling: those of scikit-learn, and more where ATOMSIEVE_DATA names a folder."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_svmlight_file, load_wine
from sklearn.preprocessing import PolynomialFeatures, scale

from atomsieve import Logistic, Problem, Squared
from atomsieve.datasets import data_folder, load_mnist
from atomsieve.losses import Loss
from atomsieve.typing import Array, Mask

IMAGES = 1000
"""How many images of MNIST are taken."""


@dataclass(frozen=True, eq=False)
class PaperTask:
    """Targets to be predicted: real numbers of mean 0 and variance 1, or labels -1 and 1."""

    name: str
    X: Array
    y: Array

    @property
    def binary(self) -> bool:
        """Whether the targets are labels."""
        return bool(np.all(np.abs(self.y) == 1))

    @property
    def loss(self) -> Loss:
        """The loss that is minimised and cross-validated."""
        return Logistic() if self.binary else Squared()

    def problem(self, counts: Array) -> Problem:
        """State the problem in which every sample occurs as often as its count says."""
        return Problem(self.X, self.y, loss=self.loss, sample_weight=counts, intercept=True)

    def scores(self, predicted: Array) -> tuple[Array, Array]:
        """Return the loss and the error (misclassified or squared) of every linear prediction, one row per sample."""
        y = self.y[:, None]
        wrong = predicted * y <= 0 if self.binary else (predicted - y) ** 2
        return np.asarray(self.loss.value(predicted, y)), np.asarray(wrong, dtype=float)


def available() -> list[str]:
    """Return the names of the data sets at hand, at least four.

    >>> available()[:2]
    ['diabetes', 'breast cancer']
    """
    folder = data_folder()
    more = [] if folder is None else [name for name, file in FILES.items() if (folder / file).exists()]
    first = ["diabetes", "breast cancer"]
    return first + (more if len(more) >= 2 else more + [name for name in BUILT_IN if name not in first])


@cache
def load(name: str) -> PaperTask:
    """Return a data set by its name.

    >>> load("wine").X.shape
    (178, 13)
    """
    if name in BUILT_IN:
        return BUILT_IN[name]()
    folder = data_folder()
    if name not in FILES or folder is None:
        known = f"{', '.join(BUILT_IN)}, and with ATOMSIEVE_DATA {', '.join(FILES)}"
        raise ValueError(f"There is no data set {name!r} at hand; known are {known}.")
    return _mnist() if name == "MNIST 4/9" else _read(name, folder / FILES[name])


FILES = {
    "riboflavin": "riboflavin.csv.gz",
    "colon": "colon-cancer.bz2",
    "leukemia": "golub_leukemia.bz2",
    "MNIST 4/9": "train-images-idx3-ubyte.gz",
}


def _read(name: str, file: Path) -> PaperTask:
    if file.suffix == ".gz":
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        return PaperTask(name, scale(table[:, 1:]), scale(table[:, 0]))
    X, y = load_svmlight_file(file)
    return PaperTask(name, _scaled(X.toarray()), y)


def _mnist() -> PaperTask:
    X, y = load_mnist()
    chosen = np.random.default_rng(0).choice(len(y), IMAGES, replace=False)
    return PaperTask("MNIST 4/9", X[chosen][:, _varied(X[chosen])], y[chosen])


def _diabetes() -> PaperTask:
    """Return the 10 measurements with their squares and products, but for the square of sex."""
    X, y = load_diabetes(return_X_y=True)
    full = PolynomialFeatures(2, include_bias=False).fit_transform(scale(X))
    return PaperTask("diabetes", _scaled(np.delete(full, 10 + 10, axis=1)), scale(y))


def _breast_cancer() -> PaperTask:
    X, y = load_breast_cancer(return_X_y=True)
    return PaperTask("breast cancer", scale(X), 2.0 * y - 1)


def _wine() -> PaperTask:
    X, y = load_wine(return_X_y=True)
    return PaperTask("wine", scale(X), np.where(y == 1, 1.0, -1.0))


def _digits() -> PaperTask:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (1, 8))
    return PaperTask("digits 1/8", X[chosen][:, _varied(X[chosen])] / 16.0, np.where(y[chosen] == 8, 1.0, -1.0))


BUILT_IN: dict[str, Callable[[], PaperTask]] = {
    "diabetes": _diabetes,
    "breast cancer": _breast_cancer,
    "wine": _wine,
    "digits 1/8": _digits,
}


def _varied(X: Array) -> Mask:
    return np.asarray(np.ptp(X, axis=0) > 0)


def _scaled(X: Array) -> Array:
    return np.asarray(scale(X[:, _varied(X)]))
