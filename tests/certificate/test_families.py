"""Claims about all problems of a family: none is false, wrong ones would be noticed, and what is refused and why."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from families import contradicted, cut, draw, run
from truth import rational, solve_exactly

from atomsieve import (  # fmt: skip
    L1,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    Poisson,
    Power,
    Problem,
    Square,
    Squared,
    solve,
)
from atomsieve.certificate import certify, line, shape
from atomsieve.certificate.family import Family
from atomsieve.certificate.gap import SLACK


@pytest.mark.parametrize("part", range(3))
def test_no_false_claim(part):
    tally = run(part, range(60), aimed=1)
    assert tally.faults == []
    assert min(tally.whole[name] for name in ("zeros", "nonzeros", "intervals", "values")) > 40
    assert tally.whole["members"] > 60


@pytest.mark.deep
@pytest.mark.parametrize("part", range(100, 102))
def test_no_false_claim_in_very_many(part):
    tally = run(part, range(600), aimed=4)
    assert tally.faults == []
    assert tally.whole["certificates"] - tally.whole["silent"] > 300


def test_shorter_distances_would_be_noticed():
    """A thousandth of the true distances: hundreds of false claims."""
    with cut(1e-3):
        tally = run(7, range(45), aimed=1)
    assert tally.whole["false"] > 200
    words = Counter(wrong.rsplit(" ", 1)[0] for fault in tally.faults for wrong in fault["wrong"])
    assert set(words) >= {"zero", "lower", "upper", "free lower", "free upper", "value"}


def test_a_wrong_coefficient_would_be_noticed():
    """A target of 1.2 less 0.5 is below the strength: the coefficient is zero there."""
    with cut(1e-3):
        claims = solve(Problem([[1.0]], [1.2], penalty=Linear(1.0)), tol=1e-13).certificate(y_error=0.5)
    truth = solve(Problem([[1.0]], [0.7], penalty=Linear(1.0)), tol=1e-13).certificate()
    assert contradicted(claims, truth) == ["non-zero 0", "lower 0"]


@pytest.mark.deep
def test_half_the_distances_would_be_noticed():
    """What is claimed is hardly more than what is true."""
    with cut(0.5):
        tally = run(7, range(60))
    assert tally.whole["false"] > 5


def one_feature(rng):
    """Return one sample of one feature with errors, and a strength with a range."""
    a, y = float(rng.uniform(0.5, 3)), float(rng.uniform(1, 5))
    strength = a * y * float(rng.uniform(0.05, 0.9))
    part = 10.0 ** rng.uniform(-10, -0.31)
    errors = {"x_error": part * a, "y_error": float(rng.choice([0.0, 0.1, 1.0])) * part * y}
    if rng.random() < 0.5:
        errors = {"strengths": (strength * (1 - part / 3), strength * (1 + part / 3))}
    return a, y, strength, errors


@pytest.mark.parametrize("seed", range(4))
def test_one_feature_in_closed_form(seed):
    """The solution `(a y - strength) / a^2` at all corners and where it is extreme within, in fractions."""
    rng, decided = np.random.default_rng(seed), 0
    for _ in range(60):
        a, y, strength, errors = one_feature(rng)
        result = solve(Problem([[a]], [y], penalty=Linear(strength)), tol=10.0 ** -rng.integers(5, 15))
        certificate = result.certificate(**errors)
        if not certificate.valid:
            continue
        decided += bool(certificate.nonzero[0])
        xs, values = _solutions(a, y, strength, errors)
        assert Fraction(float(certificate.lower[0])) <= min(xs)
        assert Fraction(float(certificate.upper[0])) >= max(xs)
        assert Fraction(certificate.dual) <= min(values)
        assert Fraction(certificate.primal) >= max(values)
        assert not (certificate.zero[0] and any(xs))
        assert not (certificate.nonzero[0] and not all(xs))
    assert decided > 20


def _solutions(a, y, strength, errors):
    """Return solutions and optimal values at members, the extreme ones among them."""
    off, away = (Fraction(errors.get(name, 0.0)) for name in ("x_error", "y_error"))
    low, high = Fraction(a) - off, Fraction(a) + off
    xs, values = [], []
    for t, s in product(
        (Fraction(y) - away, Fraction(y) + away),
        map(Fraction, errors.get("strengths", (strength,))),
    ):
        for c in {low, high, min(max(2 * s / t, low), high)}:
            x = max(c * t - s, Fraction(0)) / c**2
            xs.append(x)
            values.append((c * x - t) ** 2 / 2 + s * x)
    return xs, values


def test_orthogonal_features_in_closed_form():
    """With an orthogonal design the coefficients are `y` less the strength; errors of the norm e move them by e."""
    y, n = np.array([3.0, -2.0, 0.5, 0.25]), 4
    result = solve(Problem(np.eye(n), y, penalty=Linear(1.0 / n)), tol=1e-14)
    for error in (1e-9, 1e-3, 0.1):
        certificate = result.certificate(y_error=error)
        assert certificate.zero.tolist() == [False, False, True, True]
        assert certificate.nonzero.tolist() == [True, True, False, False]
        for j, x in ((0, 2.0), (1, -1.0)):
            assert certificate.lower[j] <= x - error
            assert certificate.upper[j] >= x + error
            assert certificate.upper[j] - certificate.lower[j] <= 2 * 2 * error * SLACK * (1 + 1e-4) + 1e-12
    # the third target may exceed the strength
    assert not result.certificate(y_error=0.6).zero[2]


def test_strengths_in_closed_form():
    y, n = np.array([3.0, -2.0, 0.5]), 3
    result = solve(Problem(np.eye(n), y, penalty=Linear(1.0 / n)), tol=1e-14)
    certificate = result.certificate(strengths=(0.9 / n, 1.2 / n))
    assert certificate.lower[0] <= 3 - 1.2
    assert certificate.upper[0] >= 3 - 0.9
    assert certificate.nonzero.tolist() == [True, True, False]
    assert certificate.zero.tolist() == [False, False, True]
    assert not result.certificate(strengths=(0.3 / n, 1.2 / n)).zero[2]


@pytest.mark.parametrize("seed", range(6))
def test_members_in_fractions(seed):
    """Small problems: members at corners of the box of errors are solved exactly."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        n, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        X, y = rng.integers(-8, 9, (n, d)) / 4.0, rng.integers(-16, 17, n) / 4.0
        signed = rng.random(d) < 0.7
        penalty = [Linear(0.25), Square(0.5)][int(rng.integers(2))]
        error = 2.0 ** -int(rng.integers(4, 30))
        problem = Problem(X, y, gauge=L1(positive=(~signed).tolist()), penalty=penalty)
        certificate = solve(problem, tol=1e-13).certificate(x_error=error, y_error=error)
        for _ in range(25):
            member = X + error * rng.choice([-1, 1], (n, d)), y + error * rng.choice([-1, 1], n)
            truth = solve_exactly(*member, penalty, counts=np.ones(n), prices=np.ones(d), signed=signed)
            assert not _contradicted(certificate, truth)


