"""Hyper-parameters carried from one sample to another: every penalty shape runs along the same path, each at its pace.

On one sample the slope alpha of `Linear`, the strength alpha / s of `Square`, the radius s of `Ball` and the radius of
`LogBarrier` are functions of the same place on the path, and so is the solution. Shapes differ only in what stays
fixed on the way to another sample: to the part of a resample that a fold leaves, or to another resample.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from atomsieve import Ball, Linear, LogBarrier, Path, Problem, Square, path
from atomsieve.paper.tasks import PaperTask
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Index, Mask

SHAPES: dict[str, Penalty] = {"Linear": Linear(), "Square": Square(), "Ball": Ball(), "LogBarrier": LogBarrier()}
"""The penalties that are compared; the main parameter of each is chosen."""

CANDIDATES = 0.85
"""The part of a path that cross-validation chooses from; the rest is there for what is carried to it from elsewhere."""

RATIO = 1e-3
"""Last slope of a path over the critical one."""

TOL = 1e-9
"""The tolerance of every solution, so tight that supports do not hang on it."""


@dataclass(frozen=True, eq=False)
class Track:
    """Slopes and sizes along a path: all that is needed to find the place which a hyper-parameter means on it.

    >>> track = Track(np.array([4.0, 2.0, 1.0]), np.array([1.0, 2.0, 4.0]))
    >>> [np.exp(track.strengths(shape)).round(3).tolist() for shape in (Linear(), Square(), Ball())]
    [[4.0, 2.0, 1.0], [4.0, 1.0, 0.25], [1.0, 2.0, 4.0]]
    >>> track.places(Square(), np.log([4.0, 2.0, 0.01]))
    array([0. , 0.5, 2. ])
    """

    slopes: Array
    sizes: Array

    @classmethod
    def of(cls, found: Path) -> "Track":
        """Return the track of a path whose results are all non-zero."""
        return cls(found.slopes, found.sizes)

    def strengths(self, shape: Penalty) -> Array:
        """Return the logarithm of the hyper-parameter for which the shape has the solution at each place."""
        name = "radius" if hasattr(shape, "radius") else "strength"
        pairs = zip(self.sizes, self.slopes, strict=True)
        return np.array([math.log(getattr(shape.through(float(s), float(a)), name)) for s, a in pairs])

    def places(self, shape: Penalty, strengths: Array) -> Array:
        """Return where on the track, counted in knots, the shape has the given (log) hyper-parameters; ends attract."""
        known = self.strengths(shape)
        sign = 1.0 if known[-1] > known[0] else -1.0
        return np.asarray(np.interp(sign * strengths, sign * known, np.arange(len(known), dtype=float)))

    def slopes_at(self, places: Array) -> Array:
        """Return the slopes at places between knots."""
        return np.asarray(np.exp(np.interp(places, np.arange(len(self.slopes)), np.log(self.slopes))))

    def blend(self, values: Array, places: Array) -> Array:
        """Return columns of values, one per knot, at places between knots; exact for what is linear in the slope."""
        left = np.minimum(places.astype(int), len(self.slopes) - 2)
        above, below = self.slopes[left], self.slopes[left + 1]
        share = (above - self.slopes_at(places)) / (above - below)
        return np.asarray(values[:, left] * (1 - share) + values[:, left + 1] * share)


@dataclass(frozen=True, eq=False)
class Resample:
    """A bootstrap resample: how often each sample was drawn, and the fold of each sample.

    Copies of a sample are one sample with a weight, so that no fold can hold out a sample and train on its copy.
    """

    task: PaperTask
    seed: int
    counts: Array
    folds: Index
    knots: int

    @classmethod
    def draw(cls, task: PaperTask, seed: int, *, folds: int, knots: int) -> "Resample":
        """Draw as many samples as there are, with replacement, and deal the distinct ones to folds, class by class."""
        rng, n = np.random.default_rng(seed), len(task.y)
        counts = _counts(rng, n)
        order = np.lexsort((rng.random(n), task.y if task.binary else np.zeros(n)))
        order = order[counts[order] > 0]
        dealt = np.full(n, -1)
        dealt[order] = np.arange(len(order)) % folds
        return cls(task, seed, counts, dealt, knots)

    def beyond(self, seed: int) -> Mask:
        """Return which samples neither this resample nor that of another seed has drawn."""
        other = _counts(np.random.default_rng(seed), len(self.counts))
        return np.asarray((self.counts == 0) & (other == 0))

    @cached_property
    def problem(self) -> Problem:
        """The problem on the resample."""
        return self.task.problem(self.counts)

    @cached_property
    def track(self) -> Track:
        """The path of the resample."""
        return Track.of(follow(self.problem, self.knots))

    def curves(self) -> dict[str, Array]:
        """Return the held-out loss for each shape and each place on the track that can be chosen."""
        grids = {name: self.track.strengths(shape)[: self._eligible] for name, shape in SHAPES.items()}
        parts = [self._held_out(fold, grids) for fold in range(self.folds.max() + 1)]
        return {name: np.sum([part[name] for part in parts], axis=0) / self.counts.sum() for name in SHAPES}

    @property
    def _eligible(self) -> int:
        return max(int(CANDIDATES * len(self.track.slopes)), 2)

    def _held_out(self, fold: int, grids: dict[str, Array]) -> dict[str, Array]:
        """Return the summed loss on one fold of the models that are fitted to the others."""
        held = self.counts * (self.folds == fold)
        found = follow(self.task.problem(self.counts - held), self.knots)
        track, rows = Track.of(found), held > 0
        part = PaperTask(self.task.name, self.task.X[rows], self.task.y[rows])
        predicted = part.X @ found.coefs.T + found.intercepts
        answers = {}
        for name, grid in grids.items():
            blended = track.blend(predicted, track.places(SHAPES[name], grid))
            answers[name] = held[rows] @ self.task.loss.value(blended, part.y[:, None])
        return answers

    def solutions(self, slopes: Array) -> tuple[Array, Array]:
        """Return coefficients and intercepts at given slopes, in their order, from one warm path."""
        distinct, back = np.unique(-slopes, return_inverse=True)
        found = path(self.problem, -distinct, tol=TOL)
        return found.coefs[back], found.intercepts[back]


def _counts(rng: np.random.Generator, n: int) -> Array:
    return np.bincount(rng.integers(n, size=n), minlength=n).astype(float)


def follow(problem: Problem, knots: int) -> Path:
    """Return the path on slopes in geometric progression, from the first one below the critical slope on."""
    found = path(problem, n=knots + 1, ratio=RATIO, tol=TOL)
    first = int(np.argmax(found.sizes > 0))
    return Path(problem, found.slopes[first:], found.results[first:], TOL)


def choose(resample: Resample, reference: Track) -> pd.DataFrame:
    """Return what cross-validation chooses on a resample, one row for each shape.

    `place` is the part of the way, in log slope, from the critical slope down to the last one. `reference` is the place
    on the path of the full sample to which the hyper-parameter leads, and `common` that to which it would lead had all
    shapes chosen what `Linear` chose: the choice is then the same model, and only the carrying differs. `elasticity` is
    by how many percent the size grows where the slope falls by one.
    """
    track, curves = resample.track, resample.curves()
    elasticity = -np.gradient(np.log(track.sizes), np.log(track.slopes))
    chosen = {name: int(np.argmin(curve)) for name, curve in curves.items()}
    slopes = track.slopes[list(chosen.values())]
    coefs, _ = resample.solutions(slopes)
    rows = []
    for (name, k), coef in zip(chosen.items(), coefs, strict=True):
        shape = SHAPES[name]
        known = track.strengths(shape)
        landing = reference.places(shape, known[[k, chosen["Linear"]]]) / (len(reference.slopes) - 1)
        rows.append(
            {
                "penalty": name,
                "resample": resample.seed,
                "knot": k,
                "place": k / (len(track.slopes) - 1),
                "log strength": known[k],
                "reference": landing[0],
                "common": landing[1],
                "elasticity": elasticity[k],
                "support": " ".join(map(str, np.flatnonzero(coef))),
                "solves": (resample.folds.max() + 2) * resample.knots + len(set(slopes)),
            }
        )
    return pd.DataFrame(rows)


def carry(resample: Resample, choices: pd.DataFrame) -> pd.DataFrame:
    """Return what becomes of a resample with the hyper-parameters that were chosen on all of them, its own among them.

    Scores, those of the resample's own choice as well, are on samples that neither it nor the donor has drawn: the
    donor's choice has seen the others. Supports are compared twice: with that of the donor (`shared`: one
    hyper-parameter, two resamples), and with the one of the resample's own choice (`swapped`: one resample, two
    hyper-parameters). `edge` says that a hyper-parameter leads to an end of the path, or beyond.
    """
    track = resample.track
    places = np.empty(len(choices))
    twins = np.empty(len(choices), dtype=int)
    donors = choices["resample"].to_numpy()
    for name, shape in SHAPES.items():
        rows = np.flatnonzero(choices["penalty"] == name)
        places[rows] = track.places(shape, choices["log strength"].to_numpy()[rows])
        twins[rows] = rows[donors[rows] == resample.seed]
    slopes, last = track.slopes_at(places), len(track.slopes) - 1
    coefs, intercepts = resample.solutions(slopes)
    used = coefs != 0
    table = {
        "penalty": choices["penalty"],
        "donor": donors,
        "target": resample.seed,
        "place": places / last,
        "edge": (places == 0) | (places == last),
        "size": used.sum(axis=1),
        "shared": jaccard(used, supports(choices["support"], used.shape[1])),
        "swapped": jaccard(used, used[twins]),
        "solves": resample.knots + len(set(slopes)),
    }
    task, unseen = resample.task, np.stack([resample.beyond(int(donor)) for donor in donors], axis=1)
    for name, values in zip(("loss", "error"), task.scores(task.X @ coefs.T + intercepts), strict=True):
        table |= {name: mean_over(unseen, values), f"own {name}": mean_over(unseen, values[:, twins])}
    return pd.DataFrame(table)


def mean_over(chosen: Mask, values: Array) -> Array:
    """Return the mean of the chosen entries of each column, missing where there is none.

    >>> mean_over(np.array([[True, False], [True, False]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 2., nan])
    """
    count = chosen.sum(axis=0)
    return np.where(count > 0, (values * chosen).sum(axis=0) / np.maximum(count, 1), np.nan)


def supports(texts: Iterable[str], d: int) -> Mask:
    """Return the masks, one per row, of supports that are written as positions.

    >>> supports(["0 2", ""], 3)
    array([[ True, False,  True],
           [False, False, False]])
    """
    masks = np.zeros((len(rows := list(texts)), d), dtype=bool)
    for mask, text in zip(masks, rows, strict=True):
        mask[[int(part) for part in str(text).split()]] = True
    return masks


def jaccard(a: Mask, b: Mask) -> Array:
    """Return the size of the common part of two supports over that of their union, row by row; 1 for two empty ones.

    >>> jaccard(np.array([[True, True, False], [False] * 3]), np.array([[True, False, False], [False] * 3]))
    array([0.5, 1. ])
    """
    union = np.count_nonzero(a | b, axis=-1)
    common = np.count_nonzero(a & b, axis=-1)
    return np.where(union > 0, common / np.maximum(union, 1), 1.0)
