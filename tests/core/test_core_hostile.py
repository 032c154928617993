"""Hostile input to the core: an exception or an end, never a crash, a hang, or numbers written elsewhere."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from core_fuzz import MANGLED, REFUSED, WHERE, at, mangled, put
from twins import LOSSES, make

from atomsieve import core as package
from atomsieve.core import Blocks, Packed, best, kept, quadratic

CORE = package._core
NAMES = {
    (1, 0): "values", (1, 1): "rows", (1, 2): "value starts", (1, 3): "row starts", (1, 4): "counts", (2,): "ids",
    (3, 0): "ends", (3, 1): "prices", (3, 2): "each", (3, 3): "units", (3, 4): "stiffness", (3, 5): "ridges",
    (3, 6): "negative", (3, 7, 0): "lower", (3, 7, 1): "upper", (5, 0): "y", (5, 1): "weights", (5, 2): "offset",
    (5, 3): "basis", (6, 0): "x", (6, 1): "coordinates", (6, 2): "image", (6, 3): "pulls",
}  # fmt: skip


def arguments(loss=0, sparse=True, limits=False, **options):
    blocks = {"blocks": "single", "limits": True} if limits else {"blocks": "mixed", "split": "some"}
    case = make(3, loss, 14, 6, free=2, offset=True, sparse=sparse, start="some", **blocks)
    return case.arguments(CORE.store(), target=1e-10, **options)


@pytest.mark.parametrize("how", MANGLED)
@pytest.mark.parametrize("place", WHERE, ids=NAMES.get)
def test_one_array_is_spoilt(place, how):
    """Whatever is spoilt, the call ends; what cannot be read as it should be is refused."""
    rng = np.random.default_rng(0)
    started = time.perf_counter()
    for sparse in (True, False):
        whole = arguments(sparse=sparse, limits=place[:2] == (3, 7), respond=True, seconds=2.0)
        with np.errstate(invalid="ignore"):
            spoilt = mangled(rng, whole, place, how)
        before = [array.copy() for array in whole[6]]
        try:
            CORE.restricted(*spoilt)
        except REFUSED:
            if place[0] != 6:  # nothing is written by a call that is refused
                for array, old in zip(whole[6], before, strict=True):
                    np.testing.assert_array_equal(array, old)
            continue
        unread = at(whole, place) is None or (place[0] == 1 and not sparse)
        assert unread or how not in ("float32", "complex", "a list", "scalar array")
        assert unread or how not in ("strided", "misaligned", "swapped") or place == (3, 6)
        assert how != "frozen" or place[0] != 6
    assert time.perf_counter() - started < 10


REFUSALS = {
    "a loss that there is not": ((4, 0), 5, ValueError),
    "a negative loss": ((4, 0), -1, ValueError),
    "a negative slope": ((7, 0), -1.0, ValueError),
    "a slope that is no number": ((7, 0), np.nan, ValueError),
    "an infinite slope": ((7, 1), np.inf, ValueError),
    "a negative ridge": ((3, 5), -np.ones(3), ValueError),
    "a ridge that is no number": ((3, 5), np.full(3, np.nan), ValueError),
    "no store": ((0,), None, ValueError),
    "a row beyond the last": ((1, 1), np.full(50, 14, dtype=np.int32), ValueError),
    "a negative row": ((1, 1), np.full(50, -1, dtype=np.int32), ValueError),
    "a negative start": ((1, 2), np.full(6, -1), ValueError),
    "a start far beyond": ((1, 2), np.full(6, 2**62), ValueError),
    "a negative count": ((1, 4), np.full(6, -1), ValueError),
    "a huge count": ((1, 4), np.full(6, 2**62), ValueError),
    "blocks that overlap": ((3, 0), np.array([2, 1, 6]), ValueError),
    "an empty block": ((3, 0), np.array([2, 2, 6]), ValueError),
    "blocks that leave a gap": ((3, 0), np.array([2, 3, 5]), ValueError),
    "blocks beyond the end": ((3, 0), np.array([2, 3, 7]), ValueError),
    "a negative end": ((3, 0), np.array([-2, 3, 6]), ValueError),
    "no price at all": ((3, 1), np.zeros(3), ValueError),
    "a negative price": ((3, 1), -np.ones(3), ValueError),
    "a price that is no number": ((3, 1), np.full(3, np.nan), ValueError),
    "a negative price of entries": ((3, 2), -np.ones(3), ValueError),
    "an infinite price of entries": ((3, 2), np.full(3, np.inf), ValueError),
    "an infinite unit": ((3, 3), np.full(3, np.inf), ValueError),
    "a unit of 0": ((3, 3), np.zeros(3), ValueError),
    "limits of blocks": ((3, 7), (-np.ones(6), np.ones(6)), ValueError),
    "limits that are no pair": ((3, 7), np.ones(6), TypeError),
    "weights of another length": ((5, 1), np.ones(13), ValueError),
    "a target that is no number": ((8,), "0.1", TypeError),
}


def blocks_in(ends):
    """Return blocks as the core reads them, with prices of 1."""
    ones = np.ones(len(ends))
    return ends, ones, 0 * ones, ones, ones, 0 * ones, np.ones(ends[-1], dtype=np.uint8), None


@pytest.mark.parametrize("limits", [(1.0, -1.0), (np.nan, 1.0), (0.0, np.nan), (np.inf, np.inf), (-np.inf, -np.inf)])
def test_limits_without_a_number_between_them_are_refused(limits):
    whole = put(arguments(), (3,), blocks_in(np.arange(1, 7)))
    sides = tuple(np.full(6, side) for side in limits)
    with pytest.raises(ValueError, match="limits"):
        CORE.restricted(*put(whole, (3, 7), sides))


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name):
    place, value, error = REFUSALS[name]
    whole = arguments()
    if place[0] == 3:
        whole = put(whole, (3,), blocks_in(np.array([2, 3, 6])))
        CORE.restricted(*whole)
    with pytest.raises(error):
        CORE.restricted(*put(whole, place, value))


def test_nothing_at_all():
    none = make(0, 0, 5, 2).arguments(CORE.store())
    empty = (np.empty(0), None, np.empty(0, dtype=np.int64), None, np.empty(0, dtype=np.int64))
    blocks = (np.empty(0, dtype=np.int64), *[np.empty(0)] * 5, np.empty(0, dtype=np.uint8), None)
    no_columns = put(put(put(none, (1,), empty), (2,), np.empty(0, dtype=np.int64)), (3,), blocks)
    with pytest.raises(ValueError, match="expected"):
        CORE.restricted(*put(no_columns, (6, 0), np.empty(0)))
    with pytest.raises(ValueError, match="expected"):
        CORE.restricted(*put(put(none, (5, 0), np.empty(0)), (5, 1), np.empty(0)))
    with pytest.raises(TypeError):
        CORE.restricted()
    with pytest.raises(ValueError, match="entries"):
        quadratic(np.empty((0, 0)), np.empty(0), np.empty(0), Blocks(*blocks), (1.0, 0.0), 1.0, 0.1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1.0])
@pytest.mark.parametrize("place", [(1, 0), (3, 4), (5, 0), (5, 1), (5, 2), (5, 3), (6, 0), (6, 1)], ids=NAMES.get)
@pytest.mark.parametrize("loss", LOSSES)
def test_numbers_that_are_none(loss, place, value):
    """All numbers of an array, or one: the call ends, soon."""
    started = time.perf_counter()
    for sparse in (False, True):
        for all_of_them in (False, True):
            whole = arguments(LOSSES[loss], sparse, respond=True, seconds=5.0)
            array = whole[place[0]][place[1]].copy()
            array[slice(None) if all_of_them else slice(1)] = value
            CORE.restricted(*put(whole, place, array))
    assert time.perf_counter() - started < 4


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 1e308, 0.0])
def test_odd_hessians_end(value):
    ones = np.ones(30)
    blocks = Blocks(np.arange(1, 31), ones, 0 * ones, ones, ones, 0 * ones, np.ones(30, dtype=np.uint8))
    for filled in (slice(None), slice(3)):
        for turn in range(3):
            H, z, x = np.eye(30), np.linspace(-1, 1, 30), np.linspace(1, -1, 30)
            (H.ravel() if turn == 0 else z if turn == 1 else x)[filled] = value
            quadratic(H, z, x, blocks, (0.1, 0.1), 1.0, 1e-9, respond=True)
    with pytest.raises(ValueError, match="hessian"):
        quadratic(np.eye(29), ones, ones.copy(), blocks, (0.1, 0.1), 1.0, 0.1)
    with pytest.raises(ValueError, match="contiguous"):
        quadratic(np.ones((30, 60))[:, ::2], ones, ones.copy(), blocks, (0.1, 0.1), 1.0, 0.1)


def test_choices_refuse():
    with pytest.raises(ValueError, match="fewer than no"):
        best(np.ones(3), -1)
    assert len(best(np.ones(3), 0)) == 0
    for scores in (np.ones(3, dtype=np.float32), np.ones(3, dtype=int), [1.0], None, np.ones(6)[::2]):
        with pytest.raises(REFUSED):
            CORE.best(scores, np.arange(0), 1, np.empty(1, dtype=np.int64))
        with pytest.raises(REFUSED):
            CORE.outside(scores, np.arange(2))
        with pytest.raises(REFUSED):
            CORE.kept(scores, np.ones(3), np.ones(3), 0.1, 0.1, 0.1, np.empty(3, dtype=bool))
    with pytest.raises(ValueError, match="lengths"):
        kept(np.ones(3), np.ones(3), np.ones(2), 0.1, 0.1, 0.1)
    chosen = np.empty(1, dtype=np.int64)
    with pytest.raises(ValueError, match="expected 2 numbers"):
        CORE.best(np.ones(3), np.arange(0), 2, chosen)
    with pytest.raises(ValueError, match="expected 2 numbers"):
        CORE.best(np.ones(3), np.arange(1), 1, chosen)
    for blocks in ([0, 3], [-1, 0], [1, 1], [1, 0]):
        with pytest.raises(ValueError, match="rising places"):
            CORE.outside(np.ones(3), np.array(blocks))
        with pytest.raises(ValueError, match="rising places"):
            best(np.ones(3), 1, np.array(blocks))
    chosen.setflags(write=False)
    with pytest.raises(REFUSED):
        CORE.best(np.ones(3), np.arange(0), 1, chosen)


def test_blas_must_be_real():
    for table in ({}, {"dgemm": None}, None):
        with pytest.raises((KeyError, ValueError, TypeError)):
            CORE.take_blas(table, table)


def test_packed_of_a_matrix():
    dense = np.arange(12.0).reshape(3, 4)
    for matrix in (dense, np.asfortranarray(dense), dense[:, ::2], dense[::-1]):
        packed = Packed.of(matrix)
        columns = [
            packed.values[start:][:count] for start, count in zip(packed.value_starts, packed.counts, strict=True)
        ]
        np.testing.assert_array_equal(np.array(columns).T, matrix)


def fuzz(first, count):
    script = Path(__file__).with_name("core_fuzz.py")
    command = [sys.executable, str(script), CORE.__file__, str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all calls ended\n"


def test_random_calls_in_a_process_of_their_own():
    fuzz(0, 150)


@pytest.mark.deep
def test_many_random_calls_in_a_process_of_their_own():
    fuzz(10_000, 8000)
