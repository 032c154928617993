"""The problem on a working set: the core against its slow twin, on random, degenerate and extreme problems."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twins import HINGE, HUBER, KINDS, LOGISTIC, LONG, LOSSES, POISSON, SPLITS, SQUARED, make

from atomsieve import core as package

CORE = package._core
SMALL = 1e-10
"""What counts as no gap, as a part of the objective at the start."""

OTHERS = {"split": {"blocks": "several", "split": "some"}, "limits": {"blocks": "single", "limits": True}}
"""Blocks whose entries are 0 one by one, and entries with limits."""

CALLS = 10
"""Calls that a problem may take."""

loss = st.sampled_from(sorted(LOSSES.values()))
pieces = {
    "seed": st.integers(0, 2**32 - 1),
    "loss": loss,
    "n": st.integers(1, 24),
    "m": st.integers(1, 12),
    "kind": st.sampled_from(KINDS),
    "blocks": st.sampled_from(["single", "one", "several", "mixed"]),
    "line": st.sampled_from(["linear", "square", "both"]),
    "share": st.sampled_from([0.5, 0.1, 0.02]),
    "free": st.integers(0, 2),
    "weights": st.sampled_from(["equal", "random", "zeros"]),
    "offset": st.booleans(),
    "signs": st.sampled_from(["both", "positive", "mixed"]),
    "sparse": st.booleans(),
    "decades": st.sampled_from([0.0, 3.0, 150.0]),
    "size": st.sampled_from([1.0, 1e-100, 1e100]),
    "start": st.sampled_from(["zero", "some", "full"]),
    "ridge": st.sampled_from([0.0, 0.0, 1e-9, 0.1, 10.0]),
    "split": st.sampled_from(SPLITS),
    "limits": st.booleans(),
}
cases = st.fixed_dictionaries(pieces)
wild = st.fixed_dictionaries(
    pieces | {"share": st.sampled_from([1.5, 1.0, 1e-3, 1e-5]), "weights": st.sampled_from(["decades", "zeros"])}
)


def examples(quick):
    """Return settings for this many examples."""
    return settings(max_examples=quick, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def looked_at(case, found):
    """Return the gap that the twin finds where the core has ended; all that the core says must agree with it."""
    v, c = found.x.astype(LONG) / case.unit_of, found.c.astype(LONG)
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.c).all()
    assert case.allowed(found.x)
    size = np.abs(case.A * found.x).sum(axis=1)
    assert (np.abs(found.image - case.A.astype(LONG) @ found.x) <= 1e-14 * size).all()
    assert found.mass == pytest.approx(float(case.mass(v)), rel=1e-12, abs=1e-300)
    t, Q = case.slope(case.predictions(v, c)), case.Q.astype(LONG)
    theta = case.w * (t - Q @ (Q.T @ (case.w * t)))
    terms = np.abs(case.A).T @ np.abs(case.w * (np.abs(t) + np.abs(case.y) + 1)).astype(float)
    terms += case.ridge * np.abs(found.x)  # z comes from the gradient of loss and ridge
    assert (np.abs(found.z + case.A.astype(LONG).T @ theta) <= 1e-9 * terms + 1e-300).all()
    return float(case.gap(v, c))


def objective(case, found):
    return case.objective(found.x.astype(LONG) / case.unit_of, found.c.astype(LONG))


def scale_of(case, found):
    """Return what gaps are small beside: the loss at 0, or the penalty of the start."""
    start = np.zeros(len(found.x)) if case.x is None else case.x / case.unit_of
    return case.scale() + float(case.penalty(case.mass(start.astype(LONG))) + case.held(start.astype(LONG)))


def minimum(options):
    """Let the core solve a problem, in several calls if it gives up, as the method does; what it says is true."""
    case = make(**options)
    start = case.run(CORE, target=np.inf)
    scale = scale_of(case, start)
    for _ in range(CALLS):
        found = case.run(CORE, target=1e-12 * case.scale())
        gap = looked_at(case, found)
        # within limits there are several dual points to choose from, which agree at the end
        assert found.gap == pytest.approx(gap, rel=1e-6, abs=SMALL * scale) or (case.limits and found.gap >= gap / 2)
        if gap <= SMALL * scale:
            break
        case = case.but(x=found.x, c=found.c, caution=found.caution)
    assert objective(case, found) <= objective(case, start) + SMALL * scale
    # a loss that is 0 beyond its kink leaves little to steer by where it is 0
    assert gap <= (1e-5 if case.loss == HINGE else SMALL) * scale


@examples(150)
@given(cases)
def test_a_minimum_has_no_gap(options):
    minimum(options)


@pytest.mark.deep
@examples(4000)
@given(cases)
def test_a_minimum_has_no_gap_often(options):
    minimum(options)


@examples(60)
@given(wild)
def test_wild_problems_end(options):
    """Penalties that are too weak or too strong, and weights over six decades: any end that is not worse."""
    case = make(**options)
    start = case.run(CORE, target=np.inf)
    found = case.run(CORE, target=1e-12 * case.scale(), seconds=5.0)
    looked_at(case, found)
    assert objective(case, found) <= objective(case, start) + SMALL * scale_of(case, found)


# Where the minimiser is well determined, it is the same.


@pytest.mark.thin(4)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("blocks", ["single", "mixed", "split", "limits"])
@pytest.mark.parametrize("line", ["linear", "square", "both"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimiser_is_that_of_the_twin(loss, line, blocks, free, seed, ridge):
    shape = {"n": 30, "m": 5, "weights": "random", "offset": True, "signs": "mixed", "start": "some"}
    shape |= OTHERS.get(blocks, {"blocks": blocks})
    case = make(seed, LOSSES[loss], line=line, free=free, sparse=bool(seed), ridge=ridge, **shape)
    case = case.but(delta=1.0)  # for Huber: enough samples within
    found = case.run(CORE, target=-1.0, respond=True)
    v, c = case.solve()
    size = float(np.abs(v).max())
    np.testing.assert_allclose((found.x / case.unit_of).astype(float), v.astype(float), rtol=1e-10, atol=1e-10 * size)
    np.testing.assert_allclose(found.c, c.astype(float), rtol=1e-10, atol=1e-10)
    assert found.response == pytest.approx(case.response(v, c), rel=1e-6)


@examples(60)
@given(st.fixed_dictionaries(pieces | {"size": st.just(1.0), "kind": st.sampled_from(["random", "binary", "zeros"])}))
def test_the_response_is_that_of_the_twin(options):
    case = make(**options)
    found = case.run(CORE, target=1e-12 * case.scale(), respond=True)
    v, c = found.x.astype(LONG) / case.unit_of, found.c.astype(LONG)
    known = case.response(v, c)
    if np.isfinite(known):
        assert found.response == pytest.approx(known, rel=1e-5)
    assert case.run(CORE, target=1e-12 * case.scale()).response == 0


# Larger ones, by the ways in which a face is solved: factors that follow it, conjugate gradients, descent alone.


@pytest.mark.thin(11)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blocks", ["single", "several", "split", "limits"])
@pytest.mark.parametrize("shape", [(300, 40), (80, 150), (25, 200), (600, 150)], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_larger_problems_and_a_store_that_is_used_again(loss, sparse, shape, blocks, kind):
    """A store gives the answers of a new one, whichever columns and ridges the calls before had."""
    rng = np.random.default_rng([shape[1], KINDS.index(kind)])
    options = {"free": 1, "weights": "random", "signs": "mixed", "start": "some", "share": 0.03}
    options |= OTHERS.get(blocks, {"blocks": blocks})
    case = make(7, LOSSES[loss], *shape, kind, sparse=sparse, **options)
    kept = CORE.store()
    for turn in range(5):
        chosen = rng.random(len(case.ends)) < (1.0 if turn in (0, 3) else 0.6)
        chosen[rng.integers(len(chosen))] = True
        part = case.part(np.flatnonzero(chosen))
        part.line = (case.line[0] * rng.choice([0.5, 1.0, 2.0]), case.line[0] * (turn % 2))
        part.ridge = rng.choice([0.0, 0.1, 10.0]) / float(np.median(case.units)) ** 2
        one, other = (part.run(CORE, store, target=1e-13 * part.scale()) for store in (kept, None))
        for found in (one, other):
            assert abs(looked_at(part, found)) <= (1e-5 if loss == "squared hinge" else SMALL) * scale_of(part, found)
        assert one.mass * part.line[0] == pytest.approx(other.mass * part.line[0], abs=1e-3 * part.scale())


@pytest.mark.parametrize("kind", ["random", "nearly", "duplicates"])
@pytest.mark.parametrize("blocks", ["several", "split"])
def test_what_a_store_has_learned_of_guesses_spoils_no_gap(blocks, kind):
    """Descent by columns guesses its gap; however much of the last guess was true, the gap asked for is reached."""
    shape = {"share": 0.02, "free": 1, "start": "some"} | OTHERS.get(blocks, {"blocks": blocks})
    case = make(5, SQUARED, 60, 120, kind, **shape)
    kept = CORE.store()
    for turn, part in enumerate((1e-2, 1e-9, 1e-4, 1e-11, 1e-3, 1e-7)):
        here = case.but(line=(case.line[0] * (1 + turn % 3), case.line[1]))
        found = here.run(CORE, kept, target=part * here.scale())
        assert max(found.gap, looked_at(here, found)) <= part * here.scale() * (1 + 1e-6)
        case = case.but(x=found.x, c=found.c)


def test_a_store_that_knew_other_blocks():
    """The same ids in blocks that are cut differently, in another order, or twice."""
    rng = np.random.default_rng(3)
    case = make(1, n=400, m=20, share=0.05)
    case = case.but(units=np.ones(20), prices=np.ones(20))
    kept = CORE.store()
    for _ in range(40):
        entries = rng.permutation(20)[: rng.integers(1, 20)]
        part = case.part(entries).but(negative=np.ones(len(entries), dtype=np.uint8))
        ends = np.unique(np.append(rng.integers(1, len(entries) + 1, 3), len(entries)))
        ones = np.ones(len(ends))
        part = part.but(ends=ends, prices=ones, units=ones, each=0.3 * rng.integers(0, 2, len(ends)))
        assert abs(looked_at(part, part.run(CORE, kept))) <= SMALL * part.scale()
    case.ids = np.zeros(20, dtype=np.int64)
    for _ in range(3):
        case.run(CORE, kept)  # columns that are taken for each other: any answer, no crash


# What once went wrong.


def plain(loss, A, y, **options):
    """Return a problem with equal weights and prices of 1."""
    ones = np.ones(A.shape[1])
    return make(0, loss, *A.shape).but(A=A, y=y, units=ones, prices=ones, **options)


@pytest.mark.parametrize("line", [(0.05, 0.0), (5.0, 0.0), (0.0, 0.3), (0.05, 0.3)])
@pytest.mark.parametrize("blocks", [[1, 2, 3], [1, 3]])
@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("loss", LOSSES)
def test_weight_on_a_column_that_changes_nothing_is_given_back(loss, free, blocks, line):
    case = make(2, LOSSES[loss], 10, 3, free=free)
    A = np.where([True, False, False], case.A, 0.0 if len(blocks) == 2 or not free else 1.0)
    ones = np.ones(len(blocks))
    case = case.but(A=A, ends=np.array(blocks), units=ones, prices=ones, line=line, x=np.array([0.0, 3.0, 0.0]))
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= SMALL * scale_of(case, found)
    assert abs(found.x[1]) <= 1e-12


@pytest.mark.parametrize("away", [10.0, 1e3, 1e6])
def test_an_intercept_of_huber_beyond_the_kinks(away):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(10) + away
    case = plain(HUBER, rng.standard_normal((10, 1)), y, Q=np.ones((10, 1)), delta=0.5, line=(0.05, 0.0), caution=1.0)
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= SMALL * case.scale()
    assert abs(found.c[0] - away) < 2


def test_an_intercept_of_huber_between_samples_that_nearly_balance():
    """No sample is within the kinks, and the slopes nearly cancel: the way is long."""
    y = 100 * np.array([2.0, -1.0, 3.0, 1.7])
    w = np.array([0.164, 0.429, 0.153, 0.126])
    Q = np.full((4, 1), 1 / np.sqrt(w.sum()))
    case = plain(HUBER, np.ones((4, 1)), y, w=w, Q=Q, delta=0.1, line=(0.05, 0.0), caution=1.0)
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= SMALL * case.scale()


@pytest.mark.parametrize("away", [30.0, 40.0, 100.0, 700.0])
def test_an_offset_far_on_the_wrong_side(away):
    """Probabilities of error round to 1 and rates are lost beside y."""
    A = np.random.default_rng(0).standard_normal((10, 3))
    case = plain(LOGISTIC, A, np.ones(10), offset=np.full(10, -away), line=(0.05, 0.0))
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= 1e-9
    start = case.run(CORE, target=np.inf)
    assert start.gap == pytest.approx(looked_at(case, start), rel=1e-9)


@pytest.mark.parametrize("away", [30.0, 40.0, 100.0])
def test_counts_far_above_their_rates(away):
    A = np.random.default_rng(0).standard_normal((10, 3))
    case = plain(POISSON, A, np.ones(10), offset=np.full(10, -away), line=(0.05, 0.0))
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= 1e-9
    if away > 50:
        return
    case = case.but(Q=np.ones((10, 1)))
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= 1e-9
    assert found.c[0] == pytest.approx(away, abs=1)


def test_a_sample_without_weight_does_not_stiffen_the_others():
    case = make(0, POISSON, 12, 3, share=0.02)
    gone = np.arange(12) == 5
    case = case.but(w=np.where(gone, 0.0, case.w), offset=np.where(gone, 300.0, 0.0))
    found = case.run(CORE, target=1e-12)
    assert abs(looked_at(case, found)) <= SMALL


def test_a_gap_above_the_objective_does_not_end_the_search():
    options = {"kind": "duplicates", "line": "both", "share": 1e-3, "weights": "zeros", "offset": True}
    case = make(1112487781, LOGISTIC, 10, 6, signs="positive", decades=3.0, **options)
    found = case.run(CORE, target=1e-10)
    assert abs(looked_at(case, found)) <= 1e-8


def test_a_support_of_many_columns_that_depend_on_each_other():
    case = make(0, SQUARED, 20, 400, start="full", share=0.01)
    found = case.run(CORE, target=1e-12 * case.scale())
    assert abs(looked_at(case, found)) <= SMALL * scale_of(case, found)
    assert np.count_nonzero(found.x) <= 20


@examples(60)
@given(cases)
def test_a_call_goes_on_where_another_ended(options):
    """With the image and the pulls of the first call, the second finds what it finds without them."""
    case = make(**options)
    first = case.arguments(CORE.store(), target=0.1 * case.scale())
    CORE.restricted(*first)
    place = first[6]
    fresh = (place[0].copy(), place[1].copy(), np.full(len(place[2]), np.nan), np.full(len(place[3]), np.nan))
    target = 1e-9 * case.scale()
    ends = []
    for start in (place, fresh):
        found = CORE.restricted(CORE.store(), *first[1:6], start, first[7], target, *first[9:])
        ends.append((found, case.objective(start[0].astype(LONG) / case.unit_of, start[1].astype(LONG))))
    if max(found[0] for found, _ in ends) <= target:
        assert abs(float(ends[0][1] - ends[1][1])) <= 2 * target
