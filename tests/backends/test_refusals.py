"""What is not supported yet is refused in a sentence: no array becomes a NumPy array without a word."""

import numpy as np
import pytest
from kinds import X, Y, library, on_another_device

from atomsieve import L1, LatentGroup, Multinomial, Problem, TotalVariation


def test_several_outputs():
    for y in (np.stack([Y, Y], axis=1), np.arange(len(Y)) % 3):
        loss = {"loss": Multinomial()} if y.ndim == 1 else {}
        with pytest.raises(ValueError, match="several outputs or classes take NumPy arrays"):
            Problem(on_another_device(X), on_another_device(y), **loss)


def test_signals():
    with pytest.raises(ValueError, match="takes X as a NumPy array"):
        Problem(on_another_device(X), on_another_device(Y), gauge=TotalVariation())


def test_joined_ridges():
    groups = LatentGroup([[0, 1, 2], list(range(2, X.shape[1]))])
    for pieces in ({"gauge": groups}, {"gauge": L1(), "limits": (-1, 1)}):
        with pytest.raises(
            ValueError, match="is for NumPy arrays and SciPy matrices, and X is a array_api_strict Array"
        ):
            Problem(on_another_device(X), on_another_device(Y), ridge=0.1, **pieces)


@pytest.mark.parametrize("name", ["y", "sample_weight", "free", "offset"])
def test_samples_of_another_library(name):
    given = {"y": Y} | {name: on_another_device(np.abs(Y))}
    with pytest.raises(TypeError, match=f"{name} is a array_api_strict Array, and would be copied"):
        Problem(X, **given)


def test_samples_may_come_from_the_host():
    assert Problem(on_another_device(X), Y).baseline == pytest.approx(Problem(X, Y).baseline, rel=1e-14)


def test_complex_numbers_and_wrong_shapes():
    strict = library("array_api_strict")
    with pytest.raises(ValueError, match="X must hold real numbers"):
        Problem(strict.asarray(X + 0j), Y)
    with pytest.raises(ValueError, match="X must have two dimensions"):
        Problem(strict.asarray(X[0]), Y)
    spoilt = X.copy()
    spoilt[3, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        Problem(strict.asarray(spoilt), Y)


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_whole_numbers_that_no_double_holds(name):
    asarray = library(name).asarray
    whole = np.arange(X.size).reshape(X.shape)
    Problem(asarray(whole + 2**52), Y)
    Problem(asarray(2 * whole + 2**53), Y)
    with pytest.raises(ValueError, match="X holds the whole number -9007199254740993, which would be rounded"):
        Problem(asarray(np.where(whole == 7, -(2**53) - 1, whole)), Y)


def test_single_precision_devices():
    jax = library("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        single = jax.numpy.asarray(X)
        with pytest.raises(TypeError, match="jax_enable_x64"):
            Problem(single, Y)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_sparse_tensors():
    torch = library("torch")
    with pytest.raises(TypeError, match="pass it as a SciPy sparse matrix"):
        Problem(torch.asarray(X).to_sparse(), Y)


class Cube:
    """An array of a library that nobody knows."""

    shape = X.shape
    dtype = X.dtype

    def __array__(self, *_args, **_kwargs):
        raise AssertionError("copied without a word")


def test_unknown_arrays():
    with pytest.raises(TypeError, match="X is a test_refusals Cube, and would be copied"):
        Problem(Cube(), Y)
    with pytest.raises(TypeError, match="y is a test_refusals Cube, and would be copied"):
        Problem(X, Cube())
