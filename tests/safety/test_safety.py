"""Safety: whatever the method, the bounds hold at every iterate and nothing of the solution is ever ruled out.

Every law is judged against `reference.py`, which shares no code with the package.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from zlib import crc32

import numpy as np
import pytest
import reference as naive
from scipy import sparse

from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    Corrective,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Poisson,
    Power,
    Problem,
    Scaled,
    ShortStep,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    solve,
)
from atomsieve.numerics.rounding import noise_level
from atomsieve.screening.rules import PairwiseRule, PaperRule

SLACK = 1e-12
"""Rounding allowed in a bound, relative to the objective."""

CLASSES = 3
PAIRED = 4 * CLASSES
"""Rows of the free columns that hold every class of the same value."""

METHODS = {
    "GCG": GCG(),
    "GCG line search": GCG(LineSearch()),
    "GCG short step": GCG(ShortStep()),
    "Away": Away(),
    "Pairwise": Pairwise(),
    "Away short step": Away(ShortStep()),
    "Pairwise short step": Pairwise(ShortStep()),
}


# Random problems: one per cell (loss, penalty, gauge) and seed; all else is drawn.


def log_uniform(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


LOSSES = {
    "Squared": lambda _: Squared(),
    "Logistic": lambda _: Logistic(),
    "SquaredHinge": lambda _: SquaredHinge(),
    "Huber": lambda rng: Huber(log_uniform(rng, 0.1, 3)),
    "Multinomial": lambda _: Multinomial(),
    "Poisson": lambda _: Poisson(),
}
PENALTIES = {
    "Square": lambda rng: Square(log_uniform(rng, 0.01, 1)),
    "Power 3": lambda rng: Power(log_uniform(rng, 0.01, 1), 3),
    "Power inf": lambda _: Power(1.0, np.inf),
    "Ball": lambda rng: Ball(log_uniform(rng, 0.1, 5)),
    "LogBarrier": lambda rng: LogBarrier(log_uniform(rng, 0.5, 5), log_uniform(rng, 0.1, 100)),
    "LinearSquare": lambda rng: LinearSquare(log_uniform(rng, 0.01, 0.2), log_uniform(rng, 0.01, 1)),
    "Linear": lambda rng: Linear(log_uniform(rng, 0.01, 0.2)),
}


def weighted_l1(rng, d):
    """Weights over two orders of magnitude; the first coordinate is free and the last excluded, where d allows."""
    weights = np.exp(rng.uniform(-1, 2, d))
    if d > 2:
        weights[0], weights[-1] = 0.0, np.inf
    return L1(weights)


def some_positive(rng, d):
    """Weights over two orders of magnitude; some coordinates must not be negative, and some may be."""
    positive = rng.random(d) < 0.5
    positive[-2:] = [True, False][-d:]
    return L1(np.exp(rng.uniform(-1, 2, d)), positive=positive)


def groups(rng, d):
    """Labels in no order and with holes."""
    return 3 * rng.integers(0, max(2, d // 2), d)


def weighted_group(rng, d):
    labels = groups(rng, d)
    return Group(labels, np.exp(rng.uniform(-1, 1, len(np.unique(labels)))))


def image(rng, gauge, d, width):
    matrix = rng.standard_normal((d, width))
    if rng.random() < 0.5:
        return Image(gauge, matrix)
    return Image(gauge, sparse.csc_array(matrix * (rng.random(matrix.shape) < 0.6)))


GAUGES = {
    "L1": lambda _, __: L1(),
    "L1 weights": weighted_l1,
    "NonNegative": lambda _, __: NonNegative(),
    "Simplex": lambda _, __: Simplex(),
    "L2": lambda _, __: L2(),
    "LInf": lambda _, __: LInf(),
    "Group": lambda rng, d: Group(groups(rng, d)),
    "Group weights": weighted_group,
    "Atoms": lambda rng, d: Atoms(rng.standard_normal((d, 2 * d + 1))),
    "Scaled": lambda rng, _: Scaled(L1(), log_uniform(rng, 0.2, 5)),
    "Image of L1": lambda rng, d: image(rng, L1(), d, d + 3),
    "Image of Group": lambda rng, d: image(rng, Group(np.arange(2 * d) // 2), d, 2 * d),
    "L1 positive": some_positive,
}


@dataclass(frozen=True, eq=False)
class Case:
    """A stated problem: the arguments of `Problem`, with its reference solution."""

    pieces: dict
    slack: float = SLACK
    near_ties: bool = False
    """Whether blocks may be so nearly tied that only those count as support that no solution can do without."""

    @cached_property
    def problem(self):
        return Problem(**self.pieces)

    @cached_property
    def truth(self):
        """The reference, or an error where it cannot be proved."""
        return naive.reference(**self.pieces)

    def inside(self, x):
        """Return x with the signs of coefficients turned where their gauge would be infinite."""
        signed = naive.geometry(self.pieces["gauge"], self.pieces["X"].shape[1], 1).signed
        return np.where(signed if x.ndim == 1 else signed[:, None], x, np.abs(x))

    @cached_property
    def support(self):
        return naive.needed(self.truth, **self.pieces) if self.near_ties else self.truth.support


@cache
def proved(make, *cell):
    """Return the problem of a cell, and how often it had to be drawn again for want of a reference."""
    *names, seed = cell
    for redraws in range(3):
        case = make(*names, seed + 1000 * redraws)
        with suppress(naive.UnprovedError):
            assert case.truth
            return case, redraws
    pytest.fail(f"No reference for {cell}, nor for two more draws.")


def targets(rng, loss, signal):
    """Targets that follow the signal; the first rows go through all classes in turn."""
    n, name = len(signal), type(loss).__name__
    if name in ("Squared", "Huber"):
        return signal + 0.5 * rng.standard_normal(n)
    if name == "Poisson":
        y = rng.poisson(np.exp(np.clip(signal / max(np.std(signal), 1e-9), -2, 2)))
        y[0] = max(y[0], 1)
        return y
    noisy = signal + 0.5 * np.std(signal) * rng.standard_normal(n)
    if name == "Multinomial":
        y = np.digitize(noisy, np.quantile(noisy, [1 / 3, 2 / 3]))
        y[:PAIRED] = np.tile(np.arange(CLASSES), PAIRED // CLASSES)
        return y
    y = np.where(noisy > np.median(noisy), 1, -1)
    y[:PAIRED] = np.tile([1, -1], PAIRED // 2)
    return y


def free_column(rng, n):
    """A column that is equal on rows of all classes, four times over: no four such columns separate the classes."""
    column = rng.standard_normal(n)
    column[:PAIRED] = np.repeat(rng.standard_normal(PAIRED // CLASSES), CLASSES)
    return column


def draw(loss, penalty, gauge, seed):
    """Return the random problem of a cell."""
    key = [seed, *(list(table).index(name) for table, name in ((LOSSES, loss), (PENALTIES, penalty), (GAUGES, gauge)))]
    rng = np.random.default_rng(key)
    n, d = int(rng.integers(PAIRED + 1, 21)), int(rng.integers(2, 7 if loss == "Multinomial" else 13))
    X = rng.standard_normal((n, d)) * np.exp(rng.uniform(-1, 1, d))
    X[:, 0] = free_column(rng, n)
    pieces = {"loss": LOSSES[loss](rng), "penalty": PENALTIES[penalty](rng), "gauge": GAUGES[gauge](rng, d)}
    y = targets(rng, pieces["loss"], X @ (rng.standard_normal(d) * (rng.random(d) < 0.6)))
    pieces["intercept"] = bool(rng.integers(2))
    if rng.random() < 0.3:
        pieces["free"] = np.column_stack([free_column(rng, n) for _ in range(rng.integers(1, 3))])
    if rng.random() < 0.5:
        pieces["sample_weight"] = rng.uniform(0.1, 3, n)
        pieces["sample_weight"][-1] = 0.0
    layout = (np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix)[rng.integers(4)]
    return Case({"X": layout(X), "y": y, **pieces})


# Attacks: a twist takes the pieces of a random problem (no gauge or penalty yet) and makes them hard.


def duplicated(rng, pieces):
    X = pieces["X"]
    pieces["X"] = np.hstack([X, X[:, ::-1], -X[:, :1]])


def nearly_duplicated(rng, pieces):
    X = pieces["X"]
    pieces["X"] = np.hstack([X, X + 10 ** rng.uniform(-14, -5) * rng.standard_normal(X.shape)])


def partly_zero(rng, pieces):
    pieces["X"][:, :: int(rng.integers(1, 3))] = 0.0


def rank_deficient(rng, pieces):
    n, d = pieces["X"].shape
    pieces["X"] = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))


def wide(rng, pieces):
    pieces["X"] = rng.standard_normal((len(pieces["X"]), 50))


def one_sample(rng, pieces):
    pieces |= {"X": pieces["X"][:1], "y": pieces["y"][:1]}
    if isinstance(pieces["loss"], Multinomial):
        pieces["loss"] = Multinomial(CLASSES)


def uneven_columns(rng, pieces):
    pieces["X"] *= 10 ** rng.uniform(-8, 8, pieces["X"].shape[1])


def small_unit(rng, pieces):
    pieces["X"] *= 10 ** rng.uniform(-4, -2)


def large_unit(rng, pieces):
    pieces["X"] *= 10 ** rng.uniform(2, 6)


def uneven_samples(rng, pieces):
    pieces["sample_weight"] = 10 ** rng.uniform(-8, 0, len(pieces["y"]))


def tied(rng, pieces):
    n = len(pieces["y"])
    pieces["X"] = np.hstack([np.eye(n), -2 * np.eye(n)[:, :3]])
    if not isinstance(pieces["loss"], Multinomial):
        pieces["y"] = np.ones(n)


def far_from_zero(rng, pieces):
    pieces |= {"intercept": True, "X": pieces["X"] + 10 ** rng.uniform(2, 6)}
    if isinstance(pieces["loss"], (Squared, Huber)):
        pieces["y"] = pieces["y"] + 10 ** rng.uniform(2, 6)


def along_the_free(rng, pieces):
    n = len(pieces["y"])
    pieces |= {"intercept": True, "free": np.column_stack([free_column(rng, n), free_column(rng, n)])}
    pieces["X"][:, 0] = 1.0
    pieces["X"][:, -1] = pieces["free"] @ [1.0, -2.0]


def dependent_free(rng, pieces):
    column, other = (free_column(rng, len(pieces["y"])) for _ in range(2))
    pieces |= {"intercept": True, "free": np.column_stack([column, column + 10 ** rng.uniform(-5, -3) * other])}


def separable(rng, pieces):
    if isinstance(pieces["loss"], Multinomial):
        pieces["y"] = np.digitize(pieces["X"][:, 0], [-0.5, 0.5])
    elif isinstance(pieces["loss"], (Logistic, SquaredHinge)):
        pieces["y"] = np.where(pieces["X"][:, 0] > 0, 1, -1)


TWISTS = {
    twist.__name__: twist
    for twist in (
        duplicated,
        nearly_duplicated,
        partly_zero,
        rank_deficient,
        wide,
        one_sample,
        uneven_columns,
        small_unit,
        large_unit,
        uneven_samples,
        tied,
        far_from_zero,
        along_the_free,
        dependent_free,
        separable,
    )
}
ILL_CONDITIONED = {"far_from_zero": 1e-9, "dependent_free": 1e-9}
"""Slack where the data themselves lose digits: predictions of size 1e6, free columns that differ by 1e-5."""

NEAR_TIES = {"nearly_duplicated", "along_the_free", "dependent_free"}
EXTREME_PENALTIES = {
    "weak": lambda rng: Square(10 ** rng.uniform(-9, -4)),
    "strong": lambda rng: Square(10 ** rng.uniform(2, 8)),
    "small ball": lambda rng: Ball(10 ** rng.uniform(-8, -2)),
    "large ball": lambda rng: Ball(10 ** rng.uniform(1, 4)),
    "blunt barrier": lambda rng: LogBarrier(1.0, 10 ** rng.uniform(-8, -2)),
    "sharp barrier": lambda rng: LogBarrier(1.0, 10 ** rng.uniform(3, 8)),
    "weak line": lambda rng: LinearSquare(10 ** rng.uniform(-8, -3), 10 ** rng.uniform(-3, 0)),
    "high power": lambda rng: Power(log_uniform(rng, 0.01, 1), 8),
    "low power": lambda rng: Power(log_uniform(rng, 0.01, 1), 1.5),
}
ALL_CURVED = {name: make for name, make in (PENALTIES | EXTREME_PENALTIES).items() if name != "Linear"}


def twisted(twist, loss, seed):
    """Return the problem of an attack."""
    rng = np.random.default_rng([seed, list(TWISTS).index(twist), list(LOSSES).index(loss)])
    others = [name for name in GAUGES if name != "L1 positive"]
    penalty, gauge = str(rng.choice(list(ALL_CURVED))), str(rng.choice(others))
    n, d = PAIRED + 3, int(rng.integers(2, 5))
    pieces = {"X": rng.standard_normal((n, d)), "loss": LOSSES[loss](rng)}
    pieces["y"] = targets(rng, pieces["loss"], pieces["X"] @ rng.standard_normal(d))
    TWISTS[twist](rng, pieces)
    pieces |= {"penalty": ALL_CURVED[penalty](rng), "gauge": GAUGES[gauge](rng, pieces["X"].shape[1])}
    if gauge == "L1 weights" and loss in ("Logistic", "Multinomial"):
        weights = pieces["gauge"].weights  # a free column may separate the classes, and no solution exists
        pieces["gauge"] = L1(np.where(weights == 0, 1.0, weights))
    elif gauge == "L1":  # with a mask, as it is attacked with weights anyway
        pieces["gauge"] = some_positive(rng, pieces["X"].shape[1])
    return Case(pieces, slack=ILL_CONDITIONED.get(twist, SLACK), near_ties=twist in NEAR_TIES)


# The laws.


def bounds_hold(point, case):
    """dual <= optimum <= primal, up to rounding."""
    if not point.is_finite:  # an overflow, which claims nothing
        return
    truth, slack = case.truth, case.slack * max(case.truth.baseline, point.objective)
    # an objective of 0 is known up to the square of the rounding of predictions
    blur = noise_level(len(point.u)) * (point.state.length + point.problem.seminorm.plain_norm(point.u))
    slack += point.problem.loss.smoothness_near(point.u) * blur**2
    assert point.dual <= truth.upper + slack, f"dual {point.dual!r} is above the optimum {truth.upper!r}"
    assert point.objective >= truth.lower - slack, f"primal {point.objective!r} is below the optimum {truth.lower!r}"


def run_is_safe(case, method, screening, max_iter=80):
    """Bounds hold at every iterate, the support stays alive, and no weight is left on what was ruled out."""

    def watch(progress):
        bounds_hold(progress.point, case)
        assert progress.alive >= len(case.support), f"iteration {progress.iteration} ruled out a part of the support"

    result = solve(case.problem, method, tol=1e-14, max_iter=max_iter, screening=screening, callbacks=[watch])
    lost = case.support[~result.alive[case.support]]
    assert not len(lost), f"blocks {lost} of the support were ruled out"
    dead = ~result.alive[case.problem.core.labels(case.problem.shape)]
    assert not result.lifted[dead].any(), "blocks that were ruled out carry weight"


def point_is_safe(point, case):
    """Bounds hold, both rules keep the support, and the stronger keeps a subset of what the paper's keeps."""
    bounds_hold(point, case)
    if not point.is_finite:
        return
    paper, pairwise = PaperRule().keep(point), PairwiseRule().keep(point)
    for name, kept in (("paper's", paper), ("pairwise", pairwise)):
        assert kept[case.support].all(), f"the {name} rule drops blocks {case.support[~kept[case.support]]}"
    assert not (pairwise & ~paper).any(), "the pairwise rule keeps more than the paper's"


