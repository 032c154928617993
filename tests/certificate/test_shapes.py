"""Signals, graphs, matrices and combinatorial sets against solutions that problems were built around."""

import numpy as np
import pytest
from judge import Tally, cut
from shapes_built import KINDS, build, try_shape

from atomsieve import solve


def test_solutions_are_solutions():
    for number in range(24):
        built = build(np.random.default_rng([2, number]))
        if built is not None:
            assert solve(built.problem(), tol=1e-9).objective == pytest.approx(built.value, rel=1e-6, abs=1e-9)


def test_no_claim_is_false():
    tally = Tally()
    for number in range(36):
        try_shape(0, number, tally, check=number % 4 == 0)
    assert not tally.faults
    assert all(tally.whole[kind] > 10 for kind in ("zeros", "nonzeros", "intervals", "values", "ordered"))


@pytest.mark.deep
def test_no_claim_of_many_is_false():
    tally = Tally()
    for number in range(1000, 2000):
        try_shape(0, number, tally)
    assert not tally.faults
    assert not tally.whole["refused"]
    assert set(tally.kinds) == set(KINDS)


def test_a_radius_that_is_too_small_is_found_out():
    tally = Tally()
    with cut("twentieth"):
        for number in range(40):
            try_shape(3, number, tally, check=False)
    assert tally.whole["false"] > 20
