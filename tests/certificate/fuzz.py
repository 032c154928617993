"""Forged certificates: honest files are changed and sealed anew, and whatever the checker accepts must still be true.

The forger knows how to seal and what the digest of the data is. Nothing may raise, nothing may take much longer than
an honest check, and every claim of an accepted file is compared with the truth about the problem that it states. By
hand, with a seed and the number of files:

    python tests/certificate/fuzz.py 0 10000
"""

import contextlib
import copy
import json
import math
import sys
import tempfile
import time
import warnings
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse
from truth import solve_exactly

import atomsieve
from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal
from atomsieve.certificate.identity import digest_of

SLOW = 10
"""How many times the time of an honest check a refusal may take, beside SETTLED seconds."""

SETTLED = 0.02

ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    0.5,
    -0.0,
    1e308,
    5e-324,
    2**53,
    2**60,
    10**25,
    "",
    "inf",
    "1",
    "NaN",
    [],
    {},
    [0],
]
ODD += [[[]], {"type": "L1"}, "Linear", {"type": "L1", "weights": None, "positive": None}, [None], "\ud800", -1e300]


class Base:
    """An honest certificate with its data."""

    def __init__(self, X, y, *, weights=None, free=None, offset=None, intercept=False, blur=0.0, **pieces):
        self.X, self.y = X, np.asarray(y, dtype=float)
        self.given = {"sample_weight": weights, "free": free, "offset": offset}
        problem = Problem(X, y, intercept=intercept, **self.given, **pieces)
        certificate = solve(problem, tol=1e-12).certificate()
        if blur:  # a point that is not the best
            start = np.zeros(0) if problem.span is None else problem.span.origin
            certificate = certify(problem, certificate.x.reshape(problem.shape) * (1 + blur), start)
        self.content = certificate.content()
        self.stored = json.dumps(self.content)
        assert self.verdict(Told(self.content)).valid
        self.time = min(self._clock() for _ in range(5))

    def _clock(self):
        began = time.process_time()
        self.verdict(Told(self.content))
        return time.process_time() - began

    def verdict(self, certificate, X=None, y=None):
        X, y = self.X if X is None else X, self.y if y is None else y
        return verify(certificate, X, y, **self.given)


class Told:
    """What a forger hands in."""

    def __init__(self, content):
        self.told = content

    def content(self):
        return self.told


