"""Proven intervals for the predictions of the optimal model at new samples: sums of coefficients, one for each row."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from atomsieve.certificate.frame import Frame, beside
from atomsieve.certificate.inverse import Dependency, is_sum
from atomsieve.certificate.pattern import Pattern
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.ranges import knowledge
from atomsieve.design import BelowDesign, ProductDesign, SelectedDesign, as_design
from atomsieve.design.base import Enclosed, enclosed
from atomsieve.gauges.facts import Facts
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.problem import Problem
from atomsieve.problem.data import check_free, check_offset
from atomsieve.typing import Array, Index, Mask


class Predictions(NamedTuple):
    """Bounds of predictions, one for each row; infinite where the data do not determine them."""

    lower: Array
    upper: Array


def predictions(proof: Proof, claimed: tuple[Mask, Facts | None], X: Any, free: Any, offset: Any) -> Predictions:
    """Return bounds of the predictions of the optimum at the rows of X."""
    statement, problem = proof.statement, proof.statement.problem
    zero, facts = claimed
    if problem.data.tasks > 1 or problem.outputs:
        raise ValueError("Predictions have proven intervals for one output; this problem has several.")
    pattern, kept = Pattern.of(statement.by_entry(~zero & statement.eligible), facts), statement.used
    index = pattern.entries
    design = _like(problem, X)
    every = _free_columns(problem, design, free)
    stated = beside(every[:, kept], design.enclose_columns(index))
    rows = _in_frame(statement.frame, stated, kept, index)
    with np.errstate(all="ignore"):
        known, reach = knowledge(proof, kept, pattern)
        centre = _times(rows, np.append(proof.b[kept], proof.x[index])) + statement.frame.level.sum()
        shift = check_offset(offset, len(rows))
        centre = centre if shift is None else centre + shift
        moved = np.append(proof.shift * proof.unit[kept], np.zeros(len(index)))
        if proof.sway is not None:
            moved = moved + np.append(proof.sway[1][kept], proof.sway[0].ravel()[index])
        moved = rows.size @ moved * (1 + gamma(len(moved) + 2))
        away = up(known.lengths(pattern.folded(rows, len(kept))) * reach + moved)
        away[~(_fits(every, statement.sums) & _fits(pattern.folded(stated, len(kept)), known.dependencies))] = np.inf
        found = centre.widened(away)
        return Predictions(np.fmax(found.low, -np.inf), np.where(np.isnan(found.high), np.inf, found.high))


def unknown(X: Any) -> Predictions:
    """Return what is known of predictions if nothing is proven."""
    rows = as_design(X).shape[0]
    return Predictions(np.full(rows, -np.inf), np.full(rows, np.inf))


def _like(problem: Problem, X: Any) -> Enclosed:
    """Return the design of new samples: their rows of A."""
    new, stated = as_design(X), problem.data.design
    if new.shape[1] != stated.shape[1]:
        raise ValueError(f"X must have {stated.shape[1]} columns, as in the problem; it has {new.shape[1]}.")
    design: Any = getattr(problem.design, "unmetered", problem.design)
    return enclosed(_with_samples(design, new))


def _with_samples(design: Any, new: Any) -> Any:
    """Return a design, which may be an image of an image, with other samples."""
    if isinstance(design, BelowDesign):  # a ridge has no samples among the new ones
        return _with_samples(design.above, new)
    if isinstance(design, ProductDesign):
        return replace(design, left=_with_samples(design.left, new))
    if isinstance(design, SelectedDesign):
        return replace(design, design=_with_samples(design.design, new))
    return new


def _free_columns(problem: Problem, design: Enclosed, free: Any) -> Enclosure:
    """Return the new rows of B: the constant, the columns passed as `free`, the columns of A without a price."""
    m = design.shape[0]
    given, wanted = check_free(free, m), problem.data.free.shape[1]
    if given.shape[1] != wanted:
        raise ValueError(f"free must have {wanted} columns, as in the problem; it has {given.shape[1]}.")
    constant = np.ones((m, int(problem.data.intercept)))
    return beside(Enclosure.exact(np.hstack([constant, given])), design.enclose_columns(problem.core.unpenalised()))


def _in_frame(frame: Frame, stated: Enclosure, kept: Index, index: Index) -> Enclosure:
    """Return rows modulo the constant, as the columns of the problem are."""
    if not frame.constants:
        return stated
    return stated - beside(frame.free_centres[kept][None], frame.centres[index][None])


def _times(rows: Enclosure, p: Array) -> Enclosure:
    """Return the product of rows with floats."""
    sizes = rows.size @ np.abs(p)
    return Enclosure(rows.mid @ p, up(rows.rad @ np.abs(p) + gamma(len(p) + 4) * sizes))


def _fits(rows: Enclosure, dependencies: list[Dependency]) -> Mask:
    """Return in which rows all columns are the same combinations of others as in the data, exactly."""
    found = np.ones(len(rows), dtype=bool)
    for column, of, times in dependencies:
        exact = not rows.rad[:, [column, *of]].any()
        found &= [exact and is_sum(row[[column]], row[None, of], times) for row in rows.mid]
    return found
