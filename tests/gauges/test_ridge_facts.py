"""Facts about single coefficients beside a ridge: none is false however poor the point, and the checker follows."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from atomsieve import (
    OSCAR,
    Ball,
    KSparse,
    KSupport,
    Linear,
    LInf,
    Logistic,
    Positive,
    Problem,
    SparseGroup,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal
from atomsieve.certificate.proof import Proof

D = 9
GAUGES = [OSCAR(1.0, 0.4), KSupport(3), KSparse(4), LInf(), SparseGroup(np.arange(D) // 3), Positive(OSCAR(1.0, 0.4))]
PENALTIES = [Linear(0.1), Square(0.3), Ball(0.8)]
KINDS = ("zero", "nonzero", "sign", "cluster", "saturated", "order")


def drawn(rng):
    """Return a problem with a ridge, and its data."""
    n, loss = int(rng.integers(5, 25)), (Squared(), Logistic())[rng.integers(2)]
    X = rng.standard_normal((n, D))
    if rng.random() < 0.3:
        X[:, 1] = X[:, 0] + 0.01 * rng.standard_normal(n)
    y = X @ np.array([1.0, 1.0, -1.0, *np.zeros(D - 3)]) + 0.3 * rng.standard_normal(n)
    y = y if isinstance(loss, Squared) else np.where(y > 0, 1.0, -1.0)
    gauge, penalty = GAUGES[rng.integers(len(GAUGES))], PENALTIES[rng.integers(3)]
    ridge = 10.0 ** rng.uniform(-2, 1)
    return Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, ridge=ridge), X, y


def false_facts(told, x):
    """Return how many facts of each kind there are, and how many contradict a solution."""
    facts, size, close = told.facts, np.abs(x), 1e-6
    made, false = Counter(), Counter()
    made.update(zero=int(told.zero.sum()), nonzero=int(told.nonzero.sum()), sign=int((facts.signs != 0).sum()))
    made.update(saturated=int(facts.saturated.sum()), cluster=len(facts.sets), order=len(facts.order))
    false["zero"] += int((size[told.zero] > close).sum())
    false["nonzero"] += int((size[told.nonzero] < 1e-12).sum())
    false["sign"] += int((facts.signs * x < -close).sum())
    false["cluster"] += sum(int(np.ptp(size[some]) > close) for some in facts.sets)
    false["saturated"] += int((np.abs(size[facts.saturated] - size.max()) > close).sum())
    tiers = facts.order
    false["order"] += sum(size[a].min() < size[b].max() - close for a, b in pairwise(tiers))
    false["interval"] += int(((x < told.lower - close) | (x > told.upper + close)).sum())
    return made, false


def over(seeds):
    """Return the facts at poor points of many problems, and the false ones among them."""
    made, false = Counter(), Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, _, _ = drawn(rng)
        best = solve(problem, tol=1e-13)
        for noise in (0.0, 10.0 ** -rng.integers(3, 7)):
            x = best.x + noise * rng.standard_normal(D)
            told = certify(problem, x if problem.core.signed is True else np.maximum(x, 0.0), np.zeros(0))
            if told.valid:
                found = false_facts(told, best.x)
                made += found[0]
                false += found[1]
    return made, false


def test_no_fact_is_false():
    made, false = over(range(60))
    assert all(made[kind] > 5 for kind in KINDS), made
    assert not any(false.values()), false


@pytest.mark.deep
def test_no_fact_is_false_in_many_problems():
    made, false = over(range(1000, 2500))
    assert all(made[kind] > 100 for kind in KINDS), made
    assert not any(false.values()), false


def test_a_smaller_radius_is_found_out(monkeypatch):
    whole = Proof.gap_bound.fget
    monkeypatch.setattr(Proof, "gap_bound", property(lambda self: whole(self) / 1e4))
    _, false = over(range(60))
    assert sum(false.values()) > 5, false


def test_the_checker_follows_and_refuses_forgeries(tmp_path):
    path, refused = tmp_path / "certificate.json", Counter()
    for seed in range(24):
        rng = np.random.default_rng(seed)
        problem, X, y = drawn(rng)
        content = solve(problem, tol=10.0 ** -rng.integers(3, 13)).certificate().content()
        path.write_text(json.dumps(content))
        verdict = verify(path, X, y)
        assert verdict.valid, (seed, str(verdict))
        claims = content["claims"]
        if claims["undecided"]:
            forged = claims | {"undecided": claims["undecided"][1:]}  # then one more is claimed zero
        elif claims["facts"]["signs"]["index"]:
            signs = claims["facts"]["signs"]
            turned = {"index": signs["index"], "value": [-v for v in signs["value"]]}
            forged = claims | {"facts": claims["facts"] | {"signs": turned}}
        else:
            continue
        other = content | {"claims": forged}
        path.write_text(json.dumps(other | {"seal": seal(other)}))
        assert not verify(path, X, y).valid, seed
        refused[type(problem.gauge).__name__] += 1
    assert sum(refused.values()) > 10
    assert len(refused) > 3, refused