def points_of_a_run(problem, method, count):
    """Points along a run of a method without screening."""
    state = problem.state()
    for t in range(1, count + 1):
        point = problem.at(state, problem.eligible)
        yield point
        if not point.is_finite:
            return
        state, _ = method.advance(point, t)


def points_near_and_far(case, rng):
    """Points at the solution, near it, beyond it, and anywhere."""
    problem, x = case.problem, case.truth.x
    near = [x * (1 + size * rng.standard_normal(x.shape)) for size in (0, 1e-12, 1e-8, 1e-4, 0.1)]
    far = [size * rng.standard_normal(x.shape) for size in (1e-3, 0.3, 10)]
    for place in (*near, 3 * x, *far):
        inside = problem.core.keep(case.inside(place), problem.eligible)
        yield problem.at(problem.state(inside), problem.eligible)


# The tests.

CURVED = [name for name in PENALTIES if name != "Linear"]
CELLS = list(product(LOSSES, CURVED, GAUGES))


def every_cell(test):
    """Run a test for every loss, penalty and gauge."""
    for name, values in (("gauge", GAUGES), ("penalty", CURVED), ("loss", LOSSES)):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def some_methods(*key):
    """One of the walks, others for other keys, and the corrective method."""
    method = list(METHODS.values())[crc32(repr(key).encode()) % len(METHODS)]
    short = "Poisson" in key and isinstance(getattr(method, "step", None), ShortStep)
    return [replace(method, step=LineSearch()) if short else method, Corrective()]