@lru_cache
def bases():
    """Return honest certificates of problems that are as small as they can be."""
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, (3, 4)).astype(float)
    X[:, 3] = X[:, 0]
    y = np.array([3.0, -1.0, 2.0])
    A, b = rng.standard_normal((5, 4)).round(2), rng.standard_normal(5).round(2)
    signs, matrix = np.array([1.0, -1, 1, 1, -1]), rng.integers(-2, 3, (4, 3)).astype(float)
    prices, mask = [0.0, 1.0, 2.0, np.inf], [False, True, False, False]
    counts, weights, given = np.array([0.0, 1, 2, 0, 3]), np.array([1.0, 2, 0, 1, 3]), np.c_[np.ones(5), np.arange(5.0)]
    free = {"intercept": True}
    two, shift = np.column_stack([b, -b + A[:, 0]]).round(2), rng.standard_normal((5, 2)).round(2)
    return [
        Base(X, y, penalty=Linear(0.25)),
        Base(X[:, :3], y, penalty=Square(0.5)),
        Base(A, b, gauge=L1(prices, positive=mask), penalty=Square(0.1), **free),
        Base(A, signs, loss=Logistic(), gauge=Group([0, 1, 0, 1], [1.0, 0.5]), penalty=Linear(0.05), **free),
        Base(A, counts, loss=Poisson(), gauge=NonNegative(), penalty=LinearSquare(0.05, 0.1), weights=weights),
        Base(A, b, loss=Huber(0.5), gauge=Image(L1(), matrix), penalty=Ball(0.3), free=given),
        Base(A, signs, loss=SquaredHinge(), gauge=Atoms(sparse.csc_array(matrix)), penalty=LogBarrier(1.0, 2.0)),
        Base(sparse.csr_array(A), b, gauge=Scaled(Simplex(), 0.5), penalty=Power(0.1, np.inf)),
        Base(A, b, gauge=Scaled(L2(), 2.0), penalty=Power(0.2, 3.0), **free, free=np.ones(5)),
        Base(X * 1e200, y, penalty=Ball(1e-180)),
        Base(A, b, gauge=LInf(), penalty=Square(0.1)),
        Base(A, b, gauge=Scaled(LInf(), 2.0), penalty=Linear(0.1), blur=1e-3, **free),
        Base(A, b, gauge=Image(Image(L1(), matrix), np.eye(4)[:, ::-1]), penalty=Linear(0.1), blur=1e-3, **free),
        Base(A, b, penalty=Linear(0.1), blur=1e-3, **free),
        Base(A, b, penalty=Square(0.1), blur=-1e-2),
        Base(X[:, :3], y, penalty=Linear(0.25), blur=1e-2),
        Base(A, counts, loss=Poisson(), gauge=NonNegative(), penalty=Square(0.05), blur=1e-3),
        Base(A, signs, loss=Logistic(), gauge=Group([0, 1, 0, 1]), penalty=Square(0.05), blur=1e-4, **free),
        Base(A, two, gauge=Group(), penalty=Linear(0.3), **free),
        Base(A, two, gauge=L1(prices, positive=mask), penalty=Square(0.2), offset=shift, weights=weights),
        Base(sparse.csr_array(A), np.sign(two), loss=Logistic(), penalty=Linear(0.05), offset=shift, blur=1e-3),
        Base(A, counts, loss=Poisson(), penalty=Linear(0.05), offset=shift[:, 0], **free),
        Base(A, two, loss=Huber(0.5), gauge=Image(Group(), matrix), penalty=Ball(0.3), free=np.arange(5.0)),
        Base(A, b, gauge=Group(), penalty=Linear(0.1), shape=(2, 2), **free),
        Base(A, b, gauge=L1(np.array([[1.0, 2.0], [0.5, np.inf]])), penalty=Square(0.1), shape=(2, 2)),
        Base(X, y, penalty=Linear(0.25), ridge=0.5),
        Base(X, y, penalty=Square(0.5), ridge=np.array([0.5, 1.0, 0.25, 0.5]), blur=1e-3),
        Base(A, b, gauge=L1(prices, positive=mask), penalty=Linear(0.1), ridge=0.1, **free),
        Base(A, signs, loss=Logistic(), gauge=Group([0, 1, 0, 1], [1.0, 0.5]), penalty=Linear(0.05), ridge=0.2, **free),
        Base(A, counts, loss=Poisson(), gauge=NonNegative(), penalty=LinearSquare(0.05, 0.1), ridge=0.1, blur=1e-3),
        Base(A, b, loss=Huber(0.5), gauge=Group([0, 1, 0, 1]), penalty=Ball(0.3), free=given, ridge=1.0),
        Base(A, two, gauge=Scaled(Group(), 2.0), penalty=LogBarrier(1.0, 2.0), ridge=0.3, weights=weights),
        *classes(),
    ]


