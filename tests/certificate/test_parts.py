"""Forged certificates of gauges that are made of others: signs beside groups, and groups whose copies tell nothing."""

import numpy as np
import pytest
from families import contradicted

from atomsieve import L2, LatentGroup, Linear, LInf, NonNegative, Problem, Product, solve, verify
from atomsieve.certificate.file import seal

RNG = np.random.default_rng(11)
X = RNG.standard_normal((60, 5))
Y = X @ [1.0, 2.0, -1.5, 1.0, 0.0] + 0.1 * RNG.standard_normal(60)
SIGNED = Product([([0, 1], L2()), ([2, 3, 4], NonNegative())])
SHARED = LatentGroup({"first": [0, 1], "inside": [1], "second": [1, 2, 3], "last": [4]}, [1.4, 0.9, 1.7, 1.0])


class Sealed:
    """What a forger hands in."""

    def __init__(self, certificate, change):
        self.told = certificate.content()
        change(self.told)
        self.told["seal"] = seal(self.told)

    def content(self):
        return self.told


def honest(gauge, **settings):
    certificate = solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.1), **settings), tol=1e-12).certificate()
    assert verify(certificate, X, Y).valid
    return certificate


def refusal(certificate, change):
    verdict = verify(Sealed(certificate, change), X, Y)
    assert not verdict.valid
    return verdict.reason


class TestSigns:
    def test_what_is_proven(self):
        certificate = honest(SIGNED)
        assert certificate.statement["gauge"]["type"] == "Parts"
        assert certificate.zero[1]  # the third coefficient would like to be negative
        assert certificate.nonzero[[0, 2]].all()

    def test_a_coefficient_that_may_be_negative_is_not_zero(self):
        def change(told):
            told["problem"]["gauge"]["positive"] = None

        assert "the gap at the point is larger than claimed" in refusal(honest(SIGNED), change)

    def test_signs_are_for_single_coefficients(self):
        def change(told):
            told["problem"]["gauge"]["positive"] = [True, True, True, True, True]

        assert "in a group with others" in refusal(honest(SIGNED), change)

    @pytest.mark.parametrize("key", ["groups", "weights", "positive"])
    def test_parts_of_the_gauge_are_needed(self, key):
        refusal(honest(SIGNED), lambda told: told["problem"]["gauge"].pop(key))

    @pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, "inf"]])
    def test_weights(self, weights):
        refusal(honest(SIGNED), lambda told: told["problem"]["gauge"].update(weights=weights))

    def test_gauges_without_prices_are_not_known(self):
        gauge = Product([([0, 1], LInf()), ([2, 3, 4], LInf())])
        certificate = solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.1)), tol=1e-12).certificate()
        assert certificate.valid
        verdict = verify(certificate, X, Y)
        assert not verdict.valid
        assert "LInf beside other gauges is not known" in verdict.reason


class TestGroupsThatShare:
    def test_what_is_proven(self):
        certificate = honest(SHARED)
        assert certificate.zero.tolist() == [False, False, False, True]
        assert certificate.nonzero.tolist() == [True, False, True, False]  # "inside" has nothing of its own
        assert certificate.undecided.tolist() == [False, True, False, False]

    def test_a_group_of_copies_is_not_proven(self):
        def change(told):
            told["claims"]["nonzero"] = [0, 1, 2]
            told["claims"]["undecided"] = []

        assert "block 1 is not proven non-zero" in refusal(honest(SHARED), change)

    def test_a_group_that_is_zero_is_not_proven_otherwise(self):
        def change(told):
            told["claims"]["nonzero"] = [0, 2, 3]

        refusal(honest(SHARED), change)

    def test_copies_have_no_intervals(self):
        def change(told):
            claims = told["claims"]["intervals"]
            place = claims["index"].index(1)
            claims["lower"][place], claims["upper"][place] = -100.0, 100.0

        assert "interval of coefficient 1" in refusal(honest(SHARED), change)

    def test_sums_of_copies_are_checked(self):
        def change(told):
            total = told["claims"]["sums"][0]
            total["lower"] = total["upper"]

        refusal(honest(SHARED), change)


class TestFamilies:
    def test_copies_have_the_errors_of_their_features(self):
        """Groups that share a feature, of which one is zero; columns in another order than that of their features."""
        gauge = LatentGroup({"first": [1, 0], "second": [2, 3], "last": [3, 4]}, [1.4, 1.4, 1.7])
        errors = np.array([0.0, 0.001, 0.002, 0.003, 0.004])
        result = solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.2)), tol=1e-12)
        certificate = result.certificate(x_error=errors, strengths=(0.199, 0.201))
        assert certificate.nonzero.tolist() == [True, True, False]
        assert verify(certificate, X, Y).valid
        bounds = certificate.proof.statement.family.errors.columns(slice(None))
        assert (bounds == errors[gauge.copies(6)]).all()
        for side in (-1, 1):
            moved = X + side * errors * np.where(RNG.random(X.shape) < 0.5, -1, 1)
            member = Problem(moved, Y, gauge=gauge, penalty=Linear(0.2 + side * 0.001))
            assert not contradicted(certificate, solve(member, tol=1e-12).certificate())

    def test_groups_beside_signs_are_not_known(self):
        def change(told):
            told["family"] = {"x_error": None, "y_error": None, "strengths": [0.1, 0.1]}

        assert "groups beside coefficients with a sign is not known" in refusal(honest(SIGNED), change)
        with pytest.raises(ValueError, match="groups beside coefficients with a sign"):
            solve(Problem(X, Y, gauge=SIGNED, penalty=Linear(0.1))).certificate(x_error=0.001)
