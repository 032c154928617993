"""Bounds of products in pieces against rational numbers: entries of all sizes, pieces down to one row, all carriers."""

from fractions import Fraction

import numpy as np
import pytest
from kinds import library

from atomsieve import design as designs
from atomsieve.design import ChunkedDesign, as_design, chunked, filed, files, shelf
from atomsieve.design.base import bounded, surveyed
from atomsieve.numerics.enclosures import Enclosure, quiet

TYPES = (np.float64, np.float64, np.float32, np.float16, np.int16)
POWERS = {np.float64: (-320, 150), np.float32: (-44, 37), np.float16: (-7, 4)}


def drawn(rng):
    """Return a matrix of numbers of about one size, or of all sizes, with a row of zeros now and then."""
    kind, (n, d) = TYPES[rng.integers(len(TYPES))], rng.integers(1, (14, 6))
    low, high = POWERS.get(kind, (0, 4))
    near = rng.uniform(low, high) + rng.uniform(-1, 1, (n, d))
    sizes = rng.uniform(low, high, (n, d)) if rng.random() < 0.5 else near
    X = np.clip(rng.standard_normal((n, d)), -3, 3) * 10.0 ** np.clip(sizes, low, high)
    X[rng.integers(n)] *= rng.random() < 0.7
    return X.astype(kind)


def vector(rng, *shape):
    """Return numbers of one size or of all sizes, some of them exact, and some 0."""
    sizes = rng.uniform(-150, 150, shape) if rng.random() < 0.5 else rng.uniform(-2, 2)
    v = rng.standard_normal(shape) * 10.0**sizes
    return Enclosure(v * (rng.random(shape) < 0.9), np.abs(v) * rng.choice([0.0, 1e-12, 0.1]) * rng.random(shape))


def as_held(rng, X, folder):
    return X if X.itemsize < 8 else as_mapped(rng, X, folder)


def as_mapped(rng, X, folder):
    np.save(folder / "X.npy", np.asarray(X, order="CF"[rng.integers(2)]))
    return np.load(folder / "X.npy", mmap_mode="r")


def as_zarr(rng, X, folder):
    place, chunks = folder / str(rng.integers(10**9)), tuple(rng.integers(1, np.array(X.shape) + 1).tolist())
    stored = library("zarr").create_array(place, shape=X.shape, chunks=chunks, dtype=X.dtype)
    stored[:] = X
    return stored


def as_tensor(rng, X, folder):
    return library("torch").asarray(X.copy())


def as_blocks(rng, X, folder):
    heights = np.diff(np.unique([0, *rng.integers(0, len(X) + 1, 2), len(X)]))
    return library("dask.array").from_array(X, chunks=(tuple(heights.tolist()), X.shape[1]))


def times(rows, v):
    """Return the least and the largest product of each row with the numbers that an enclosure may stand for."""
    for row in rows:
        middle = sum(a * Fraction(m) for a, m in zip(row, v.mid.tolist(), strict=True))
        around = sum(abs(a) * Fraction(r) for a, r in zip(row, v.rad.tolist(), strict=True))
        yield middle - around, middle + around


def holds(found, ends):
    """Return whether an enclosure, where it is finite, holds what it should."""
    pairs = zip(found.mid.ravel().tolist(), found.rad.ravel().tolist(), ends, strict=True)
    known = ((Fraction(m), Fraction(r), low, high) for m, r, (low, high) in pairs if np.isfinite([m, r]).all())
    return all(m - r <= low and high <= m + r for m, r, low, high in known)


def covers(lengths, squares):
    """Return whether bounds of lengths, where they are finite, are no less than the lengths."""
    return all(Fraction(v) ** 2 >= square for v, square in zip(lengths.tolist(), squares, strict=True) if v < np.inf)


@pytest.mark.parametrize("carrier", [as_held, as_mapped, as_zarr, as_tensor, as_blocks])
@pytest.mark.parametrize("centred", [False, True])
def test_all_bounds_hold(monkeypatch, tmp_path, carrier, centred):
    rng = np.random.default_rng(7)
    for place, name, size in ((designs, "CHUNK", 0), (files, "MAPPED", 0), (files, "PIECE", 40), (files, "TALL", 100)):
        monkeypatch.setattr(place, name, size)
    for place in (chunked, filed, shelf):
        monkeypatch.setattr(place, "CHUNK", 8)
    for place in (chunked, shelf):
        monkeypatch.setattr(place, "LEAST_ROWS", 1)
    for _ in range(25):
        X = drawn(rng)
        design = as_design(carrier(rng, X, tmp_path))
        design = bounded(getattr(design, "hosted", design))
        assert isinstance(design, ChunkedDesign)
        judge(rng, design.centred() if centred else design, X, design.centres * centred)


def judge(rng, design, X, centres):
    """Compare all bounds of a design with the numbers themselves."""
    n, d = X.shape
    taken = list(map(Fraction, centres.tolist()))
    rows = [[Fraction(a) - c for a, c in zip(row, taken, strict=True)] for row in X.astype(float).tolist()]
    columns, some = list(zip(*rows, strict=True)), np.flatnonzero(rng.random(d) < 0.7)
    few = [[row[j] for j in some] for row in rows]
    x, r, weights = vector(rng, len(some)), vector(rng, n), np.abs(vector(rng, n).mid)
    with quiet():
        if len(some):
            assert holds(design.enclose(x, some), times(few, x))
            assert holds(design.sharp(x.mid, some), times(few, Enclosure.exact(x.mid)))
            assert holds(design.sharp_adjoint(r, some), times([columns[j] for j in some], r))
            assert holds(design.enclose_columns(some), [(a, a) for row in few for a in row])
        assert holds(design.enclose_adjoint(r), times(columns, r))
        seen = surveyed(design, r)
        assert holds(seen.product, times(columns, r))
        assert covers(seen.lengths, (sum(a * a for a in column) for column in columns))
        exact = list(map(Fraction, weights.tolist()))
        weighed = [sum(a * a * w for a, w in zip(column, exact, strict=True)) for column in columns]
        assert covers(design.norm_bounds(weights), weighed)
        assert covers(design.norm_bounds(weights, some), [weighed[j] for j in some])
