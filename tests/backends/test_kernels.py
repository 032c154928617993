"""Kernels on a GPU against NumPy, and bounds of proofs that hold there: skipped where PyTorch sees no GPU."""

from fractions import Fraction

import numpy as np
import pytest
from kinds import library

from atomsieve.design.array import ArrayDesign
from atomsieve.numerics.enclosures import Enclosure

torch = library("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no GPU", allow_module_level=True)
kernels = library("atomsieve.design.kernels")

TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8,
         torch.bool)  # fmt: skip
SHAPES = ((1, 1), (1, 300), (700, 1), (15, 17), (1000, 257), (4099, 33), (130, 1025))
RNG = np.random.default_rng(5)


def drawn(shape, dtype, by_rows=True):
    """Return a matrix on the GPU, and the same in doubles on the host."""
    matrix = torch.asarray(4 * RNG.standard_normal(shape), device="cuda")
    matrix = (matrix > 0 if dtype is torch.bool else matrix.abs() if dtype is torch.uint8 else matrix).to(dtype)
    return matrix if by_rows else matrix.T.contiguous().T, matrix.to(torch.float64).cpu().numpy()


def there(array):
    return torch.asarray(array, device="cuda")


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_products_and_squares(dtype, shape, by_rows):
    matrix, plain = drawn(shape, dtype, by_rows)
    r, weights, taken = RNG.standard_normal(shape[0]), RNG.random(shape[0]), RNG.standard_normal(shape[1])
    found = kernels.of_columns(matrix, there(r), squares=True, weights=there(weights), taken=there(taken))
    assert found.products.cpu().numpy() == pytest.approx((plain - taken).T @ r, rel=1e-12, abs=1e-11)
    assert found.squares.cpu().numpy() == pytest.approx(weights @ (plain - taken) ** 2, rel=1e-12)
    alone = kernels.of_columns(matrix, there(r))
    assert alone.products.cpu().numpy() == pytest.approx(plain.T @ r, rel=1e-12, abs=1e-11)
    assert alone.squares is None
    assert alone.sums is None


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_images(dtype, shape, by_rows):
    matrix, plain = drawn(shape, dtype, by_rows)
    x = RNG.standard_normal(shape[1])
    image, sizes = kernels.image(matrix, there(x), sizes=True)
    assert image.cpu().numpy() == pytest.approx(plain @ x, rel=1e-12, abs=1e-11)
    assert sizes.cpu().numpy() == pytest.approx(np.abs(plain) @ np.abs(x), rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_below_the_normal_ones_count(dtype):
    """Neither the entries nor the sums are taken for zero."""
    tiny = torch.finfo(dtype).tiny / 8
    matrix = torch.full((64, 5), tiny, dtype=dtype, device="cuda")
    assert kernels.of_columns(matrix, there(np.ones(64))).products.tolist() == [64 * tiny] * 5
    assert kernels.image(matrix, there(np.ones(5)))[0].tolist() == [5 * tiny] * 64


@pytest.mark.parametrize("dtype", TYPES)
def test_a_change_of_one_entry_is_seen(dtype):
    matrix, _ = drawn((333, 41), dtype)
    design = ArrayDesign.of(matrix, "X").hosted
    before = design.survey(Enclosure.exact(np.ones(333))).fingerprint
    assert design.survey(Enclosure.exact(np.zeros(333))).fingerprint == before
    matrix[332, 40] = ~matrix[332, 40] if dtype is torch.bool else matrix[332, 40] + 1
    assert design.survey(Enclosure.exact(np.ones(333))).fingerprint != before


def exact(matrix, r):
    """Return `A' r` in rational numbers."""
    return [
        sum((Fraction(a) * Fraction(b) for a, b in zip(column, r, strict=True)), Fraction(0)) for column in matrix.T
    ]


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bounds_hold_in_rational_numbers(dtype, centred):
    matrix, plain = drawn((301, 40), dtype)
    matrix[:, 3] += 1e6
    plain = matrix.to(torch.float64).cpu().numpy()
    design = ArrayDesign.of(matrix, "X").hosted
    design = design.centred() if centred else design
    taken = [Fraction(t) for t in (design.taken if centred else np.zeros(40))]
    r = RNG.standard_normal(301)
    spread = 1e-9 * RNG.random(301)
    survey = design.survey(Enclosure(r, spread))
    total = sum(map(Fraction, r))
    for j, product in enumerate(exact(plain, r)):
        mid, rad = Fraction(survey.product.mid[j]), Fraction(survey.product.rad[j])
        assert abs(product - taken[j] * total - mid) <= rad
        length = sum((Fraction(a) - taken[j]) ** 2 for a in plain[:, j])
        assert length <= Fraction(survey.lengths[j]) ** 2 <= length * (1 + Fraction(1, 10**6))
    assert np.all(survey.product.rad < 1e-6 * survey.lengths)
    x = np.where(RNG.random(40) < 0.5, RNG.standard_normal(40), 0.0)
    image = design.enclose(Enclosure.exact(x))
    for i in range(0, 301, 30):
        value = sum((Fraction(a) - t) * Fraction(b) for a, t, b in zip(plain[i], taken, x, strict=True))
        assert abs(value - Fraction(image.mid[i])) <= Fraction(image.rad[i])
    index = np.flatnonzero(x)
    sharp = design.sharp(x[index], index)
    sharp_products = design.sharp_adjoint(Enclosure.exact(r), index)
    for i in range(301):
        terms = [(Fraction(plain[i, j]) - taken[j]) * Fraction(x[j]) for j in index]
        assert abs(sum(terms) - Fraction(sharp.mid[i])) <= Fraction(sharp.rad[i])
        assert sharp.rad[i] <= 2.0**-52 * (abs(sharp.mid[i]) + 2.0**-40 * float(sum(map(abs, terms))))
    for j, product in zip(index, exact(plain[:, index], r), strict=True):
        place = np.searchsorted(index, j)
        mid, rad = Fraction(sharp_products.mid[place]), Fraction(sharp_products.rad[place])
        assert abs(product - taken[j] * total - mid) <= rad
        assert rad <= 2.0**-52 * (abs(mid) + 2 * abs(taken[j] * total) + 2.0**-20)
    off = design.sharp_adjoint(Enclosure(r, spread), index)
    least = np.abs(plain[:, index] - np.array([float(taken[j]) for j in index])).T @ spread
    assert np.all(least * (1 - 1e-9) <= off.rad)
    assert np.all(off.rad <= 2 * least)
