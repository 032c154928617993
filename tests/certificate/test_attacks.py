"""False claims and forgeries that an attack once got through, or nearly: each stays refused."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from atomsieve import (
    L1,
    Ball,
    Certificate,
    Group,
    Image,
    Linear,
    Logistic,
    Multinomial,
    NonNegative,
    Power,
    Problem,
    Scaled,
    Square,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal
from atomsieve.certificate.free import scaled_columns
from atomsieve.certificate.identity import digest_of
from atomsieve.design import as_design
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
Y = X[:, 0] - 2 * X[:, 1] + 0.1 * RNG.standard_normal(30)


class Sealed:
    """What a forger hands in."""

    def __init__(self, certificate, change):
        self.told = certificate.content()
        change(self.told)
        self.told["seal"] = seal(self.told)

    def content(self):
        return self.told


def refusal(problem, data, change, **given):
    """Return why a forged certificate is refused."""
    honest = solve(problem, tol=1e-12).certificate()
    assert verify(honest, *data, **given).valid
    verdict = verify(Sealed(honest, change), *data, **given)
    assert not verdict.valid
    return verdict.reason


class TestClaims:
    def test_groups_of_one_in_another_order(self):
        data, y = 2 * np.eye(2), np.array([3.0, 0.1])
        result = solve(Problem(data, y, gauge=Group([1, 0]), penalty=Square(0.1)), tol=1e-12)
        certificate = result.certificate()
        assert certificate.nonzero.tolist() == [False, True]
        assert certificate.lower[0] > 0
        assert certificate.dual <= result.objective <= certificate.primal * (1 + 1e-12)
        assert verify(certificate, data, y).valid

    def test_prices_out_of_range(self):
        problem = Problem([[1.0]], [1.0], gauge=Scaled(L1(), 1e-310), penalty=Ball(1e308))
        assert not certify(problem, np.zeros(1), np.zeros(0)).valid
        weight = 1.3e-13
        problem = Problem([[1e-15]], [2.0], gauge=Scaled(L1([weight]), 1e308), penalty=Ball(1e-308))
        assert not certify(problem, np.array([1e-308 / (weight / 1e308)]), np.zeros(0)).valid

    def test_negative_points_of_an_unsigned_gauge(self):
        problem = Problem([[1.0]], [-1.0], gauge=NonNegative(), penalty=Square(0.1))
        certificate = certify(problem, np.array([-1.0]), np.zeros(0))
        assert certificate.primal >= 0.5
        assert not certificate.nonzero.any()

    def test_squares_of_groups_that_underflow(self):
        data = np.diag([1.6e-162, 1.6e-162, 2.7])
        problem = Problem(data, np.ones(3), gauge=Group([0, 0, 1], [1e-162, 1.0]), penalty=Ball(1e-6))
        assert not certify(problem, np.zeros(3), np.zeros(0)).zero[1]
        assert not solve(problem, tol=1e-12).certificate().zero[1]

    def test_no_score_at_all(self):
        problem = Problem([[1.0], [2.0]], [-1.0, -1.0], gauge=NonNegative(), penalty=Power(0.1, 3.0))
        assert solve(problem).certificate().valid


class TestHonest:
    @pytest.mark.parametrize("loss", [None, Logistic()])
    def test_the_best_x_is_zero(self, loss):
        y = Y if loss is None else np.sign(Y)
        problem = Problem(X, y, penalty=Linear(5.0), intercept=True, **({} if loss is None else {"loss": loss}))
        certificate = solve(problem).certificate()
        assert certificate.zero.all()
        assert verify(certificate, X, y).valid

    @pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-12])
    def test_non_negative_with_dependent_columns(self, tol):
        rng = np.random.default_rng(2)
        data, y = rng.standard_normal((3, 6)), rng.standard_normal(3)
        certificate = solve(Problem(data, y, gauge=NonNegative(), penalty=Square(0.1)), tol=tol).certificate()
        verdict = verify(certificate, data, y)
        assert verdict.valid, verdict.reason

    def test_indicators_that_add_up_to_the_intercept(self):
        data = np.eye(4)[RNG.integers(0, 4, 40)]
        y = data @ [1.0, -1.0, 0.5, 0.0] + 0.1 * RNG.standard_normal(40)
        certificate = solve(Problem(data, y, penalty=Square(0.01), intercept=True), tol=1e-12).certificate()
        verdict = verify(certificate, data, y)
        assert verdict.valid, verdict.reason

    def test_labels_of_groups_of_any_kind(self, tmp_path):
        for labels in ([np.inf, 0.0, 0.0, -1.0, np.inf, 1.0], list("abcabc"), np.arange(6).astype("datetime64[D]")):
            certificate = solve(Problem(X, Y, gauge=Group(labels), penalty=Linear(0.1)), tol=1e-12).certificate()
            certificate.save(tmp_path / "c.json")
            assert verify(tmp_path / "c.json", X, Y).valid

    def test_multinomial_can_be_saved_and_loaded(self, tmp_path):
        problem = Problem(X, np.arange(30) % 3, loss=Multinomial(np.int64(3)), penalty=Linear(0.01))
        certificate = solve(problem).certificate()
        certificate.save(tmp_path / "c.json")
        loaded = Certificate.load(tmp_path / "c.json")
        np.testing.assert_array_equal(loaded.zero, certificate.zero)

    def test_whole_numbers_beyond_doubles(self):
        assert Linear(2**53 + 1).strength == float(2**53)


class TestForgeries:
    problem = Problem(X, Y, penalty=Linear(0.1), intercept=True)
    data = (X, Y)

    def refused(self, change):
        return refusal(self.problem, self.data, change)

    def test_silence_that_speaks(self):
        def change(c):
            c["claims"]["valid"] = False
            c["claims"]["undecided"] = []

        assert "claims nothing, and" in self.refused(change)

    def test_repeated_indices(self):
        def change(c):
            c["point"]["x"] = {"index": [0, 0], "value": [0.1, 0.1]}

        assert "increasing whole numbers" in self.refused(change)

    def test_lists_of_different_lengths(self):
        assert "different lengths" in self.refused(lambda c: c["claims"]["intervals"]["upper"].pop())
        assert "different lengths" in self.refused(lambda c: c["claims"]["free"]["upper"].pop())

    def test_masks_in_place_of_indices(self):
        assert "increasing whole numbers" in self.refused(lambda c: c["claims"].update(nonzero=[False, True]))

    def test_bounds_on_one_side_only(self):
        assert "free coefficient 0" in self.refused(
            lambda c: c["claims"].update(free={"lower": [None], "upper": [-100]})
        )

    def test_an_intercept_may_be_negative_where_coefficients_may_not(self):
        y = Y - 5.0
        problem = Problem(X, y, gauge=NonNegative(), penalty=Linear(0.1), intercept=True)
        forged = {"lower": [0.0], "upper": [3.0]}
        assert "free coefficient 0" in refusal(problem, (X, y), lambda c: c["claims"].update(free=forged))

    @pytest.mark.parametrize(
        ("key", "value"),
        [("unpenalised", [2]), ("blocks", 9), ("samples", 29), ("weighted", True), ("free", 1), ("intercept", 0.5)],
    )
    def test_a_statement_that_does_not_fit(self, key, value):
        assert self.refused(lambda c: c["problem"].update({key: value}))

    def test_unpenalised_coefficients(self):
        problem = Problem(X, Y, gauge=L1([0.0, 1, 1, 1, 1, 1]), penalty=Linear(0.1))

        def interval(c):
            rows = sorted([(0, 0.0, 0.0), *zip(*c["claims"]["intervals"].values(), strict=True)])
            names = ("index", "lower", "upper")
            c["claims"]["intervals"] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

        assert refusal(problem, (X, Y), lambda c: c["problem"].update(unpenalised=[]))
        assert "elsewhere" in refusal(problem, (X, Y), interval)

    def test_scores_that_are_equal_as_doubles(self):
        data, y = np.array([[1.0, 1.0], [0.0, 2.0**-60]]), np.array([2.0, 1.0])

        def change(c):
            c["point"]["x"] = {"index": [0], "value": [1.0]}
            c["claims"].update(gap=0.0, nonzero=[0], undecided=[], value={"lower": 0.75, "upper": None})
            c["claims"]["intervals"] = {"index": [0], "lower": [None], "upper": [None]}

        assert "gap" in refusal(Problem(data, y, penalty=Square(0.5)), (data, y), change)

    def test_free_columns_that_only_look_equal(self):
        given = np.c_[np.ones(30), np.ones(30) * (1 + 2.0**-52)]
        problem = Problem(X, Y, penalty=Linear(0.1), free=given[:, :1])
        honest = solve(problem, tol=1e-12).certificate().content()
        whole = Problem(X, Y, penalty=Linear(0.1), free=given)
        honest["problem"]["free"] = 2
        honest["data"]["sha256"] = solve(whole).certificate().digest
        honest["point"]["free"].append(0.0)
        for side in ("lower", "upper"):
            honest["claims"]["free"][side].append(None)
        honest["claims"]["dependencies"] = [{"column": -2, "of": [-1], "times": [1.0]}]
        honest["seal"] = seal(honest)
        verdict = verify(type("Forged", (), {"content": lambda _: honest})(), X, Y, free=given)
        assert "not the sum of others" in verdict.reason

    def test_targets_and_parameters_that_make_no_sense(self):
        signs = np.sign(Y)
        problem = Problem(X, signs, loss=SquaredHinge(), penalty=Square(0.1))
        honest = solve(problem, tol=1e-10).certificate()
        other = solve(Problem(X, 3 * signs, penalty=Square(0.1))).certificate()

        def change(c):
            c["data"] = other.content()["data"]

        assert "-1 and 1" in verify(Sealed(honest, change), X, 3 * signs).reason
        for key, value in (("strength", -1.0), ("strength", 0.0), ("strength", "x")):
            forged = Sealed(honest, lambda c, key=key, value=value: c["problem"]["penalty"].update({key: value}))
            assert "positive number" in verify(forged, X, signs).reason

    def silent(self, problem, x, zero, **changes):
        """Return a certificate at x that claims nothing but that some blocks are zero."""
        start = np.zeros(0) if problem.span is None else problem.span.origin
        content = certify(problem, x, start).content()
        left = [j for j in range(len(x)) if j not in zero]
        rows = np.flatnonzero(x).tolist()
        content["point"]["x"] = {"index": rows, "value": x[rows].tolist()}
        content["claims"].update(gap=None, nonzero=[], undecided=left, dependencies=[], valid=True)
        content["claims"]["value"] = {"lower": None, "upper": None}
        content["claims"]["intervals"] = {"index": left, "lower": [None] * len(left), "upper": [None] * len(left)}
        content["claims"].update(changes)
        return Sealed(type("Told", (), {"content": lambda _: content})(), lambda _: None)

    def test_a_best_atom_without_a_positive_score(self):
        data, y = np.array([[1.0, -1.0, -1.0], [0.1, 0.1, 0.5]]), np.array([-1.0, -0.645])
        problem = Problem(data, y, gauge=NonNegative(), penalty=Square(1e-3))
        assert solve(problem, tol=1e-13).x[1] > 0.9
        forged = self.silent(problem, np.array([0.0, 0.0, 1.11]), zero=[1])
        assert "block 1 is not proven zero" in verify(forged, data, y).reason

    def test_squares_that_underflow_before_huge_weights(self):
        unit, weights = 2.0**-560, np.full(2, 2.0**990)
        data, y = unit * np.array([[1.0, 0.9], [0.0, 0.5]]), np.array([2.0, 2.0])
        problem = Problem(data, y, penalty=Linear(0.2 * unit), sample_weight=weights)
        assert solve(problem, tol=1e-12).x[1] * unit > 2
        forged = self.silent(problem, np.array([0.5, 0.0]) / unit, zero=[1])
        assert "block 1 is not proven zero" in verify(forged, data, y, sample_weight=weights).reason

    def test_intervals_of_dependent_free_columns(self):
        given = np.ones(30)
        problem = Problem(X, Y, penalty=Square(0.1), intercept=True, free=given)

        def change(c):
            (dependency,) = c["claims"]["dependencies"]
            for side, value in (("lower", 77.0), ("upper", 78.0)):
                c["claims"]["free"][side][-1 - dependency["column"]] = value

        assert "free coefficient" in refusal(problem, (X, Y), change, free=given)

    def test_free_atoms_that_only_look_equal(self):
        v = np.array([1.0, -1.0, 2.0, 0.5])
        data, y = np.column_stack([np.ones(4), v * 2.0**-60]), 3 * v + np.array([0.1, 0.0, 0.0, 0.2])
        gauge = Image(L1([0.0, 0.0, 1.0]), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
        problem = Problem(data, y, gauge=gauge, penalty=Square(0.1))
        forged = self.silent(
            problem,
            np.zeros(3),
            zero=[0, 1],
            undecided=[2],
            value={"lower": 0.1, "upper": None},
            dependencies=[{"column": -2, "of": [-1], "times": [1.0]}],
            free={"lower": [None, None], "upper": [None, None]},
        )
        forged.told["point"]["free"] = [float(y.mean()), 0.0]
        forged.told["seal"] = seal(forged.told)
        assert "column -2 is not the sum of others" in verify(forged, data, y).reason

    def test_products_that_overflow_in_doubles(self):
        y = np.full(4, 3.0)
        data = np.column_stack([np.ones(4), 1e308 * np.array([1.5, -1.5, 1.5, 1.4])])
        tame = Problem(data * [1.0, 0.0], y, penalty=Square(1.0))
        forged = self.silent(tame, np.array([1.5, 0.0]), zero=[], value={"lower": 2.25, "upper": None})
        wild = replace(tame.data, design=as_design(data))
        forged.told["data"]["sha256"] = digest_of(wild)
        forged.told["seal"] = seal(forged.told)
        assert "lower bound" in verify(forged, data, y).reason

    def test_missing_parts(self):
        for key in ("claims", "point", "problem", "data"):
            assert "malformed" in self.refused(lambda c, key=key: c.pop(key))
        assert "malformed" in self.refused(lambda c: c["claims"].update(nonzero=None))

    def test_masks_that_contradict_each_other(self):
        certificate = solve(self.problem).certificate()
        certificate.zero[:] = True
        with pytest.raises(ValueError, match="cannot claim"):
            certificate.content()


@pytest.mark.parametrize("power", [340, 300])
def test_entries_of_a_free_column_that_underflow_as_it_is_scaled(power):
    """At x = 0 the free coefficient is nearly 2^200, and the score of the feature is 2^(power - 340)."""
    free = np.array([2.0**540, 2.0**-540])[:, None]
    problem = Problem(np.array([[0.0], [2.0**power]]), np.array([2.0**740, 0.0]), free=free, penalty=Linear(0.1))
    certificate = certify(problem, np.zeros(1), problem.span.origin)
    assert certificate.zero[0] == (power == 300)  # the slope of the penalty is 0.2


@pytest.mark.parametrize("columns", [1, 2])
def test_what_underflows_in_scaled_free_columns_is_within_their_radius(columns):
    """Each free column is told by a power of two; the truth is exact in whole numbers of the least double."""
    mid = np.array([[2.0**1000, 3.0], [3 * 2.0**-75, 2.0**1022], [2.0**-74, 2.0**-100], [5e-324, 1.0]])[:, :columns]
    rad = np.abs(mid) * 2.0**-52
    scale = 2.0 ** -np.round(np.log2(np.abs(mid).max(axis=0)))
    statement = SimpleNamespace(unpenalised=Enclosure(mid, rad), free_scale=scale)
    found = scaled_columns(statement, np.arange(columns))
    for place in np.ndindex(mid.shape):
        middle, radius, factor = (Fraction(v) for v in (mid[place], rad[place], scale[place[1]]))
        apart = abs(middle * factor - Fraction(found.mid[place]))
        assert apart + radius * factor <= Fraction(found.rad[place])
    plain = SimpleNamespace(unpenalised=Enclosure.exact(np.ones((3, 1))), free_scale=np.ones(1))
    assert not scaled_columns(plain, np.arange(1)).rad.any()  # which keeps products with them exact