def _contradicted(certificate, truth):
    """Return what is false: the solutions are known in fractions."""
    wrong = [] if rational_or_less(certificate.dual) <= truth.value <= rational_or_more(certificate.primal) else [-1]
    for x in truth.corners:
        for j, v in enumerate(x):
            bounds = rational_or_less(certificate.lower[j]) <= v <= rational_or_more(certificate.upper[j])
            if not bounds or (certificate.zero[j] and v != 0) or (certificate.nonzero[j] and v == 0):
                wrong.append(j)
    return wrong


def rational_or_less(number):
    return rational(number) if np.isfinite(number) else -rational(2.0**1000)


def rational_or_more(number):
    return rational(number) if np.isfinite(number) else rational(2.0**1000)


def plain_problem(seed=0, loss=None, **pieces):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 8))
    y = X[:, :3] @ [2.0, -1.0, 1.0] + 0.1 * rng.standard_normal(30)
    if loss is not None and loss.targets == "signs":
        y = np.sign(y)
    return Problem(X, y, loss=loss or Squared(), **({"penalty": Linear(0.1)} | pieces))


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic()])
@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.2), Ball(2.0)])
def test_without_errors_the_claims_are_those_of_the_problem(loss, penalty):
    result = solve(plain_problem(loss=loss, penalty=penalty, intercept=True), tol=1e-14)
    alone, certificate = result.certificate(), result.certificate(x_error=0.0)
    assert certificate.zero.tolist() == alone.zero.tolist()
    assert certificate.nonzero.tolist() == alone.nonzero.tolist()
    assert (certificate.lower <= alone.upper).all()
    assert (certificate.upper >= alone.lower).all()
    assert (certificate.upper - certificate.lower).max() < 1e-5


