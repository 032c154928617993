"""The quadratic model of an objective on a few blocks, minimised face by face.

    minimise over x     g . (x - x0) + (x - x0)' H (x - x0) / 2 + phi( sum over blocks of price_b norm2(x_b) )

On a face (which blocks are not zero, and their directions) the gauge is smooth, and the whole shape phi enters through
one number, its slope alpha: the best point for a given alpha is `x + p - alpha q`, and alpha is where the mass of that
point is charged alpha. A block of one entry (a coordinate) has no curvature of its own, so its face is solved at once.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import get_lapack_funcs

from atomsieve.penalties import Penalty
from atomsieve.rounding import EPS
from atomsieve.typing import Array, Index, Mask

_potrf, _potrs = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)

FACES = 60
"""Faces that are looked at before a model is left as it is: every one of them is an improvement."""

ENTER = 10
"""Blocks that may enter a face at once, at least."""

EDGE = 1e-12
"""Relative distance from the limit of a penalty that counts as none."""

HALVINGS = 40
"""Trials along one direction before it is given up."""

INDEPENDENT = 1e-10
"""Square of a pivot, as a part of its diagonal entry, below which columns count as dependent."""

PROXIMAL = 1e-8
"""Weight of the proximal term that stands in for the curvature that dependent columns lack."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """A gauge on flat entries: `kappa(x) = sum over blocks of price_b norm2(x_b)`, entries signed or not."""

    labels: Index
    prices: Array
    signed: bool

    @cached_property
    def single(self) -> bool:
        """Whether every block is one entry."""
        return len(self.labels) == len(self.prices)

    def sums(self, values: Array) -> Array:
        """Return the sum of the values of each block."""
        return values if self.single else np.bincount(self.labels, values, len(self.prices))

    def over(self, values: Array) -> Array:
        """Return one number per block at each of its entries."""
        return values if self.single else values[self.labels]

    def norms(self, x: Array) -> Array:
        """Return the l2 norm of each block."""
        return np.abs(x) if self.single else np.sqrt(self.sums(x * x))

    def mass(self, x: Array) -> float:
        """Return the gauge."""
        return float(self.prices @ self.norms(x))

    def growth(self, x: Array, target: Array) -> float:
        """Return how much larger the gauge of the target is, to full relative precision however close it is to x."""
        sums = self.norms(x) + self.norms(target)
        return float(self.prices @ (self.sums((target - x) * (target + x)) / np.where(sums > 0, sums, 1.0)))

    def scores(self, z: Array) -> Array:
        """Return the best inner product of each block's atoms with z."""
        return (self.norms(z) if self.signed else z) / self.prices

    def restrict(self, entries: Index) -> "Blocks":
        """Return the same gauge on some of the entries, whole blocks of them."""
        if self.single:
            return Blocks(np.arange(len(entries)), self.prices[entries], self.signed)
        kept, labels = np.unique(self.labels[entries], return_inverse=True)
        return Blocks(labels, self.prices[kept], self.signed)


