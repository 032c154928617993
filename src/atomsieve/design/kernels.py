"""Passes over a matrix on a GPU at the speed of its memory: entries are widened in registers, sums are in doubles.

The kernels are written for Triton, which comes with PyTorch. A library would convert X first, and so read and write
five times as many bytes. Each column of a tile is added up in as many sums as the tile has rows, one after the other;
these are joined, and so are those of the parts of the rows: `terms` is the length of the longest chain.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

ROWS, COLUMNS, WARPS = 16, 256, 8
"""The tile that a block of threads reads at a time."""

PROGRAMS = 1 << 13
"""Blocks of threads that share a pass, at least: the rows are split until there are so many, or each has few tiles."""

LEAST_TILES = 8

SHARP_COLUMNS, SHARP_ROWS, SHARP_PROGRAMS = 32, 128, 512
"""The same where sums are in twice the precision: columns are few there, and a sum is three numbers."""


class Columns(NamedTuple):
    """What a pass shows of each column: its product with r, its weighted square, and a sum of its bits with keys."""

    products: Any
    squares: Any
    sums: Any
    terms: int
    """The number of additions that an entry goes through, at most."""


@triton.jit
def _columns(
    matrix, r, weights, taken, keys, products, squares, sums, n, d, height, row_step, column_step,
    WITH_R: tl.constexpr, WITH_SQUARES: tl.constexpr, WITH_WEIGHTS: tl.constexpr, WITH_TAKEN: tl.constexpr,
    WITH_KEYS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    columns = (tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    there = columns < d
    product = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    square = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    told = tl.zeros([ROWS, COLUMNS], dtype=tl.int64)
    if WITH_TAKEN:
        less = tl.load(taken + columns, mask=there, other=0.0)[None, :]
    for start in range(0, height, ROWS):
        rows = part * height + start + tl.arange(0, ROWS)
        inside = rows < n
        whole = inside[:, None] & there[None, :]
        stored = tl.load(matrix + rows[:, None] * row_step + columns[None, :] * column_step, mask=whole, other=0)
        entries = stored.to(tl.float64)
        if WITH_KEYS:
            bits = entries.to(tl.int64, bitcast=True)
            high = tl.load(keys + 2 * rows, mask=inside, other=0)[:, None]
            low = tl.load(keys + 2 * rows + 1, mask=inside, other=0)[:, None]
            told += high * (bits >> 32) + low * (bits & 0xFFFFFFFF)
        if WITH_TAKEN:
            entries = tl.where(whole, entries - less, 0.0)
        if WITH_R:
            product += entries * tl.load(r + rows, mask=inside, other=0.0)[:, None]
        if WITH_SQUARES:
            if WITH_WEIGHTS:
                square += entries * entries * tl.load(weights + rows, mask=inside, other=0.0)[:, None]
            else:
                square += entries * entries
    if WITH_R:
        tl.store(products + part * d + columns, tl.sum(product, 0), mask=there)
    if WITH_SQUARES:
        tl.store(squares + part * d + columns, tl.sum(square, 0), mask=there)
    if WITH_KEYS:
        tl.store(sums + part * d + columns, tl.sum(told, 0), mask=there)


@triton.jit
def _image(
    matrix, x, image, sizes, n, d, row_step, column_step,
    WITH_SIZES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    size = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    for start in range(0, d, COLUMNS):
        columns = (start + tl.arange(0, COLUMNS)).to(tl.int64)
        there = columns < d
        places = rows[:, None] * row_step + columns[None, :] * column_step
        stored = tl.load(matrix + places, mask=inside[:, None] & there[None, :], other=0)
        terms = stored.to(tl.float64) * tl.load(x + columns, mask=there, other=0.0)[None, :]
        total += terms
        if WITH_SIZES:
            size += tl.abs(terms)
    tl.store(image + rows, tl.sum(total, 1), mask=inside)
    if WITH_SIZES:
        tl.store(sizes + rows, tl.sum(size, 1), mask=inside)


@triton.jit
def _plus_product(total, small, size, a, b):
    """Add a product to a sum, and what is lost to a second one, as in `core/exact.h`; nothing may be fused."""
    product = a * b
    lost = tl.fma(a, b, -product)
    after = total + product
    part = after - total
    dropped = (total - (after - part)) + (product - part)
    return after, small + (lost + dropped), size + (tl.abs(lost) + tl.abs(dropped))


@triton.jit
def _sharp_products(
    matrix, r, sums, n, d, height, row_step, column_step, lanes, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    columns = (tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    there = columns < d
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    small = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    size = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    for start in range(0, height, ROWS):
        rows = part * height + start + tl.arange(0, ROWS)
        inside = rows < n
        places = rows[:, None] * row_step + columns[None, :] * column_step
        entries = tl.load(matrix + places, mask=inside[:, None] & there[None, :], other=0).to(tl.float64)
        factors = tl.load(r + rows, mask=inside, other=0.0)[:, None]
        total, small, size = _plus_product(total, small, size, entries, factors)
    at = sums + (part * ROWS + tl.arange(0, ROWS)[:, None]) * d + columns[None, :]
    tl.store(at, total, mask=there[None, :])
    tl.store(at + lanes * d, small, mask=there[None, :])
    tl.store(at + 2 * lanes * d, size, mask=there[None, :])


@triton.jit
def _sharp_image(matrix, x, sums, n, d, row_step, column_step, ROWS: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n
    total = tl.load(sums + rows, mask=inside, other=0.0)
    small = tl.load(sums + n + rows, mask=inside, other=0.0)
    size = tl.load(sums + 2 * n + rows, mask=inside, other=0.0)
    for j in range(d):
        entries = tl.load(matrix + rows * row_step + j * column_step, mask=inside, other=0).to(tl.float64)
        total, small, size = _plus_product(total, small, size, entries, tl.load(x + j))
    tl.store(sums + rows, total, mask=inside)
    tl.store(sums + n + rows, small, mask=inside)
    tl.store(sums + 2 * n + rows, size, mask=inside)


def of_columns(
    matrix: Any, r: Any = None, *, squares: bool = False, weights: Any = None, taken: Any = None, keys: Any = None
) -> Columns:
    """Return what one pass shows of all columns, each less what is taken from it; what is not asked for is None.

    r, weights and what is taken are doubles on the device of the matrix, keys are two whole numbers for each row.
    """
    n, d = matrix.shape
    tiles = triton.cdiv(d, COLUMNS)
    height = max(LEAST_TILES * ROWS, triton.cdiv(n * tiles, PROGRAMS))
    height = triton.cdiv(height, ROWS) * ROWS
    parts = triton.cdiv(n, height)

    def room(asked: bool, dtype: Any) -> Any:
        return torch.empty((parts, d), dtype=dtype, device=matrix.device) if asked else matrix

    found = room(r is not None, torch.float64), room(squares, torch.float64), room(keys is not None, torch.int64)
    given = (matrix if part is None else part.contiguous() for part in (r, weights, taken, keys))
    with torch.cuda.device(matrix.device):
        _columns[(tiles, parts)](
            matrix, *given, *found, n, d, height, *matrix.stride(), WITH_R=r is not None, WITH_SQUARES=squares,
            WITH_WEIGHTS=weights is not None, WITH_TAKEN=taken is not None, WITH_KEYS=keys is not None, ROWS=ROWS,
            COLUMNS=COLUMNS, num_warps=WARPS,
        )  # fmt: skip
    asked = (r is not None, squares, keys is not None)
    joined = [part.sum(0) if wanted else None for part, wanted in zip(found, asked, strict=True)]
    return Columns(joined[0], joined[1], joined[2], height // ROWS + ROWS + parts)


def image(matrix: Any, x: Any, *, sizes: bool = False) -> tuple[Any, Any]:
    """Return `A x`, and the same of absolute values if that is asked for: sums of d + 1 terms at most."""
    n, d = matrix.shape
    found = [torch.empty(n, dtype=torch.float64, device=matrix.device) for _ in range(1 + sizes)]
    width = min(512, triton.next_power_of_2(max(1, d)))
    height = max(1, 2048 // width)
    with torch.cuda.device(matrix.device):
        _image[(triton.cdiv(n, height),)](
            matrix, x.contiguous(), found[0], found[-1], n, d, *matrix.stride(), WITH_SIZES=sizes, ROWS=height,
            COLUMNS=width, num_warps=4,
        )  # fmt: skip
    return found[0], found[1] if sizes else None


def sharp_products(matrix: Any, r: Any) -> Any:
    """Return `A' r` for a few columns as sums, the sums of their rounding errors, and those of the errors' sizes."""
    n, d = matrix.shape
    tiles = triton.cdiv(d, SHARP_COLUMNS)
    height = triton.cdiv(triton.cdiv(n, triton.cdiv(SHARP_PROGRAMS, tiles)), ROWS) * ROWS
    parts = triton.cdiv(n, height)
    lanes = triton.next_power_of_2(parts * ROWS)
    sums = torch.zeros((3, lanes, d), dtype=torch.float64, device=matrix.device)
    with torch.cuda.device(matrix.device):
        _sharp_products[(tiles, parts)](
            matrix, r.contiguous(), sums, n, d, height, *matrix.stride(), lanes, ROWS=ROWS, COLUMNS=SHARP_COLUMNS,
            enable_fp_fusion=False,
        )  # fmt: skip
    while lanes > 1:  # halves are added up, and what is lost goes to the second sum
        lanes //= 2
        (a, b), (small, more), (size, sizes) = ((part[:lanes], part[lanes:]) for part in sums)
        total = a + b
        part = total - a
        dropped = (a - (total - part)) + (b - part)
        sums = torch.stack([total, small + more + dropped, size + sizes + dropped.abs()])
    return sums[:, 0]


def sharp_image(matrix: Any, x: Any, high: float, low: float) -> Any:
    """Return `A x - high - low` for a few columns, in three such sums for each row."""
    n, d = matrix.shape
    start = torch.tensor([-high, -low, abs(low)], dtype=torch.float64, device=matrix.device)
    sums = start[:, None].repeat(1, n)
    with torch.cuda.device(matrix.device):
        _sharp_image[(triton.cdiv(n, SHARP_ROWS),)](
            matrix, x.contiguous(), sums, n, d, *matrix.stride(), ROWS=SHARP_ROWS, enable_fp_fusion=False
        )
    return sums
