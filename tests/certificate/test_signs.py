"""Certificates of coefficients that must not be negative, one by one: written, read, checked, and forged."""

import json

import numpy as np
import pytest
from test_attacks import Sealed
from test_verify import changed, leaves

from atomsieve import L1, L2, Certificate, Group, Linear, NonNegative, Problem, Simplex, Square, solve, verify
from atomsieve.certificate import certify

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8))
Y = X @ [1.0, -2.0, -1.0, 1.5, 0.5, 0.0, 0.0, -0.7] + 0.1 * RNG.standard_normal(60) - 3.0
MASK = [True, False, True, True, True, True, False, False]
PENALTY = Linear(0.05)


def certificate(mask, penalty=PENALTY, tol=1e-12):
    """Return the certificate of a mask."""
    return solve(Problem(X, Y, gauge=L1(positive=mask), penalty=penalty, intercept=True), tol=tol).certificate()


HONEST = certificate(MASK)


def refusal(change, honest=HONEST):
    """Return why a forged certificate is refused."""
    assert verify(honest, X, Y).valid
    verdict = verify(Sealed(honest, change), X, Y)
    assert not verdict.valid
    return verdict.reason


def with_mask(mask):
    """Return the change to another mask; certificates share the statement of their problem, so that it is replaced."""

    def change(content):
        gauge = content["problem"]["gauge"] | {"positive": mask}
        content["problem"] = content["problem"] | {"gauge": gauge}

    return change


def test_the_claims():
    assert not HONEST.undecided.any()
    np.testing.assert_array_equal(np.flatnonzero(HONEST.nonzero), [0, 1, 3, 4, 7])
    assert (HONEST.lower[np.array(MASK)] >= 0).all()
    assert (HONEST.upper[[1, 7]] < 0).all()
    assert HONEST.zero[2]  # it would be negative if it could
    assert certificate([False] * 8).upper[2] < 0


@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.1)], ids=repr)
@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-8])
def test_rough_points_claim_less_and_nothing_false(tol, penalty):
    rough, best = certificate(MASK, penalty, tol), certificate(MASK, penalty)
    assert not (rough.zero & best.nonzero).any()
    assert not (rough.nonzero & best.zero).any()
    assert (rough.lower[np.array(MASK)] >= 0).all()
    assert (rough.lower <= best.upper).all()
    assert (best.lower <= rough.upper).all()
    verdict = verify(rough, X, Y)
    assert verdict.valid, verdict.reason


def test_points_outside_the_cone_are_moved_into_it():
    problem = Problem(X, Y, gauge=L1(positive=MASK), penalty=PENALTY)
    found = certify(problem, -np.ones(8), np.zeros(0))
    np.testing.assert_array_equal(found.x, np.where(MASK, 0.0, -1.0))
    assert verify(found, X, Y).valid


def test_a_mask_is_written_and_read(tmp_path):
    HONEST.save(tmp_path / "masked.json")
    content = json.loads((tmp_path / "masked.json").read_text())
    assert content["problem"]["gauge"] == {"type": "L1", "weights": None, "positive": MASK}
    assert verify(tmp_path / "masked.json", X, Y).valid
    loaded = Certificate.load(tmp_path / "masked.json")
    np.testing.assert_array_equal(loaded.lower, HONEST.lower)
    assert verify(loaded, X, Y).valid
    assert certificate(None).content()["problem"]["gauge"]["positive"] is None


def test_any_change_of_the_gauge_breaks_the_seal(tmp_path):
    content, forged = HONEST.content(), tmp_path / "forged.json"
    for place in leaves(content["problem"]["gauge"], ("problem", "gauge")):
        forged.write_text(json.dumps(changed(content, place)))
        assert "seal" in verify(forged, X, Y).reason, place


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        ([True] * 7, "7 truth values for 8"),
        ([True] * 9, "9 truth values for 8"),
        ([], "0 truth values for 8"),
        (True, "positive must be a list"),
        ("truetrue", "positive must be a list"),
        ({str(j): True for j in range(8)}, "positive must be a list"),
        ([1, 0, 1, 1, 1, 1, 0, 0], "positive[0] must be true or false"),
        ([*MASK[:7], None], "positive[7] must be true or false"),
        ([[flag] for flag in MASK], "positive[0] must be true or false"),
        (["true"] * 8, "positive[0] must be true or false"),
    ],
    ids=str,
)
def test_what_is_no_mask_is_refused(mask, reason):
    assert reason in refusal(with_mask(mask))


@pytest.mark.parametrize("mask", [None, [True] * 8, [False] * 8, [not flag for flag in MASK]], ids=str)
def test_another_mask_is_another_problem(mask):
    assert refusal(with_mask(mask))


@pytest.mark.parametrize("j", range(8))
def test_a_mask_matters_where_it_binds(j):
    """A turned flag under a new seal is refused, unless the optimum is the same and all claims are true."""
    mask = [flag != (k == j) for k, flag in enumerate(MASK)]
    other = certificate(mask)
    same = np.array_equal(other.zero, HONEST.zero) and abs(other.primal - HONEST.primal) < 1e-9
    assert same == (j not in (1, 2, 7))
    assert verify(Sealed(HONEST, with_mask(mask)), X, Y).valid == same


@pytest.mark.parametrize("gauge", [NonNegative(), Simplex(), L2(), Group(np.arange(8) // 2)], ids=repr)
def test_a_mask_of_another_gauge(gauge):
    honest = solve(Problem(X, Y, gauge=gauge, penalty=Square(0.1)), tol=1e-10).certificate()
    assert "has 'positive', which is not known" in refusal(with_mask([False] * 8), honest)


def test_a_mask_without_a_price():
    gauge = L1([0.0, *[1.0] * 7], positive=[False, *[True] * 7])
    honest = solve(Problem(X, Y, gauge=gauge, penalty=Square(0.1)), tol=1e-10).certificate()
    assert "needs a price" in refusal(with_mask([True] * 8), honest)


def test_a_lower_bound_of_0_where_both_signs_are_allowed():
    def change(content):
        held = content["claims"]["intervals"]
        k = held["index"].index(1)
        held["lower"][k], held["upper"][k] = 0.0, None

    assert "interval of coefficient 1 is too narrow" in refusal(change)


def test_a_negative_point_where_none_is_allowed():
    assert "negative coefficient" in refusal(lambda c: c["point"]["x"]["value"].__setitem__(0, -1.0))
