"""The quadratic model of an objective on a few blocks, minimised face by face.

    minimise over x     g . (x - x0) + (x - x0)' H (x - x0) / 2 + phi( sum over blocks of price_b norm2(x_b) )

On a face (which blocks are not zero, and their directions) the gauge is smooth, and the whole shape phi enters through
one number, its slope alpha: the best point for a given alpha is `x + p - alpha q`, and alpha is where the mass of that
point is charged alpha. A block of one entry (a coordinate) has no curvature of its own, so its face is solved at once.
"""

import math
from dataclasses import dataclass

import numpy as np

from atomsieve.gauges.signs import some
from atomsieve.methods.corrective.blocks import Blocks
from atomsieve.methods.corrective.curvature import Products
from atomsieve.methods.corrective.factor import Factor, square
from atomsieve.methods.corrective.glide import Metric, Paraboloid, Spot, glide
from atomsieve.methods.corrective.large import LargeFace
from atomsieve.methods.corrective.margin import charge, marginal_slope
from atomsieve.methods.corrective.pivot import TABLEAU, best_face
from atomsieve.numerics.clock import late, look
from atomsieve.numerics.rounding import EPS
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Index, Mask

FACES = 60
"""Faces that are looked at before a model is left as it is: every one of them is an improvement."""

ENTER = 10
"""Blocks that may enter a face at once, at least."""

TRIALS = 8
"""Points on the way to a target that are compared."""

MODEL_STEPS = 40
"""Proximal steps that guess the face: together they cost less than one factor."""

CROWD = 0.1
"""Blocks that ask to enter, for each in the face, from which on a guess of the face pays."""

SHRINK = 0.1
"""Relative error of the answer to another slope on a large face: less and less of it is taken as the slope settles."""

LINE_HALVINGS = 40
"""How often a step is halved before its direction is given up."""


