"""Gauges of separate features, and of the same features: what they are equal to, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

from atomsieve import (
    L1,
    L2,
    Atoms,
    GaugeRegressor,
    Group,
    Image,
    LatentGroup,
    Linear,
    LInf,
    NonNegative,
    Problem,
    Product,
    Scaled,
    Square,
    Union,
    solve,
    verify,
)

RNG = np.random.default_rng(6)
NAMES = list("abcde")
X = RNG.standard_normal((50, 5))
Y = X @ [1.0, 0.5, 0.0, -2.0, 0.0] + 0.1 * RNG.standard_normal(50)
LABELS = [0, 0, 1, 1, 1]


def solution(gauge, penalty=Linear(0.1), **settings):  # noqa: B008
    return solve(Problem(X, Y, gauge=gauge, penalty=penalty, intercept=True, **settings), tol=1e-12)


def same(one, other, penalty=Linear(0.1)):  # noqa: B008
    one, other = solution(one, penalty), solution(other, penalty)
    np.testing.assert_allclose(one.x, other.x, atol=1e-7)
    assert one.certificate().zero.tolist() == other.certificate().zero.tolist()


class TestProduct:
    @pytest.mark.parametrize("penalty", [Linear(0.1), Square(0.1)], ids=repr)
    def test_of_prices_is_l1(self, penalty):
        parts = [([4, 0], L1([3.0, 1.0])), ([1, 3, 2], L1([2.0, 0.5, np.inf]))]
        same(Product(parts, weights=[1.0, 2.0]), L1([1.0, 4.0, np.inf, 1.0, 3.0]), penalty)

    def test_of_norms_is_group(self):
        same(Product([([0, 1], L2()), ([4, 2, 3], Scaled(L2(), 0.5))]), Group(LABELS, weights=[1.0, 2.0]))
        same(Product([([3, 0, 1], Group([1, 0, 0])), ([2, 4], L1())]), Group([0, 0, 1, 2, 3]))

    def test_free_coefficients_beside_prices(self):
        one, other = Product([([0, 2], L1([0.0, 1.0])), ([1, 3, 4], L1())]), L1([0.0, 1.0, 1.0, 1.0, 1.0])
        same(one, other)
        assert solution(one).certificate().to_frame().verdict[0] == "unpenalised"

    def test_names(self, tmp_path):
        groups = {"first": ["b", "a"]}
        gauge = Product({"g": (["a", "b"], Group(groups)), "l": (["e", "d", "c"], L1())}, {"l": 1.0, "g": 3.0})
        same(gauge.named(NAMES, 5), Group([0, 0, 1, 2, 3], weights=[3.0 * np.sqrt(2.0), 1.0, 1.0, 1.0]))
        certificate = solution(gauge, names=NAMES).certificate()
        assert certificate.to_frame().feature.tolist() == NAMES
        certificate.save(tmp_path / "certificate.json")
        assert verify(tmp_path / "certificate.json", X, Y).valid
        with pytest.raises(TypeError, match="which only a problem knows"):
            gauge.scores(np.zeros(5))

    def test_a_ridge_beside_parts_with_prices(self, tmp_path):
        parts = [([0, 1], L2()), ([2, 3, 4], NonNegative())]
        result = solution(Product(parts), ridge=0.1)
        assert result.converged
        certificate = result.certificate()
        assert certificate.valid
        certificate.save(tmp_path / "certificate.json")
        assert verify(tmp_path / "certificate.json", X, Y).valid
        joined = solution(Union(L1(), L2()), ridge=0.1)  # the ridge is one of x, not of its two parts
        assert joined.converged
        assert verify(joined.certificate(), X, Y).valid

    def test_families_of_problems(self, tmp_path):
        certificate = solution(Product([([0, 1], L2()), ([2, 3, 4], L1())])).certificate(x_error=1e-9)
        assert certificate.nonzero.any()
        certificate.save(tmp_path / "certificate.json")
        assert verify(tmp_path / "certificate.json", X, Y).valid
        with pytest.raises(ValueError, match="groups beside coefficients with a sign"):
            solution(Product([([0, 1], L2()), ([2, 3, 4], NonNegative())])).certificate(x_error=1e-9)

    @pytest.mark.parametrize(
        ("parts", "words"),
        [
            ([([0, 1], L2()), ([1, 2, 3, 4], L1())], "parts share 1.*Union"),
            ([([0, 1], L2()), ([2, 3], L1())], "leave out 4"),
            ([([0, 1], L2()), ([2, 3, 9], L1())], "positions below 5"),
            ([([0, 1, 2, 3, 4], L1), ([], L1())], "the gauge of 0"),
            ([([0, 1, 2, 3, 4], L1()), ([], L1())], "a list of features each"),
            ([L1(), L2()], "pairs"),
            ([], "pairs"),
            ([([0, 1], L2()), ([2, 3, 4], L1([1.0, 0.0, 1.0]))], "positive and finite"),
        ],
    )
    def test_what_is_refused(self, parts, words):
        with pytest.raises((TypeError, ValueError), match=words):
            solution(Product(parts))

    @pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], {"a": 1.0}, {0: 1.0, 1: 1.0, 2: 1.0}])
    def test_bad_weights_are_refused(self, weights):
        with pytest.raises(ValueError, match="Product: weights"):
            Product([([0, 1], L2()), ([2, 3, 4], L1())], weights)

    def test_several_outputs_of_two_kinds_are_refused(self):
        with pytest.raises(ValueError, match="all gauges of a Product or Union"):
            solve(Problem(X, np.stack([Y, Y], axis=1), gauge=Product([([0, 1], L2()), ([2, 3, 4], L1())])))


class TestUnion:
    def test_the_better_of_two(self):
        z = np.array([3.0, 4.0, 1.0, 1.0, 0.0])
        gauges = [L1(), Group(LABELS), Scaled(L2(), 0.9), LatentGroup([[0, 1, 2], [2, 3, 4]])]
        assert Union(*gauges).support(z) == max(gauge.support(z) for gauge in gauges)

    def test_a_gauge_with_a_larger_ball_makes_the_others_superfluous(self):
        one, other = solution(Union(L1(), Scaled(L2(), 0.3), LInf()), Square(0.1)), solution(LInf(), Square(0.1))
        np.testing.assert_allclose(one.x, other.x, atol=1e-6)
        one, other = solution(Union(Scaled(L1(), 3.0), L2())), solution(Scaled(L1(), 3.0))
        np.testing.assert_allclose(one.x, other.x, atol=1e-6)

    def test_groups_and_single_features_are_latent_groups(self):
        same(
            Union(L1(), Group(LABELS)),
            LatentGroup([[0], [1], [2], [3], [4], [0, 1], [2, 3, 4]]),
        )

    def test_the_value_is_a_linear_program_for_coordinates(self):
        x = np.array([1.0, -2.0])
        matrix = np.array([[1.0], [-2.0]])
        assert Union(L1(), Atoms(matrix)).value(x) == pytest.approx(1.0)
        assert Union(L1(), Atoms(-matrix)).value(x) == pytest.approx(3.0)
        assert Union(NonNegative(), Atoms(matrix)).value(np.array([2.0, -2.0])) == pytest.approx(2.0)
        with pytest.raises(ValueError, match="convex program of its own"):
            Union(L1(), L2()).value(x)

    def test_parts_add_up(self):
        matrix = RNG.normal(size=(5, 7))
        gauge = Union(
            Scaled(L1(), 0.7), Group(LABELS), Image(Image(L1(), np.eye(7)), matrix), LatentGroup([[0, 1], [1, 2, 3, 4]])
        )
        result = solution(gauge)
        parts = gauge.parts(result.lifted)
        assert len(parts) == 4
        np.testing.assert_allclose(sum(parts), result.x, atol=1e-12)

    def test_unions_of_unions(self):
        assert Union(L1(), Union(L2(), LInf())) == Union(L1(), L2(), LInf())
        with pytest.raises(TypeError, match="scale the gauges of a Union"):
            Union(L1(), Scaled(Union(L1(), L2()), 2.0))
        for gauges in ((), (L1(),)):
            with pytest.raises(ValueError, match="two gauges at least"):
                Union(*gauges)
        with pytest.raises(TypeError, match="Union: a gauge"):
            Union(L1(), L2)

    def test_is_a_value(self):
        gauge = Union(L1(), Group(LABELS))
        assert repr(gauge).startswith("Union(L1(")
        assert pickle.loads(pickle.dumps(gauge)) == gauge  # noqa: S301
        assert gauge.with_params(gauges=(L1(), L2())) == Union(L1(), L2())
        with pytest.raises(ValueError, match="no parameter 'radius'"):
            gauge.with_params(radius=2.0)

    def test_tables_name_features_and_parts(self):
        certificate = solution(Union(L1(), Group(LABELS)), names=NAMES).certificate()
        table = certificate.feature_frame()
        assert table.feature.tolist() == NAMES
        assert certificate.to_frame().feature.tolist() == NAMES * 2
        assert table.verdict[3] == "non-zero"
        assert all(" in part " in name for names in certificate.dependent_sets for name in names)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    "gauge", [Union(L1(), Group(LABELS)), Product([([0, 1], L2()), ([2, 3, 4], L1())])], ids=["union", "product"]
)
def test_in_an_estimator(gauge, standardize):
    frame = pd.DataFrame(X, columns=NAMES)
    model = GaugeRegressor(gauge=gauge, penalty=Linear(0.1), standardize=standardize, tol=1e-12).fit(frame, Y)
    report = model.support_report()
    assert (report.lower <= report.coefficient + 1e-7).all()
    assert (report.coefficient - 1e-7 <= report.upper).all()
    assert report.verdict[3] == "non-zero"
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).coef_, model.coef_)  # noqa: S301
