"""Families of problems of several classes: no claim is false, wrong ones would be noticed, and laws of families."""

import copy
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from class_families import cut, draw, run
from families import contradicted

from atomsieve import L1, L2, Ball, Group, Image, Linear, Multinomial, NonNegative, Problem, Square, solve, verify
from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.class_line import class_line, still
from atomsieve.certificate.family import Family
from atomsieve.certificate.file import seal
from atomsieve.certificate.gap import prove
from atomsieve.certificate.point import feasible
from atomsieve.certificate.statement import Statement

RNG = np.random.default_rng(8)
N, D, CLASSES = 60, 5, 3
X = np.round(RNG.standard_normal((N, D)), 3)
BETA = np.array([[2.0, -1.5, 0.0], [0.0, 1.5, -1.0], [1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
Y = np.argmax(X @ BETA + RNG.gumbel(size=(N, CLASSES)), axis=1)
GAUGES = {
    "L1": L1(),
    "rows": Group(),
    "groups": Group([0, 0, 1, 1, 2]),
    "L2": L2(),
    "free feature": L1([0.0, 1.0, 1.0, 1.0, 1.0]),
    "NonNegative": NonNegative(),
    "image": Image(L1(), np.tril(np.ones((D, D)))),
}


def problem_of(gauge=None, penalty=None, **pieces):
    penalty = Linear(0.05) if penalty is None else penalty
    return Problem(X, Y, loss=Multinomial(), gauge=gauge or L1(), penalty=penalty, intercept=True, **pieces)


def solved(*pieces, **more):
    return solve(problem_of(*pieces, **more), tol=1e-13)


# -- against members ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(2))
def test_no_false_claim(part):
    tally = run(part, range(40), aimed=1)
    assert tally.faults == []
    assert min(tally.whole[name] for name in ("zeros", "nonzeros", "intervals", "values")) > 40
    assert tally.whole["members"] > 60


def test_no_false_claim_against_240_bits():
    tally = run(5, range(16), aimed=1, exact=True)
    assert tally.faults == []
    assert tally.whole["members"] > 10


@pytest.mark.deep
@pytest.mark.parametrize("part", range(100, 102))
def test_no_false_claim_in_very_many(part):
    tally = run(part, range(250), aimed=4)
    assert tally.faults == []
    assert tally.whole["certificates"] - tally.whole["silent"] > 130


def test_shorter_distances_would_be_noticed():
    """A thousandth of the true distances: hundreds of false claims."""
    with cut(1e-3):
        tally = run(0, range(40), aimed=1)
    assert tally.whole["false"] > 200
    words = Counter(wrong.rsplit(" ", 1)[0] for fault in tally.faults for wrong in fault["wrong"])
    assert set(words) >= {"zero", "lower", "upper", "free lower", "free upper", "value"}


@pytest.mark.deep
def test_half_the_distances_would_be_noticed():
    """What is claimed is hardly more than what is true."""
    with cut(0.5):
        tally = run(7, range(80), aimed=4)
    assert tally.whole["false"] > 0


def test_the_same_seed_is_the_same_family():
    one, two = (draw(np.random.default_rng([3, 6])) for _ in range(2))
    assert one.traits == two.traits
    assert (one.certificate.lower == two.certificate.lower).all()


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.2), Ball(2.0)], ids=repr)
@pytest.mark.parametrize("name", GAUGES)
def test_without_errors_it_decides_what_the_plain_certificate_decides(name, penalty):
    result = solved(GAUGES[name], penalty)
    plain, alone = result.certificate(), result.certificate(x_error=0.0)
    assert alone.valid
    assert (alone.zero >= plain.zero).all()
    assert (alone.nonzero >= plain.nonzero).all()


@pytest.mark.parametrize(("name", "ridge"), [*((name, 0.0) for name in GAUGES), ("L1", 0.1), ("rows", 0.1)])
def test_smaller_errors_decide_at_least_as_much(name, ridge):
    result = solved(GAUGES[name], ridge=ridge)
    wide, narrow = (result.certificate(x_error=error) for error in (1e-4, 3e-5))
    assert wide.valid
    assert (narrow.zero >= wide.zero).all()
    assert (narrow.nonzero >= wide.nonzero).all()
    assert (narrow.lower >= wide.lower).all()
    assert (narrow.upper <= wide.upper).all()
    assert narrow.dual >= wide.dual
    assert narrow.primal <= wide.primal


