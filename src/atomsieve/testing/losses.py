"""The laws of a loss."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.losses import Loss
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.testing.laws import close, law
from atomsieve.typing import Array


def check_loss(loss: Loss, *, xp: Any = np, targets: Any = None, seed: int = 0) -> None:
    """Check convexity, derivatives, Fenchel-Young with equality at the gradient, co-coercivity, extremes and bounds.

    `xp` is an array namespace of the array API standard. `targets` are valid targets; by default they are of the first
    kind that the loss accepts: reals, signs, counts or classes.

    >>> from atomsieve import Logistic
    >>> check_loss(Logistic())
    """
    rng = np.random.default_rng(seed)
    y = _targets(loss, rng) if targets is None else np.asarray(targets)
    outputs = loss.outputs(xp.asarray(y))
    shape = y.shape if outputs is None else (len(y), outputs)
    laws = _LossLaws(loss, xp, xp.asarray(y))
    for scale in (0.1, 1.0, 10.0):
        u, v = rng.normal(scale=scale, size=shape), rng.normal(scale=scale, size=shape)
        laws.derivatives(u)
        laws.convexity(u, v)
        laws.conjugacy(u, v)
        laws.translation(u)
    laws.hessian(rng.normal(size=shape), rng.normal(size=(len(y), 2)), rng.uniform(size=len(y)))
    laws.extremes(shape)
    laws.bounds(rng, shape)


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
        self.loss = loss
        self.xp = xp
        self.y = y

    def value(self, u: Array) -> Array:
        return np.asarray(self.loss.value(self.xp.asarray(u), self.y))

    def gradient(self, u: Array) -> Array:
        return np.asarray(self.loss.gradient(self.xp.asarray(u), self.y))

    def curvature(self, u: Array) -> Array:
        return np.asarray(self.loss.curvature(self.xp.asarray(u), self.y))

    def derivatives(self, u: Array) -> None:
        """Compare derivatives with difference quotients, where two quotients agree (away from kinks)."""
        for name, function, derivative in (
            ("gradient", self.value, self.gradient),
            ("curvature", self.gradient, self.curvature),
        ):
            exact = derivative(u)
            law(exact.shape == u.shape, f"{name} must have the shape of u")
            for output in map(tuple, np.ndindex(u.shape[1:])):
                coarse, fine = (self._quotient(function, u, output, step) for step in (1e-4, 1e-5))
                smooth = close(coarse, fine, 1e-3, 1e-5)
                found = exact[:, output[0]] if output else exact
                law(close(found, fine, 1e-4, 1e-5) | ~smooth, f"{name} is not the derivative")
        for output in map(tuple, np.ndindex(u.shape[1:])):
            v = np.zeros_like(u)
            v[..., output[0] if output else slice(None)] = 1.0
            bent = np.asarray(self.loss.bend(self.xp.asarray(u), self.y, self.xp.asarray(v)))
            coarse, fine = (
                (self.gradient(u + step * v) - self.gradient(u - step * v)) / (2 * step) for step in (1e-4, 1e-5)
            )
            law(close(bent, fine, 1e-4, 1e-5) | ~close(coarse, fine, 1e-3, 1e-5), "bend is not the change of gradient")
        law(
            self.curvature(u) == 1.0 if self.loss.quadratic else True,
            "a quadratic loss has the same curvature everywhere",
        )
        law(self.curvature(u) >= 0, "curvature must not be negative")
        law(self.curvature(u) <= self.loss.entry_smoothness * (1 + 1e-12), "curvature must not exceed the smoothness")

    @staticmethod
    def _quotient(function: Any, u: Array, output: tuple[int, ...], step: float) -> Array:
        shift = np.zeros_like(u)
        shift[..., output[0] if output else slice(None)] = step
        difference = (function(u + shift) - function(u - shift)) / (2 * step)
        return np.asarray(difference[:, output[0]] if difference.ndim > 1 else difference)

    def convexity(self, u: Array, v: Array) -> None:
        """Check convexity at the midpoint, and that the gradient is co-coercive."""
        middle, ends = self.value((u + v) / 2), (self.value(u) + self.value(v)) / 2
        law(middle <= ends + 1e-12 * (1 + np.abs(ends)), "the loss is not convex")
        change, move = self.gradient(u) - self.gradient(v), u - v
        product, square = change * move, change * change
        if u.ndim == 2:
            product, square = product.sum(axis=1), square.sum(axis=1)
        law(product >= square / self.loss.smoothness - 1e-12, "the gradient is not co-coercive with this smoothness")

    def conjugacy(self, u: Array, v: Array) -> None:
        """Check Fenchel-Young at gradients, where equality holds, and at gradients scaled towards 0."""
        for factor in (1.0, 0.5, 0.0):
            t = factor * self.gradient(v)
            conjugate = np.asarray(self.loss.conjugate(self.xp.asarray(t), self.y))
            law(np.isfinite(conjugate), "a gradient scaled towards 0 must stay in the domain of the conjugate")
            for other in (u, v):
                pairing = t * other if u.ndim == 1 else (t * other).sum(axis=1)
                slack = self.value(other) + conjugate - pairing
                scale = 1 + np.abs(conjugate) + np.abs(pairing)
                law(slack >= -1e-11 * scale, "Fenchel-Young fails: the conjugate is too small")
                if other is v and factor == 1.0:
                    law(slack <= 1e-11 * scale, "Fenchel-Young is not tight at the gradient")
                direct = np.asarray(self.loss.fenchel_young(self.xp.asarray(other), self.xp.asarray(t), self.y))
                size = scale + np.abs(self.value(other))
                law(np.abs(direct - slack) <= 1e-11 * size, "fenchel_young is not loss(u) + loss*(t) - t u")

    def translation(self, u: Array) -> None:
        """Check that a loss which says so depends on the difference of prediction and target alone."""
        if self.loss.translates:
            moved = np.asarray(self.loss.gradient(self.xp.asarray(u + 1024.0), self.y + 1024.0))
            law(close(moved, self.gradient(u), 1e-9, 1e-9), "the loss does not depend on u - y alone")

    def hessian(self, u: Array, columns: Array, weights: Array) -> None:
        """Compare the Hessian in b of `sum_i w_i loss(u + columns b)` with differences of its gradient."""
        xp = self.xp
        found = np.asarray(self.loss.hessian(xp.asarray(columns), xp.asarray(u), self.y, xp.asarray(weights)))
        outputs = u.shape[1:]
        size = columns.shape[1] * math.prod(outputs)
        law(found.shape == (size, size), "hessian must be square, with b flattened row by row")
        law(close(found, found.T), "hessian must be symmetric")
        law(np.linalg.eigvalsh(found) >= -1e-10, "hessian must be positive semidefinite")
        for position in range(size):
            b = np.zeros(size)
            b[position] = 1e-5
            shift = columns @ b.reshape(columns.shape[1], *outputs)
            change = self.gradient(u + shift) - self.gradient(u - shift)
            rate = columns.T @ (weights * change.T).T / 2e-5
            kinks = 30 * weights.max() * np.abs(columns).max() ** 2 if np.any(self._near_kink(u, shift)) else 0.0
            law(close(found[:, position], rate.ravel(), 1e-4, 1e-4 + kinks), "hessian is not the second derivative")

    def _near_kink(self, u: Array, shift: Array) -> Any:
        return ~close(self.curvature(u + shift), self.curvature(u - shift), 1e-2, 1e-2)

    def extremes(self, shape: tuple[int, ...]) -> None:
        """Check that large predictions give finite values and gradients.

        Predictions are only moderately large for a loss without a curvature bound: it may grow fast.
        """
        for size in (0.0, 1e-300, 700.0, 1e6, 1e100) if self.loss.smoothness < math.inf else (0.0, 1e-300, 100.0):
            for sign in (-1.0, 1.0):
                u = np.zeros(shape)
                u[..., :1] = sign * size
                law(np.isfinite(self.value(u)), f"the value is not finite at u = {sign * size:g}")
                slopes = self.gradient(u)
                law(np.isfinite(slopes), f"the gradient is not finite at u = {sign * size:g}")
                conjugate = np.asarray(self.loss.conjugate(self.xp.asarray(slopes), self.y))
                law(~np.isnan(conjugate), f"the conjugate is no number at the slope of u = {sign * size:g}")

    def bounds(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        """Check, in NumPy, the bounds for all predictions within a radius at some of these predictions."""
        y = np.asarray(self.y)
        for radius in (0.0, 1e-9, 1e-3, 0.5):
            middle = rng.normal(scale=2.0, size=shape)
            places = [middle + radius * rng.uniform(-1, 1, size=shape) for _ in range(3)]
            try:
                held = Judged.of(self.loss, Enclosure(middle, np.full(shape, radius * (1 + 1e-12))), y)
            except Uncertain as reason:
                raise AssertionError(f"nothing can be certified: {reason}") from reason
            for u in (middle, *places):
                held.check(self.loss, u, y)


@dataclass(frozen=True)
class Judged:
    """What a certificate takes as certain about a loss, for all predictions in an enclosure."""

    slopes: Enclosure
    values: Enclosure
    conjugates: Array
    curvatures: tuple[Array, Array]
    least: Array
    largest: Array

    @classmethod
    def of(cls, loss: Loss, u: Enclosure, y: Array) -> "Judged":
        """Return all bounds of a loss."""
        bounds = loss.bounds
        slopes = bounds.slopes(u, y)
        values, conjugates = bounds.values(u, slopes, y), bounds.conjugates(slopes.low, slopes.high, y)
        if u.ndim > 1:
            nothing, anything = np.zeros(u.shape), np.full(u.shape, np.inf)
            return cls(slopes, values, conjugates, (nothing, anything), nothing, anything)
        curvatures = bounds.curvatures(slopes.low, slopes.high, y)
        largest = bounds.largest(slopes.low, slopes.high, y, np.full(u.shape, 1e-3))
        return cls(slopes, values, conjugates, curvatures, bounds.least_curvatures(u, y), largest)

    def check(self, loss: Loss, u: Array, y: Array) -> None:
        """Compare with the loss at predictions u, up to rounding in the formulas of the loss."""
        slopes, curvature = loss.gradient(u, y), loss.curvature(u, y)
        value, conjugate = loss.value(u, y), loss.conjugate(slopes, y)
        law(_between(self.slopes.low, slopes, self.slopes.high), "the bounds of the gradient do not hold")
        law(_between(self.values.low, value, self.values.high), "the bounds of the value do not hold")
        law(_between(-np.inf, conjugate, self.conjugates), "the bounds of the conjugate do not hold")
        least, most = self.curvatures
        law(_between(least, curvature, most), "curvature_at_slope is not the curvature where the gradient is t")
        law(_between(self.least, curvature, self.largest), "the bounds of the curvature do not hold")


def _between(low: Any, number: Array, high: Any) -> Any:
    """Return whether numbers lie between bounds; a bound that is NaN says nothing."""
    room = 1e-11 * (1 + np.abs(number))
    return ~(number < low - room) & ~(number > high + room)