@pytest.mark.parametrize("name", ["x_error", "y_error", "strengths"])
def test_larger_errors_only_lose_claims(name):
    gauge = L1() if name == "strengths" else Group([0, 0, 1, 2, 3, 3, 4, 4])
    result = solve(plain_problem(gauge=gauge), tol=1e-14)
    before = None
    for error in 10.0 ** np.arange(-9, 0.5, 0.25):
        asked = (0.1 / (1 + error), 0.1 * (1 + error)) if name == "strengths" else error
        now = result.certificate(**{name: asked})
        if before is not None:
            for mask in ("zero", "nonzero"):
                assert not (getattr(now, mask) & ~getattr(before, mask)).any()
            assert now.lower.sum() <= before.lower.sum()
        before = now
    assert not before.valid or before.undecided.any()


def test_stored_zeros_have_errors_and_others_have_none():
    from scipy.sparse import csc_matrix  # noqa: PLC0415

    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    y, (rows, columns) = np.array([2.0, 2.0, 0.3, 0.3]), np.nonzero(X)
    without = csc_matrix((X[rows, columns], (rows, columns)), shape=X.shape)
    with_zeros = csc_matrix((X.ravel(), np.indices(X.shape).reshape(2, -1)), shape=X.shape)
    assert with_zeros.nnz > without.nnz
    bounds = []
    for stored in (without, with_zeros, X):
        certificate = solve(Problem(stored, y, penalty=Linear(0.4)), tol=1e-14).certificate(x_error=0.05)
        bounds.append(certificate.lower[0])
    assert bounds[0] > bounds[1]
    assert bounds[1] == pytest.approx(bounds[2], rel=1e-9)


def test_atoms_are_excluded_in_the_whole_family_only():
    """The feature has a score of 1.4 times 1 in a member, above the slope of 1.2."""
    X, y = np.ones((4, 1)), np.zeros(4)
    certificate = solve(Problem(X, y, penalty=Linear(1.2)), tol=1e-13).certificate(x_error=0.4, y_error=1.0)
    assert solve(Problem(X + 0.4, y + 1.0, penalty=Linear(1.2)), tol=1e-13).certificate().nonzero[0]
    assert certificate.valid
    assert not certificate.zero[0]
    assert not certificate.excludes([1.0])
    assert solve(Problem(X, y, penalty=Linear(1.2)), tol=1e-13).certificate(y_error=1.0).excludes([1.0])


def test_a_sample_at_the_kink_moves_the_solution():
    """The second target is just out of reach; with 2 - e it is in reach, and the solution 1 - e / 2."""
    problem = Problem(np.ones((2, 1)), [0.5, 2.0], loss=Huber(1.0), penalty=Linear(0.25))
    for error in (0.1, 0.01):
        certificate = solve(problem, tol=1e-14).certificate(y_error=[0.0, error])
        assert certificate.nonzero[0]
        assert certificate.lower[0] <= 1 - error / 2