def classes():
    """Return honest certificates of problems with several classes."""
    rng = np.random.default_rng(6)
    A, y = rng.standard_normal((8, 3)).round(2), np.array([0, 1, 2, 0, 1, 2, 2, 0])
    twins, shift = np.c_[A, A[:, 0]], rng.standard_normal((8, 3)).round(2)
    weights, free = np.array([1.0, 2, 0, 1, 3, 1, 1, 2]), {"intercept": True}
    prices = np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, np.inf, 0.5]])
    three = {"loss": Multinomial()}
    return [
        Base(A, y, **three, penalty=Linear(0.05), **free),
        Base(A, y, **three, penalty=Square(0.1), blur=1e-3),
        Base(A, y, **three, gauge=Group(), penalty=Linear(0.02), **free, blur=1e-4),
        Base(A, y, **three, gauge=Group([0, 1, 0]), penalty=Ball(0.5), free=np.arange(8.0), weights=weights),
        Base(A, y, **three, gauge=L1(prices), penalty=Linear(0.05), **free, offset=shift),
        Base(A, y, loss=Multinomial(4), gauge=L2(), penalty=Square(0.1), blur=-1e-3),
        Base(twins, y, **three, penalty=Linear(0.03), **free),
        Base(twins, y, **three, gauge=Group(), penalty=Linear(0.03), free=np.ones(8), **free),
        Base(A, y, **three, penalty=Linear(0.02), ridge=0.1, **free),
        Base(A, y, **three, gauge=Group([0, 1, 0]), penalty=Square(0.1), ridge=0.1, blur=1e-3, **free),
        Base(A, y, **three, gauge=LInf(), penalty=Linear(0.02), blur=1e-3, **free),
        Base(A, np.minimum(y, 1), **three, gauge=NonNegative(), penalty=Linear(0.05), weights=weights, **free),
    ]


# -- changes -----------------------------------------------------------------------------------------------------------