@pytest.mark.thin(6)
@every_cell
def test_runs_are_safe(loss, penalty, gauge):
    case, _ = proved(draw, loss, penalty, gauge, 0)
    for method, screening in product(some_methods(loss, penalty, gauge), ("paper", "auto")):
        run_is_safe(case, method, screening)


@pytest.mark.thin(6)
@every_cell
def test_points_are_safe(loss, penalty, gauge):
    case, _ = proved(draw, loss, penalty, gauge, 0)
    for point in points_near_and_far(case, np.random.default_rng(0)):
        point_is_safe(point, case)
    for point in list(points_of_a_run(case.problem, some_methods(gauge, loss, penalty)[0], 29))[::4]:
        point_is_safe(point, case)


@pytest.mark.thin(2)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gauge", GAUGES)
def test_points_and_runs_of_the_linear_penalty_are_safe(loss, gauge):
    case, _ = proved(draw, loss, "Linear", gauge, 0)
    for point in points_near_and_far(case, np.random.default_rng(0)):
        point_is_safe(point, case)
    for screening in ("paper", "auto"):
        run_is_safe(case, Corrective(), screening)


SEVERAL_BLOCKS = [name for name in GAUGES if name not in ("L2", "LInf")]


@pytest.mark.thin(6)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gauge", SEVERAL_BLOCKS)
def test_screening_changes_nothing_but_time(loss, gauge):
    """Screened and unscreened runs end within their gaps of each other, the reference between their bounds."""
    penalty = CURVED[(list(LOSSES).index(loss) + 2 * list(GAUGES).index(gauge)) % len(CURVED)]
    case, _ = proved(draw, loss, penalty, gauge, 0)
    found = [solve(case.problem, Pairwise(), tol=1e-10, max_iter=400, screening=s) for s in ("off", "paper", "auto")]
    found += [solve(case.problem, Corrective(), tol=1e-10, screening=s) for s in ("off", "paper", "auto")]
    for result in found:
        bounds_hold(result.point, case)
        error = max(result.gap, found[0].gap) + SLACK * case.truth.baseline
        assert abs(result.objective - found[0].objective) <= error


