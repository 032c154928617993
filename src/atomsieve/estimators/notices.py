"""What users are told when something is not as they will expect: silent proofs, sorted folds, forgotten logarithms."""

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import binom, gammaln, logsumexp
from sklearn.model_selection import KFold

from atomsieve.certificate import Certificate
from atomsieve.estimators.task import TrainingData
from atomsieve.losses import Loss
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index

CHANCE = 1e-6
"""How often targets in random order may look sorted."""


class UnprovenWarning(UserWarning):
    """A proof was asked for, and it proves nothing."""


FORGOTTEN = "offset is added to the logarithm of the expected counts."
"""How the hint at a forgotten logarithm begins."""


class GridEndWarning(UserWarning):
    """The best strength of a cross-validation is the first or the last that was tried."""


def tell(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the first caller who is not part of this package, nor of what scikit-learn puts around `fit`."""
    ours = (__name__.partition(".")[0] + ".", "sklearn.callback.")
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def why_nothing(problems: Sequence[Problem], certificates: Sequence[Certificate]) -> str | None:
    """Return a sentence on why nothing is proven and what to do about it, None where something is."""
    silent = [pair for pair in zip(problems, certificates, strict=True) if not pair[1].valid]
    if not silent:
        return None
    of = "this model" if len(silent) == len(problems) else f"{len(silent)} of the {len(problems)} classes"
    problem, certificate = silent[0]
    return f"nothing is proven of {of}: {certificate.reason}. {_way_out(problem)}".strip()


def _way_out(problem: Problem) -> str:
    """Return what to fit instead, where a piece of the problem is in the way of every proof."""
    with np.errstate(over="ignore", under="ignore"):
        blocks = problem.core.prices(problem.shape)
    return "L1() and Group(groups) are gauges with proofs." if blocks is None else ""


def why_open(problems: Sequence[Problem], certificates: Sequence[Certificate]) -> str | None:
    """Return a sentence on why no coefficient of classes that are told apart together is decided, and what to do."""
    if len(problems) > 1 or problems[0].loss.targets != "classes":
        return None
    certificate = certificates[0]
    if certificate.undecided.sum() < 2 or (certificate.zero | certificate.nonzero).any():
        return None
    return (
        f"no coefficient is decided. {certificate.reason} Each class against the rest, with loss=Logistic(), has no "
        "such freedom."
    )


def check_order(y: Any, splitter: Any) -> None:
    """Warn where consecutive rows make the folds and the targets are sorted by row.

    Each fold then holds out targets that the others lack. Sorted are targets that never fall, or fall once (sorted
    within each of two parts), or never rise, or rise once; and only if random order would look like that less than
    once in a million times, so that a handful of samples or of distinct targets is no reason for alarm. Splitters that
    shuffle, stratify, keep groups together or know of time are left alone. One output that is sorted is enough.
    """
    if type(splitter) is not KFold or splitter.shuffle:
        return
    targets = np.asarray(y)
    if any(map(_is_sorted, targets.reshape(len(targets), -1).T)):
        tell(
            "y is sorted by row, and the folds are made of consecutive rows: each holds out targets that the others "
            "lack, which misleads the choice of the strength. Shuffle the rows into the folds: random_state=0, with a "
            f"number as cv, or cv=KFold({splitter.n_splits}, shuffle=True, random_state=0)."
        )


def check_exposure(loss: Loss, data: TrainingData) -> None:
    """Warn where the offset of counts looks like an exposure whose logarithm was forgotten."""
    if loss.inverse_link != "exp" or data.offset is None:
        return
    if looks_like_exposure(data.offset, data.y, data.weights):
        tell(
            f"{FORGOTTEN} These counts are explained worse by it than by no offset at all, and better by its "
            "logarithm: if it is an exposure (a time, an area), pass exposure=..., or offset=np.log(...)."
        )


def looks_like_exposure(offset: Array, y: Array, weights: Array | None) -> bool:
    """Return whether an offset of counts seems to be an exposure whose logarithm was forgotten.

    It is positive for all samples, suits the counts worse than no offset at all, and its logarithm suits them better:
    each with the best constant and without any feature.
    """
    if not (offset > 0).all() or np.ptp(offset) == 0:
        return False
    weights = np.ones(len(offset)) if weights is None else weights
    logarithm, nothing = (_misfit(other, y, weights) for other in (np.log(offset), np.zeros_like(offset)))
    return max(logarithm, nothing) < _misfit(offset, y, weights)


def _misfit(offset: Array, y: Array, weights: Array) -> float:
    """Return the Poisson loss of an offset with the best constant, up to what does not depend on the offset."""
    weights = weights.reshape(-1, *[1] * (y.ndim - 1))
    counts = (weights * y).sum(axis=0)
    return float(np.sum(counts * logsumexp(offset, axis=0, b=weights) - (weights * y * offset).sum(axis=0)))


def _is_sorted(column: Any) -> bool:
    """Return whether the targets of one output are sorted by row, more than random order ever would."""
    values, places = np.unique(column, return_inverse=True)
    codes: Index = places.astype(np.intp)
    return len(values) > 1 and min(_chance(codes), _chance(codes[::-1])) < CHANCE


def _chance(codes: Index) -> float:
    """Return a bound of the chance that targets in random order fall as seldom as these; 1 where they do so twice.

    Words with at most r falls are made of r + 1 sorted stretches: m equal targets go to them in `binom(m + r, r)` ways.
    """
    falls = int(np.count_nonzero(codes[1:] < codes[:-1]))
    if falls > 1:
        return 1.0
    counts = np.bincount(codes)
    ways = np.log(binom(counts + falls, falls)).sum() + gammaln(counts + 1).sum() - gammaln(len(codes) + 1)
    return float(np.exp(min(np.log(2) + ways, 0.0)))
