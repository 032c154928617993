"""Law checkers for losses, penalties and gauges: run them on a piece of your own before you trust it.

Each raises AssertionError with the law that is broken. The laws are those that solvers and safe rules rest on.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.design import as_design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import Atom, BlockGauge, Gauge
from atomsieve.losses import Loss
from atomsieve.penalties import Penalty
from atomsieve.typing import Array

__all__ = ["check_gauge", "check_loss", "check_penalty"]


def _law(holds: Any, sentence: str) -> None:
    if not np.all(holds):
        raise AssertionError(sentence)


def _close(a: Any, b: Any, relative: float = 1e-9, absolute: float = 1e-10) -> Any:
    return np.isclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=relative, atol=absolute)


def check_loss(loss: Loss, *, xp: Any = np, targets: Any = None, seed: int = 0) -> None:
    """Check convexity, the derivatives, Fenchel-Young with equality at the gradient, co-coercivity and tame extremes.

    `xp` is an array namespace of the array API standard; `targets` are valid targets (by default of the first kind
    that the loss accepts: reals, signs, counts or classes).

    >>> from atomsieve import Logistic
    >>> check_loss(Logistic())
    """
    rng = np.random.default_rng(seed)
    y = _targets(loss, rng) if targets is None else np.asarray(targets)
    outputs = loss.outputs(xp.asarray(y))
    shape = y.shape if outputs is None else (len(y), outputs)
    law = _LossLaws(loss, xp, xp.asarray(y))
    for scale in (0.1, 1.0, 10.0):
        u, v = rng.normal(scale=scale, size=shape), rng.normal(scale=scale, size=shape)
        law.derivatives(u)
        law.convexity(u, v)
        law.conjugacy(u, v)
        law.translation(u)
    law.hessian(rng.normal(size=shape), rng.normal(size=(len(y), 2)), rng.uniform(size=len(y)))
    law.extremes(shape)


def _targets(loss: Loss, rng: np.random.Generator) -> NDArray[Any]:
    signs, counts = rng.choice([-1.0, 1.0], size=30), rng.poisson(2.0, size=30).astype(np.float64)
    classes = rng.permutation(np.arange(30) % 3)
    for y in (rng.normal(size=30), signs, classes if loss.outputs(classes) else counts):
        try:
            loss.check_targets(y)
        except ValueError:
            continue
        return y
    raise AssertionError("the loss accepts neither reals, signs, counts nor classes: pass targets")


class _LossLaws:
    """The laws of one loss, evaluated in an array namespace and compared in NumPy."""

    def __init__(self, loss: Loss, xp: Any, y: Any) -> None:
        self.loss, self.xp, self.y = loss, xp, y

    def value(self, u: Array) -> Array:
        return np.asarray(self.loss.value(self.xp.asarray(u), self.y))

    def gradient(self, u: Array) -> Array:
        return np.asarray(self.loss.gradient(self.xp.asarray(u), self.y))

    def curvature(self, u: Array) -> Array:
        return np.asarray(self.loss.curvature(self.xp.asarray(u), self.y))

    def derivatives(self, u: Array) -> None:
        """Compare with difference quotients, where two of them agree (away from kinks)."""
        for name, function, derivative in (
            ("gradient", self.value, self.gradient),
            ("curvature", self.gradient, self.curvature),
        ):
            exact = derivative(u)
            _law(exact.shape == u.shape, f"{name} must have the shape of u")
            for output in map(tuple, np.ndindex(u.shape[1:])):
                coarse, fine = (self._quotient(function, u, output, step) for step in (1e-4, 1e-5))
                smooth = _close(coarse, fine, 1e-3, 1e-5)
                found = exact[:, output[0]] if output else exact
                _law(_close(found, fine, 1e-4, 1e-5) | ~smooth, f"{name} is not the derivative")
        for output in map(tuple, np.ndindex(u.shape[1:])):
            v = np.zeros_like(u)
            v[..., output[0] if output else slice(None)] = 1.0
            bent = np.asarray(self.loss.bend(self.xp.asarray(u), self.y, self.xp.asarray(v)))
            coarse, fine = (
                (self.gradient(u + step * v) - self.gradient(u - step * v)) / (2 * step) for step in (1e-4, 1e-5)
            )
            _law(
                _close(bent, fine, 1e-4, 1e-5) | ~_close(coarse, fine, 1e-3, 1e-5), "bend is not the change of gradient"
            )
        _law(
            self.curvature(u) == 1.0 if self.loss.quadratic else True,
            "a quadratic loss has the same curvature everywhere",
        )
        _law(self.curvature(u) >= 0, "curvature must not be negative")
        _law(self.curvature(u) <= self.loss.entry_smoothness * (1 + 1e-12), "curvature must not exceed the smoothness")

    @staticmethod
    def _quotient(function: Any, u: Array, output: tuple[int, ...], step: float) -> Array:
        shift = np.zeros_like(u)
        shift[..., output[0] if output else slice(None)] = step
        difference = (function(u + shift) - function(u - shift)) / (2 * step)
        return np.asarray(difference[:, output[0]] if difference.ndim > 1 else difference)

    def convexity(self, u: Array, v: Array) -> None:
        """Check the midpoint and the co-coercivity of the gradient."""
        middle, ends = self.value((u + v) / 2), (self.value(u) + self.value(v)) / 2
        _law(middle <= ends + 1e-12 * (1 + np.abs(ends)), "the loss is not convex")
        change, move = self.gradient(u) - self.gradient(v), u - v
        product, square = change * move, change * change
        if u.ndim == 2:
            product, square = product.sum(axis=1), square.sum(axis=1)
        _law(product >= square / self.loss.smoothness - 1e-12, "the gradient is not co-coercive with this smoothness")

    def conjugacy(self, u: Array, v: Array) -> None:
        """Check Fenchel-Young, with equality at the gradient, and at scaled gradients inside the domain."""
        for factor in (1.0, 0.5, 0.0):
            t = factor * self.gradient(v)
            conjugate = np.asarray(self.loss.conjugate(self.xp.asarray(t), self.y))
            _law(np.isfinite(conjugate), "a gradient scaled towards 0 must stay in the domain of the conjugate")
            for other in (u, v):
                pairing = t * other if u.ndim == 1 else (t * other).sum(axis=1)
                slack = self.value(other) + conjugate - pairing
                scale = 1 + np.abs(conjugate) + np.abs(pairing)
                _law(slack >= -1e-11 * scale, "Fenchel-Young fails: the conjugate is too small")
                if other is v and factor == 1.0:
                    _law(slack <= 1e-11 * scale, "Fenchel-Young is not tight at the gradient")
                direct = np.asarray(self.loss.fenchel_young(self.xp.asarray(other), self.xp.asarray(t), self.y))
                size = scale + np.abs(self.value(other))
                _law(np.abs(direct - slack) <= 1e-11 * size, "fenchel_young is not loss(u) + loss*(t) - t u")

    def translation(self, u: Array) -> None:
        """Check that a loss which says so depends on the difference of prediction and target alone."""
        if self.loss.translates:
            moved = np.asarray(self.loss.gradient(self.xp.asarray(u + 1024.0), self.y + 1024.0))
            _law(_close(moved, self.gradient(u), 1e-9, 1e-9), "the loss does not depend on u - y alone")

    def hessian(self, u: Array, columns: Array, weights: Array) -> None:
        """Compare the Hessian in b of `sum_i w_i loss(u + columns b)` with differences of its gradient."""
        xp = self.xp
        found = np.asarray(self.loss.hessian(xp.asarray(columns), xp.asarray(u), self.y, xp.asarray(weights)))
        outputs = u.shape[1:]
        size = columns.shape[1] * math.prod(outputs)
        _law(found.shape == (size, size), "hessian must be square, with b flattened row by row")
        _law(_close(found, found.T), "hessian must be symmetric")
        _law(np.linalg.eigvalsh(found) >= -1e-10, "hessian must be positive semidefinite")
        for position in range(size):
            b = np.zeros(size)
            b[position] = 1e-5
            shift = columns @ b.reshape(columns.shape[1], *outputs)
            change = self.gradient(u + shift) - self.gradient(u - shift)
            rate = columns.T @ (weights * change.T).T / 2e-5
            kinks = 30 * weights.max() * np.abs(columns).max() ** 2 if np.any(self._near_kink(u, shift)) else 0.0
            _law(_close(found[:, position], rate.ravel(), 1e-4, 1e-4 + kinks), "hessian is not the second derivative")

    def _near_kink(self, u: Array, shift: Array) -> Any:
        return ~_close(self.curvature(u + shift), self.curvature(u - shift), 1e-2, 1e-2)

    def extremes(self, shape: tuple[int, ...]) -> None:
        """Large predictions must give finite values and gradients, without warnings turned errors.

        A loss without a bound of its curvature may grow as it likes.
        """
        for size in (0.0, 1e-300, 700.0, 1e6, 1e100) if self.loss.smoothness < math.inf else (0.0, 1e-300, 100.0):
            for sign in (-1.0, 1.0):
                u = np.zeros(shape)
                u[..., :1] = sign * size
                _law(np.isfinite(self.value(u)), f"the value is not finite at u = {sign * size:g}")
                _law(np.isfinite(self.gradient(u)), f"the gradient is not finite at u = {sign * size:g}")


def check_penalty(penalty: Penalty, *, sizes: Any = None) -> None:
    """Check that phi is convex, non-decreasing and 0 at 0, its derivatives, and Fenchel-Young with its equalities.

    >>> from atomsieve import Square
    >>> check_penalty(Square(0.1))
    """
    top = min(penalty.limit, 10.0)
    grid = np.linspace(0.0, 0.99 * top, 34) if sizes is None else np.asarray(sizes, dtype=float)
    values = np.array([penalty.value(float(s)) for s in grid])
    slopes = np.array([penalty.slope(float(s)) for s in grid])
    _law(penalty.value(0.0) == 0, "phi(0) must be 0")
    _law(np.diff(values) >= 0, "phi must not fall")
    _law(slopes >= 0, "the slope must not be negative")
    _law(np.diff(slopes) >= -1e-12 * np.abs(slopes[1:]), "phi is not convex: its slope falls")
    chords = np.diff(values) / np.diff(grid)
    _law((slopes[:-1] <= chords + 1e-12) & (chords <= slopes[1:] + 1e-12), "the slope is not the derivative of phi")
    _check_conjugate(penalty, grid, slopes)
    _check_rise(penalty, top)
    _check_domain(penalty)
    _check_through(penalty)
    _law(_close(getattr(penalty.at(0.5 * top), penalty.main), 0.5 * top), "`at` must set the main parameter")


def _check_rise(penalty: Penalty, top: float) -> None:
    for slope, mass, pull in ((0.0, 0.5 * top, 0.1), (0.3, 2.0 * top, 1.0), (5.0, 0.1 * top, 3.0), (0.1, -1.0, 1.0)):
        rise = penalty.rise(slope, mass, pull)
        alpha, size = slope + rise, mass - rise * pull * pull
        fits = (
            _close(penalty.argmax(alpha), size, 1e-6, 1e-9)
            if penalty.superlinear
            else _close(alpha, penalty.slope(0.0))
        )
        floor = size <= 0 and _close(alpha, penalty.slope(0.0))
        idle = alpha <= 1e-12 and 0 <= size <= penalty.limit * (1 + 1e-9)  # phi is flat there
        _law(fits or floor or idle, f"rise({slope:g}, {mass:g}, {pull:g}) is not where phi charges the slope")


def _check_through(penalty: Penalty) -> None:
    for size, slope in ((0.5, 2.0), (3.0, 0.01), (1e-3, 40.0)):
        try:
            chosen = penalty.through(size, slope)
        except (NotImplementedError, ValueError):
            continue
        met = _close(chosen.argmax(slope), size) if chosen.superlinear else _close(chosen.slope(size), slope)
        _law(met, f"through({size:g}, {slope:g}) does not charge that slope at that size")


def _check_conjugate(penalty: Penalty, grid: Array, slopes: Array) -> None:
    for t in [0.0, *np.geomspace(1e-3, 1e3, 13), *slopes.tolist()]:
        conjugate, best = penalty.conjugate(t), penalty.argmax(t)
        for s in grid:
            _law(
                penalty.value(s) + conjugate >= s * t - 1e-11 * (1 + s * t), f"Fenchel-Young fails at s={s:g}, t={t:g}"
            )
        _law(math.isfinite(conjugate) or not penalty.superlinear, "a superlinear phi has a finite conjugate")
        if math.isfinite(conjugate):
            attained = t * best - penalty.value(best)
            _law(_close(attained, conjugate, 1e-9, 1e-11), f"argmax({t:g}) does not attain the conjugate")
    for s, t in zip(grid, slopes, strict=True):
        if math.isfinite(penalty.conjugate(t)):
            tight = penalty.value(s) + penalty.conjugate(t)
            _law(_close(tight, s * t, 1e-9, 1e-11) | (s == 0), f"Fenchel-Young is not tight at the slope of s={s:g}")


def _check_domain(penalty: Penalty) -> None:
    if penalty.limit < math.inf:
        _law(math.isinf(penalty.value(1.01 * penalty.limit)), "phi must be infinite beyond its limit")
        _law(not penalty.admits(1.01 * penalty.limit), "admits must be false beyond the limit")
    for t in (0.0, 1.0, 1e30):
        _law(penalty.admits(penalty.argmax(t)) or not penalty.superlinear, "argmax must lie in the domain of phi")
    _law(type(penalty.at(0.5)) is type(penalty), "at() must return a penalty of the same kind")
    _law(penalty.at(0.5) != penalty.at(0.25), "at() must set the main parameter")


def check_gauge(gauge: Gauge, shape: tuple[int, ...], *, seed: int = 0) -> None:
    """Check the oracle, the polar inequality, homogeneity, and that the lifted block gauge is the same gauge.

    >>> from atomsieve import L1
    >>> check_gauge(L1(), (4,))
    """
    gauge.check(shape)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        z = rng.normal(size=shape)
        _check_oracle(gauge, z, shape)
        _check_value(gauge, z, rng, shape)
    _law(gauge.scores(np.zeros(shape)) == 0, "all scores of z = 0 must be 0")
    _check_lift(gauge, shape, rng)


def _check_oracle(gauge: Gauge, z: Array, shape: tuple[int, ...]) -> None:
    scores = gauge.scores(z)
    _law(_close(gauge.support(z), max(scores.max(), 0.0)), "support must be the largest score, or 0")
    _law(_close(gauge.lmo(z).dot(z), gauge.support(z)), "lmo must attain the support function")
    _law(_close(gauge.support(3.0 * z), 3.0 * gauge.support(z)), "support must be positively homogeneous")
    for block in range(len(scores)):
        atom = gauge.atom(z, block)
        _law(_close(atom.dot(z), scores[block]), f"the atom of block {block} must attain its score")
        _law(_close(np.vdot(atom.toarray(shape), z), scores[block]), "an atom's dot and array must agree")
        _law(atom.block == block, "an atom must know its block")


def _check_value(gauge: Gauge, z: Array, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    try:
        x, mass = _combination(gauge, rng, shape)
        kappa = gauge.value(x)
    except ValueError:  # a gauge that cannot be evaluated says so; solvers use the mass
        return
    _law(kappa <= mass * (1 + 1e-9) + 1e-12, "the gauge must not exceed the mass of a combination of atoms")
    _law(np.vdot(x, z) <= kappa * gauge.support(z) + 1e-9, "the polar inequality x.z <= kappa(x) sigma(z) fails")
    _law(_close(gauge.value(2.5 * x), 2.5 * kappa, 1e-7, 1e-9), "the gauge must be positively homogeneous")
    other, _ = _combination(gauge, rng, shape)
    _law(gauge.value(x + other) <= kappa + gauge.value(other) + 1e-7, "the gauge must be subadditive")
    _law(gauge.value(np.zeros(shape)) == 0, "the gauge of 0 must be 0")
    atom = gauge.lmo(z)
    _law(gauge.value(atom.toarray(shape)) <= 1 + 1e-7, "an atom must lie in P")


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
    _law(_close(design.matvec(c), A @ gauge.lower(c)), "A x must be the lifted design times c")
    z = design.rmatvec(theta)
    _law(_close(core.scores(z), gauge.scores(A.T @ theta)), "lifted scores must be the scores")
    _check_blocks(core, z, lifted_shape)
    seminorm = Seminorm(design, weights / weights.sum(), None)
    for _, block, atom, bound in _sampled_atoms(core, seminorm, lifted_shape, rng):
        reach = seminorm.norm(atom.image(design))
        _law(reach <= bound * (1 + 1e-9), f"spread of block {block} must bound the norm of A p")
        _law(len(_outputs(atom)) <= 1 or not core.entrywise, "an entrywise gauge has atoms of one output only")
    _check_rivals(core, seminorm, lifted_shape, rng)


def _check_blocks(core: BlockGauge, z: Array, shape: tuple[int, ...]) -> None:
    labels, eligible = core.labels(shape), core.eligible(shape)
    count = len(eligible)
    _law(labels.shape == shape, "labels must have the shape of x")
    _law(np.unique(labels) == np.arange(count), "labels must number the blocks from 0")
    _law(core.scores(z).shape == (count,), "scores must have one entry per block")
    x = np.where(eligible[labels], core.keep(np.abs(z), np.arange(count) % 2 == 0), 0.0)
    sizes = core.sizes(x)
    _law((sizes > 0) == (np.bincount(labels.ravel(), (x != 0).ravel()) > 0), "sizes must be positive where x is not 0")
    _law(_close(sizes.sum(), core.value(x)), "the gauge must be the sum of the sizes")
    _law(_close(core.dots(x, z).sum(), np.vdot(x, z)), "dots must add up to the inner product")
    prices = core.prices(shape)
    if prices is not None:
        norms = np.sqrt(np.bincount(labels.ravel(), (x * x).ravel()))
        _law(_close(sizes[norms > 0], prices[norms > 0] * norms[norms > 0]), "sizes must be prices times l2 norms")
        _check_signs(core, np.where(eligible[labels], np.abs(z), 0.0))
    if count > 1:
        rows = np.flatnonzero(np.arange(shape[0]) >= shape[0] // 2)
        part, kept = core.restrict(rows), np.unique(labels[rows])
        inside = ~np.isin(labels[: shape[0] // 2], kept).any()
        if inside:  # the rows cut no block in two
            for side in (z, -z):
                same = _close(part.scores(side[rows]), core.scores(side)[kept])
                _law(same, "a restricted gauge must keep scores and order")


def _check_signs(core: BlockGauge, x: Array) -> None:
    """Check that entries may be negative where the gauge says so, and only there; x is not negative."""
    both = np.broadcast_to(core.signs(x.shape), x.size).reshape(x.shape)
    _law(_close(core.value(np.where(both, -x, x)), core.value(x)), "signed entries must be measured by their size")
    for block in np.unique(core.labels(x.shape)[~both & (x > 0)]):
        down = np.where(core.labels(x.shape) == block, -x, x)
        _law(core.value(down) == np.inf, "signed must tell which entries of x may be negative")


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
    _law(bound <= core.scores(z) + radius * (spread + spread[best]) + 1e-9, "rivals must not exceed the sum of norms")
    for _, block, p, _ in _sampled_atoms(core, seminorm, shape, rng):
        reach = p.dot(z) + radius * seminorm.norm(p.image(seminorm.design) - image)
        if core.entrywise and _outputs(p) != _outputs(q):
            # the curvature bound holds for each atom alone, not for differences across outputs
            reach = p.dot(z) + radius * (spread[block] + spread[best])
        _law(reach <= bound[block] + 1e-9, f"rivals must bound every atom of block {block}")


def _outputs(atom: Atom) -> set[int]:
    return set(np.flatnonzero(np.any(atom.values.reshape(len(atom.values), -1) != 0, axis=0)).tolist())
