"""Gauges that are made of others: the optimum of a conic solver, claims that hold there, files that are accepted."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Group,
    LatentGroup,
    Linear,
    LogBarrier,
    Logistic,
    NonNegative,
    Problem,
    Product,
    Scaled,
    Square,
    Squared,
    Union,
    solve,
    verify,
)

N, D = 40, 9
CHAIN = [[0, 1, 2], [2, 3, 4], [4, 5], [5, 6, 7, 8], [0, 8], [3]]
PENALTIES = [Linear(0.1), Square(0.1), Ball(1.5), LogBarrier(3.0, 2.0)]
EXACT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)


def latent(x, groups=CHAIN):
    """Return the latent group norm of a variable, and what holds of its parts."""
    parts = [cp.Variable(len(g)) for g in groups]
    placed = [np.eye(D)[:, g] @ v for g, v in zip(groups, parts, strict=True)]
    return sum(np.sqrt(len(g)) * cp.norm2(v) for g, v in zip(groups, parts, strict=True)), [x == sum(placed)]


def grouped(x):
    """Return the group norm of a variable, for three groups of three."""
    return sum(np.sqrt(3) * cp.norm2(x[first : first + 3]) for first in (0, 3, 6))


def either(*measures):
    """Return the gauge of a union from what measures its parts."""

    def measured(x):
        parts = [cp.Variable(D) for _ in measures]
        found = [measure(part) for measure, part in zip(measures, parts, strict=True)]
        held = [held for _, all_held in found for held in all_held]
        return sum(size for size, _ in found), [x == sum(parts), *held]

    return measured


def combined(x):
    """Return the gauge of the columns of MATRIX."""
    c = cp.Variable(MATRIX.shape[1], nonneg=True)
    return cp.sum(c), [x == MATRIX @ c]


def in_parts(x):
    """Return the gauge of a product: a norm, prices and a sign."""
    size = 2.0 * cp.norm2(x[[5, 0, 3]]) + cp.norm1(cp.multiply([1.0, 2.0, 0.5], x[[1, 2, 4]]))
    return size + 0.7 * cp.sum(x[[8, 6, 7]]), [x[[8, 6, 7]] >= 0]


def with_latent(x):
    """Return the gauge of a product of latent groups and prices."""
    first, second, third = cp.Variable(2), cp.Variable(3), cp.Variable(1)
    placed = np.eye(5)[:, [0, 1]] @ first + np.eye(5)[:, [1, 2, 4]] @ second + np.eye(5)[:, [3]] @ third
    size = np.sqrt(2) * cp.norm2(first) + np.sqrt(3) * cp.norm2(second) + cp.norm2(third)
    return size + cp.norm1(x[[3, 7, 1, 5]]), [x[[8, 6, 4, 2, 0]] == placed]


MATRIX = np.random.default_rng(3).normal(size=(D, 12))
THREES = np.repeat(np.arange(3), 3)
PARTS = {"curve": ([5, 0, 3], L2()), "prices": ([1, 2, 4], L1([1.0, 2.0, 0.5])), "up": ([8, 6, 7], NonNegative())}

CASES = {
    "latent": (LatentGroup(CHAIN), latent),
    "apart": (LatentGroup([[0, 1], [2, 3, 4, 5], [6, 7, 8]]), lambda x: latent(x, [[0, 1], [2, 3, 4, 5], [6, 7, 8]])),
    "alone or in a group": (
        Union(Scaled(L1(), 0.75), Group(THREES)),
        either(lambda x: (cp.norm1(x) / 0.75, []), lambda x: (grouped(x), [])),
    ),
    "alone or all": (
        Union(L1(), Scaled(L2(), 0.625)),
        either(lambda x: (cp.norm1(x), []), lambda x: (cp.norm2(x) / 0.625, [])),
    ),
    "alone or an atom": (Union(L1(), Atoms(MATRIX)), either(lambda x: (cp.norm1(x), []), combined)),
    "up or in a group": (
        Union(NonNegative(), Group(THREES)),
        either(lambda x: (cp.sum(x), [x >= 0]), lambda x: (grouped(x), [])),
    ),
    "any of three": (
        Union(L1(), LatentGroup(CHAIN), Product([([0, 1, 2, 3], Scaled(L2(), 1.5)), ([4, 5, 6, 7, 8], L1())])),
        either(
            lambda x: (cp.norm1(x), []),
            latent,
            lambda x: (cp.norm2(x[:4]) / 1.5 + cp.norm1(x[4:]), []),
        ),
    ),
    "parts": (Product(PARTS, weights={"curve": 2.0, "prices": 1.0, "up": 0.7}), in_parts),
    "parts that overlap": (
        Product([([8, 6, 4, 2, 0], LatentGroup([[0, 1], [1, 2, 4], [3]])), ([3, 7, 1, 5], L1())]),
        with_latent,
    ),
}


def draw(loss, seed):
    """Return a design and targets; a few features matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + 0.3 * rng.standard_normal((N, 1))
    signal = X @ (rng.standard_normal(D) * (rng.random(D) < 0.5)) + 1.0 + 0.3 * rng.standard_normal(N)
    return X, signal if isinstance(loss, Squared) else np.where(signal > np.median(signal), 1.0, -1.0)


