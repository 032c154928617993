"""Columns that depend on each other, exactly or nearly: the others are decided, and so are sums of coefficients."""

import numpy as np
import pytest
from judge import cut, run
from scipy import sparse
from test_attacks import Sealed

from atomsieve import (
    L1,
    Ball,
    Certificate,
    Group,
    Linear,
    LogBarrier,
    Logistic,
    Poisson,
    Power,
    Problem,
    Square,
    solve,
    verify,
)
from atomsieve.certificate import certify, inverse, ranges
from atomsieve.certificate.gram import Gram, Plain
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(1)
N, D = 80, 10
X = RNG.standard_normal((N, D))
Y = X[:, :3] @ [1.0, -1.0, 0.5] + 0.5 * RNG.standard_normal(N)
NOISE = RNG.standard_normal(N)
TWINS = {
    "equal": X[:, 0],
    "an ulp away": np.nextafter(X[:, 0], np.inf),
    "1e-12 away": X[:, 0] * (1 + 1e-12 * NOISE),
    "1e-9 away": X[:, 0] + 1e-9 * NOISE,
    "1e-7 away": X[:, 0] + 1e-7 * NOISE,
    "negative": -X[:, 0],
}


def certified(features, y=Y, **pieces):
    """Return the certificate of a problem, which `verify` confirms."""
    pieces = {"penalty": Linear(0.1), "intercept": True} | pieces
    certificate = solve(Problem(features, y, **pieces), until="decided").certificate()
    judged = verify(certificate, features, y)
    assert judged.valid, judged
    return certificate


def check(found, alone, partner=0):
    """Compare with the certificate without the last column, a twin of `partner`, on all but both."""
    others = np.delete(np.arange(D), partner)
    assert np.array_equal(found.zero[others], alone.zero[others])
    assert np.array_equal(found.nonzero[others], alone.nonzero[others])
    assert np.array_equal(np.flatnonzero(found.undecided), [partner, D])
    (total,) = (s for s in found.sums if (s.index >= 0).all())
    assert set(total.index.tolist()) == {partner, D}
    return total


@pytest.mark.parametrize("twin", TWINS, ids=str)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_twins(twin, intercept, far):
    if far and not intercept:
        pytest.skip("without an intercept, features far from zero are other features")
    alone = certified(X + far, intercept=intercept)
    total = check(certified(np.c_[X, TWINS[twin]] + far, intercept=intercept), alone)
    assert total.lower <= alone.upper[0] * (1 + 1e-6)
    assert total.upper >= alone.lower[0] * (1 - 1e-6)
    assert total.lower > 0 or total.upper < 0  # at least one of both is in every solution


@pytest.mark.parametrize(
    ("loss", "y"),
    [(Logistic(), np.where(Y > 0, 1.0, -1.0)), (Poisson(), RNG.poisson(np.exp(0.4 * Y)).astype(float))],
    ids=["Logistic", "Poisson"],
)
def test_losses(loss, y):
    alone, both = (certified(data, y, loss=loss, penalty=Linear(0.05)) for data in (X, np.c_[X, TWINS["an ulp away"]]))
    total = check(both, alone)
    assert total.lower > 0


@pytest.mark.parametrize("penalty", [Square(0.1), Power(0.1, 3), Ball(1.5), LogBarrier(2.0, 5.0)], ids=repr)
def test_penalties(penalty):
    alone, both = (certified(data, penalty=penalty) for data in (X, np.c_[X, TWINS["1e-9 away"]]))
    assert check(both, alone).lower > 0