@pytest.mark.parametrize("name", ["L1", "rows", "L2"])
def test_intervals_are_of_first_order_in_the_errors(name):
    """A tenth of the errors, a tenth of the width; a proof by gaps would have a third."""
    result = solved(GAUGES[name])
    widths = [np.ptp([c.lower, c.upper], axis=0).max() for c in (result.certificate(x_error=e) for e in (1e-5, 1e-6))]
    assert 9.5 < widths[0] / widths[1] < 11


SAME = {
    "columns": {"x_error": np.full(D, 5e-4)},
    "entries": {"x_error": np.full((N, D), 5e-4)},
    "decimals": {"decimals": 3},
}


@pytest.mark.parametrize("form", SAME)
def test_forms_of_errors(form):
    result = solved()
    one, other = result.certificate(x_error=5e-4), result.certificate(**SAME[form])
    assert (one.zero == other.zero).all()
    assert (one.nonzero == other.nonzero).all()
    assert one.nonzero.any()
    assert one.zero.any()
    assert np.allclose(one.lower, other.lower, rtol=1e-9)


def test_errors_of_features_that_are_proven_zero_move_no_coefficient():
    result = solved()
    idle = ~result.x.any(axis=1)
    assert idle.any()
    certificate = result.certificate(x_error=np.where(idle, 1e-4, 0.0))
    assert certificate.zero.reshape(D, -1)[idle].all()
    assert (certificate.upper - certificate.lower).max() < 1e-9


def test_relative_errors_are_parts_of_the_entries():
    result = solved()
    part, each = result.certificate(x_error=1e-4, relative=True), result.certificate(x_error=1e-4 * np.abs(X))
    assert np.allclose(part.lower, each.lower, rtol=1e-9)
    assert (part.nonzero == each.nonzero).all()


def test_samples_count_by_their_weights():
    """Twice a sample is the sample with twice the weight, if both copies have the same errors."""
    twice = np.where(np.arange(N) < 20, 2.0, 1.0)
    weighted = solve(problem_of(sample_weight=twice), tol=1e-13).certificate(x_error=1e-5)
    rows = np.repeat(np.arange(N), twice.astype(int))
    repeated = Problem(X[rows], Y[rows], loss=Multinomial(), penalty=Linear(0.05), intercept=True)
    repeated = solve(repeated, tol=1e-13).certificate(x_error=1e-5)
    assert (weighted.nonzero == repeated.nonzero).all()
    assert np.allclose(weighted.lower, repeated.lower, atol=1e-9)


# -- ranges of strengths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.2)], ids=repr)
@pytest.mark.parametrize("name", GAUGES)
def test_a_narrow_range_decides_what_the_plain_certificate_decides(name, penalty):
    result = solved(GAUGES[name], penalty)
    strength = penalty.strength
    plain, alone = result.certificate(), result.certificate(strengths=(strength * (1 - 1e-9), strength * (1 + 1e-9)))
    assert alone.valid
    assert (alone.zero >= plain.zero).all()
    assert (alone.nonzero >= plain.nonzero).all()


@pytest.mark.parametrize("name", ["L1", "rows", "L2"])
def test_smaller_ranges_decide_at_least_as_much(name):
    result = solved(GAUGES[name])
    wide, narrow = (result.certificate(strengths=(0.05 * (1 - part), 0.05 * (1 + part))) for part in (2e-3, 2e-4))
    assert wide.valid
    assert (narrow.zero >= wide.zero).all()
    assert (narrow.nonzero >= wide.nonzero).all()
    assert (narrow.lower >= wide.lower).all()
    assert (narrow.upper <= wide.upper).all()


@pytest.mark.parametrize("name", ["L1", "rows", "L2"])
def test_intervals_of_a_range_are_hardly_wider_than_the_solutions(name):
    """The solutions at both ends of the range are within the intervals, and these reach little further."""
    result = solved(GAUGES[name])
    found = result.certificate(strengths=(0.0499, 0.0501))
    ends = [solved(GAUGES[name], Linear(strength)).x for strength in (0.0499, 0.0501)]
    assert (found.lower <= np.minimum(*ends)).all()
    assert (found.upper >= np.maximum(*ends)).all()
    moved = np.abs(ends[0] - ends[1]).max()
    assert (found.upper - found.lower).max() < 1.2 * moved


def test_strengths_and_errors_are_one_family():
    result = solved()
    both = result.certificate(x_error=1e-5, strengths=(0.0499, 0.0501))
    alone = [result.certificate(x_error=1e-5), result.certificate(strengths=(0.0499, 0.0501))]
    assert both.valid
    for one in alone:
        assert (both.lower <= one.lower).all()
        assert (both.upper >= one.upper).all()
    assert verify(both, X, Y)


