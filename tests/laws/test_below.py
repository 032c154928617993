"""Rows below others, and a ridge as samples: every product is that of the stacked matrix, every bound holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from atomsieve import Huber, Logistic, Squared, SquaredHinge
from atomsieve.design import ALL, BelowDesign, as_design
from atomsieve.design.seminorm import Seminorm
from atomsieve.losses.ridged import ROUNDED, Ridged
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(5)
A, C = RNG.standard_normal((7, 5)), RNG.standard_normal((4, 5)) * (RNG.random((4, 5)) < 0.6)
WHOLE, WEIGHTS = np.vstack([A, C]), RNG.random(11)
DESIGN = BelowDesign(as_design(A), as_design(sparse.csc_array(C)))
BASIS = np.vstack([np.ones((7, 1)) / np.sqrt(WEIGHTS[:7].sum()), np.zeros((4, 1))])


def holds(enclosure, exact):
    return (enclosure.low <= exact + 1e-14).all() and (exact - 1e-14 <= enclosure.high).all()


@pytest.mark.parametrize(
    "index", [ALL, slice(1, 4), np.array([0, 4]), np.array([3])], ids=["all", "slice", "two", "one"]
)
def test_products(index):
    columns = WHOLE[:, index]
    x, r = RNG.standard_normal(columns.shape[1]), RNG.standard_normal(11)
    np.testing.assert_allclose(DESIGN.matvec(x, index), columns @ x, atol=1e-14)
    np.testing.assert_array_equal(np.asarray(DESIGN.columns(index)), columns)
    np.testing.assert_array_equal(np.asarray(DESIGN.select(index).columns(ALL)), columns)
    np.testing.assert_allclose(DESIGN.rmatvec(r), WHOLE.T @ r, atol=1e-14)
    np.testing.assert_allclose(DESIGN.products([r, -r]), np.stack([WHOLE.T @ r, -WHOLE.T @ r]), atol=1e-14)
    np.testing.assert_allclose(DESIGN.squared_norms(WEIGHTS), WEIGHTS @ WHOLE**2)
    assert DESIGN.largest() == np.abs(WHOLE).max()
    for basis in (None, BASIS, np.full((11, 1), WEIGHTS.sum() ** -0.5)):
        left = columns if basis is None else columns - basis @ (basis.T @ (WEIGHTS[:, None] * columns))
        right = WHOLE if basis is None else WHOLE - basis @ (basis.T @ (WEIGHTS[:, None] * WHOLE))
        expected = left.T @ (WEIGHTS[:, None] * right) / 4
        np.testing.assert_allclose(DESIGN.gram(WEIGHTS, index, ALL, 2.0, basis), expected, atol=1e-13)
    assert holds(DESIGN.enclose(Enclosure.exact(x), index), columns @ x)
    assert holds(DESIGN.enclose_adjoint(Enclosure.exact(r)), WHOLE.T @ r)
    np.testing.assert_array_equal(DESIGN.enclose_columns(index).mid, columns)
    chosen = np.arange(5)[index]
    assert holds(DESIGN.sharp(x, chosen), columns @ x)
    assert holds(DESIGN.sharp_adjoint(Enclosure.exact(r), chosen), columns.T @ r)
    lengths = np.sqrt(WEIGHTS @ columns**2)
    assert (DESIGN.norm_bounds(WEIGHTS, chosen) >= lengths).all()
    assert (DESIGN.norm_bounds(WEIGHTS, chosen) <= lengths * (1 + 1e-12)).all()
    np.testing.assert_array_equal(np.asarray(DESIGN.samples(WEIGHTS > 0.5).columns(ALL)), WHOLE[WEIGHTS > 0.5])


@pytest.mark.parametrize("basis", [None, BASIS, np.full((11, 1), WEIGHTS.sum() ** -0.5)], ids=["none", "above", "both"])
def test_norms_of_blocks_are_those_of_the_stacked_matrix(basis):
    blocks = [slice(0, 2), np.array([2, 4]), slice(3, 4)]
    found = Seminorm(DESIGN, WEIGHTS, basis).spectral_norms(blocks)
    plain = Seminorm(as_design(WHOLE), WEIGHTS, basis).spectral_norms(blocks)
    np.testing.assert_allclose(found, plain, rtol=1e-12)


@given(
    loss=st.sampled_from([Squared(), Logistic(), Huber(0.5), SquaredHinge()]),
    u=st.lists(st.floats(-20, 20), min_size=2, max_size=5),
    scale=st.floats(0.0, 1.0),
    off=st.floats(-ROUNDED, ROUNDED),
)
def test_a_ridge_is_a_squared_loss_whose_bounds_cover_the_rounding_of_its_weight(loss, u, scale, off):
    u, y = np.array([0.3, *u]), np.append(1.0, np.zeros(len(u)))
    ridged = Ridged(loss, 1)
    bend = loss.smoothness
    slopes = ridged.gradient(u, y)
    np.testing.assert_allclose(ridged.value(u, y), np.append(loss.value(u[:1], y[:1]), bend * u[1:] ** 2 / 2))
    np.testing.assert_allclose(slopes, np.append(loss.gradient(u[:1], y[:1]), bend * u[1:]))
    apart = ridged.value(u, y) + ridged.conjugate(scale * slopes, y) - scale * slopes * u
    np.testing.assert_allclose(
        ridged.fenchel_young(u, scale * slopes, y), apart, atol=1e-12 * (1 + np.abs(u).max() ** 2)
    )
    bounds, exact = ridged.bounds, bend * (1 + off)
    found = bounds.slopes(Enclosure.exact(u), y)
    assert ((found.low[1:] <= exact * u[1:]) & (exact * u[1:] <= found.high[1:])).all()
    values = bounds.values(Enclosure.exact(u), found, y)
    truth = np.append(0.0, exact * u[1:] ** 2 / 2)
    assert ((values.low <= truth * (1 + 1e-15)) & (truth * (1 - 1e-15) <= values.high))[1:].all()
    duals = bounds.conjugates(scale * found.low, scale * found.high, y)
    assert (duals[1:] >= (scale * exact * u[1:]) ** 2 / (2 * exact) * (1 - 1e-15)).all()
    least, most = bounds.curvatures(found.low, found.high, y)
    assert ((least[1:] <= exact) & (exact <= most[1:])).all()