def test_a_point_within_the_ball_is_short_of_its_slope():
    """The solution is at the border, 1; the point is at 0.9, and the ball as steep there as at the border."""
    problem = Problem(np.ones((1, 1)), [3.0], penalty=Ball(1.0))
    family = Family.of(problem, None, 1e-6, None, None, relative=False)
    certificate = certify(problem, np.array([0.9]), np.zeros(0), family)
    assert certificate.valid
    assert certificate.upper[0] >= 1
    assert certificate.dual <= 2


def test_a_zero_within_a_group_is_far_from_the_solution():
    """The second entry is 0 at the point, where its group is not, and 0.2 in the solution; its z counts as it is."""
    problem = Problem(np.eye(2), [3.0, 0.3], gauge=Group([0, 0], [1.0]), penalty=Linear(0.5))
    family = Family.of(problem, None, 1e-6, None, None, relative=False)
    certificate = certify(problem, np.array([2.0, 0.0]), np.zeros(0), family)
    assert certificate.upper[1] >= 0.3 * (1 - 1 / np.sqrt(9.09))


def test_groups_turn_with_the_strength():
    """Columns of lengths 1 and 2 in one group: the solution turns, and stays within the intervals."""
    X, y = np.diag([1.0, 2.0]), np.array([2.0, 3.0])
    problem = Problem(X, y, gauge=Group([0, 0], [1.0]), penalty=Linear(0.5))
    for wide in (1e-3, 0.03, 0.2):
        certificate = solve(problem, tol=1e-14).certificate(strengths=(0.5 - wide, 0.5 + wide))
        assert certificate.nonzero[0]
        for strength in np.linspace(0.5 - wide, 0.5 + wide, 7):
            x = solve(problem.at_penalty(Linear(float(strength))), tol=1e-14).x
            assert (certificate.lower <= x + 1e-9).all()
            assert (x - 1e-9 <= certificate.upper).all()
    turned = [solve(problem.at_penalty(Linear(s)), tol=1e-14).x for s in (0.3, 0.7)]
    assert abs(turned[0][0] / turned[0][1] - turned[1][0] / turned[1][1]) > 0.1


def test_the_turning_of_groups_would_be_noticed(monkeypatch):
    """Without what blocks turn beyond the first order, an end of the range is not where it is claimed to be."""
    X, y = np.diag([1.0, 4.0]), np.array([2.0, 3.0])
    problem = Problem(X, y, gauge=Group([0, 0], [1.0]), penalty=Linear(0.5))
    honest = line.turning
    monkeypatch.setattr(line, "turning", lambda *given: (honest(*given)[0], 0 * honest(*given)[1]))
    certificate = solve(problem, tol=1e-14).certificate(strengths=(0.3, 0.7))
    found = [solve(problem.at_penalty(Linear(s)), tol=1e-14).certificate() for s in (0.3, 0.7)]
    assert any(contradicted(certificate, truth) for truth in found)


def test_strengths_and_errors_together():
    """The corners of both: `y` less the strength, for an orthogonal design."""
    y, n = np.array([3.0, -2.0, 0.5]), 3
    result = solve(Problem(np.eye(n), y, penalty=Linear(1.0 / n)), tol=1e-14)
    certificate = result.certificate(strengths=(0.9 / n, 1.1 / n), y_error=0.1)
    assert certificate.family["strengths"] == [0.9 / n, 1.1 / n]
    assert certificate.lower[0] <= 2.9 - 1.1
    assert certificate.upper[0] >= 3.1 - 0.9
    assert certificate.zero.tolist() == [False, False, True]
    assert not result.certificate(strengths=(0.7 / n, 1.1 / n), y_error=0.25).zero[2]


def test_errors_of_images_in_closed_form():
    """One atom (2, 1) of two features with errors of 0.1: predictions move by 0.3 times the weight of the atom."""
    X, y = np.eye(2), np.array([4.0, 2.0])
    problem = Problem(X, y, gauge=Image(L1(), np.array([[2.0], [1.0]])), penalty=Linear(0.5))
    certificate = solve(problem, tol=1e-14).certificate(x_error=0.1)
    corner = np.array([[1.1, 0.1], [0.1, 1.1]])
    for member in (corner, 2 * np.eye(2) - corner):
        truth = solve(Problem(member, y, gauge=problem.gauge, penalty=Linear(0.5)), tol=1e-14).certificate()
        assert not contradicted(certificate, truth)
    assert np.allclose(certificate.proof.statement.family.errors.columns(slice(None)), 0.3)


