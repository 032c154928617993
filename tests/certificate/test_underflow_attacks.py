"""Forged certificates whose false claims follow if numbers that underflow are taken for 0, and one far from zero."""

import json
import math

import numpy as np
import pytest

from atomsieve import L1, Linear, Multinomial, Problem, solve, verify
from atomsieve.certificate.file import seal
from atomsieve.standalone.verify.data import Data

TINY = 2.0**-540


def told(tmp_path, data, problem, point, claims, family=None):
    """Return the verdict on a sealed file with these claims about a problem of l1."""
    X, y, weights, offset = data
    held = Data(X, y, weights, None, offset, problem["loss"])
    d, free = X.shape[1], len(point[1])
    shape = {"samples": len(y), "outputs": 1, "form": [d], "shape": [d], "blocks": d, "unpenalised": [], "free": 0}
    shape |= {"weighted": bool((held.weights != 1).any()), "offset": offset is not None, "intercept": free > 0}
    nothing = {"valid": True, "value": {"lower": None, "upper": None}, "gap": None, "nonzero": [], "undecided": []}
    nothing |= {"dependencies": [], "sums": [], "free": {"lower": [None] * free, "upper": [None] * free}}
    content = {
        "format": "atomsieve certificate",
        "version": 4,
        "problem": {"gauge": {"type": "L1", "weights": None, "positive": None}} | shape | problem,
        "data": {"sha256": held._digest()},
        "family": family,
        "names": {"features": None, "blocks": None},
        "versions": {"numpy": "2", "scipy": "1"},
        "assumptions": [],
        "point": {"x": {"index": list(point[0]), "value": list(point[0].values())}, "free": point[1]},
        "remarks": {"reason": "", "margin": None},
        "claims": nothing | claims,
    }
    content["seal"] = seal(content)
    (tmp_path / "forged.json").write_text(json.dumps(content))
    verdict = verify(
        tmp_path / "forged.json", X, y, sample_weight=weights, **({} if offset is None else {"offset": offset})
    )
    assert "malformed" not in verdict.reason
    return verdict


def open_but(j, low=None, high=None):
    return {"intervals": {"index": [j], "lower": [low], "upper": [high]}}


def linear(loss, strength, **parameters):
    return {"loss": {"type": loss, **parameters}, "penalty": {"type": "Linear", "strength": strength}}


def test_squares_of_small_columns_beside_large_weights(tmp_path):
    X = np.array([[TINY, 0.75 * TINY], [2.0**-449, 0.0]])
    data = X, np.array([2.0**142, 0.0]), np.array([2.0**600, 1.0]), None
    point = {1: 2.0**142 * (7 / 8) / X[0, 1]}, []
    verdict = told(tmp_path, data, linear("Squared", 2.0**-400), point, {"undecided": [1]} | open_but(1))
    assert not verdict.valid  # the best solution has the first feature, and no second one


def test_squares_of_means_beside_small_weights(tmp_path):
    share, total = (1 + 0.6**0.5) / 2, math.sqrt(1.00001) * 2.0**-537
    X, weights = np.array([[1.0, 0.75], [-1.0, -0.75]]), np.array([share * total, (1 - share) * total])
    data = X, np.array([1.0, -1.0]), weights, None
    point = {1: 0.8 / 0.75}, [(2 * share - 1) * 0.2]
    verdict = told(tmp_path, data, linear("Squared", 0.1), point, {"undecided": [1]} | open_but(1))
    assert not verdict.valid  # the objective is 0.111 without the first feature, and 0.0875 with it


def test_curvatures_of_small_slopes(tmp_path):
    data = np.ones((1, 1)), np.array([1.6 * TINY]), np.array([4.0]), None
    claims = {"nonzero": [0]} | open_but(0, 0.3 * TINY)
    problem = linear("Huber", 1.001 * TINY, delta=TINY)
    assert not told(tmp_path, data, problem, ({0: 1.1 * TINY}, []), claims).valid  # no slope exceeds the strength


@pytest.mark.parametrize("width", [1.4, 1.0])
def test_curvatures_of_small_rates(tmp_path, width):
    rate = math.exp(-416.0)
    data = np.ones((1, 1)), np.array([7.9 * rate]), np.array([2.0**600]), np.array([-416.0])
    claims = {"nonzero": [0]} | open_but(0, 2 - width, 2 + width)
    errors = {"x_error": {"relative": False, "zeros": False, "values": 0.0}, "y_error": None, "strengths": None}
    family = errors if width == 1.0 else None
    verdict = told(tmp_path, data, linear("Poisson", 7 * rate), ({0: 2.0}, []), claims, family)
    assert not verdict.valid  # at 0 the slope is 6.9 times the rate, less than the strength


def test_a_range_of_strengths_far_from_zero(tmp_path):
    """Products along the line are those of the columns as they are, like those of the free columns."""
    rng, n, large, strength = np.random.default_rng(0), 30, 1e9, 0.05
    a, f = rng.standard_normal(n), rng.standard_normal(n)
    y = np.argmax(np.c_[1.2 * f, 0.8 * a, np.zeros(n)] + rng.gumbel(size=(n, 3)) * 0.7, axis=1)
    X = np.c_[large * np.round(a - a.mean(), 6), f + 134.9180254171866]
    gauge = L1(weights=np.array([[np.inf, 0.01 * large, np.inf], [1.0, np.inf, np.inf]]))
    problem = Problem(X, y, loss=Multinomial(3), penalty=Linear(strength), gauge=gauge, intercept=True)
    honest = solve(problem, tol=1e-13).certificate(strengths=(0.95 * strength, 1.05 * strength))
    assert verify(honest, X, y).valid
    content = honest.content()
    ends = content["claims"]["intervals"]
    place = ends["index"].index(3)
    middle = (ends["lower"][place] + ends["upper"][place]) / 2
    ends["lower"][place], ends["upper"][place] = middle - 4e-4, middle + 4e-4  # a hundredth of it
    content["seal"] = seal(content)
    (tmp_path / "forged.json").write_text(json.dumps(content))
    assert verify(tmp_path / "forged.json", X, y).reason == "the interval of coefficient 3 is too narrow"
