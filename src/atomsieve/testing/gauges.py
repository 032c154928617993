"""The laws of a gauge."""

import math
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from atomsieve.design import as_design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import Atom, BlockGauge, Evidence, Gauge, Oracle
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.testing.laws import close, law
from atomsieve.testing.oracles import check_oracle
from atomsieve.typing import Array


def check_gauge(gauge: Gauge, shape: tuple[int, ...], *, seed: int = 0) -> None:
    """Check the oracle, the polar inequality, homogeneity, and that the lifted block gauge agrees with the gauge.

    >>> from atomsieve import L1
    >>> check_gauge(L1(), (4,))
    """
    gauge.check(shape)
    if isinstance(gauge, Oracle):
        check_oracle(gauge, shape, seed=seed)
        gauge = gauge.made(shape[0])
    rng = np.random.default_rng(seed)
    for _ in range(5):
        z = rng.normal(size=shape)
        _check_oracle(gauge, z, shape)
        _check_value(gauge, z, rng, shape)
    law(gauge.scores(np.zeros(shape)) == 0, "all scores of z = 0 must be 0")
    _check_lift(gauge, shape, rng)


def _check_oracle(gauge: Gauge, z: Array, shape: tuple[int, ...]) -> None:
    scores = gauge.scores(z)
    law(close(gauge.support(z), max(scores.max(), 0.0)), "support must be the largest score, or 0")
    law(close(gauge.lmo(z).dot(z), gauge.support(z)), "lmo must attain the support function")
    law(close(gauge.support(3.0 * z), 3.0 * gauge.support(z)), "support must be positively homogeneous")
    for block in range(len(scores)):
        atom = gauge.atom(z, block)
        law(close(atom.dot(z), scores[block]), f"the atom of block {block} must attain its score")
        law(close(np.vdot(atom.toarray(shape), z), scores[block]), "an atom's dot and array must agree")
        law(atom.block == block, "an atom must know its block")


