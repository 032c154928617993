"""The independent checker on gauges of sorted absolute values: what is true is accepted, what is not is refused."""

import json
import math

import numpy as np
import pytest
from flint import arb, ctx

from atomsieve import OWL, KSparse, KSupport, Linear, LInf, Problem, Square, solve, verify
from atomsieve.certificate.file import seal
from atomsieve.standalone.verify.gauges import KINDS

GAUGES = [OWL([3.0, 2.0, 2.0, 1.0, 0.0]), KSupport(2), KSparse(3), LInf()]


def certified(gauge, penalty, path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 5)), rng.normal(size=12)
    solve(Problem(X, y, gauge=gauge, penalty=penalty, intercept=True), tol=1e-12).certificate().save(path)
    return X, y, json.loads(path.read_text())


def told(content, path):
    path.write_text(json.dumps(content | {"seal": seal(content)}))
    return path


@pytest.mark.parametrize("penalty", [Linear(0.02), Square(0.1)])
@pytest.mark.parametrize("gauge", GAUGES)
def test_a_value_that_is_too_good_is_refused(gauge, penalty, tmp_path):
    path = tmp_path / "certificate.json"
    X, y, content = certified(gauge, penalty, path)
    assert verify(path, X, y).valid
    width = content["claims"]["value"]["upper"] - content["claims"]["value"]["lower"]
    for end, moved in (("lower", 2 * width + 1e-9), ("upper", -2 * width - 1e-9)):
        forged = json.loads(json.dumps(content))
        forged["claims"]["value"][end] += moved
        assert not verify(told(forged, path), X, y).valid
    content["claims"]["gap"] = -1e-9
    assert not verify(told(content, path), X, y).valid


def test_parameters_that_make_no_norm_are_refused(tmp_path):
    path = tmp_path / "certificate.json"
    X, y, content = certified(GAUGES[0], Linear(0.02), path)
    for weights in ([1.0, 2.0, 0.0, 0.0, 0.0], [0.0] * 5, [1.0, -1.0, -1.0, -1.0, -1.0], [1.0] * 4):
        forged = json.loads(json.dumps(content))
        forged["problem"]["gauge"]["weights"] = weights
        assert not verify(told(forged, path), X, y).valid
    X, y, content = certified(GAUGES[1], Linear(0.02), path)
    content["problem"]["gauge"]["k"] = 0
    assert not verify(told(content, path), X, y).valid


@pytest.mark.parametrize("gauge", GAUGES[:3])
def test_formulas_of_the_checker_hold_those_of_the_package(gauge, monkeypatch):
    """Both have formulas of their own; where one is wrong they differ."""
    monkeypatch.setattr(ctx, "prec", 128)
    stated = {"type": type(gauge).__name__} | {
        name: getattr(gauge, name) for name in ("k", "weights") if hasattr(gauge, name)
    }
    checker = object.__new__(KINDS[stated["type"]])
    if "k" in stated:
        checker.k = stated["k"]
        checker.labels, checker.priced = np.zeros(5, dtype=int), np.ones(1, dtype=bool)
    else:
        checker._weights(stated["weights"].tolist(), 1, 5, 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        x, radius = np.round(rng.normal(size=5), 1), 10 ** rng.uniform(-12, 0)
        kappa = checker.norm([arb(v) for v in x.tolist()])
        assert kappa.rad() < 1e-15
        assert float(kappa) == pytest.approx(gauge.value(x), rel=1e-14)
        sigma = checker.dual_norm([arb(v, radius) for v in x.tolist()])
        low, high = np.maximum(np.abs(x) - radius, 0.0), np.abs(x) + radius
        assert float(sigma.upper()) == pytest.approx(gauge.support(high), rel=1e-8)  # radii have nine digits
        assert float(sigma.lower()) == pytest.approx(gauge.support(low), rel=1e-8, abs=1e-8)
        above, below = checker.dual_norms_above(high)[0], checker.dual_norms_below(low)[0]
        assert gauge.support(low) * (1 - 1e-12) <= below <= gauge.support(low)
        assert gauge.support(high) <= above <= gauge.support(high) * (1 + 1e-12) + math.ulp(1e-300)