def test_slopes_along_the_line_are_bounded():
    """The twin: slopes at points of the line, against the bounds of how far they move and are off the line."""
    result = solved(Group())
    problem = result.problem
    statement = Statement.of(problem)
    nominal = prove(statement, *feasible(statement, result.lifted, problem.span.origin))
    face = ClassFace.of(nominal, Family.of(problem, None, None, (0.045, 0.055), None, relative=False))
    t = nominal.slopes
    place = face.class_place(face.held, (t.low - 0.01, t.high + 0.01))
    line = class_line(face, place)
    g = place.rows.features.mid @ line.p
    u = X @ result.x + result.intercept
    p = softmax(u)
    straight = p * (g - (p * g).sum(axis=1, keepdims=True))
    reached = 0.0
    for part in np.linspace(-1, 1, 21):
        moved = softmax(u + part * line.step * g) - p
        off = np.abs(moved - part * line.step * straight)
        assert (np.abs(moved) <= line.swing * (1 + 1e-9) + 1e-12).all()
        assert (off <= line.off * (1 + 1e-9) + 1e-12).all()
        reached = max(reached, float((off / line.off).max()))
    assert reached > 0.5


def test_no_line_where_l1_leaves_a_feature_in_all_classes():
    result = solve(Problem(X, Y == 0, loss=Multinomial(), penalty=Linear(0.05), intercept=True), tol=1e-13)
    certificate = result.certificate(strengths=(0.0499, 0.0501))
    assert not certificate.valid
    assert "l1 leaves a feature in all classes" in certificate.reason


# -- features that l1 leaves in all classes ----------------------------------------------------------------------------


def test_two_classes_have_proven_zeros():
    """Each feature that l1 chooses is in both classes, and stays open; that does not keep others from being proven."""
    result = solve(Problem(X, Y == 0, loss=Multinomial(), penalty=Linear(0.05), intercept=True), tol=1e-13)
    plain, certificate = result.certificate(), result.certificate(x_error=1e-4)
    assert certificate.valid
    assert plain.zero.any()
    assert (certificate.zero == plain.zero).all()
    assert "may have weight in all classes" in certificate.reason


def test_a_feature_in_all_classes_needs_balanced_signs():
    """Three positive coefficients are no optimum, whatever the errors: nothing bounds how far it can be."""
    problem, x = problem_of(penalty=Linear(0.05)), np.zeros((D, CLASSES))
    x[0] = [1.0, 2.0, 3.0]
    family = Family.of(problem, 1e-3, None, None, None, relative=False)
    nominal = prove(Statement.of(problem), *feasible(Statement.of(problem), x, problem.span.origin))
    face = ClassFace.of(nominal, family)
    with pytest.raises(Exception, match="l1 leaves a feature in all classes"):
        face.proof(face.held)


# -- the twin: what errors do to the point, by trying them -------------------------------------------------------------


