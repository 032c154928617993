"""From a point to a certificate: prove, drop what is proven zero, prove again, and claim what follows."""

from dataclasses import replace
from typing import Any

import numpy as np

from atomsieve.certificate.claims import Certificate
from atomsieve.certificate.family import Family
from atomsieve.certificate.file import describe
from atomsieve.certificate.gap import prove
from atomsieve.certificate.identity import Identity
from atomsieve.certificate.limited import Values, within
from atomsieve.certificate.margin import margin, norms
from atomsieve.certificate.point import feasible
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.ranges import Ranges, alive_blocks, ranges
from atomsieve.certificate.reasons import why
from atomsieve.certificate.settled import on_face
from atomsieve.certificate.statement import Statement, about_entries
from atomsieve.certificate.witness import with_flow
from atomsieve.design.shelf import ChangedError
from atomsieve.gauges.facts import Facts
from atomsieve.gauges.found import Combination
from atomsieve.gauges.signs import admissible
from atomsieve.numerics.enclosures import Enclosure, Uncertain, quiet
from atomsieve.numerics.places import places_in, support_of
from atomsieve.numerics.threads import one_thread
from atomsieve.problem import Problem
from atomsieve.problem.span import UnsettledError
from atomsieve.typing import Array, Mask

DROPPED_ROUNDS = 5
"""How often the weight on coefficients that are proven zero is dropped, and the new point is proven again."""


@one_thread()
def certify(
    problem: Problem, x: Array, coordinates: Array, family: Family | None = None, parts: Combination | None = None
) -> Certificate:
    """Return the certificate at lifted coefficients x; `coordinates` are the first guess of those of B b.

    Where the gauge of x is not known, `parts` are the atoms that it is made of.
    """
    with quiet():  # far out everything may overflow, and is then bounded by inf or not at all
        problem, x = with_flow(problem.hosted, x, coordinates)
        try:
            return _certified(problem, x, coordinates, family, parts)
        except ChangedError:  # columns of a file that were kept from earlier: they are read again
            return _certified(problem, x, coordinates, family, parts)


def _certified(
    problem: Problem, x: Array, coordinates: Array, family: Family | None, parts: Combination | None
) -> Certificate:

    def proven(statement: Statement, x: Array) -> Proof:
        proof = prove(statement, *feasible(statement, x, coordinates))
        return proof if family is None else on_face(proof, family)

    try:
        statement = Statement.of(problem)
        if parts is not None and x.any():
            statement = statement.made_of(parts)
            x = (statement.parts or parts).sum(problem.shape)
        proof = proven(statement, x)
        x, zero = proof.x, proof.zero()
        for _ in range(DROPPED_ROUNDS):
            statement, settled = _settled(proof, zero)
            if settled is x or np.array_equal(settled, x):
                break
            proof = proven(statement, settled)
            x, zero = proof.x, proof.zero()
        else:
            zero[np.unique(statement.units[support_of(x)])] = False
    except Uncertain as reason:
        return nothing(problem, _numbers(x), str(reason), family)
    except UnsettledError:
        far = "the point is so far out that its best free coefficients were not found"
        return nothing(problem, _numbers(x), far, family)
    alive = ~zero & statement.eligible
    values = Values.of(proof, zero)
    facts = None if proof.facts is None else replace(proof.facts, zero=zero).held_by(x.ravel())
    found = ranges(proof, alive & ~values.at_limit, facts)
    nonzero, units = np.zeros(len(alive), dtype=bool), places_in(alive)
    least, most = norms(statement, x, found.away, units)
    nonzero[units] = least > most
    if proof.box is not None:
        nonzero |= alive & proof.box.nonzero
    if problem.limits is not None:
        nonzero |= alive & (values.at_limit | (problem.limits.nearest != 0))
    if facts is not None:
        nonzero |= alive & facts.nonzero & alive_blocks(proof, nonzero, facts)[statement.labels]
        facts = facts.settled(zero, nonzero)
    return _claims(proof, _gone(statement, zero), nonzero, found, values, facts)


def _gone(statement: Statement, zero: Mask) -> Mask:
    """Return which units are zero or have no atoms; coefficients without a price are none of them."""
    gone, free = zero | ~statement.eligible, statement.problem.unpenalised
    if len(free):
        gone[statement.units[free]] = False
    return gone


def _settled(proof: Proof, zero: Mask) -> tuple[Statement, Array]:
    """Return the point of a proof with all that is proven of every solution: zeros, clusters, and limits.

    If it is made of atoms, it loses those that no solution has; the statement has those that are left.
    """
    statement, x = proof.statement, proof.x
    if proof.values is not None and statement.limits is not None:
        return statement, proof.values.settle(statement.limits, x)
    if proof.facts is not None and statement.parts is not None:
        core, facts = statement.problem.core, replace(proof.facts, zero=zero)
        left = Combination.of(pair for pair in statement.parts.pairs if core.agrees(pair[0], facts))
        return replace(statement, parts=left), left.sum(x.shape)
    if proof.facts is not None:
        return statement, replace(proof.facts, zero=zero).fitted(x.ravel()).reshape(x.shape)
    held = support_of(x)
    held = held[statement.by_entry(zero)[held]]
    if not len(held):
        return statement, x
    smaller = x.copy()
    smaller.ravel()[held] = 0.0
    return statement, smaller


