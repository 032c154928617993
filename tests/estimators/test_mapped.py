"""Gauges that are images of others: claims about the preimage are not mistaken for claims about features."""

import numpy as np
import pytest

from atomsieve import L1, GaugeRegressor, Group, Image, LatentGroup, Linear, Problem, Scaled, Square, solve, verify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) * [1.0, 5.0, 0.2]
Y = X @ [2.0, 0.0, 1.0] + 0.1 * RNG.normal(size=50)
SQUARE = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0]])
WIDE = np.hstack([SQUARE, [[1.0], [1.0], [0.0]]])
GAUGES = [Image(L1(), SQUARE), Scaled(Image(L1(), SQUARE), 2.0), Scaled(Scaled(Image(L1(), SQUARE), 2.0), 0.5)]
GAUGES += [
    Scaled(Image(L1(), WIDE), 2.0),
    Image(Group([0, 0, 1]), SQUARE),
    Scaled(Image(Image(L1(), SQUARE), SQUARE), 3.0),
]


@pytest.mark.parametrize("gauge", GAUGES, ids=repr)
def test_bounds_hold_for_the_coefficients(gauge):
    model = GaugeRegressor(gauge=gauge, penalty=Square(0.01), tol=1e-12).fit(X, Y)
    table = model.support_report()
    assert (table.lower <= table.coefficient + 1e-7).all()
    assert (table.coefficient - 1e-7 <= table.upper).all()
    assert (table.coefficient[table.verdict == "zero"].abs() < 1e-7).all()


def test_a_scaled_image_has_the_intervals_of_the_image():
    plain, scaled = (
        GaugeRegressor(gauge=gauge, penalty=penalty, tol=1e-12).fit(X, Y).support_report()
        for gauge, penalty in ((Image(L1(), SQUARE), Linear(0.01)), (Scaled(Image(L1(), SQUARE), 2.0), Linear(0.02)))
    )
    assert np.isfinite(scaled.lower).all()
    assert scaled.lower.to_numpy() == pytest.approx(plain.lower.to_numpy(), abs=1e-6)


@pytest.mark.parametrize("gauge", GAUGES, ids=repr)
def test_tables_of_certificates_speak_of_the_preimage(gauge):
    certificate = solve(Problem(X, Y, gauge=gauge, penalty=Square(0.01), names=["age", "bmi", "sex"])).certificate()
    table = certificate.to_frame()
    assert "feature" not in table
    assert table.preimage.tolist() == [f"x{j}" for j in range(len(table))]


def test_standardised_groups():
    model = GaugeRegressor(gauge=Group([0, 0, 1]), penalty=Linear(0.05), standardize=True, tol=1e-12).fit(X, Y)
    table = model.support_report()
    assert (table.lower <= table.coefficient + 1e-7).all()
    assert (table.coefficient - 1e-7 <= table.upper).all()
    assert "preimage" in model.certificate_.to_frame()


def test_a_ridge_acts_on_the_coefficients_and_not_on_their_parts():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=40)
    chain = LatentGroup([[0, 1, 2], [2, 3], [3, 4, 5]])
    fits = [GaugeRegressor(gauge=chain, penalty=Linear(0.05), ridge=ridge, tol=1e-9).fit(X, y) for ridge in (0.0, 1.0)]
    plain, held = (np.linalg.norm(fit.coef_) for fit in fits)
    assert held < 0.8 * plain
    assert verify(fits[1].certificate_, X, y).valid