def test_a_feature_without_a_price_may_have_errors():
    """Its coefficient is y / X, and moves with both."""
    X, y = np.diag([1.0, 2.0]), np.array([3.0, 5.0])
    result = solve(Problem(X, y, gauge=L1(weights=[0.0, 1.0]), penalty=Linear(0.5)), tol=1e-14)
    certificate = result.certificate(x_error=0.01, y_error=0.01)
    assert certificate.lower[0] <= 2.99 / 1.01
    assert certificate.upper[0] >= 3.01 / 0.99
    assert certificate.upper[0] - certificate.lower[0] < 0.3


def test_free_columns_with_errors_that_depend_on_others():
    """Twins without a price: with errors they differ, and nothing bounds how far weight moves between them."""
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (20, 4)).astype(float)
    X[:, 1] = X[:, 0]
    problem = Problem(X, X[:, 0] + X[:, 2], gauge=L1(weights=[0.0, 0.0, 1.0, 1.0]), penalty=Linear(0.1))
    result = solve(problem, tol=1e-12)
    assert result.certificate(x_error=[0, 0, 1e-6, 1e-6]).valid
    certificate = result.certificate(x_error=1e-6)
    assert not certificate.valid
    assert "depend on each other have errors" in certificate.reason


SHAPES = [Square(0.2), Power(0.2, 1.5), Power(0.2, 3.0), LinearSquare(0.2, 0.1), LogBarrier(6.0, 1.0)]


@pytest.mark.parametrize("wide", [1e-5, 1e-2, 0.05])
@pytest.mark.parametrize("penalty", SHAPES, ids=repr)
def test_strengths_of_other_shapes(penalty, wide):
    """Members at both ends and within; the slopes of all of them are in the range that the file names."""
    problem = plain_problem(penalty=penalty, intercept=True)
    stated = getattr(penalty, penalty.main)
    asked = (stated * (1 - wide), stated * (1 + wide))
    certificate = solve(problem, tol=1e-14).certificate(strengths=asked, x_error=wide / 1000)
    low, high = certificate.family["slopes"]
    assert certificate.nonzero.sum() >= 3
    slopes = []
    for strength in np.linspace(*asked, 5):
        member = solve(problem.at_penalty(penalty.at(float(strength))), tol=1e-14)
        assert not contradicted(certificate, member.certificate())
        slopes.append(penalty.at(float(strength)).slope(float(np.abs(member.x).sum())))
    assert low <= min(slopes)
    assert max(slopes) <= high
    assert high - low <= 2 * (max(slopes) - min(slopes))


def test_slopes_that_are_not_covered_would_be_noticed(monkeypatch):
    """The first guess, cut to a thousandth, is taken for the range of all slopes."""
    problem = plain_problem(penalty=Square(0.2))
    honest, stated = shape._guess, 0.24

    def short(*given):
        low, high = honest(*given)
        return low + 0.4995 * (high - low), high - 0.4995 * (high - low)

    monkeypatch.setattr(shape, "_guess", short)
    monkeypatch.setattr(shape, "_needed", lambda proof: proof.statement.family.slopes)
    certificate = solve(problem, tol=1e-14).certificate(strengths=(0.16, stated))
    assert contradicted(certificate, solve(problem.at_penalty(Square(stated)), tol=1e-14).certificate())


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_a_ridge_in_closed_form(ridge):
    """With an orthogonal design and weights of 1 / n the coefficients are `(y - strength n) / (1 + ridge n)`."""
    y, n = np.array([3.0, -2.0, 0.5]), 3
    pieces = {"ridge": ridge} if ridge else {}
    result = solve(Problem(np.eye(n), y, penalty=Linear(1.0 / n), **pieces), tol=1e-14)
    for error, wide in ((1e-3, 0.0), (0.05, 0.0), (0.0, 0.1), (0.05, 0.1)):
        certificate = result.certificate(y_error=error, strengths=((1 - wide) / n, (1 + wide) / n))
        ends = [(3.0 + side * (error + wide) - 1.0) / (1 + n * ridge) for side in (-1, 1)]
        assert certificate.lower[0] <= ends[0]
        assert certificate.upper[0] >= ends[1]
        assert certificate.upper[0] - certificate.lower[0] <= 4 * (ends[1] - ends[0])
        assert certificate.nonzero.tolist() == [True, True, False]


