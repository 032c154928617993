"""Models along a path of strengths, kept sparse: on the samples of a fold, and on all samples."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from atomsieve.estimators.grid import Candidates
from atomsieve.estimators.solver import coefficients, intercepts
from atomsieve.estimators.strengths import feature_count
from atomsieve.intake.arguments import is_number, shown
from atomsieve.run.result import Result
from atomsieve.typing import Array, Index


class Entries(NamedTuple):
    """The entries of a row that are not zero."""

    places: Index
    values: Array
    width: int

    @classmethod
    def of(cls, row: Array) -> Self:
        """Return the entries of a row."""
        places = np.flatnonzero(row)
        return cls(places, row[places], len(row))


def stacked(rows: Sequence[Entries]) -> csr_array:
    """Return the sparse matrix of some rows; made at once, for a sparse matrix takes longer than many a solution."""
    ends = np.cumsum([0, *(len(row.places) for row in rows)])
    places = np.concatenate([row.places for row in rows])
    return csr_array((np.concatenate([row.values for row in rows]), places, ends), shape=(len(rows), rows[0].width))


@dataclass(frozen=True, eq=False)
class Models:
    """One model per candidate, sparsest first; fewer than there are candidates where time is up."""

    coefs: csr_array
    """Rows of coefficients, one per output, candidate after candidate."""

    intercepts: Array
    """One row per candidate, with one intercept per output."""

    counts: Array
    """How many features carry penalised weight in each model."""

    missed: int
    """How many solutions missed the tolerance."""

    results: dict[int, Sequence[Result]]
    """The solutions themselves, of the candidates for which they were asked for."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[Result]], held: Collection[int] = ()) -> Self:
        """Return the models of solutions that come candidate by candidate; those at the places `held` are kept."""
        coefs, constants, counts = [], [], []
        missed, results = 0, {}
        for place, row in enumerate(rows):
            coefs += [Entries.of(coef) for coef in coefficients(row)]
            constants.append(intercepts(row))
            counts.append(feature_count(row))
            missed += sum(not result.converged for result in row)
            if place in held:
                results[place] = row
        return cls(stacked(coefs), np.stack(constants), np.array(counts), missed, results)

    def alone(self) -> Self:
        """Return the models without solutions, which would keep the data alive."""
        return replace(self, results={})

    def __len__(self) -> int:
        return len(self.intercepts)

    def __getitem__(self, place: int) -> tuple[Array, Array]:
        """Return the model of one candidate: a row of coefficients per output, and the intercepts."""
        outputs = self.intercepts.shape[1]
        return self.coefs[place * outputs : (place + 1) * outputs].toarray(), self.intercepts[place]


@dataclass(frozen=True, eq=False)
class ModelPath:
    """The models of the candidates on all samples, and those between them."""

    candidates: Candidates
    models: Models

    @property
    def coefs(self) -> Array:
        """All coefficients, dense: candidates x d or, with K > 1 outputs, candidates x K x d."""
        outputs = self.models.intercepts.shape[1]
        dense: Array = self.models.coefs.toarray()
        return dense.reshape(-1, outputs, dense.shape[1]) if outputs > 1 else dense

    @property
    def intercepts(self) -> Array:
        """All intercepts: one per candidate or, with K > 1 outputs, candidates x K."""
        constants = self.models.intercepts
        return constants if constants.shape[1] > 1 else constants[:, 0]

    def at(self, value: float | str) -> tuple[Array, Array]:
        """Return the model at a strength on the path: a row of coefficients per output, and the intercepts.

        At a candidate it is the candidate's own; between two of them it is interpolated.
        """
        name, values = self.candidates.grid.name, self.candidates.values
        if not (is_number(value) and values.min() <= value <= values.max()):
            raise ValueError(
                f"{name} must be a number between {values.min():.6g} and {values.max():.6g}, the ends of the path, "
                f'got {shown(value)}. Fit with {name}s that reach further; "min" and "1se" stand for the two choices.'
            )
        places, place = self.candidates.places, self.candidates.grid.place(float(value))
        order = np.argsort(places, kind="stable")
        right = int(np.searchsorted(places[order], place))
        after = order[right]
        coef, constant = self.models[after]
        if places[after] == place:
            return coef, constant
        before = order[right - 1]
        share = (places[after] - place) / (places[after] - places[before])
        coef_before, constant_before = self.models[before]
        return coef + share * (coef_before - coef), constant + share * (constant_before - constant)
