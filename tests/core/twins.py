"""Slow and obvious twins of the compiled core, and problems to compare them on.

All sums are in extended precision where the machine has it. Nothing here is taken from the package: the core is a
module that is handed in, and called as `atomsieve.core` calls it.
"""

import importlib.machinery
import importlib.util
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

SQUARED, LOGISTIC, HUBER, HINGE, POISSON = range(5)
LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "Huber": HUBER, "squared hinge": HINGE, "Poisson": POISSON}
KINDS = ["random", "duplicates", "zeros", "spanned", "rank one", "nearly", "binary"]
SPLITS = ["no", "both", "entries", "some", "signs"]
LONG = np.longdouble


def load(name, path):
    """Return a build of the core that lies anywhere."""
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    core = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(core)
    core.take_blas(cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__)
    return core


@dataclass(eq=False)
class Case:
    """One problem on a working set; prices are those of x as it is, not in units."""

    A: np.ndarray
    y: np.ndarray
    w: np.ndarray
    Q: np.ndarray
    ends: np.ndarray
    prices: np.ndarray
    units: np.ndarray
    negative: np.ndarray
    loss: int = SQUARED
    delta: float = 1.0
    line: tuple[float, float] = (0.1, 0.0)
    offset: np.ndarray | None = None
    x: np.ndarray | None = None
    c: np.ndarray | None = None
    ids: np.ndarray | None = None
    sparse: bool = False
    caution: float = 0.0
    ridge: float = 0.0
    each: np.ndarray | None = None
    limits: tuple[np.ndarray, np.ndarray] | None = None
    kept: dict = field(default_factory=dict)

    @property
    def starts(self):
        return np.append(0, self.ends[:-1])

    @property
    def singles(self):
        """What each block charges for the absolute values of its entries, not in units."""
        return np.zeros(len(self.ends)) if self.each is None else self.each

    @property
    def split(self):
        """Whether entries of a block are 0 one by one: they have a price, or a sign."""
        signed = np.add.reduceat(self.negative == 0, self.starts) > 0
        return (self.singles > 0) | (signed & (self.ends - self.starts > 1))

    @property
    def unit_of(self):
        """The unit of each entry."""
        return np.repeat(self.units, self.ends - self.starts)

    def but(self, **parts):
        """Return the problem with other parts."""
        return replace(self, kept={}, **parts)

    def part(self, blocks):
        """Return the problem with some of the blocks."""
        entries = np.concatenate([np.arange(self.starts[b], self.ends[b]) for b in blocks])
        ids = np.arange(self.A.shape[1]) if self.ids is None else self.ids
        return self.but(
            A=self.A[:, entries], ends=np.cumsum((self.ends - self.starts)[blocks]), prices=self.prices[blocks],
            units=self.units[blocks], negative=self.negative[entries], x=None if self.x is None else self.x[entries],
            ids=ids[entries], each=self.singles[blocks],
            limits=None if self.limits is None else tuple(side[entries] for side in self.limits),
        )  # fmt: skip

    # How the core reads it.

    def packed(self):
        """Return the columns as the core reads them, by rows of their entries if they are sparse."""
        n, m = self.A.shape
        if not self.sparse:
            return self.A.ravel(order="F"), None, n * np.arange(m), None, np.full(m, n)
        held = self.A.T != 0
        counts = np.count_nonzero(held, axis=1)
        starts = np.cumsum(counts) - counts
        return self.A.T[held], np.nonzero(held)[1].astype(np.int32), starts, starts, counts

    def blocks(self):
        stiffness = np.array(
            [
                np.linalg.norm(np.sqrt(self.w)[:, None] * (self.A[:, s:e] * unit), 2) ** 2 * (1 + 1e-12)
                for s, e, unit in zip(self.starts, self.ends, self.units, strict=True)
            ]
        )
        ridges = (np.sqrt(self.ridge) * self.units) ** 2
        each = self.singles * self.units
        limits = None if self.limits is None else tuple(side / self.unit_of for side in self.limits)
        return self.ends, self.prices * self.units, each, self.units, stiffness, ridges, self.negative, limits

    def arguments(self, store, target=0.0, respond=False, seconds=60.0):
        """Return what `restricted` takes; arrays that are written are new."""
        n, m = self.A.shape
        k = self.Q.shape[1]
        x = np.zeros(m) if self.x is None else self.x.copy()
        c = np.zeros(k) if self.c is None else self.c.copy()
        ids = np.arange(m) if self.ids is None else self.ids
        samples = (self.y, self.w, self.offset, self.Q.ravel(order="F"))
        place = (x, c, np.full(n, np.nan), np.full(m, np.nan))
        return [
            store, self.packed(), ids, self.blocks(), (self.loss, self.delta), samples, place,
            self.line, target, self.caution, seconds, respond,
        ]  # fmt: skip

    def run(self, core, store=None, **options):
        """Let the core solve it."""
        arguments = self.arguments(core.store() if store is None else store, **options)
        gap, mass, response, rounds, caution = core.restricted(*arguments)
        return Found(gap, mass, response, rounds, caution, *arguments[6])

    # What it means.

    @property
    def scaled(self):
        """Columns and prices in units, in extended precision."""
        if "scaled" not in self.kept:
            self.kept["scaled"] = self.A.astype(LONG) * self.unit_of, self.prices.astype(LONG) * self.units
        return self.kept["scaled"]

    def norms(self, v):
        return np.sqrt(np.add.reduceat(v * v, self.starts))

    def masses(self, v):
        """Return what each block charges."""
        return self.scaled[1] * self.norms(v) + self.singles * self.units * np.add.reduceat(np.abs(v), self.starts)

    def mass(self, v):
        return self.masses(v).sum()

    def predictions(self, v, c):
        """Return u for coefficients in units."""
        u = self.scaled[0] @ v + self.Q.astype(LONG) @ c
        return u if self.offset is None else u + self.offset

    def penalty(self, mass):
        return self.line[0] * mass + self.line[1] * mass * mass / 2

    def objective(self, v, c):
        return weighted(self.w, self.value(self.predictions(v, c))) + self.penalty(self.mass(v)) + self.held(v)

    @property
    def ridges(self):
        """The ridge of each entry, in units."""
        return LONG(self.ridge) * self.unit_of.astype(LONG) ** 2

    def held(self, v):
        """Return what the ridge charges."""
        return (self.ridges * v * v).sum() / 2

    def value(self, u):
        y, delta = self.y.astype(LONG), LONG(self.delta)
        match self.loss:
            case 0:
                return (u - y) ** 2 / 2
            case 1:
                return np.logaddexp(LONG(0), -y * u)
            case 2:
                far = np.abs(u - y)
                return np.where(far <= delta, far**2 / 2, delta * far - delta**2 / 2)
            case 3:
                return np.maximum(1 - y * u, 0) ** 2 / 2
        return np.exp(u) - y * u

    def slope(self, u):
        y, delta = self.y.astype(LONG), LONG(self.delta)
        match self.loss:
            case 0:
                return u - y
            case 1:
                return -y * np.exp(-np.logaddexp(LONG(0), y * u))
            case 2:
                return np.clip(u - y, -delta, delta)
            case 3:
                return -y * np.maximum(1 - y * u, 0)
        return np.exp(u) - y

    def curvature(self, u):
        y = self.y.astype(LONG)
        match self.loss:
            case 0:
                return np.ones_like(u)
            case 1:
                p = np.abs(self.slope(u))
                return p * (1 - p)
            case 2:
                return (np.abs(u - y) <= self.delta).astype(LONG)
            case 3:
                return (y * u < 1).astype(LONG)
        return np.exp(u)

    def conjugate(self, t):
        """Return `sup over u of t u - loss(u)` at slopes, which are moved into the domain if rounding left it."""
        y = self.y.astype(LONG)
        match self.loss:
            case 0 | 2:
                return t * t / 2 + t * y
            case 1:
                s = np.clip(-t * y, 0, 1)
                return entropy(s) + entropy(1 - s)
            case 3:
                s = np.maximum(-t * y, 0)
                return s * s / 2 - s
        return entropy(np.maximum(t + y, 0)) - np.maximum(t + y, 0)

    def gap(self, v, c):
        """Return the duality gap at coefficients in units: that of the slopes there, made feasible by scaling.

        A ridge counts as squared samples of its own, one for each entry, which are scaled as well.
        """
        u, mass, (a, b) = self.predictions(v, c), self.mass(v), self.line
        Q = self.Q.astype(LONG)
        t = self.slope(u)
        t = t - Q @ (Q.T @ (self.w * t))
        z = -self.scaled[0].T @ (self.w * t) - self.ridges * v
        if self.limits is not None:
            return min(self.gap_within(v, u, t, z, way) for way in ("mass", "both", "score"))
        top = self.scores(z).max(initial=0)
        scale = min(LONG(1), a / top) if b == 0 and top > 0 else LONG(1)
        apart = weighted(self.w, self.value(u) + self.conjugate(scale * t) - scale * t * u)
        charged = 0 if b == 0 else max(top - a, 0) ** 2 / (2 * LONG(b))
        return apart + self.penalty(mass) + charged - scale * (v @ z) + (1 - scale) ** 2 * self.held(v)

    def gap_within(self, v, u, t, z, way):
        """Return the same within limits of single entries: each pays for the way that it may go beyond the slope s.

        The best z . x is `p z - s price |p|` at the p within the limits that is nearest to 0, and what exceeds the
        slope from there to a limit. Any s will do: the slope at the mass, the best score of the ways that are open at
        x, or the larger one of both; with the latter two the slopes of a linear penalty are scaled.
        """
        (a, b), prices = self.line, self.scaled[1]
        lower, upper = (side.astype(LONG) / self.unit_of for side in self.limits)
        near = np.clip(0, lower, upper)
        ways = [(z / prices, upper, v < upper), (-z / prices, lower, v > lower)]
        slope, scale = a + b * self.mass(v), LONG(1)
        if way != "mass":
            top = max(score[still].max(initial=0) for score, _, still in ways)
            slope = a if b == 0 else max(top, a if way == "score" else slope)
            scale = min(LONG(1), a / top) if b == 0 and top > 0 else LONG(1)
        best = scale * (near @ z) - slope * (prices * np.abs(near)).sum()
        for score, end, _ in ways:
            over = np.maximum(scale * score - slope, 0) * prices
            best += (over[over > 0] * np.abs(end - near)[over > 0]).sum()
        charged = 0 if b == 0 else max(slope - a, 0) ** 2 / (2 * LONG(b))
        apart = weighted(self.w, self.value(u) + self.conjugate(scale * t) - scale * t * u)
        held = (1 - scale) ** 2 * self.held(v)
        return apart + self.penalty(self.mass(v)) + charged + best - scale * (v @ z) + held

    def scores(self, z):
        """Return what the best atom of each block pulls: the t at which `t kappa` shrinks it to 0, by bisection."""
        z = z.astype(LONG)
        prices = np.maximum(self.scaled[1], self.singles * self.units)
        low, high = np.zeros(len(self.ends), dtype=LONG), len(z) * self.norms(z) / prices
        for _ in range(90):
            middle = (low + high) / 2
            left = self.norms(self.shrunk(z, np.repeat(middle, self.ends - self.starts))) > 0
            low, high = np.where(left, middle, low), np.where(left, high, middle)
        return low

    def shrunk(self, v, level):
        """Return the prox of `level kappa`, with a level for each entry: soft thresholds, then shorter blocks."""
        if "by entry" not in self.kept:
            owner = np.repeat(np.arange(len(self.ends)), self.ends - self.starts)
            self.kept["by entry"] = owner, (self.singles * self.units)[owner], self.scaled[1][owner]
        owner, each, prices = self.kept["by entry"]
        v = np.where((self.negative == 0) & (v < 0), 0, v)
        left = np.sign(v) * np.maximum(np.abs(v) - level * each, 0)
        sizes = self.norms(left)[owner]
        return left * np.where(sizes > level * prices, 1 - level * prices / np.where(sizes > 0, sizes, 1), 0)

    def allowed(self, x):
        within = self.limits is None or ((x >= self.limits[0]) & (x <= self.limits[1])).all()
        return bool(within and (x[self.negative == 0] >= 0).all())

    def cut(self, v):
        """Return the point within the limits that is nearest to v, in units."""
        return v if self.limits is None else np.clip(v, *(side.astype(LONG) / self.unit_of for side in self.limits))

    def scale(self):
        """Return what a gap is small beside: the objective at the start, without what no coefficient changes."""
        u = self.predictions(np.zeros(self.A.shape[1]), np.zeros(self.Q.shape[1]))
        still = self.value(u) + self.conjugate(np.zeros(len(u), dtype=LONG)) if self.loss != POISSON else self.value(u)
        return float(weighted(self.w, np.abs(still)))

    def prox(self, v, step):
        """Return the minimiser of `|p - v|^2 / 2 + step phi(mass(p))`: all blocks shrink at one slope, by bisection."""
        a, b = self.line

        def there(slope):
            return self.cut(self.shrunk(v, step * slope))

        low, high = LONG(a), a + b * self.mass(there(LONG(a)))
        for _ in range(70 if b > 0 else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if a + b * self.mass(there(middle)) > middle else (low, middle)
        return there(low)

    def solve(self, steps=20_000):
        """Minimise by accelerated proximal gradient steps with restarts; return coefficients in units and c."""
        A, Q, w = self.scaled[0], self.Q.astype(LONG), self.w.astype(LONG)
        m = A.shape[1]
        both = np.hstack([A, Q])
        here = np.zeros(both.shape[1], dtype=LONG)
        ahead, pace, still = here, LONG(1), 0
        fixed = 0 if self.offset is None else self.offset
        ridges = np.append(self.ridges, np.zeros(Q.shape[1], dtype=LONG))
        bound = LONG(np.linalg.norm((np.sqrt(w)[:, None] * both).astype(float), 2) ** 2) * LONG(1.0001) + ridges.max()
        for _ in range(steps):
            u = both @ ahead + fixed
            gradient = both.T @ (w * self.slope(u)) + ridges * ahead
            while True:
                there = ahead - gradient / bound
                there[:m] = self.prox(there[:m], 1 / bound)
                moved = there - ahead
                bent = weighted(w, self.value(both @ there + fixed) - self.value(u)) - gradient @ moved
                bent += (ridges * (there * there - ahead * ahead)).sum() / 2
                if self.loss != POISSON or bent <= bound * (moved @ moved) / 2 * (1 + LONG(1e-6)) + LONG(1e-18):
                    break
                bound *= 2
            still = still + 1 if np.abs(there - here).max() <= 1e-18 * np.abs(there).max() else 0
            if still == 3:
                break
            if (ahead - there) @ (there - here) > 0:
                ahead, pace = there, LONG(1)
            else:
                following = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
                ahead, pace = there + (pace - 1) / following * (there - here), following
            here = there
        return here[:m], here[m:]

    def response(self, v, c):
        """Return `p' (H + bend)^-1 p` on the support, where p is the gradient of the mass."""
        A, Q = self.scaled[0], self.Q.astype(LONG)
        h = self.w * self.curvature(self.predictions(v, c))
        H = A.T @ (h[:, None] * A)
        if Q.shape[1]:
            inner, along = (Q.T @ (h[:, None] * Q)).astype(float), (A.T @ (h[:, None] * Q)).astype(float)
            H = H - along @ np.linalg.pinv(inner) @ along.T
        H = H + np.diag(self.ridges)
        stiff = np.diag(A.T @ (self.w[:, None] * A)).max(initial=0)
        return self.face_response(H, v, float(stiff))

    def face_response(self, H, v, stiff):
        """Return the same for a Hessian H, NaN where there is hardly any curvature."""
        H, prices, each = np.array(H, dtype=float), self.scaled[1], self.singles * self.units
        p, slope = np.zeros(len(v)), self.line[0] + self.line[1] * float(self.mass(v))
        on = np.zeros(len(v), dtype=bool)
        for k, (s, e) in enumerate(zip(self.starts, self.ends, strict=True)):
            norm = np.sqrt(float(v[s:e] @ v[s:e]))
            if norm > 0:
                direction = (v[s:e] / norm).astype(float)
                on[s:e] = (v[s:e] != 0) | ~self.split[k]
                if self.limits is not None:
                    on[s] = self.limits[0][s] < v[s] * self.units[k] < self.limits[1][s]
                p[s:e] = float(prices[k]) * direction + float(each[k]) * np.sign(direction)
                if e - s > 1:
                    H[s:e, s:e] += slope * float(prices[k]) / norm * (np.eye(e - s) - np.outer(direction, direction))
        if not on.any():
            return 0.0
        H = H[np.ix_(on, on)]
        return float(p[on] @ np.linalg.solve(H, p[on])) if np.linalg.eigvalsh(H)[0] > 1e-7 * stiff else np.nan


@dataclass(eq=False)
class Found:
    """What the core returned."""

    gap: float
    mass: float
    response: float
    rounds: int
    caution: float
    x: np.ndarray
    c: np.ndarray
    image: np.ndarray
    z: np.ndarray


def weighted(w, values):
    """Return the sum of values with weights; a weight of 0 takes away what is infinite."""
    return (w[w > 0] * values[w > 0]).sum()


def entropy(s):
    return np.where(s > 0, s * np.log(np.where(s > 0, s, 1)), 0)


def quadratic_objective(H, z, begin, x, starts, prices, each, line):
    """Return `-z . d + d' H d / 2 + phi(mass(x))`, d = x - begin."""
    d = x.astype(LONG) - begin
    norms, sizes = np.sqrt(np.add.reduceat(x.astype(LONG) ** 2, starts)), np.add.reduceat(np.abs(x), starts)
    mass = (prices * norms + each * sizes).sum()
    return -z @ d + d @ H.astype(LONG) @ d / 2 + line[0] * mass + line[1] * mass * mass / 2


def best(scores, count):
    """Return the places of the best scores, found one after another."""
    chosen = np.zeros(len(scores), dtype=bool)
    for _ in range(count):
        left = [i for i in range(len(scores)) if not chosen[i] and scores[i] > -np.inf]
        if not left:
            break
        chosen[max(left, key=lambda i: (scores[i], -i))] = True
    return np.flatnonzero(chosen)


def kept(scores, spread, lengths, radius, doubt, floor):
    """Return which blocks may have the best score."""
    with np.errstate(all="ignore"):
        reach = radius * spread + doubt * lengths
        floor = max([floor, *(scores - reach)])
        return np.array([not score < floor for score in scores + reach], dtype=bool)


# Problems.


def blocks_of(rng, m, kind):
    """Return where blocks end."""
    if kind == "single":
        return np.arange(1, m + 1)
    if kind == "one":
        return np.array([m])
    chosen = rng.random(m) < (0.5 if kind == "mixed" else 0.25)
    chosen[-1] = True
    return np.flatnonzero(chosen) + 1


def columns_of(rng, n, m, kind, Q):
    A = rng.standard_normal((n, m))
    if kind == "duplicates":
        A = A[:, rng.integers(0, max(1, m // 2), m)] * rng.choice([-1.0, 1.0], m)
    elif kind == "zeros":
        A[:, rng.random(m) < 0.5] = 0
    elif kind == "spanned" and Q.shape[1]:
        inside = rng.random(m) < 0.5
        A[:, inside] = Q @ rng.standard_normal((Q.shape[1], np.count_nonzero(inside)))
    elif kind == "rank one":
        A = np.outer(A[:, 0], rng.standard_normal(m))
    elif kind == "nearly":
        A = A[:, rng.integers(0, max(1, m // 2), m)] + 1e-9 * A
    elif kind == "binary":
        A = (A > 0.5).astype(float)
    return A


def weights_of(rng, n, kind):
    w = np.full(n, 1.0 / n)
    if kind == "random":
        w = rng.uniform(0.5, 2, n) / n
    elif kind == "zeros":
        w = np.where(rng.random(n) < 0.4, 0.0, w)
        w[rng.integers(n)] = 1.0 / n
    elif kind == "decades":
        w = 10.0 ** rng.uniform(-3, 3, n) / n
    return w


def basis_of(rng, w, free, loss):
    """Return unpenalised directions, orthonormal in the metric of w: the constant one, and perhaps another."""
    n = len(w)
    free = min(free, np.count_nonzero(w), 1 if loss in (LOGISTIC, POISSON) else 2)
    B = np.hstack([np.ones((n, 1)), rng.standard_normal((n, 1))])[:, :free]
    if not free:
        return B
    root = np.linalg.cholesky(B.T @ (w[:, None] * B))
    return np.linalg.solve(root, B.T).T


def targets_of(rng, loss, signal, size):
    if loss in (LOGISTIC, HINGE):
        y = np.where(signal > 0, 1.0, -1.0)
        y[: len(y) // 3] *= rng.choice([-1.0, 1.0], len(y) // 3)
        return y
    return rng.poisson(np.exp(np.clip(signal, -2, 3))).astype(float) if loss == POISSON else size * signal


def make(
    seed, loss=SQUARED, n=12, m=6, kind="random", blocks="single", line="linear", share=0.2, free=0, weights="equal",
    offset=False, signs="both", sparse=False, decades=0.0, size=1.0, start="zero", priced=False, ridge=0.0, split="no",
    limits=False,
):  # fmt: skip
    """Return a problem from a seed; `share` is the part of the critical slope that the penalty has.

    `ridge` is that of the units in which blocks have curvatures of about 1. With `split` entries of blocks are 0 one by
    one: all blocks have a price of entries beside that of the norm ("both"), or in its place ("entries"), some have
    ("some"), or entries of blocks may have signs ("signs"). Single entries may have limits.
    """
    rng = np.random.default_rng(seed)
    w = weights_of(rng, n, weights)
    Q = basis_of(rng, w, free, loss)
    A = columns_of(rng, n, m, kind, Q)
    if sparse:
        A[rng.random((n, m)) < 0.6] = 0
    signal = A @ np.where(rng.random(m) < 0.6, rng.standard_normal(m), 0) + 0.5 * rng.standard_normal(n)
    signal = np.clip(signal / max(np.abs(signal).max(), 1e-3) * 3, -3, 3)
    y = targets_of(rng, loss, signal, size)
    if Q.shape[1] and loss in (LOGISTIC, POISSON):  # a best intercept must exist
        on = np.flatnonzero(w)
        y[on[0]], y[on[-1]] = (1.0, -1.0) if loss == LOGISTIC and len(on) > 1 else (1.0, 1.0)
        if len(on) == 1 and loss == LOGISTIC:
            Q = Q[:, :0]
    ends = blocks_of(rng, m, blocks)
    starts = np.append(0, ends[:-1])
    scales = 10.0 ** rng.uniform(-decades, decades, len(ends))
    A = A * np.repeat(scales, ends - starts)
    squares = (A / np.repeat(scales, ends - starts)) ** 2
    lengths, plain = (np.sqrt(np.add.reduceat(v @ squares, starts)) for v in (w, np.ones(n)))
    lengths = np.where(lengths > 0, lengths, plain) * scales
    units = np.ldexp(1.0, -np.frexp(lengths)[1])
    prices = np.where(lengths > 0, lengths, 1.0) if priced or decades > 3 else np.ones(len(ends))
    prices = prices * rng.choice([0.5, 1.0, 2.0], len(ends))
    single = np.repeat(ends - starts == 1, ends - starts)
    negative = {"both": np.ones(m), "positive": np.zeros(m), "mixed": rng.integers(0, 2, m)}[signs].astype(np.uint8)
    if split == "no":
        negative[~single] = 1
    part = {"both": 0.5, "entries": 0.9}.get(split, 0.7 * rng.integers(0, 2, len(ends)) if split == "some" else 0.0)
    delta = 0.3 * size if loss == HUBER else 0.0
    case = Case(A, y, w, Q, ends, (1 - part) * prices, units, negative, loss, delta, sparse=sparse)
    case.each = None if split == "no" else part * prices
    case.caution = float(loss in (HUBER, HINGE))
    if offset:
        case.offset = rng.standard_normal(n) * (size if loss in (SQUARED, HUBER) else 0.5)
    begin_at(rng, case, start, size if loss in (SQUARED, HUBER) else 1.0, limits and single.all() and split == "no")
    case.line = line_of(case, line, share)
    case.ridge = ridge / float(np.median(units)) ** 2 if decades <= 3 else 0.0
    return case


def begin_at(rng, case, start, size, limits):
    """Give a problem coefficients to begin with, of a size, and limits if it has any."""
    m = len(case.negative)
    if start != "zero":
        moved = rng.random(m) < (1.0 if start == "full" else 0.4)
        x = np.where(moved, 0.3 * rng.standard_normal(m), 0) * size
        case.x = np.where(case.negative == 0, np.abs(x), x) * case.unit_of
        case.c = 0.1 * rng.standard_normal(case.Q.shape[1]) * size
    if limits:
        case.limits = limits_of(rng, case, size)
        case.x = np.clip(0.0 if case.x is None else case.x, *case.limits)


def limits_of(rng, case, size):
    """Return limits around 0, on one side of it, on both sides of one number, and none."""
    m = len(case.negative)
    middle = np.where(rng.random(m) < 0.2, 0.2 * rng.standard_normal(m), 0.0)
    down, up = (np.where(rng.random(m) < 0.1, 0.0, 0.3 * np.abs(rng.standard_normal(m))) for _ in range(2))
    down, up = (np.where(rng.random(m) < 0.2, np.inf, side) for side in (down, up))
    lower, upper = (middle - down) * size, (middle + up) * size
    lower = np.where(case.negative == 0, np.maximum(lower, 0.0), lower)
    return lower * case.unit_of, np.maximum(lower, upper) * case.unit_of


def line_of(case, line, share):
    """Return slopes (a, b): of the size of the best score at 0, and what doubles it at a mass that is usual."""
    zero, c = np.zeros(case.A.shape[1]), np.zeros(case.Q.shape[1])
    t = case.slope(case.predictions(zero, c))
    noise = float(case.scores(np.abs(case.scaled[0]).T @ (case.w * np.abs(t))).max())
    t = t - case.Q @ (case.Q.T @ (case.w * t))
    top = float(case.scores(-case.scaled[0].T @ (case.w * t)).max())
    a = share * (top if top > 1e-6 * noise else noise or 1.0)
    usual = case.scale() / a if a > 0 and case.scale() > 0 else 1.0
    return {"linear": (a, 0.0), "square": (0.0, a / usual), "both": (a / 2, a / 2 / usual)}[line]