def test_a_zero_that_should_not_be_one_is_far_from_the_solution():
    """At the point both coefficients are zero, and the solution is 2."""
    problem = Problem(np.eye(2), [3.0, 0.1], penalty=Linear(0.5))
    family = Family.of(problem, None, 1e-6, None, None, relative=False)
    certificate = certify(problem, np.zeros(2), np.zeros(0), family)
    assert certificate.valid
    assert certificate.upper[0] >= 2


def test_a_coefficient_at_zero_leaves_it_for_lower_strengths():
    """The target is 0.95: the solution is 0 for the strength 1, and 0.05 for the strength 0.9."""
    certificate = solve(Problem([[1.0]], [0.95], penalty=Linear(1.0)), tol=1e-14).certificate(strengths=(0.9, 1.1))
    assert certificate.valid
    assert not certificate.zero[0]
    assert certificate.upper[0] >= 0.95 - 0.9


def test_curvatures_are_those_of_the_whole_family():
    """The solution is log(4 - strength): further from log(2) than with the curvature 2 of that."""
    result = solve(Problem([[1.0]], [4.0], loss=Poisson(), penalty=Linear(2.0)), tol=1e-14)
    certificate = result.certificate(strengths=(1.7, 2.3))
    assert certificate.nonzero[0]
    assert certificate.lower[0] <= np.log(1.7) < np.log(2) - 0.3 / 2
    assert certificate.upper[0] >= np.log(2.3)


def test_the_score_of_a_feature_moves_with_its_own_errors():
    """The second feature has a score of 0.95, and 1.04 * 0.95 + 0.04 in a member, above the slope of 1."""
    X, y, error = np.eye(2), np.array([3.0, 0.95]), np.array([0.0, 0.04])
    problem = Problem(X, y, penalty=Linear(0.5))
    assert solve(Problem(X + error, y, penalty=Linear(0.5)), tol=1e-13).certificate().nonzero[1]
    assert not solve(problem, tol=1e-13).certificate(x_error=error).zero[1]
    assert solve(problem, tol=1e-13).certificate(x_error=error / 2).zero[1]


def test_printed_numbers_are_floats_as_well():
    """Half a unit of the last decimal, and what the floats of the printed numbers are off."""
    X, y = np.full((3, 1), 1e9 + 0.1), np.array([1.0, 2.0, 4.0])
    told = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-12).certificate(decimals=3).family
    printed = Fraction("1000000000.1")
    lost = abs(Fraction(float(X[0, 0])) - printed)
    assert lost > 0
    assert Fraction(told["x_error"]["values"]) >= lost + Fraction("0.0005")
    assert Fraction(told["y_error"]["values"]) >= Fraction("0.0005")
    assert told["x_error"]["values"] < 0.000501


@pytest.mark.parametrize("decimals", [np.uint8(3), 3, 0, -2, 400])
def test_decimals_of_any_kind(decimals):
    told = solve(plain_problem(), tol=1e-10).certificate(decimals=decimals).family
    half = Fraction(1, 2) * Fraction(10) ** -int(decimals)
    assert half <= Fraction(told["x_error"]["values"]) <= half * (1 + Fraction(1, 10**9)) + Fraction(1, 10**14)