def softmax(u):
    p = np.exp(u - u.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def losses(u):
    return -np.log(softmax(u)[np.arange(N), Y])


@pytest.mark.parametrize("size", [1e-6, 1e-2, 0.3])
def test_moves_of_the_point_are_bounded(size):
    """Slopes and losses of the point for errors at corners, and the variance of the moves for any probabilities."""
    rng, result = np.random.default_rng(3), solved(Group())
    problem = result.problem
    statement = Statement.of(problem)
    nominal = prove(statement, *feasible(statement, result.lifted, problem.span.origin))
    face = ClassFace.of(nominal, Family.of(problem, size, None, None, None, relative=False))
    t = nominal.slopes
    place = face.class_place(face.held, (t.low - 0.01, t.high + 0.01))
    moves, u = face._moves(place, still(face, place)), X @ result.x + result.intercept
    reached = 0.0
    for _ in range(200):
        h = (size * rng.choice([-1.0, 1.0], X.shape)) @ result.x
        changed = np.abs(softmax(u + h) - softmax(u))
        assert (changed <= moves.slopes * (1 + 1e-9) + 1e-13).all()
        assert (np.abs(losses(u + h) - losses(u)) <= moves.losses * (1 + 1e-9) + 1e-13).all()
        r = rng.uniform(0, 1, place.tops.shape) * place.tops
        middle = (r * h).sum(axis=1) / r.sum(axis=1)
        assert ((r * (h - middle[:, None]) ** 2).sum(axis=1) <= moves.pushed**2 * (1 + 1e-9)).all()
        middle = (place.tops * h).sum(axis=1) / place.tops.sum(axis=1)
        variance = (place.tops * (h - middle[:, None]) ** 2).sum(axis=1)
        reached = max(reached, float((variance / moves.pushed**2).max()))
    assert reached > 0.9  # and hardly more than that happens


# -- the checker -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(2))
def test_the_checker_accepts_what_the_package_claims(part):
    tally = run(10 + part, range(40), aimed=None, check=True)
    assert tally.faults == []
    assert tally.whole["certificates"] - tally.whole["silent"] > 20


def honest(gauge):
    content = solved(gauge).certificate(x_error=1e-4).content()
    assert judged(content)
    return content


def judged(content):
    content = copy.deepcopy(content)
    del content["seal"]
    return verify(SimpleNamespace(content=lambda: content | {"seal": seal(content)}), X, Y)


def narrower(claims):
    ends = claims["intervals"]
    middle, half = ends["lower"][0] / 2 + ends["upper"][0] / 2, ends["upper"][0] / 2 - ends["lower"][0] / 2
    ends["lower"][0], ends["upper"][0] = middle - 0.97 * half, middle + 0.97 * half


def narrower_intercept(claims):
    claims["free"]["upper"][0] -= 0.03 * (claims["free"]["upper"][0] - claims["free"]["lower"][0])


def smaller_gap(claims):
    claims["gap"] *= 0.9


def higher_value(claims):
    claims["value"]["lower"] += 0.05 * (claims["value"]["upper"] - claims["value"]["lower"])


def lower_value(claims):
    claims["value"]["upper"] -= 0.05 * (claims["value"]["upper"] - claims["value"]["lower"])


FORGERIES = {
    narrower: "the interval of coefficient",
    narrower_intercept: "the interval of free coefficient 0 is too narrow",
    smaller_gap: "the gap at the point is larger",
    higher_value: "the optimal value may be below",
    lower_value: "the objective is above",
}


@pytest.mark.parametrize("gauge", ["L1", "rows"])
@pytest.mark.parametrize("forge", FORGERIES, ids=lambda f: f.__name__)
def test_forged_claims_are_refused(forge, gauge):
    content = honest(GAUGES[gauge])
    forge(content["claims"])
    verdict = judged(content)
    assert not verdict
    assert FORGERIES[forge] in verdict.reason


def test_a_coefficient_that_may_not_be_zero_is_not_claimed_to_be():
    content = solved(L1()).certificate(x_error=1e-4).content()
    claims = content["claims"]
    block = claims["nonzero"].pop(0)
    place = claims["intervals"]["index"].index(block)
    for values in claims["intervals"].values():
        del values[place]
    verdict = judged(content)
    assert not verdict
    assert f"{block} is not proven zero" in verdict.reason or "carries weight" in verdict.reason


@pytest.mark.parametrize("gauge", ["L1", "rows"])
@pytest.mark.parametrize("wider", [1.05e-4, [1e-4, 1e-4, 2e-4, 1e-4, 1e-4], 10.0])
def test_a_larger_family_needs_weaker_claims(wider, gauge):
    content = honest(GAUGES[gauge])
    content["family"]["x_error"]["values"] = wider
    verdict = judged(content)
    assert not verdict
    assert verdict.known


@pytest.mark.parametrize("gauge", ["L1", "rows"])
@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.2)], ids=repr)
def test_wider_strengths_need_weaker_claims(penalty, gauge):
    result, strength = solved(GAUGES[gauge], penalty), penalty.strength
    content = result.certificate(strengths=(0.998 * strength, 1.002 * strength)).content()
    assert judged(content)
    content["family"]["strengths"] = [0.998 * strength, 1.0022 * strength]
    verdict = judged(content)
    assert not verdict
    assert verdict.known


def test_a_smaller_family_follows():
    content = honest(L1())
    content["family"]["x_error"]["values"] = 0.99e-4
    assert judged(content)


def test_a_wrong_certificate_would_be_noticed_and_refused():
    """With a thousandth of the distances a member contradicts the claims, and the checker does not believe them."""
    with cut(1e-3):
        certificate = solved().certificate(x_error=3e-3)
    member = Problem(X + 3e-3 * np.sign(X), Y, loss=Multinomial(), penalty=Linear(0.05), intercept=True)
    assert contradicted(certificate, solve(member, tol=1e-13).certificate())
    assert not verify(certificate, X, Y)