@pytest.mark.thin(3)
@pytest.mark.parametrize("twist", TWISTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("turn", range(3))
def test_attacks_are_survived(twist, loss, turn):
    attack_is_survived(twist, loss, turn)


def attack_is_survived(twist, loss, turn):
    case, _ = proved(twisted, twist, loss, turn)
    for point in points_near_and_far(case, np.random.default_rng(turn)):
        point_is_safe(point, case)
    for method, screening in zip(some_methods(twist, loss, turn), ("auto", "paper"), strict=True):
        run_is_safe(case, method, screening, max_iter=60)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.deep)])
def test_few_problems_are_drawn_again(every):
    redraws = [proved(draw, *cell, 0)[1] for cell in CELLS[:: 5 * every]]
    redraws += [proved(twisted, twist, loss, 0)[1] for twist, loss in list(product(TWISTS, LOSSES))[::every]]
    assert sum(redraws) <= 0.1 * len(redraws)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1, 3))
@every_cell
def test_many_more_runs_are_safe(loss, penalty, gauge, seed):
    case, _ = proved(draw, loss, penalty, gauge, seed)
    for method, screening in product(some_methods(loss, penalty, gauge, seed), ("paper", "auto")):
        run_is_safe(case, method, screening, max_iter=200)
    for point in points_near_and_far(case, np.random.default_rng(seed)):
        point_is_safe(point, case)


@pytest.mark.deep
@pytest.mark.parametrize(("twist", "loss", "turn"), list(product(TWISTS, LOSSES, range(3, 8))))
def test_many_more_attacks_are_survived(twist, loss, turn):
    attack_is_survived(twist, loss, turn)