def named_atoms(problem: Problem, parts: Combination | None) -> list[dict[str, Any]] | None:
    """Return atoms with their weights as a file states them; None where the gauge has no names for its atoms."""
    if not problem.core.named_atoms:
        return None
    pairs = [] if parts is None else parts.pairs
    return [{"places": problem.core.told(atom), "weight": weight} for atom, weight in pairs]


def _numbers(x: Array) -> Array:
    """Return x with 0 in place of NaN and inf, which a file cannot hold."""
    return np.where(np.isfinite(x), x, 0.0)


def _claims(
    proof: Proof, zero: Mask, nonzero: Mask, found: Ranges, values: Values, facts: Facts | None = None
) -> Certificate:
    """Return the certificate of a proof."""
    statement, problem, x, b = proof.statement, proof.statement.problem, proof.x, proof.free
    with quiet():
        away, lower, upper = _intervals(proof, zero, found.away, values, facts)
        widest = Enclosure.exact(proof.gap)
        primal = float((Enclosure.exact(float(proof.objective.high)) / statement.total).high)
        dual = float(((Enclosure.exact(float(proof.objective.low)) - widest) / statement.total).low)
        gap = float((widest / statement.total).high)
        if statement.plain and facts is None:  # a coefficient is not zero if its interval excludes 0
            held = places_in(nonzero)
            nonzero[held] = (lower.ravel()[held] > 0) | (upper.ravel()[held] < 0)
        free_lower, free_upper = np.nextafter(b - found.around, -np.inf), np.nextafter(b + found.around, np.inf)
    own = problem.core.unpenalised()
    if len(own):
        lower[own], upper[own] = free_lower[-len(own) :], free_upper[-len(own) :]
    return Certificate(
        zero=zero,
        nonzero=nonzero,
        lower=lower.reshape(problem.lifted.form),
        upper=upper.reshape(problem.lifted.form),
        primal=primal,
        dual=dual,
        gap=gap,
        x=x.reshape(problem.lifted.form),
        free=b,
        free_lower=free_lower,
        free_upper=free_upper,
        at_lower=values.at_lower,
        at_upper=values.at_upper,
        margin=margin(proof, zero, nonzero, away),
        valid=True,
        reason=why(proof, ~zero & statement.eligible & ~values.at_limit, nonzero, found),
        dependencies=found.dependencies,
        sums=found.sums,
        statement=describe(problem, len(zero)),
        names={"features": problem.data.names, "blocks": problem.gauge.names()},
        family=None if statement.family is None else statement.family.told,
        facts=facts,
        atoms=named_atoms(problem, statement.parts if x.any() else None),
        rank=proof.rank,
        subspaces=proof.subspaces,
        identity=Identity.of(problem, statement.fingerprint),
        proof=proof,
    )


def _intervals(
    proof: Proof, zero: Mask, away: Array, values: Values, facts: Facts | None
) -> tuple[Array, Array, Array]:
    """Return how far entries of x are from those of the optimum, and bounds of these from below and above."""
    statement, x = proof.statement, proof.x
    lower, upper = np.zeros(x.shape), np.zeros(x.shape)
    left = np.nonzero(~statement.by_entry(zero).reshape(x.shape))
    lower[left] = np.nextafter(x[left] - away[left], -np.inf)
    upper[left] = np.nextafter(x[left] + away[left], np.inf)
    if proof.box is not None:
        lower[left] = np.maximum(lower[left], proof.box.lower[left])
        upper[left] = np.minimum(upper[left], proof.box.upper[left])
        away = np.maximum(upper - x, x - lower)
    if facts is not None:
        lower, upper = facts.clipped(lower, upper)
    lower = admissible(lower.ravel(), statement.signs).reshape(x.shape)
    if statement.limits is not None:
        lower, upper = within(statement.limits, values, lower, upper)
    return away, lower, upper


def nothing(problem: Problem, x: Array, reason: str, family: Family | None = None) -> Certificate:
    """Return a certificate that decides nothing."""
    facts = Facts.none(x.size) if about_entries(problem, family) else None
    blocks, unknown = len(problem.eligible) if facts is None else x.size, np.full(problem.lifted.form, np.inf)
    b = np.zeros(0) if problem.span is None else problem.span.coefficients(problem.span.origin)
    return Certificate(
        zero=np.zeros(blocks, dtype=bool),
        nonzero=np.zeros(blocks, dtype=bool),
        lower=-unknown,
        upper=unknown,
        primal=np.inf,
        dual=-np.inf,
        gap=np.inf,
        x=x.reshape(problem.lifted.form),
        free=b,
        free_lower=np.full(b.shape, -np.inf),
        free_upper=np.full(b.shape, np.inf),
        at_lower=np.zeros(blocks, dtype=bool),
        at_upper=np.zeros(blocks, dtype=bool),
        margin=0.0,
        valid=False,
        reason=reason,
        dependencies=[],
        sums=[],
        statement=describe(problem, blocks),
        names={"features": problem.data.names, "blocks": problem.gauge.names()},
        family=None if family is None else family.told,
        facts=facts,
        atoms=named_atoms(problem, None),
        rank=None,
        subspaces=None,
        identity=Identity.of(problem),
    )