def test_relative_errors_of_exact_columns_stay_zero():
    """A feature without a price is exact: its relative error of 0 is no error."""
    prices = np.array([0.0, 1, 1, 1, 1, 1, 1, 1])
    result = solve(plain_problem(gauge=L1(weights=prices)), tol=1e-13)
    certificate = result.certificate(x_error=1e-6 * (prices > 0), relative=True)
    assert certificate.valid
    assert np.isfinite(certificate.lower[0])


def test_saturated_samples_leave_numbers():
    """The weight divided by the curvature overflows, at a sample without errors: no reason for NaN."""
    X, y = np.array([[1.0], [2.0], [-1.0], [0.5]]), np.array([1.0, -1.0, -1.0, 1.0])
    pieces = {"offset": [0, 0, 0, 700.0], "sample_weight": np.full(4, 1e6)}
    problem = Problem(X, y, loss=Logistic(), penalty=Linear(0.05), **pieces)
    certificate = solve(problem, tol=1e-13).certificate(x_error=np.array([[1e-6]] * 3 + [[0.0]]))
    assert certificate.valid
    assert np.isfinite([certificate.dual, certificate.primal, certificate.lower[0], certificate.upper[0]]).all()


REFUSED = {
    "labels": (plain_problem(loss=Logistic()), {"y_error": 0.1}, "y_error is for losses of the difference"),
    "classes": (
        Problem(np.eye(3), [0, 1, 2], loss=Multinomial(), penalty=Linear(0.1)),
        {"y_error": 0.1},
        "y_error is for losses of the difference",
    ),
    "no blocks": (plain_problem(gauge=LInf()), {"x_error": 0.1}, "do not cover gauges without blocks"),
    "both": (plain_problem(), {"x_error": 0.1, "decimals": 3}, "either decimals, or x_error"),
    "half a decimal": (plain_problem(), {"decimals": 2.5}, "decimals must be a whole number, got 2.5"),
    "far decimals": (plain_problem(), {"decimals": -400}, "decimals must be at least -308"),
    "text": (plain_problem(), {"x_error": "much"}, "x_error must be a number or an array of numbers"),
    "shape": (plain_problem(), {"x_error": np.ones(5)}, r"x_error must have one of the shapes a number, \(8,\)"),
    "targets": (plain_problem(), {"y_error": np.ones(5)}, r"y_error must have one of the shapes a number, \(30,\)"),
    "negative": (plain_problem(), {"x_error": -0.1}, "finite numbers that are not negative"),
    "NaN": (plain_problem(), {"y_error": np.nan}, "finite numbers that are not negative"),
    "no strength": (plain_problem(penalty=Ball(1.0)), {"strengths": (0.5, 2.0)}, "Ball has no slope within its ball"),
    "one strength": (plain_problem(), {"strengths": 0.1}, "strengths must be two numbers, got 0.1"),
    "elsewhere": (plain_problem(), {"strengths": (0.2, 0.3)}, "enclose the stated strength 0.1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    problem, asked, message = REFUSED[name]
    result = solve(problem, tol=1e-3)
    with pytest.raises((TypeError, ValueError), match=message):
        result.certificate(**asked)


def test_strengths_where_nothing_is_to_be_explained():
    """The objective is 0 without any coefficient, and so is the gap."""
    found = solve(Problem(np.eye(3), np.zeros(3), penalty=Linear(0.25)), tol=1e-12).certificate(strengths=(0.2, 0.4))
    assert found.zero.all()


def test_a_family_that_is_too_wide_is_silent():
    certificate = solve(plain_problem(), tol=1e-12).certificate(x_error=1e3)
    assert not certificate.valid
    assert "too wide" in certificate.reason
    assert not (certificate.zero | certificate.nonzero).any()


def test_the_same_seed_is_the_same_family():
    one, two = (draw(np.random.default_rng([3, 6])) for _ in range(2))
    assert one.traits == two.traits
    assert (one.certificate.lower == two.certificate.lower).all()