@dataclass(frozen=True, eq=False)
class Model:
    """Curvature and slope of the loss part around x0."""

    hessian: Array
    gradient: Array
    blocks: Blocks
    penalty: Penalty
    stiffness: Array
    """The largest curvature that each entry can have anywhere."""
    reach: float
    """How fast the gap grows with a score beyond the slope of the penalty."""

    def minimise(self, x0: Array, slope: float, precision: float) -> tuple[Array, float]:
        """Return a better point than x0, the best one up to a gap of `precision` where that is reached, and its slope.

        `slope` is the alpha to begin with: what the penalty charges at the margin. Blocks enter the face several at a
        time; fewer, in the end one at a time, where that was no improvement.
        """
        here = _Here(x0.copy(), self.gradient.copy(), slope, self.blocks.norms(x0) > 0)
        quota = max(ENTER, int(np.count_nonzero(here.active)) // 2)
        for face in range(FACES):
            if here.settled or face == 0:
                entering = self._entering(here, quota, precision)
                if here.settled and not len(entering):
                    break
                self._enter(here, entering)
            fall = self._descend(here)
            if here.settled:
                quota = max(2 * quota, int(np.count_nonzero(here.active)) // 2)
                here.settled = self.blocks.single or fall >= -precision / 4
            elif quota == 1 and fall == 0:
                break
            else:
                quota = max(1, quota // 4)
        return here.x, here.slope

    def _entering(self, here: "_Here", quota: int, precision: float) -> Index:
        """Return the blocks at zero that would lower the objective most, a limited number of them."""
        excess = self.blocks.scores(-here.gradient) - here.slope
        excess[here.active] = 0.0
        wanted = np.flatnonzero(excess > precision / (2 * self.reach) + 8 * EPS * here.slope)
        if len(wanted) > quota:
            wanted = wanted[np.argpartition(-excess[wanted], quota - 1)[:quota]]
        return wanted

    def _enter(self, here: "_Here", entering: Index) -> None:
        """Add blocks to the face."""
        if len(entering) and not self.blocks.single:
            self._sprout(here, entering)
            here.active = self.blocks.norms(here.x) > 0
        else:
            here.active[entering] = True

    def _descend(self, here: "_Here") -> float:
        """Go to the best point of the face, or towards it where that is no improvement; return the change."""
        sizes = self.blocks.norms(here.x)
        active, first = here.active.copy(), None
        target, slope = np.zeros_like(here.x), here.slope
        while active.any():
            target, slope, kept = self._face(here, sizes, active)
            idle = ~kept & (sizes == 0)
            if first is None and not idle.any():
                first = target, active
            if kept.all():
                break
            # blocks that entered and would turn back do so first: that changes nothing else
            active = active & ~idle if idle.any() else active & kept
        else:
            target = np.zeros_like(here.x)
        target = self._inside(target)
        fall = self._change(here, target)
        if fall <= 16 * EPS * here.slope * self.blocks.mass(here.x):  # nothing but rounding
            here.go(target, slope, active, settled=True)
            return min(fall, 0.0)
        return 0.0 if first is None else self._ratio_step(here, sizes, *first)

    def _sprout(self, here: "_Here", entering: Index) -> None:
        """Move blocks off zero, each along its best atom, together as far as is best along that direction."""
        blocks = self.blocks
        chosen = np.zeros(len(blocks.prices), dtype=bool)
        chosen[entering] = True
        direction = np.where(blocks.over(chosen), -here.gradient, 0.0)
        norms = blocks.norms(direction)
        pull = norms - here.slope * blocks.prices
        stiff = blocks.sums(direction * self._diagonal_product(direction))
        lengths = np.where(chosen, pull * norms / np.where(stiff > 0, stiff, 1.0), 0.0)
        direction = direction * blocks.over(lengths)
        bent = self.hessian @ direction
        gain = -float(here.gradient @ direction)
        rate, bend = blocks.mass(direction), float(direction @ bent)
        mass = blocks.mass(here.x)
        # minimise -gain t + bend t^2 / 2 + phi(mass + t rate): the slope is where the mass is charged it
        if bend <= 0 or rate <= 0:
            return
        slope = self.penalty.rise(0.0, mass + rate * gain / bend, rate / math.sqrt(bend))
        step = min((gain - slope * rate) / bend, (self.penalty.limit - mass) / rate * (1 - 8 * EPS))
        if step > 0:
            here.x += step * direction
            here.gradient += step * bent
            here.slope = slope

    def _diagonal_product(self, v: Array) -> Array:
        """Return each block's own part of H times its part of v."""
        blocks, product = self.blocks, np.zeros_like(v)
        for label in np.unique(blocks.labels[v != 0]):
            inside = np.flatnonzero(blocks.labels == label)
            product[inside] = self.hessian[np.ix_(inside, inside)] @ v[inside]
        return product

    def _face(self, here: "_Here", sizes: Array, active: Mask) -> tuple[Array, float, Mask]:
        """Return the best point of a face, its slope, and which blocks did not cross zero on the way."""
        blocks = self.blocks
        inside = np.flatnonzero(blocks.over(active))
        base = np.where(blocks.over(active), here.x, 0.0)
        gradient = here.gradient
        dropped = np.flatnonzero((here.x != 0) & (base == 0))
        if len(dropped):
            gradient = gradient - self.hessian[:, dropped] @ here.x[dropped]
        normals = self._normals(base, here.gradient, sizes)[inside]
        system = self.hessian[np.ix_(inside, inside)]
        if not blocks.single:
            system = system + here.slope * self._curl(base, sizes, inside)
        sides = np.stack([-gradient[inside] - here.slope * normals, normals], axis=1)
        newton, shrink = solve_symmetric(system, sides, self.stiffness[inside]).T
        mass = blocks.mass(base) + float(normals @ newton)
        longest = float(np.abs(normals).max())
        pull = longest * math.sqrt(max(float((normals / longest) @ (shrink / longest)), 0.0))
        rise = self.penalty.rise(here.slope, mass, pull)
        target, slope = np.zeros_like(base), here.slope + rise
        target[inside] = base[inside] + newton - rise * shrink
        kept = ~active
        kept |= blocks.sums(_scatter(target[inside] * normals, inside, len(base))) > 0
        return target, slope, kept

    def _normals(self, x: Array, gradient: Array, sizes: Array) -> Array:
        """Return the gradient of the gauge; towards the best atom where a block is zero."""
        blocks = self.blocks
        if blocks.single:
            signs = np.where(x != 0, np.sign(x), -np.sign(gradient)) if blocks.signed else np.ones_like(x)
            return signs * blocks.prices
        return x * blocks.over(np.where(sizes > 0, blocks.prices / np.where(sizes > 0, sizes, 1.0), 0.0))

    def _curl(self, x: Array, sizes: Array, inside: Index) -> Array:
        """Return the Hessian of the gauge: `price / norm (I - u u')` for each block with its direction u."""
        blocks = self.blocks
        labels = blocks.labels[inside]
        scale = blocks.prices[labels] / sizes[labels]
        direction = x[inside] / sizes[labels]
        same = labels[:, None] == labels[None, :]
        return np.where(same, scale[:, None] * (np.eye(len(inside)) - direction[:, None] * direction[None, :]), 0.0)

    def _inside(self, target: Array) -> Array:
        """Return a target that is beyond the limit of the penalty, by rounding or along a curved block, shrunk to it."""
        mass = self.blocks.mass(target)
        return target if self.penalty.admits(mass) else target * (self.penalty.limit / mass * (1 - 8 * EPS))

    def _change(self, here: "_Here", target: Array) -> float:
        """Return by how much the model changes from here to a target.

        Differences are taken before sums, so that the last digits of a change far smaller than the values are right.
        """
        move = target - here.x
        here.bent = self.hessian @ move
        charge = self._charge(here, target)
        return float(here.gradient @ move + move @ here.bent / 2) + charge

    def _charge(self, here: "_Here", target: Array) -> float:
        """Return what the penalty asks for the way to a target; by slopes where the difference of values would cancel."""
        penalty, before, after = self.penalty, self.blocks.mass(here.x), self.blocks.mass(target)
        if not penalty.admits(after):
            return np.inf
        growth = self.blocks.growth(here.x, target)
        if abs(growth) > 1e-4 * before:
            return penalty.value(after) - penalty.value(before)
        if on_edge(penalty, before) and on_edge(penalty, after):
            return growth * here.slope
        return growth * (penalty.slope(before) + penalty.slope(after)) / 2

    def _ratio_step(self, here: "_Here", sizes: Array, target: Array, active: Mask) -> float:
        """Go towards a target until the first block reaches zero, half as far again and again until it is better."""
        move, longest, first = target - here.x, 1.0, -1
        inward = -self.blocks.sums(here.x * move)
        crossing = np.flatnonzero(inward > sizes * sizes)
        if len(crossing):
            ratios = sizes[crossing] ** 2 / inward[crossing]
            first, longest = int(crossing[ratios.argmin()]), float(ratios.min())
        for _ in range(HALVINGS):
            trial = here.x + longest * move
            if first >= 0:
                trial[self.blocks.labels == first] = 0.0
            trial = self._inside(trial)
            fall = self._change(here, trial)
            if fall < 0:
                active = active & ((sizes == 0) | (self.blocks.norms(trial) > 0))
                here.go(trial, self._slope(here, trial), active, settled=False)
                return fall
            longest, first = longest / 2, -1
        here.settled = False
        return 0.0

    def _slope(self, here: "_Here", x: Array) -> float:
        """Return what the penalty charges at the margin; the last value known where that is not unique."""
        mass = self.blocks.mass(x)
        return here.slope if on_edge(self.penalty, mass) else self.penalty.slope(mass)


class _Here:
    """Where the search stands: the point, the gradient there, the slope of the penalty, the blocks of the face."""

    def __init__(self, x: Array, gradient: Array, slope: float, active: Mask) -> None:
        self.x, self.gradient, self.slope, self.active = x, gradient, slope, active
        self.settled = False
        self.bent: Array = gradient

    def go(self, target: Array, slope: float, active: Mask, *, settled: bool) -> None:
        """Move to a target whose change of gradient has just been computed."""
        self.x, self.gradient, self.slope = target, self.gradient + self.bent, slope
        self.active, self.settled = active, settled


def on_edge(penalty: Penalty, mass: float) -> bool:
    """Return whether a mass is at the limit of the penalty up to rounding, where the slope is open to choice."""
    return mass >= penalty.limit * (1 - EDGE)


def _scatter(values: Array, inside: Index, size: int) -> Array:
    spread = np.zeros(size)
    spread[inside] = values
    return spread


def solve_symmetric(system: Array, sides: Array, stiffness: Array) -> Array:
    """Solve a positive semidefinite system by Cholesky; a proximal term stands in where columns are dependent."""
    factor, failed = _potrf(system.T, lower=1, clean=0)
    proximal = PROXIMAL
    while failed or (np.diagonal(factor) ** 2 <= INDEPENDENT * np.diagonal(system)).any():
        damped = system.copy()
        damped[np.diag_indices_from(damped)] += proximal * np.where(stiffness > 0, stiffness, 1.0)
        factor, failed = _potrf(damped.T, lower=1, clean=0)
        if not failed or proximal > 1:
            break
        proximal *= 100
    solution, _ = _potrs(factor, sides, lower=1)
    return np.asarray(solution)