def test_groups():
    """A block whose columns are nearly those of another block."""
    labels = np.r_[np.arange(D) // 2, D // 2, D // 2]
    found = certified(np.c_[X, TWINS["1e-12 away"], np.nextafter(X[:, 1], 0.0)], gauge=Group(labels))
    assert found.nonzero[1]
    assert found.dependencies
    assert any((s.index >= 0).all() and (s.lower > 0 or s.upper < 0) for s in found.sums)


def test_twins_but_for_a_number():
    """The constant takes the difference, and the intercept is no longer determined alone."""
    found = certified(np.c_[X, X[:, 0] + 5.0])
    assert check(found, certified(X)).lower > 0
    assert not np.isfinite(found.free_lower[0])
    (mixed,) = (s for s in found.sums if (s.index < 0).any())
    assert mixed.index[1] == -1
    assert mixed.times[0] == pytest.approx(5.0 if mixed.index[0] == D else -5.0)
    assert mixed.upper - mixed.lower < 0.05


def test_scaled_twins_at_the_same_price():
    """Prices that make scaled columns equal atoms."""
    found = certified(np.c_[X, 3 * X[:, 0]], gauge=L1(weights=np.r_[np.ones(D), 3.0]))
    total = check(found, certified(X))
    assert sorted(total.times / total.times.max()) == pytest.approx([1 / 3, 1.0])


def test_several_sets():
    both = np.c_[X, X[:, 0] * (1 + 1e-13), np.nextafter(X[:, 1], 0.0)]
    found = certified(both)
    assert np.array_equal(np.flatnonzero(found.undecided), [0, 1, D, D + 1])
    assert sorted(sorted(s.index.tolist()) for s in found.sums) == [[0, D], [1, D + 1]]
    assert found.nonzero[2]


def test_a_set_keeps_nobody_from_one_more_certificate():
    """A feature that no expectation rules out is proven zero by the last certificate, beside twins that stay open."""
    rng = np.random.default_rng(185)
    features = rng.standard_normal((60, 1000))
    y = np.where(features[:, :3] @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    features = np.c_[features, features[:, 0]]
    problem = Problem(features, y, loss=Logistic())
    certificate = solve(problem.at_penalty(Linear(0.05 * problem.origin.sigma)), until="decided").certificate()
    assert np.flatnonzero(certificate.undecided).tolist() == [0, 1000]


@pytest.mark.parametrize("order", range(8))
def test_multiples_of_columns_that_are_sums_of_others(order):
    first, second, third, fourth = np.random.default_rng(3).standard_normal((4, N))
    columns = np.stack([first, second, first + second, (first + second) / 3, 5 * first, third, -third, fourth], axis=1)
    columns = np.roll(columns, order, axis=1)
    exact = Enclosure.exact(columns)
    known = inverse.determined(Plain(exact, np.ones(N)), 0, None, lambda some: exact[:, some], 0, bounded=True)
    assert len(known.columns) == 4
    assert sorted([*known.columns, *(d.column for d in known.dependencies)]) == list(range(8))
    for (column, of, times), rest in zip(known.dependencies, known.rests, strict=True):
        assert np.isin(of, known.columns).all()
        missing = np.linalg.norm(columns[:, column] - columns[:, of] @ times)
        assert missing <= rest + 1e-14 * np.linalg.norm(columns[:, column])
        assert rest <= 1e-13 * np.linalg.norm(columns[:, column])


def test_columns_that_are_alike_where_samples_have_weight_are_no_multiples():
    columns = np.random.default_rng(3).standard_normal((N, 3))
    columns[: N // 2, 2] = 2 * columns[: N // 2, 1]
    exact = Enclosure.exact(columns)
    weights = np.where(np.arange(N) < N // 2, 1.0, 0.0)
    known = inverse.determined(Plain(exact, weights), 0, None, lambda some: exact[:, some], 0, bounded=True)
    assert known.inverse is None
    assert not known.dependencies


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_hundreds_of_twins(form):
    rng = np.random.default_rng(0)
    few = np.where(rng.random((300, 250)) < 0.1, rng.standard_normal((300, 250)), 0.0)
    y = few @ rng.standard_normal(250) + rng.standard_normal(300)
    certificate = certified(form(np.c_[few, few / 3 * 3]), y, penalty=Linear(0.01))
    alone = certified(few, y, penalty=Linear(0.01))
    assert np.array_equal(certificate.zero, np.tile(alone.zero, 2))
    assert np.array_equal(certificate.undecided, np.tile(alone.nonzero, 2))
    assert sum(total.needed for total in certificate.sums) > 150


def test_sums_have_all_free_columns_that_depend_on_each_other():
    """A column without a price that is the twin of the intercept, and features that add up to a constant."""
    whole = np.round(3 * X[:, :2])
    features = np.c_[whole, 5.0 - whole[:, 0], np.ones(len(Y))]
    found = certified(features, intercept=True, gauge=L1([1.0, 1.0, 1.0, 0.0]), penalty=Linear(0.1))
    reduced = solve(Problem(whole, Y, penalty=Linear(0.1), intercept=True), tol=1e-13)
    (alone,) = (total for total in found.sums if set(total.index.tolist()) == {0, 2})
    assert alone.times.tolist() == [1.0, -1.0]
    assert alone.lower <= reduced.x[0] <= alone.upper
    (level,) = (total for total in found.sums if -1 in total.index)
    assert dict(zip(level.index.tolist(), level.times.tolist(), strict=True)) == {2: 5.0, -1: 1.0, -2: 1.0}
    assert level.lower <= reduced.intercept <= level.upper


class TestFiles:
    honest = certified(np.c_[X, TWINS["an ulp away"]])

    def refusal(self, change):
        judged = verify(Sealed(self.honest, change), np.c_[X, TWINS["an ulp away"]], Y)
        assert not judged.valid
        return judged.reason

    def test_come_back(self, tmp_path):
        self.honest.save(tmp_path / "certificate.json")
        (total,) = Certificate.load(tmp_path / "certificate.json").sums
        assert (total.lower, total.upper) == (self.honest.sums[0].lower, self.honest.sums[0].upper)
        assert total.index.tolist() == self.honest.sums[0].index.tolist()

    def test_narrower_intervals_are_refused(self):
        assert "sum is too narrow" in self.refusal(lambda c: c["claims"]["sums"][0].update(lower=0.9))

    def test_other_sums_are_refused(self):
        assert "not determined" in self.refusal(lambda c: c["claims"]["sums"][0].update(times=[1.0, 1.0 + 2.0**-40]))
        assert "not determined" in self.refusal(lambda c: c["claims"]["sums"][0].update(times=[1.0, -1.0]))
        assert "not there" in self.refusal(lambda c: c["claims"]["sums"][0].update(index=[0, 7]))
        assert "twice" in self.refusal(lambda c: c["claims"]["sums"][0].update(index=[0, 0]))

    def test_columns_that_are_not_alike_are_refused(self):
        assert self.refusal(lambda c: c["claims"]["dependencies"][0].update(of=[1]))
        assert "nor nearly" in self.refusal(lambda c: c["claims"]["dependencies"][0].update(times=[1.01]))


class TestTruth:
    def test_no_sum_is_false(self):
        tally = run(11, range(400))
        assert tally.faults == []
        assert tally.whole["sums"] > 20

    def test_smaller_distances_would_be_noticed(self):
        with cut("radius"):
            tally = run(11, range(400), check=False)
        assert any(wrong.startswith("sum") for fault in tally.faults for wrong in fault["wrong"])

    def test_what_near_columns_are_off_counts(self, monkeypatch):
        """Without it, sums of columns that are alike to a thousandth would be claimed too precisely."""
        features = np.c_[X, X[:, 0] + 1e-4 * NOISE]
        problem = Problem(features, Y, penalty=Linear(0.1))
        x, known, known_inverse = solve(problem, tol=1e-5).x, ranges.determined, Gram.inverse

        def forgetful(*parts, **more):
            answer = known(*parts, **more)
            answer.rests[:] = 0.0
            return answer

        monkeypatch.setattr(inverse, "NEARLY", (1e-2,))
        monkeypatch.setattr(Gram, "inverse", all_but_the_first(Gram.inverse))
        certificate = certify(problem, x, np.zeros(0))
        assert certificate.sums
        assert verify(certificate, features, Y).valid
        monkeypatch.setattr(ranges, "determined", forgetful)
        monkeypatch.setattr(Gram, "inverse", all_but_the_first(known_inverse))
        assert "too narrow" in verify(certify(problem, x, np.zeros(0)), features, Y).reason


def all_but_the_first(function):
    """Return a function that answers None the first time."""
    calls = []

    def answer(*parts):
        calls.append(parts)
        return function(*parts) if len(calls) > 1 else None

    return answer
