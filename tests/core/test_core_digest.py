"""SHA-256 with a state that travels: what hashlib says, however the bytes are cut and wherever the state has been."""

import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import load

from atomsieve import core
from atomsieve.core import _plain
from atomsieve.numerics import digest
from atomsieve.numerics.digest import Sha256

LENGTHS = st.one_of(st.integers(0, 200), st.sampled_from([55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 10_000]))


@pytest.fixture(params=["chosen", "plain"])
def _build(request, monkeypatch):
    monkeypatch.setattr(digest, "_core", core._core if request.param == "chosen" else load("_plain", _plain.__file__))


@pytest.mark.usefixtures("_build")
@pytest.mark.parametrize("seed", range(50))
def test_it_is_that_of_hashlib(seed):
    rng = np.random.default_rng(seed)
    parts = [rng.bytes(int(rng.choice([0, 1, 3, 55, 56, 63, 64, 65, 128, 500]))) for _ in range(rng.integers(6))]
    assert Sha256().after(parts).hexdigest() == hashlib.sha256(b"".join(parts)).hexdigest()


@given(st.lists(LENGTHS, max_size=5), st.integers(0, 2**32 - 1))
def test_the_state_may_be_sent_elsewhere(lengths, seed):
    rng, state, whole = np.random.default_rng(seed), Sha256(), hashlib.sha256()
    for length in lengths:
        part = rng.bytes(length)
        state = pickle.loads(pickle.dumps(state.after([part])))  # noqa: S301 -- our own
        whole.update(part)
        assert state.hexdigest() == whole.hexdigest()


def test_arrays_are_bytes():
    numbers = np.random.default_rng(0).standard_normal((7, 11))
    assert Sha256().after([numbers.data, numbers[:3].data]).hexdigest() == (
        hashlib.sha256(numbers.tobytes() + numbers[:3].tobytes()).hexdigest()
    )


def test_the_core_refuses_what_is_no_block():
    words = np.zeros(8, dtype=np.int32)
    with pytest.raises(ValueError, match="whole blocks"):
        _plain.sha256(np.zeros(63, dtype=np.uint8), words)
    with pytest.raises(ValueError, match="words"):
        _plain.sha256(np.zeros(64, dtype=np.uint8), words[:7].copy())
    with pytest.raises(TypeError, match="words"):
        _plain.sha256(np.zeros(64, dtype=np.uint8), np.zeros(8))
