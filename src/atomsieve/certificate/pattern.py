"""The pattern that facts prove, `x* = U s*`: zeros are left out, and a cluster is one coefficient.

The optimum is determined as soon as the columns of A U and B are independent, however many columns A has. s is the
coefficient of a cluster's head, its first entry, and its column the sum of all columns of the cluster, with signs.
"""

from dataclasses import dataclass

import numpy as np

from atomsieve.certificate.gram import Plain, Readable
from atomsieve.certificate.statement import Statement
from atomsieve.gauges.facts import Facts
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.numerics.places import places_in
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class Pattern:
    """The entries of x that are left, in rising order, and the coefficient that each of them follows."""

    entries: Index
    heads: Index
    """The first entry of each cluster, and all entries that are in none."""

    owners: Index
    """The place among the heads of the one that each entry follows."""

    turns: Array
    """1 for entries that are equal to their heads, -1 for their opposites."""

    @classmethod
    def of(cls, alive: Mask, facts: Facts | None) -> "Pattern":
        """Return the pattern of the entries that are alive."""
        entries = places_in(alive)
        if facts is None or not (facts.clusters[entries] >= 0).any():
            return cls(entries, entries, np.arange(len(entries)), np.ones(len(entries)))
        labels = facts.clusters[entries]
        alone = np.arange(len(entries)) + int(labels.max()) + 1
        _, first, owners = np.unique(np.where(labels < 0, alone, labels), return_index=True, return_inverse=True)
        order = np.argsort(first)
        ranks = np.empty(len(order), dtype=np.intp)
        ranks[order] = np.arange(len(order))
        heads, owners = entries[first[order]], ranks[owners]
        turns = np.where(labels < 0, 1.0, facts.signs[entries] * facts.signs[heads][owners])
        return cls(entries, heads, owners, turns)

    @cached_property
    def plain(self) -> bool:
        """Whether no two entries follow the same head."""
        return len(self.heads) == len(self.entries)

    @cached_property
    def _clusters(self) -> list[tuple[int, Index]]:
        """The places of heads that several entries follow, with the places of these."""
        order = np.argsort(self.owners, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(self.owners))[:-1]) if len(order) else []
        return [(place, part) for place, part in enumerate(parts) if len(part) > 1]

    def folded(self, columns: Enclosure, first: int) -> Enclosure:
        """Return `C (I, U)`: the first columns as they are, those of the entries added up; the last axis is columns."""
        if self.plain:
            return columns
        starts = first + np.unique(self.owners, return_index=True)[1]
        chosen = np.append(np.arange(first), starts)
        mid, rad = columns.mid[..., chosen], columns.rad[..., chosen]
        for place, part in self._clusters:
            several, errors = columns.mid[..., first + part], columns.rad[..., first + part]
            mid[..., first + place] = several @ self.turns[part]
            lost = gamma(len(part) + 2) * np.abs(several).sum(axis=-1) + errors.sum(axis=-1)
            rad[..., first + place] = up(lost * (1 + gamma(len(part) + 2)))
        return Enclosure(mid, rad)

    def rows(self, statement: Statement, free: Index, weights: Array) -> Readable:
        """Return columns of B and of A U, modulo the constant if there is one, with weights."""
        if self.plain:
            return statement.rows(free, self.entries, weights)
        return Plain(self.folded(statement.columns(free, self.entries), len(free)), weights)

    def exact_columns(self, statement: Statement, free: Index, some: Index) -> Enclosure:
        """Return columns of B and some of A U as they are, not modulo the constant."""
        if self.plain:
            return statement.exact_columns(free, self.heads[some])
        inside = np.flatnonzero(np.isin(self.owners, some))
        places = np.searchsorted(some, self.owners[inside])
        part = Pattern(self.entries[inside], self.heads[some], places, self.turns[inside])
        return part.folded(statement.exact_columns(free, part.entries), len(free))
