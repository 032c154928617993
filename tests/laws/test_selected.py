"""Columns that repeat: every product is that of the matrix with copies, and no copy is made."""

import numpy as np
import pytest
from scipy import sparse

from atomsieve.design import ALL, SelectedDesign, as_design
from atomsieve.design.selected import places_of
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(5)
A = RNG.standard_normal((9, 5)) * (RNG.random((9, 5)) < 0.7)
PLACES = np.array([2, 0, 0, 4, 1, 3, 2, 2])
WHOLE = A[:, PLACES]
FORMS = [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
INDICES = [ALL, slice(1, 4), np.array([0, 6, 7]), np.array([3])]
WEIGHTS = RNG.random(9)
every_form = pytest.mark.parametrize("form", FORMS, ids=["rows", "columns", "csr", "csc"])
every_index = pytest.mark.parametrize("index", INDICES, ids=["all", "slice", "places", "one"])


def selected(form):
    return SelectedDesign(as_design(form(A)), PLACES)


def holds(enclosure, exact):
    return (enclosure.low <= exact + 1e-14).all() and (exact - 1e-14 <= enclosure.high).all()


@every_form
@every_index
def test_products(form, index):
    design, columns = selected(form), WHOLE[:, index]
    x, table = RNG.standard_normal(columns.shape[1]), RNG.standard_normal((columns.shape[1], 3))
    np.testing.assert_allclose(design.matvec(x, index), columns @ x, atol=1e-14)
    np.testing.assert_allclose(design.matvec(table, index), columns @ table, atol=1e-14)
    np.testing.assert_array_equal(np.asarray(design.columns(index)), columns)
    np.testing.assert_allclose(
        design.gram(WEIGHTS, index, ALL, 2.0), columns.T @ (WEIGHTS[:, None] * WHOLE) / 4, atol=1e-14
    )
    part = design.select(index)
    assert part.shape == columns.shape
    np.testing.assert_array_equal(np.asarray(part.columns(ALL)), columns)
    assert holds(design.enclose(Enclosure.exact(x), index), columns @ x)
    np.testing.assert_array_equal(design.enclose_columns(index).mid, columns)


@every_form
def test_adjoints_norms_and_samples(form):
    design, r = selected(form), RNG.standard_normal(9)
    np.testing.assert_allclose(design.rmatvec(r), WHOLE.T @ r, atol=1e-14)
    np.testing.assert_allclose(design.products([r, 2 * r]), np.stack([WHOLE.T @ r, 2 * WHOLE.T @ r]), atol=1e-14)
    np.testing.assert_allclose(design.squared_norms(WEIGHTS), WEIGHTS @ WHOLE**2)
    assert design.largest() == np.abs(A).max()
    norms = design.norm_bounds(np.ones(9))
    assert (norms >= np.linalg.norm(WHOLE, axis=0)).all()
    for found in (design.enclose_adjoint(Enclosure.exact(r)), design.enclose_adjoint(Enclosure.exact(r), norms)):
        assert holds(found, WHOLE.T @ r)
    index = np.array([1, 2, 7])
    assert holds(design.sharp_adjoint(Enclosure.exact(r), index), WHOLE[:, index].T @ r)
    assert holds(design.sharp(np.ones(3), index), WHOLE[:, index].sum(axis=1))
    np.testing.assert_array_equal(np.asarray(design.samples(np.arange(9) % 2 == 0).columns(ALL)), WHOLE[::2])


@every_form
def test_packed_columns_share_their_numbers(form):
    packed = selected(form).packed(np.arange(len(PLACES)))
    for k in range(len(PLACES)):
        values = packed.values[packed.value_starts[k] :][: packed.counts[k]]
        rows = slice(None) if packed.rows is None else packed.rows[packed.row_starts[k] :][: packed.counts[k]]
        column = np.zeros(9)
        column[rows] = values
        np.testing.assert_array_equal(column, WHOLE[:, k])
    assert packed.value_starts[1] == packed.value_starts[2]


def test_sums_of_copies_are_enclosed():
    """Copies that cancel leave what rounding took from their sum."""
    x = np.array([0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    image = SelectedDesign(as_design(np.eye(5)), PLACES).enclose(Enclosure(x, np.full(8, 1e-3)))
    assert image.low[0] <= 0.1 + 0.2 - 2e-3
    assert image.high[0] >= 0.1 + 0.2 + 2e-3


def test_what_is_a_selection():
    matrix = sparse.csc_array((np.ones(8), (PLACES, np.arange(8))), shape=(5, 8))
    np.testing.assert_array_equal(places_of(matrix), PLACES)
    np.testing.assert_array_equal(places_of(sparse.coo_array(matrix)), PLACES)
    assert places_of(2 * matrix) is None
    assert places_of(matrix.toarray()) is None
    assert places_of(sparse.csc_array(np.ones((2, 2)))) is None
    assert places_of(sparse.csc_array((2, 2))) is None