@dataclass(frozen=True, eq=False)
class Model:
    """Curvature and slope of the loss part around x0."""

    hessian: Array | Products
    gradient: Array
    blocks: Blocks
    penalty: Penalty
    stiffness: Array
    """The largest curvature that each entry can have anywhere."""
    reach: float
    """How fast the gap grows with a score beyond the slope of the penalty."""
    response: Array
    """The last known value of `-dx/dalpha` on a large face, alpha being the slope of the penalty; kept up to date."""
    factor: Factor | None = None
    """A factor of the Hessian on some entries, where one is known from before."""
    rough: float = 0.0
    """Part of the gap to begin with that is small enough, for a model that is only right to second order."""

    def minimise(self, x0: Array, slope: float, precision: float) -> tuple[Array, float]:
        """Return a better point than x0, the best one up to a gap of `precision` where that is reached, and its slope.

        `slope` is the alpha to begin with: what the penalty charges at the margin. Blocks enter the face several at a
        time; fewer, in the end one at a time, where that was no improvement.
        """
        factor = self.factor
        if factor is None and isinstance(self.hessian, np.ndarray):
            factor = Factor(self.hessian, self.stiffness)
        here = _Face(x0.copy(), self.gradient.copy(), slope, self.blocks.norms(x0) > 0, factor, precision)
        here.precision = precision = max(precision, self.rough * self._gap(here))
        if self.blocks.single and factor is not None and len(x0) <= TABLEAU and self._leap(here, precision):
            return here.x, here.slope
        if factor is not None and self._glide(here, precision):
            return here.x, here.slope
        self._faces(here, precision)
        return here.x, here.slope

    def _faces(self, here: "_Face", precision: float) -> None:
        """Go from face to face until nothing asks to enter; until then every point is a better one than the first."""
        quota = max(ENTER, int(np.count_nonzero(here.active)) // 2)
        for face in range(FACES):
            if late():
                break
            if here.settled or face == 0:
                entering = self._entering(here, quota, precision)
                if here.settled and not len(entering):
                    break
                self._enter(here, entering)
            fall = self._descend(here)
            if here.settled:
                quota = max(2 * quota, int(np.count_nonzero(here.active)) // 2)
                here.settled = self.blocks.single or fall >= -precision / 4
            elif fall == 0:
                if quota == 1:
                    break
                quota = max(1, quota // 4)
            else:  # a straight face is best solved to its end, a curved one only as far as that matters
                here.settled = not self.blocks.single and fall > -precision / 16

    def _leap(self, here: "_Face", precision: float) -> bool:
        """Go to what pivots say is the best point, if it is better; return whether it is good enough."""
        blocks = self.blocks
        assert isinstance(self.hessian, np.ndarray)  # noqa: S101
        found = best_face(
            self.hessian, here.gradient, here.x, here.slope, self.penalty, prices=blocks.prices, signed=blocks.signed
        )
        if found is None:
            return False
        x, slope = self._inside(found[0]), found[1]
        if not self._jump(here, x, slope):
            return False
        return self._gap(here) <= precision

    def _gap(self, here: "_Face") -> float:
        """Return how far a point is from the best one, more or less."""
        blocks, x = self.blocks, here.x
        excess = max(float((blocks.scores(-here.gradient) - here.slope).max()), 0.0)
        slack = np.abs(blocks.sums(x * here.gradient) + here.slope * blocks.prices * blocks.norms(x)).sum()
        return float(slack) + self.reach * excess

    def _glide(self, here: "_Face", precision: float) -> bool:
        """Go to where proximal steps lead, if that is better; return whether it is good enough.

        If not, most of the blocks that matter are known. Where few ask to enter, their face is known as it is.
        """
        blocks, hessian = self.blocks, self.hessian
        assert isinstance(hessian, np.ndarray)  # noqa: S101
        if len(self._entering(here, len(here.x), precision)) <= np.count_nonzero(here.active) * CROWD:
            return False
        diagonal = np.where(self.stiffness > 0, self.stiffness, 1.0)
        if blocks.single:
            curvature = hessian.diagonal()
            diagonal = np.where(curvature > 0, curvature, diagonal)
        else:
            diagonal = blocks.each(diagonal)
        metric = Metric(diagonal, blocks, self.penalty, here.slope)
        x = self._inside(glide(Paraboloid(hessian), metric, Spot(here.x, here.gradient), MODEL_STEPS).x)
        if not self._jump(here, x, here.slope):
            return False
        here.slope = marginal_slope(self.penalty, blocks.mass(x), -float(x @ here.gradient))
        return self._gap(here) <= precision

    def _jump(self, here: "_Face", x: Array, slope: float) -> bool:
        """Go to x, whatever lies between, if the model is lower there; return whether it is."""
        move = x - here.x
        bent = self.hessian @ move
        before, growth = self.blocks.mass(here.x), self.blocks.growth(here.x, x)
        charged = charge(self.penalty, before, before + growth, growth, here.slope)
        fall = float(move @ (here.gradient + bent / 2)) + charged
        if fall < 0:
            here.go(x, bent, slope, self.blocks.norms(x) > 0, settled=False)
        return fall < 0

    def _entering(self, here: "_Face", quota: int, precision: float) -> Index:
        """Return the blocks at zero that would lower the objective most, a limited number of them."""
        excess = self.blocks.scores(-here.gradient) - here.slope
        excess[here.active] = 0.0
        wanted = np.flatnonzero(excess > precision / (2 * self.reach) + 8 * EPS * here.slope)
        if len(wanted) > quota:
            wanted = wanted[np.argpartition(-excess[wanted], quota - 1)[:quota]]
        return wanted

    def _enter(self, here: "_Face", entering: Index) -> None:
        """Add blocks to the face."""
        if len(entering) and not self.blocks.single:
            self._sprout(here, entering)
            here.active = self.blocks.norms(here.x) > 0
        else:
            here.active[entering] = True

    def _descend(self, here: "_Face") -> float:
        """Go to the best point of the face, or as far towards it as is best; return the change.

        On the way blocks that reach zero stay there, and leave the face.
        """
        sizes = self.blocks.norms(here.x)
        active = here.active
        fall = 0.0
        while active.any():
            look()
            target, slope, kept = self._face(here, sizes, active)
            if kept.all():
                falls, bent = self._changes(here, trial := target[:, None].copy())
                if falls[0] <= 16 * EPS * here.slope * self.blocks.mass(here.x):  # nothing but rounding
                    here.go(trial[:, 0], bent[:, 0], slope, active, settled=True)
                    return min(float(falls[0]), 0.0)
            fall = self._search(here, sizes, target)
            idle = ~kept & (sizes == 0)
            if fall < 0 or not idle.any():
                break
            active = active & ~idle  # blocks that entered and turn back at once
        return fall

    def _search(self, here: "_Face", sizes: Array, target: Array) -> float:
        """Go to the best of some points on the way to a target, and return the change; stay where none is better."""
        blocks = self.blocks
        move = target - here.x
        if blocks.single:
            move[(sizes == 0) & (target * here.normals < 0)] = 0.0
        inward = -blocks.sums(here.x * move)
        crossing = np.flatnonzero(inward > sizes * sizes)
        arrival = np.full(len(sizes), np.inf)
        arrival[crossing] = sizes[crossing] ** 2 / inward[crossing]
        steps = self._stops(arrival[crossing])
        here.settled = False
        # where each trial costs a product with A, the whole way first: it mostly does
        whole_first = not isinstance(self.hessian, np.ndarray) and len(steps) > 1
        groups = np.split(steps, [-1])[::-1] if whole_first else [steps]
        for group in (*groups, 2.0 ** -np.arange(4, LINE_HALVINGS) * steps[0]):
            trials = here.x[:, None] + group * move[:, None]
            trials[blocks.over(arrival)[:, None] <= group] = 0.0
            falls, bent = self._changes(here, trials)
            best = int(falls.argmin())
            if falls[best] < 0:
                x = np.ascontiguousarray(trials[:, best])
                here.go(x, bent[:, best], here.slope, blocks.norms(x) > 0, settled=False)
                here.slope = marginal_slope(self.penalty, blocks.mass(x), -float(x @ here.gradient))
                return float(falls[best])
        return 0.0

    @staticmethod
    def _stops(arrivals: Array) -> Array:
        """Return the steps to try: some of those at which blocks reach zero, the first always, and the whole way."""
        stops = np.ones(len(arrivals) + 1)
        stops[:-1] = np.sort(arrivals)
        return stops if len(stops) <= TRIALS else stops[np.linspace(0, len(stops) - 1, TRIALS).astype(np.intp)]

    def _sprout(self, here: "_Face", entering: Index) -> None:
        """Move blocks off zero, each along its best atom, together as far as is best along that direction."""
        blocks = self.blocks
        chosen = np.zeros(len(blocks.prices), dtype=bool)
        chosen[entering] = True
        direction = np.where(blocks.over(chosen), -here.gradient, 0.0)
        norms = blocks.norms(direction)
        pull = norms - here.slope * blocks.prices
        stiff = blocks.sums(self.stiffness * direction * direction)
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

    def _face(self, here: "_Face", sizes: Array, active: Mask) -> tuple[Array, float, Mask]:
        """Return the best point of a face, its slope, and which blocks did not cross zero on the way."""
        blocks, slope = self.blocks, here.slope
        entries = np.flatnonzero(blocks.over(active))
        x, gradient = here.x[entries], here.gradient[entries]
        normals = self._normals(entries, x, gradient, sizes)
        sides = np.empty((len(entries), 2), order="F")
        sides[:, 0] = -gradient - slope * normals
        sides[:, 1] = normals
        steps = self._solve(here, entries, sizes, sides)
        newton, shrink = steps[:, 0], steps[:, 1]
        longest = float(np.abs(normals).max())
        pull = longest * math.sqrt(max(float((normals / longest) @ (shrink / longest)), 0.0))
        rise = self.penalty.rise(slope, float(normals @ (x + newton)), pull)
        target, here.normals = np.zeros_like(here.x), np.zeros_like(here.x)
        target[entries] = x + newton - rise * shrink
        here.normals[entries] = normals
        return target, slope + rise, ~active | (blocks.sums(target * here.normals) > 0)

    def _solve(self, here: "_Face", entries: Index, sizes: Array, sides: Array) -> Array:
        """Return the Newton step on the face and the step along its normals."""
        if not isinstance(self.hessian, np.ndarray):
            return self._iterate(here, entries, sizes, sides)
        if here.factor is not None and self.blocks.single:
            return here.factor.solve(entries, sides)
        system = self._bend_gauge(square(self.hessian, entries), entries, here.x[entries], sizes, here.slope)
        return Factor(system, self.stiffness[entries]).solve(np.arange(len(entries)), sides)

    def _iterate(self, here: "_Face", entries: Index, sizes: Array, sides: Array) -> Array:
        """Solve the system of a large face by conjugate gradients, on a curved face as far as one step needs."""
        blocks, hessian = self.blocks, self.hessian
        assert isinstance(hessian, Products)  # noqa: S101
        stiffness, norms = self.stiffness[entries], blocks.over(sizes)[entries]
        if blocks.single:
            labels = np.arange(len(entries))
            bend = 0.0
            rtol = 1e-2
        else:
            labels = np.unique(blocks.labels[entries], return_inverse=True)[1]
            bend = here.slope * blocks.over(blocks.prices)[entries] / norms
            rtol = 0.1
        directions = here.x[entries] / np.where(norms > 0, norms, 1.0)
        face = LargeFace(hessian.restrict(entries), stiffness, labels, directions, bend)
        prices, x = blocks.over(blocks.prices)[entries], here.x[entries]

        def small(step: Array, residual: Array) -> bool:
            """Return whether what is left costs no more than the gap that is asked for."""
            off = np.abs(residual)
            return float(np.abs(x + step) @ off) + self.reach * float((off / prices).max()) <= here.precision / 2

        solved, (length, breadth) = np.zeros_like(sides), np.linalg.norm(sides, axis=0)
        solved[:, 0] = face.solve(sides[:, 0], rtol * length, small if blocks.single else None)
        if self.penalty.superlinear:  # else the slope is what it is
            normals, known = sides[:, 1], self.response[entries]
            rise = self._expected_rise(here.slope, float(normals @ (x + solved[:, 0])), float(normals @ known))
            # its residual, times the rise, is to be no more than what the step itself leaves
            enough = SHRINK * max(breadth, length / rise if rise > 0 else np.inf)
            solved[:, 1] = self.response[entries] = face.solve(normals, enough, start=known)
        return solved

    def _expected_rise(self, slope: float, mass: float, square: float) -> float:
        """Return by how much the slope will change, in size, judging by the square of the pull that is known."""
        return abs(self.penalty.rise(slope, mass, math.sqrt(square))) if square > 0 else np.inf

    def _normals(self, entries: Index, x: Array, gradient: Array, sizes: Array) -> Array:
        """Return the gradient of the gauge; towards the best atom where a coordinate is zero."""
        blocks = self.blocks
        if not blocks.single:
            labels = blocks.labels[entries]
            return x * (blocks.prices[labels] / sizes[labels])
        prices, signed = blocks.prices[entries], some(blocks.signed, entries)
        if signed is False:
            return prices
        normals = np.copysign(prices, np.where(x != 0, x, -gradient))
        return normals if signed is True else np.where(signed, normals, prices)

    def _bend_gauge(self, system: Array, entries: Index, x: Array, sizes: Array, slope: float) -> Array:
        """Add the Hessian of the gauge, `price / norm (I - u u')` for each block with its direction u, in place."""
        labels = self.blocks.labels[entries]
        norms = sizes[labels]
        scale, direction = slope * self.blocks.prices[labels] / norms, x / norms
        first, second = self.blocks.pairs(entries)
        system[first, second] -= (scale * direction)[first] * direction[second]
        system.ravel()[:: len(system) + 1] += scale
        return system

    def _changes(self, here: "_Face", targets: Array) -> tuple[Array, Array]:
        """Return by how much the model changes from here to each target of the face, and the change of the gradient.

        Targets beyond the limit of the penalty, by rounding or along a curved block, are shrunk to it in place.
        Differences are taken before sums, so that the last digits of a change far smaller than the values are right.
        """
        penalty, blocks = self.penalty, self.blocks
        masses = np.maximum(here.normals @ targets, 0.0) if blocks.single else blocks.masses(targets)
        if penalty.limit < np.inf:
            for k in np.flatnonzero(masses >= penalty.limit):
                targets[:, k] = self._inside(targets[:, k])
                masses[k] = blocks.mass(targets[:, k])
        moves = targets - here.x[:, None]
        bent = self.hessian @ moves
        falls = here.gradient @ moves + np.einsum("ij,ij->j", moves, bent) / 2
        before = blocks.mass(here.x)
        # on a straight face the gauge is linear
        growths = here.normals @ moves if blocks.single else blocks.growths(here.x, targets)
        masses_and_growths = zip(masses, growths, strict=True)
        charges = [charge(penalty, before, after, grown, here.slope) for after, grown in masses_and_growths]
        return falls + charges, bent

    def _inside(self, x: Array) -> Array:
        """Return x, shrunk to the limit of the penalty where rounding has taken it beyond."""
        mass = self.blocks.mass(x)
        return x if self.penalty.admits(mass) else x * (self.penalty.limit / mass * (1 - 8 * EPS))


class _Face:
    """Where the search stands: the point, the gradient there, the slope of the penalty, the blocks of the face."""

    def __init__(
        self, x: Array, gradient: Array, slope: float, active: Mask, factor: Factor | None, precision: float
    ) -> None:
        self.x = x
        self.gradient = gradient
        self.slope = slope
        self.active = active
        self.factor, self.precision = factor, precision
        self.settled = False
        self.normals = np.zeros_like(x)  # of the face looked at last

    def go(self, target: Array, bent: Array, slope: float, active: Mask, *, settled: bool) -> None:
        """Move to a target, where the gradient is different by `bent`."""
        self.x = target
        self.gradient = self.gradient + bent
        self.slope = slope
        self.active, self.settled = active, settled
