"""The problem on a working set along lines of slopes: the core against its slow twin, and against line after line."""

import numpy as np
import pytest
from core_fuzz import REFUSED
from hypothesis import given
from hypothesis import strategies as st
from test_core_restricted import CORE, OTHERS, SMALL, examples, pieces, scale_of
from twins import HINGE, LONG, LOSSES, SQUARED, make

FACTORS = (1.0, 0.7, 0.5, 0.45, 0.3)
"""Slopes of the lines, as parts of the first."""

shapes = pieces | {
    "n": st.sampled_from([1, 5, 24, 60, 400]),  # with many samples, squared losses are solved by a Gram matrix
    "size": st.just(1.0),
    "decades": st.sampled_from([0.0, 3.0]),
    "coupled": st.booleans(),
}


def lines_of(case, coupled):
    """Return the problem at each of the lines; a coupled ridge falls with the slope."""
    a, b = case.line
    return [
        case.but(line=(a * part, b * part), ridge=case.ridge * (part if coupled else 1.0), x=None) for part in FACTORS
    ]


def follow(case, cases, store=None, target=0.0, seconds=60.0):
    """Let the core solve along the lines; return the rows that it has written."""
    arguments = case.arguments(CORE.store() if store is None else store, seconds=seconds)
    (n, m), k, count = case.A.shape, case.Q.shape[1], len(cases)
    trail = np.full((count, m), np.nan), np.full((count, k), np.nan), np.full((count, n), np.nan)
    lines, ridges = np.array([here.line for here in cases]), np.stack([here.blocks()[5] for here in cases])
    done, _ = CORE.along(*arguments[:7], lines, ridges, target, case.caution, seconds, trail)
    return done, trail


def check(options):
    coupled = options["coupled"]
    case = make(**{key: value for key, value in options.items() if key != "coupled"})
    cases = lines_of(case, coupled)
    target = 1e-12 * case.scale()
    done, trail = follow(case, cases, target=target)
    assert done == len(cases)
    begin = case
    for here, x, b, image in zip(cases, *trail, strict=True):
        v, c = x.astype(LONG) / here.unit_of, b.astype(LONG)
        assert here.allowed(x)
        assert (np.abs(image - here.A.astype(LONG) @ x) <= 1e-14 * np.abs(here.A * x).sum(axis=1)).all()
        gap = float(here.gap(v, c))
        # line after line the core comes as far, and not further
        one = here.but(x=begin.x, c=begin.c, caution=begin.caution).run(CORE, target=target)
        scale = scale_of(here, one)
        assert gap <= max(10 * max(one.gap, 0.0), SMALL * scale)
        assert here.loss == HINGE or gap <= 1e-8 * scale
        begin = here.but(x=one.x, c=one.c, caution=one.caution)


@examples(120)
@given(st.fixed_dictionaries(shapes))
def test_every_line_is_solved(options):
    check(options)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("line", ["linear", "both"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("blocks", ["single", "mixed", "split", "limits"])
@pytest.mark.parametrize("free", [0, 2])
def test_every_line_is_solved_by_a_gram_matrix(blocks, sparse, line, free, coupled):
    shape = {"n": 200, "m": 12, "sparse": sparse, "line": line, "free": free, "weights": "random"}
    shape |= OTHERS.get(blocks, {"blocks": blocks})
    for ridge, kind in ((0.0, "random"), (0.1, "random"), (3.0, "duplicates")):
        check({"seed": 5, "loss": SQUARED, "kind": kind, "ridge": ridge, "share": 0.1, "coupled": coupled, **shape})


@pytest.mark.deep
@examples(3000)
@given(st.fixed_dictionaries(shapes))
def test_every_line_is_solved_often(options):
    check(options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("blocks", ["single", "mixed"])
@pytest.mark.parametrize("free", [0, 2])
def test_a_store_remembers_the_gram_matrix_for_other_columns(blocks, sparse, free):
    """A working set that has some columns of the one before, in another order, finds what it can use."""
    case = make(1, SQUARED, 300, 12, blocks=blocks, free=free, sparse=sparse, weights="random")
    count = len(case.ends)
    store = CORE.store()
    for chosen in (range(count // 2), range(count), range(count - 1, 0, -2)):
        part = case.part(list(chosen))
        _, fresh = follow(part, lines_of(part, False), target=1e-14 * case.scale())
        _, kept = follow(part, lines_of(part, False), store=store, target=1e-14 * case.scale())
        size = np.abs(fresh[0]).max()
        np.testing.assert_allclose(kept[0], fresh[0], rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_time_and_no_lines(loss):
    case = make(0, LOSSES[loss], 60, 5)
    done, trail = follow(case, lines_of(case, False), seconds=-1.0)
    assert done == 0
    assert np.isnan(trail[0]).all()
    arguments = case.arguments(CORE.store())
    empty = np.empty((0, 5)), np.empty((0, 0)), np.empty((0, 60))
    assert CORE.along(*arguments[:7], np.empty((0, 2)), np.empty((0, 5)), 0.0, 0.0, 9.0, empty)[0] == 0


REFUSALS = {
    "a negative slope": (7, np.full((2, 2), -1.0)),
    "slopes that are no numbers": (7, np.full((2, 2), np.nan)),
    "slopes of whole numbers": (7, np.ones((2, 2), dtype=np.int64)),
    "a negative ridge": (8, np.full((2, 5), -1.0)),
    "an infinite ridge": (8, np.full((2, 5), np.inf)),
    "too few ridges": (8, np.zeros((1, 5))),
    "no ridges": (8, None),
    "too little room": (12, (np.empty((2, 4)), np.empty((2, 0)), np.empty((2, 60)))),
    "room for one line": (12, (np.empty((2, 5)), np.empty((2, 0)), np.empty((1, 60)))),
    "room that is read only": (12, (np.broadcast_to(0.0, (2, 5)), np.empty((2, 0)), np.empty((2, 60)))),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_cannot_be_read_is_refused(what):
    case = make(0, SQUARED, 60, 5)
    place, spoilt = REFUSALS[what]
    room = np.full((2, 5), np.nan), np.empty((2, 0)), np.full((2, 60), np.nan)
    good = [*case.arguments(CORE.store())[:7], np.full((2, 2), 0.1), np.zeros((2, 5)), 0.0, 0.0, 9.0, room]
    bad = [*good[:place], spoilt, *good[place + 1 :]]
    with pytest.raises(REFUSED):
        CORE.along(*bad)
    assert np.isnan(room[0]).all()
    assert CORE.along(*good)[0] == 2