def places(value, path=()):
    """Yield the place of everything in a certificate."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*path, key))


def at(content, path):
    for key in path:
        content = content[key]
    return content


def other_number(rng, value):
    """Return a number near another, or far."""
    value = float(value)
    choices = [np.nextafter(value, np.inf), np.nextafter(value, -np.inf), -value, 0.0, value + 1, value - 1, 2 * value]
    choices += [value * (1 + s * 10.0 ** -rng.integers(1, 16)) for s in (1, -1)] + [
        value / 2,
        round(value),
        1e-9 + value,
    ]
    chosen = choices[rng.integers(len(choices))]
    return int(chosen) if rng.random() < 0.1 and abs(chosen) < 1e15 else float(chosen)


def change_value(rng, content, path, _):
    """Change one leaf or branch."""
    parent, key = at(content, path[:-1]), path[-1]
    old = parent[key]
    if type(old) in (int, float) and rng.random() < 0.8:
        parent[key] = old + int(rng.integers(-3, 4)) if type(old) is int else other_number(rng, old)
    elif type(old) is bool and rng.random() < 0.7:
        parent[key] = not old
    else:
        parent[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])


def change_shape(rng, content, path, _):
    """Remove, rename, repeat, add or swap."""
    parent, key = at(content, path[:-1]), path[-1]
    choice = rng.integers(4)
    if isinstance(parent, list):
        if choice == 0:
            parent.pop(key)
        elif choice == 1:
            parent.insert(key, copy.deepcopy(parent[rng.integers(len(parent))]))
        elif choice == 2:
            other = rng.integers(len(parent))
            parent[key], parent[other] = parent[other], parent[key]
        else:
            parent.append(ODD[rng.integers(len(ODD))])
    elif choice == 0:
        parent.pop(key)
    elif choice == 1:
        parent[key + "s"] = parent.pop(key)
    elif choice == 2:
        other = list(parent)[rng.integers(len(parent))]
        parent[key], parent[other] = parent[other], parent[key]
    else:
        parent["more"] = ODD[rng.integers(len(ODD))]


def borrow(rng, content, path, base):
    """Take a part from another honest certificate, or from another place."""
    source = bases()[rng.integers(len(bases()))].content if rng.random() < 0.5 else content
    try:
        part = at(source, path if rng.random() < 0.7 else list(places(source))[rng.integers(30, 60)])
    except (KeyError, IndexError, TypeError):
        part = base.content["claims"]
    at(content, path[:-1])[path[-1]] = copy.deepcopy(part)


def claim_more(rng, content, _, __):
    """Change what is claimed, in the right form."""
    claims, blocks = content["claims"], min(content["problem"]["blocks"], 12)  # it may have been changed before
    choice = rng.integers(8)
    if choice < 2:
        block = int(rng.integers(blocks))
        for name in ("nonzero", "undecided"):
            told = set(claims[name]) ^ ({block} if rng.random() < 0.6 else set())
            claims[name] = sorted(told)
        if rng.random() < 0.7:
            match_intervals(rng, content)
    elif choice == 2 and claims["intervals"]["index"]:
        side = claims["intervals"]["lower" if rng.random() < 0.5 else "upper"]
        k = rng.integers(len(side))
        side[k] = other_number(rng, side[k] or 0.0) if rng.random() < 0.8 else None
    elif choice == 3 and claims["free"]["lower"]:
        side = claims["free"]["lower" if rng.random() < 0.5 else "upper"]
        k = rng.integers(len(side))
        side[k] = other_number(rng, side[k] or 0.0) if rng.random() < 0.8 else None
    elif choice == 4:
        side = "lower" if rng.random() < 0.5 else "upper"
        claims["value"][side] = other_number(rng, claims["value"][side] or 0.0)
    elif choice == 5:
        names = list(range(-2, blocks))
        of = sorted(rng.choice(names, rng.integers(0, 3), replace=False).tolist())
        sums = {
            "column": int(rng.choice(names)),
            "of": of,
            "times": rng.choice([1.0, -1.0, 2.0, 0.0], len(of)).tolist(),
        }
        claims["dependencies"] = claims["dependencies"] * int(rng.integers(2)) + [sums]
    elif choice == 6:
        change_sums(rng, claims, list(range(-2, blocks)))
    else:
        claims["valid"] = not claims["valid"]
        claims["gap"] = other_number(rng, claims["gap"] or 0.0)


def change_sums(rng, claims, names):
    """Change a sum, or claim another one."""
    if claims["sums"] and rng.random() < 0.7:
        total = claims["sums"][rng.integers(len(claims["sums"]))]
        side = "lower" if rng.random() < 0.5 else "upper"
        if rng.random() < 0.6:
            total[side] = other_number(rng, total[side] or 0.0)
        else:
            total["times"][rng.integers(len(total["times"]))] = float(rng.choice([1.0, -1.0, 2.0, 1.0000001]))
        return
    index = rng.choice(names, rng.integers(1, 3), replace=False).tolist()
    value = float(rng.standard_normal())
    times = rng.choice([1.0, -1.0, 2.0], len(index)).tolist()
    claims["sums"].append({"index": index, "times": times, "lower": value, "upper": value + float(rng.exponential())})


def match_intervals(rng, content):
    """Give every coefficient that is not claimed to be zero an interval, most without bounds."""
    claims, entries = content["claims"], min(math.prod(content["problem"]["shape"]), 12)
    old = claims["intervals"]
    ends = dict(zip(old["index"], zip(old["lower"], old["upper"], strict=True), strict=True))
    if content["problem"]["blocks"] == entries:
        index = sorted({*claims["nonzero"], *claims["undecided"]} - set(content["problem"]["unpenalised"]))
    else:
        index = list(range(entries))
    pairs = [ends.get(j, (None, None)) if rng.random() < 0.8 else (None, None) for j in index]
    claims["intervals"] = {"index": index, "lower": [p[0] for p in pairs], "upper": [p[1] for p in pairs]}


def change_point(rng, content, _, __):
    """Move the point, a little or far."""
    point = content["point"]
    values = point["free"] if point["free"] and rng.random() < 0.5 else point["x"]["value"]
    if values:
        k = rng.integers(len(values))
        values[k] = other_number(rng, values[k])


def claim_zero(rng, content, _, __):
    """Drop coefficients from the point and from all lists, as if they were zero; give up the value."""
    claims, point = content["claims"], content["point"]
    gone = {int(j) for j in rng.choice(math.prod(content["problem"]["shape"]), rng.integers(1, 3))}
    for part in (point["x"], claims["intervals"]):
        kept = [k for k, j in enumerate(part["index"]) if j not in gone]
        for name in part:
            part[name] = [part[name][k] for k in kept]
    for name in ("nonzero", "undecided"):
        claims[name] = [g for g in claims[name] if g not in gone]
    if rng.random() < 0.8:
        claims.update(gap=None, value={"lower": None, "upper": None})
    if rng.random() < 0.5:
        claims["intervals"] |= {side: [None] * len(claims["intervals"]["index"]) for side in ("lower", "upper")}
        claims["undecided"] = sorted({*claims["undecided"], *claims["nonzero"]})
        claims["nonzero"] = []


def claim_narrow(rng, content, _, __):
    """Move all bounds of one kind towards each other."""
    claims, part = content["claims"], 10.0 ** -rng.integers(0, 4) * rng.uniform(0.1, 1)
    for name in ("intervals", "free", "value"):
        if rng.random() < 0.4:
            ends = [claims[name][side] for side in ("lower", "upper")]
            single = not isinstance(ends[0], list)
            pairs = zip(*([end] if single else end for end in ends), strict=True)
            pairs = [
                (a, b) if None in (a, b) else ((a + b - part * (b - a)) / 2, (a + b + part * (b - a)) / 2)
                for a, b in pairs
            ]
            for k, side in enumerate(("lower", "upper")):
                claims[name][side] = pairs[0][k] if single else [pair[k] for pair in pairs]
    if rng.random() < 0.3 and claims["gap"]:
        claims["gap"] *= part


CHANGES = [change_value, change_value, change_shape, borrow, claim_more, claim_more, claim_more, change_point]
CHANGES += [claim_zero, claim_narrow]


def forged(rng, base):
    """Return a changed certificate, sealed anew most of the time, with the data that go with it."""
    content, data = json.loads(base.stored), (base.X, base.y)
    for _ in range(int(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))):
        everywhere = list(places(content))
        change = CHANGES[rng.integers(len(CHANGES))]
        try:
            change(rng, content, everywhere[rng.integers(len(everywhere))], base)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):  # an earlier change
            continue
    if rng.random() < 0.05:
        data = other_data(rng, base, content)
    if isinstance(content, dict) and rng.random() < 0.98:
        with contextlib.suppress(TypeError, ValueError):
            content["seal"] = seal(content)
    return content, data


def other_data(rng, base, content):
    """Return changed data, whose digest is in the file."""
    X, y = base.X.copy(), base.y.copy()
    if sparse.issparse(X) or rng.random() < 0.5:
        y[rng.integers(len(y))] *= (
            -1 if base.content["problem"]["loss"]["type"] in ("Logistic", "SquaredHinge") else 1.5
        )
    else:
        X[rng.integers(len(X)), rng.integers(X.shape[1])] += rng.choice([1e-3, 1.0, -0.5])
    with contextlib.suppress(ValueError, TypeError):
        content["data"] = {"sha256": digest_of(Problem(X, y, **base.given).data)}
    return X, y


def changed_text(rng, base):
    """Return the text of a certificate with some characters changed; half of what is still JSON is sealed anew."""
    text = json.dumps(base.content)
    for _ in range(int(rng.integers(1, 4))):
        k, signs = int(rng.integers(len(text))), '{}[]",:0123456789.eE+-tfn\\ u\x00'
        sign = signs[rng.integers(len(signs))]
        changed = text[:k] + sign + text[k + 1 :], text[:k] + text[k + 1 :], text[:k] + sign + text[k:], text[:k]
        text = changed[rng.choice(4, p=[0.4, 0.3, 0.28, 0.02])]
    try:
        content = json.loads(text)
        if rng.random() < 0.7:
            text = text.replace(str(content["seal"]), seal(content))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return text


# -- the truth ---------------------------------------------------------------------------------------------------------


def piece(told):
    """Return the piece that a statement describes."""
    parameters = {name: value for name, value in told.items() if name != "type"}
    if told["type"] == "Atoms":
        parameters.pop("gauge")
    if told["type"] == "Simplex":
        parameters.pop("weights")
    if "gauge" in parameters:
        parameters["gauge"] = piece(parameters["gauge"])
    if isinstance(parameters.get("matrix"), dict):
        m = parameters["matrix"]
        parameters["matrix"] = sparse.coo_array((m["value"], (m["row"], m["column"])), shape=m["shape"]).tocsc()
    elif "matrix" in parameters:
        parameters["matrix"] = np.array(parameters["matrix"], dtype=float)
    if parameters.get("weights") is not None:
        parameters["weights"] = np.array(parameters["weights"]).astype(float)
    elif told["type"] == "Group":
        parameters["weights"] = "equal"
    if parameters.get("p") == "inf":
        parameters["p"] = np.inf
    return getattr(atomsieve, told["type"])(**parameters)


class Truth:
    """What is true of the problem that a file states: intervals of rounding size, and the exact corners if known."""

    known: ClassVar[dict] = {}

    def __init__(self, base, told, X, y):
        pieces = {name: piece(told[name]) for name in ("loss", "gauge", "penalty")}
        shape = told["form"] if told["outputs"] == 1 and len(told["form"]) > 1 else None
        pieces["ridge"] = told.get("ridge", 0.0)
        self.problem = Problem(X, y, intercept=told["intercept"], shape=shape, **base.given, **pieces)
        self.certificate = solve(self.problem, tol=1e-12, until="decided").certificate()
        self.corners = None
        plain = told["loss"]["type"] == "Squared" and told["gauge"] == {"type": "L1", "weights": None, "positive": None}
        plain = (
            plain and not told["intercept"] and base.given["free"] is None and base.given["offset"] is None
        ) and told["penalty"]["type"] in ("Linear", "Square")
        plain = plain and y.ndim == 1
        if plain:
            ones = np.ones(len(y)), np.ones(X.shape[1])
            signed, held = [True] * X.shape[1], ones[1] * pieces["ridge"]
            exact = solve_exactly(X, y, pieces["penalty"], counts=ones[0], prices=ones[1], signed=signed, ridge=held)
            self.corners = None if exact is None else exact.corners
            self.value = None if exact is None else exact.value

    @classmethod
    def of(cls, base, told, X, y):
        key = json.dumps(told, sort_keys=True), base.content["data"]["sha256"], X is base.X, y is base.y
        if X is not base.X or y is not base.y:
            return cls(base, told, X, y)
        if key not in cls.known:
            cls.known[key] = cls(base, told, X, y)
        return cls.known[key]

    def contradiction(self, content):
        """Return a claim that is false, None where there is none."""
        claims, best = content["claims"], self.certificate
        blocks, entries = content["problem"]["blocks"], math.prod(content["problem"]["shape"])
        told = {*claims["nonzero"], *claims["undecided"], *content["problem"]["unpenalised"]}
        zero = [g for g in range(blocks) if g not in told]
        low, high = np.zeros(entries), np.zeros(entries)
        for j, a, b in zip(*(claims["intervals"][name] for name in ("index", "lower", "upper")), strict=True):
            low[j], high[j] = -np.inf if a is None else a, np.inf if b is None else b
        free = content["problem"]["unpenalised"]
        low[free], high[free] = -np.inf, np.inf
        lies = {
            "zero": best.nonzero[zero].any(),
            "nonzero": (best.zero | False)[claims["nonzero"]].any(),
            "intervals": (low > best.upper.ravel()).any() or (high < best.lower.ravel()).any(),
            "lower": claims["value"]["lower"] is not None and claims["value"]["lower"] > best.primal,
            "upper": claims["value"]["upper"] is not None and claims["value"]["upper"] < best.dual,
            "gap": claims["gap"] is not None and self._excess(content) > claims["gap"] * (1 + 1e-9),
            "free": any(
                a is not None and a > b for a, b in zip(claims["free"]["lower"], best.free_upper.flat, strict=True)
            )
            or any(a is not None and a < b for a, b in zip(claims["free"]["upper"], best.free_lower.flat, strict=True)),
            "dependencies": not all(self._is_sum(d) for d in claims["dependencies"]),
            "sums": not all(self._is_total(total) for total in claims["sums"]),
            "silent": not claims["valid"] and (zero or claims["nonzero"] or np.isfinite(low).any()),
        }
        lies |= {} if self.corners is None else self._exact_lies(claims, zero, low, high)
        return next((name for name, lie in lies.items() if lie), None)

    def _exact_lies(self, claims, zero, low, high):
        """Compare with all solutions, which are the hull of the corners."""
        value = Fraction(int(self.value.p), int(self.value.q))
        corners = [[Fraction(int(v.p), int(v.q)) for v in corner] for corner in self.corners]
        inside = [
            (a == -np.inf or Fraction(a) <= v) and (b == np.inf or v <= Fraction(b))
            for c in corners
            for v, a, b in zip(c, low.tolist(), high.tolist())
        ]
        signs = [{(c[j] > 0) - (c[j] < 0) for c in corners} for j in claims["nonzero"]]
        bounds = claims["value"]
        totals = [
            (sum(Fraction(t) * c[j] for j, t in zip(total["index"], total["times"])), total["lower"], total["upper"])
            for c in corners
            for total in claims["sums"]
            if min(total["index"]) >= 0
        ]
        return {
            "exact sums": any(
                (a is not None and v < Fraction(a)) or (b is not None and v > Fraction(b)) for v, a, b in totals
            ),
            "exact zero": any(c[j] != 0 for c in corners for j in zero),
            "exact nonzero": any(0 in s or len(s) > 1 for s in signs),
            "exact intervals": not all(inside),
            "exact lower": bounds["lower"] is not None and Fraction(bounds["lower"]) > value,
            "exact upper": bounds["upper"] is not None and Fraction(bounds["upper"]) < value,
        }

    def _excess(self, content):
        """Return about how far the objective at the point is above the optimum, from below."""
        point = content["point"]
        x = np.zeros(content["problem"]["shape"])
        x.ravel()[point["x"]["index"]] = point["x"]["value"]
        problem = self.problem
        start = np.zeros(0) if problem.span is None else problem.span.origin
        u = problem.smooth.predict(problem.design.matvec(x), start)[1]
        with np.errstate(all="ignore"):
            mass = float(np.sum(problem.core.sizes(x)[problem.eligible]))
            value = problem.smooth.value(u) + problem.penalty.value(mass * (1 - 1e-12))
            if problem.shrinkage is not None:
                value += problem.shrinkage.value(x, np.arange(x.size))
        return value - self.certificate.primal - 1e-9 * (1 + abs(value)) if np.isfinite(value) else -np.inf

    def _is_sum(self, dependency):
        columns = np.asarray(self.problem.design.columns(slice(0, self.problem.design.shape[1])))
        given = self.problem.smooth.unpenalised

        def column(name):
            if self.problem.outputs:
                return self._in_classes(columns, given, name, of_x=dependency["column"] >= 0)
            return columns[:, name] if name >= 0 else given[:, -1 - name]

        total = sum((t * column(j) for j, t in zip(dependency["of"], dependency["times"], strict=True)), 0.0)
        own = column(dependency["column"])
        if dependency["column"] >= 0 and not self.problem.outputs:  # or nearly
            return bool(np.linalg.norm(own - total) <= 2.0**-9 * np.linalg.norm(own))
        return bool(np.allclose(own, total, rtol=1e-12, atol=0))

    def _is_total(self, total):
        """Return whether the interval of a sum holds what the sum is at a good point."""
        x, b = self.certificate.x.ravel(), self.certificate.free.ravel()
        values = [x[j] if j >= 0 else b[-1 - j] for j in total["index"]]
        value, slack = float(np.dot(total["times"], values)), 1e-4 * (1 + float(np.abs(values).sum()))
        lower, upper = total["lower"], total["upper"]
        return (lower is None or lower <= value + slack) and (upper is None or value - slack <= upper)

    def _in_classes(self, columns, given, name, *, of_x):
        """Return a column in the rows of its class; in dependencies of x what losses see of it.

        That are differences to the last class. Some columns are less that of the last class before.
        """
        (count,) = self.problem.outputs
        row, c = divmod(name if name >= 0 else -1 - name, count)
        seen = np.zeros((len(columns), count))
        seen[:, c] = columns[:, row] if name >= 0 else given[:, row]
        if not of_x:
            return seen.ravel()
        if name < 0 or not self.problem.core.entrywise:
            seen[:, -1] -= seen[:, c] if c < count - 1 else 0.0
        return (seen - seen[:, -1:]).ravel()


# -- the run -----------------------------------------------------------------------------------------------------------


def run(seed, count, folder, report=print):
    """Return how many forged files were accepted and refused, and for which reasons; and the faults of the checker."""
    rng, tally, faults = np.random.default_rng(seed), Counter(), []
    path = Path(folder) / "forged.json"
    for k in range(count):
        base = bases()[k % len(bases())]
        data = base.X, base.y
        if rng.random() < 0.2:
            text = changed_text(rng, base)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            told = path
        else:
            content, data = forged(rng, base)
            told = Told(content)
        fault = judge(base, told, data, tally)
        if fault:
            faults.append((seed, k, fault))
            report(seed, k, fault, json.dumps(told.content()) if isinstance(told, Told) else text)
    return tally, faults


def judge(base, told, data, tally):
    """Return what is wrong with the answer to a forged file, None where nothing is."""
    began = time.process_time()
    try:
        verdict = base.verdict(told, *data)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    spent = time.process_time() - began
    if spent > SLOW * base.time + SETTLED:
        again = []
        for _ in range(3):
            began = time.process_time()
            base.verdict(told, *data)
            again.append(time.process_time() - began)
        if min(again) > SLOW * base.time + SETTLED:
            return f"took {min(again):.2f} s, {min(again) / base.time:.0f} times an honest check"
    reason = verdict.reason.split(":")[0]
    tally["accepted" if verdict.valid else "refused"] += 1
    tally[f"refused after {min(verdict.checked, 1)}+ claims"] += not verdict.valid
    if "malformed: " in verdict.reason and "Error" in verdict.reason:
        tally[f"unforeseen: {verdict.reason.split('malformed: ')[1][:60]}"] += 1
    if not verdict.valid:
        return None if reason else "refused without a reason"
    content = told.content() if isinstance(told, Told) else json.loads(told.read_text())
    content = json.loads(json.dumps(content))
    if content == base.content and data[0] is base.X and data[1] is base.y:
        tally["unchanged"] += 1
        return None
    try:
        truth = Truth.of(base, content["problem"], *data)
    except ValueError as error:
        tally[f"no truth: {type(error).__name__} {str(error)[:60]}"] += 1
        return None
    tally["true of another problem"] += content["problem"] != base.content["problem"]
    lie = truth.contradiction(content)
    return f"accepted a false claim: {lie}" if lie else None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        counts, found = run(int(sys.argv[1]), int(sys.argv[2]), place, lambda *words: print(*words, flush=True))  # noqa: T201
    print(json.dumps(counts, indent=1), f"faults: {len(found)}", f"{time.perf_counter() - start:.0f} s", flush=True)  # noqa: T201