def _check_value(gauge: Gauge, z: Array, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    try:
        x, mass = _combination(gauge, rng, shape)
        kappa = gauge.value(x)
    except ValueError:  # the gauge cannot be evaluated; solvers use the mass
        return
    law(kappa <= mass * (1 + 1e-9) + 1e-12, "the gauge must not exceed the mass of a combination of atoms")
    law(np.vdot(x, z) <= kappa * gauge.support(z) + 1e-9, "the polar inequality x.z <= kappa(x) sigma(z) fails")
    law(close(gauge.value(2.5 * x), 2.5 * kappa, 1e-7, 1e-9), "the gauge must be positively homogeneous")
    other, _ = _combination(gauge, rng, shape)
    law(gauge.value(x + other) <= kappa + gauge.value(other) + 1e-7, "the gauge must be subadditive")
    law(gauge.value(np.zeros(shape)) == 0, "the gauge of 0 must be 0")
    atom = gauge.lmo(z)
    law(gauge.value(atom.toarray(shape)) <= 1 + 1e-7, "an atom must lie in P")


def _combination(gauge: Gauge, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Array, float]:
    x, mass = np.zeros(shape), 0.0
    for weight in rng.uniform(size=4):
        gauge.lmo(rng.normal(size=shape)).add_to(x, weight)
        mass += weight
    return x, mass


def _check_lift(gauge: Gauge, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    A, weights = rng.normal(size=(7, shape[0])), rng.uniform(size=7)
    design, core = gauge.lift(as_design(A))
    lifted_shape = (design.shape[1], *shape[1:])
    c, theta = rng.normal(size=lifted_shape), rng.normal(size=(7, *shape[1:]))
    law(close(design.matvec(c), A @ gauge.lower(c)), "A x must be the lifted design times c")
    z = design.rmatvec(theta)
    law(close(core.scores(z), gauge.scores(A.T @ theta)), "lifted scores must be the scores")
    _check_blocks(core, z, lifted_shape)
    seminorm = Seminorm(design, weights / weights.sum(), None)
    for _, block, atom, bound in _sampled_atoms(core, seminorm, lifted_shape, rng):
        reach = seminorm.norm(atom.image(design))
        law(reach <= bound * (1 + 1e-9), f"spread of block {block} must bound the norm of A p")
        law(len(_outputs(atom)) <= 1 or not core.entrywise, "an entrywise gauge has atoms of one output only")
    _check_rivals(core, seminorm, lifted_shape, rng)
    if core.prices(lifted_shape) is None:
        with suppress(Uncertain):  # without bounds there is no certificate
            _check_bounds(core, seminorm, lifted_shape, rng)
    if core.decides:
        _check_facts(core, lifted_shape, rng)


def _check_bounds(core: BlockGauge, seminorm: Seminorm, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Check what certificates rest on; floats are off by rounding."""
    x, z, radius = rng.normal(size=shape), rng.normal(size=shape), rng.uniform(size=shape)
    scores = core.enclose_scores(Enclosure(z, radius))
    if not core.listed and np.isfinite(core.sizes(x)).all():
        law(_within(core.sizes(x), core.enclose_sizes(x)), "enclose_sizes must hold the sizes")
    for _ in range(5):
        moved = z + radius * rng.choice([-1.0, 0.5, 1.0], size=shape)
        law(_within(core.scores(moved), scores), "enclose_scores must hold the scores of every z that is enclosed")
    law(_within(core.scores(z), core.enclose_scores(Enclosure.exact(z))), "enclose_scores must hold the scores")
    norms = seminorm.column_norms()
    bounds = core.spread_bounds(norms if len(shape) == 1 else np.repeat(norms[:, None], shape[1], axis=1))
    for _, block, atom, _ in _sampled_atoms(core, seminorm, shape, rng):
        reach = seminorm.norm(atom.image(seminorm.design))
        law(reach <= bounds[block] * (1 + 1e-9), f"spread_bounds of block {block} must bound the norm of A p")


def _check_facts(core: BlockGauge, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Check that what is derived for all z within bounds holds for atoms that have the best score at one of them."""
    for blur in (0.0, 1e-3, 0.1, 1.0) * 3:
        z = np.round(rng.normal(size=shape), 1)
        moved = z + blur * rng.uniform(-1, 1, size=shape)
        scores = core.scores(moved)
        slope = float(scores.max()) * (1 - 1e-9), float(scores.max()) * (1 + 1e-9)
        evidence = Evidence.around(
            Enclosure.exact(z.ravel()), np.full(z.size, blur), (scores - 1e-9, scores + 1e-9), slope
        )
        facts, p = core.decide(evidence), core.lmo(moved).toarray(shape).ravel()
        labels, turned = core.labels(shape).ravel(), p * facts.signs
        live = np.bincount(labels, p != 0)[labels] > 0
        law(p[facts.zero] == 0, "an entry that decide calls zero must be 0 in every atom of the best score")
        law(p[facts.nonzero & live] != 0, "an entry that decide calls non-zero must not be 0 where its block is not")
        law(turned >= 0, "entries of atoms of the best score must have the signs that decide tells")
        law(np.abs(turned[facts.saturated] - np.abs(p).max()) <= 1e-9, "saturated entries must be the largest of all")
        for cluster in facts.sets:
            law(np.ptp(turned[cluster]) <= 1e-9, "entries of a cluster must have one absolute value")
        for a, b in pairwise(facts.order):
            law(np.abs(p[a]).min() >= np.abs(p[b]).max() - 1e-9, "no entry may exceed one of an earlier tier")


def _within(values: Array, bounds: Enclosure) -> Any:
    room = 1e-12 * np.abs(values)
    return (bounds.low <= values + room) & (values <= bounds.high + room)


def _check_blocks(core: BlockGauge, z: Array, shape: tuple[int, ...]) -> None:
    labels, eligible = core.labels(shape), core.eligible(shape)
    count = len(eligible)
    law(labels.shape == shape, "labels must have the shape of x")
    law(np.unique(labels) == np.arange(count), "labels must number the blocks from 0")
    law(core.scores(z).shape == (count,), "scores must have one entry per block")
    if core.listed:  # nothing is known of sizes
        law(core.sizes(np.zeros(shape)) == 0, "the gauge of 0 must be 0")
        return
    x = np.where(eligible[labels], core.keep(np.abs(z), np.arange(count) % 2 == 0), 0.0)
    sizes = core.sizes(x)
    law((sizes > 0) == (np.bincount(labels.ravel(), (x != 0).ravel()) > 0), "sizes must be positive where x is not 0")
    law(close(sizes.sum(), core.value(x)), "the gauge must be the sum of the sizes")
    law(close(core.dots(x, z).sum(), np.vdot(x, z)), "dots must add up to the inner product")
    prices = core.prices(shape)
    if prices is not None:
        norms = np.sqrt(np.bincount(labels.ravel(), (x * x).ravel()))
        law(close(sizes[norms > 0], prices[norms > 0] * norms[norms > 0]), "sizes must be prices times l2 norms")
        _check_signs(core, np.where(eligible[labels], np.abs(z), 0.0))
    if count > 1:
        rows = np.flatnonzero(np.arange(shape[0]) >= shape[0] // 2)
        part, kept = core.restrict(rows), np.unique(labels[rows])
        inside = ~np.isin(labels[: shape[0] // 2], kept).any()
        if inside:  # the rows split no block
            for side in (z, -z):
                same = close(part.scores(side[rows]), core.scores(side)[kept])
                law(same, "a restricted gauge must keep scores and order")


def _check_signs(core: BlockGauge, x: Array) -> None:
    """Check that entries may be negative exactly where the gauge says so; the given x is not negative."""
    both = np.broadcast_to(core.signs(x.shape), x.size).reshape(x.shape)
    law(close(core.value(np.where(both, -x, x)), core.value(x)), "signed entries must be measured by their size")
    for block in np.unique(core.labels(x.shape)[~both & (x > 0)]):
        down = np.where(core.labels(x.shape) == block, -x, x)
        law(core.value(down) == np.inf, "signed must tell which entries of x may be negative")


def _sampled_atoms(
    core: BlockGauge, seminorm: Seminorm, shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[Array, int, Any, float]]:
    spread = core.spread(seminorm, math.prod(shape[1:]))
    for _ in range(5):
        z = rng.normal(size=shape)
        for block in np.flatnonzero(core.eligible(shape)):
            yield z, int(block), core.atom(z, int(block)), float(spread[block])


def _check_rivals(core: BlockGauge, seminorm: Seminorm, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    z, radius = rng.normal(size=shape), 0.3
    spread = core.spread(seminorm, math.prod(shape[1:]))
    best = int(core.scores(z).argmax())
    q = core.atom(z, best)
    image = q.image(seminorm.design)
    bound = core.rivals(z, seminorm.cross(seminorm.polar(image)[0]), spread, (q, float(spread[best])), radius)
    law(bound <= core.scores(z) + radius * (spread + spread[best]) + 1e-9, "rivals must not exceed the sum of norms")
    for _, block, p, _ in _sampled_atoms(core, seminorm, shape, rng):
        reach = p.dot(z) + radius * seminorm.norm(p.image(seminorm.design) - image)
        if core.entrywise and _outputs(p) != _outputs(q):
            # the curvature bound holds for single atoms, not for differences between outputs
            reach = p.dot(z) + radius * (spread[block] + spread[best])
        law(reach <= bound[block] + 1e-9, f"rivals must bound every atom of block {block}")


def _outputs(atom: Atom) -> set[int]:
    return set(np.flatnonzero(np.any(atom.values.reshape(len(atom.values), -1) != 0, axis=0)).tolist())