def charge(penalty, size):
    """Return the penalty of a size, and what holds of it."""
    match penalty:
        case Linear(strength=a):
            return a * size, []
        case Square(strength=a):
            return a * cp.square(size) / 2, []
        case Ball(radius=C):
            return 0, [size <= C]
        case LogBarrier(radius=C, sharpness=b):
            return (-cp.log(1 - size / C) - size / C) / b, []


def conic(case, loss, penalty, X, y):
    """Return the optimal value and x that a conic solver finds."""
    x, b, size = cp.Variable(D), cp.Variable(), cp.Variable()
    measure, held = CASES[case][1](x)
    u = X @ x + b
    losses = cp.square(u - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, u))
    cost, limits = charge(penalty, size)
    program = cp.Problem(cp.Minimize(cp.sum(losses) / N + cost), [*held, *limits, measure <= size])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # as exact as it can be: the comparison tells
        program.solve(solver=cp.CLARABEL, **EXACT)
    return program.value, x.value


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_conic_solver(case, loss, penalty, seed, tmp_path):
    X, y = draw(loss, seed)
    problem = Problem(X, y, loss=loss, gauge=CASES[case][0], penalty=penalty, intercept=True)
    result = solve(problem, tol=1e-12)
    value, x = conic(case, loss, penalty, X, y)
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(value, abs=1e-7)
    np.testing.assert_allclose(result.x, x, atol=1e-3)

    certificate = result.certificate()
    assert certificate.valid
    assert certificate.dual - 1e-7 <= value <= certificate.primal + 1e-7
    told = certificate.feature_frame()
    assert (np.abs(x[told.verdict == "zero"]) <= 1e-4).all()
    assert (np.abs(x[told.verdict == "non-zero"]) > 0).all()
    assert (told.lower - 1e-3 <= x).all()
    assert (x <= told.upper + 1e-3).all()
    assert (np.abs(x[result.zero]) <= 1e-4).all()

    certificate.save(tmp_path / "certificate.json")
    assert verify(tmp_path / "certificate.json", X, y).valid


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_every_form_of_the_data_has_the_same_solution(case, form):
    X, y = draw(Squared(), 7)
    given = {"gauge": CASES[case][0], "penalty": Linear(0.1), "intercept": True}
    one, other = (solve(Problem(data, y, **given), tol=1e-12) for data in (X, form(X)))
    np.testing.assert_allclose(one.x, other.x, atol=1e-6)
    assert one.certificate().zero.tolist() == other.certificate().zero.tolist()


@pytest.mark.parametrize("case", ["latent", "apart", "rows"])
def test_several_outputs(case, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, D))
    Y = X @ (rng.standard_normal((D, 2)) * (rng.random((D, 1)) < 0.5)) + 0.1 * rng.standard_normal((N, 2))
    gauge = Union(Group(), Group(THREES)) if case == "rows" else CASES[case][0]
    result = solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.3)), tol=1e-12)
    assert result.converged
    certificate = result.certificate()
    told = certificate.feature_frame()
    assert len(told) == 2 * D
    assert (told.lower <= result.x.ravel() + 1e-9).all()
    assert (result.x.ravel() - 1e-9 <= told.upper).all()
    certificate.save(tmp_path / "certificate.json")
    assert verify(tmp_path / "certificate.json", X, Y).valid
