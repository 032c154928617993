"""Check a certificate against the data: `python verify.py certificate.json X y`.

This file stands alone: it needs NumPy and python-flint (ball arithmetic) and nothing of the package that made the
certificate. It trusts the data, the formulas below and the point that the certificate names; every claim is derived
anew. The proofs are in docs/certificates.md.

The problem, multiplied by S, the sum of the sample weights s_i:

    minimise over x, b   sum_i s_i loss(u_i, y_i) + S phi(mass(x))
    with   u = A x + B b,   mass(x) = sum_g price_g norm2(x_g)

A is X, or X times the matrix of an Image or Atoms gauge; B holds a constant column (intercept), the columns passed as
`free`, and the columns of A with price 0. At the given x let b~ be the exact minimiser over b, and there

    theta_i = s_i loss'(u_i),   z = -A' theta,   score_g = norm2(z_g) / price_g,   sigma = the largest score;

    score_j = z_j / price_j for a coefficient that must not be negative (all of NonNegative, Simplex and Atoms, those of
    L1 where `positive` is true).

GAP    `gap = S phi(mass) + S phi*(sigma / S) - x . z` bounds objective minus optimum; let `reach = gap`. For a linear
       phi with slope a and `sigma > S a`, theta is first multiplied by k < 1 so that `k sigma <= S a`, and
       `gap = objective + sum_i s_i loss*(k theta_i / s_i)`, `reach = 2 gap`.
CURVE  Between the point and the optimum loss'(u_i) moves by at most `sqrt(reach M / s_i)`, M bounding loss''; so
       loss'' lies between some m_i and M_i there.
ZERO   Block g is zero in every solution if `score_g + sqrt(reach) spread_g` is below `score_q - sqrt(reach) spread_q`
       for some block q, or below `S phi'(0)`. Here spread_g^2 is the sum over its columns of `sum_i s_i M_i A_ij^2`,
       divided by price_g^2. A coordinate is zero also if `score_g + sqrt(reach) dist < score_q`, dist being the same
       length of the difference of the two atoms.
RANGE  With C the columns of blocks that are not proven zero, and B, and `G = C' diag(s m) C`:
       `abs(x_j - x*_j) <= sqrt(inv(G)_jj reach)`. A column that is an exact sum of others (DEPENDENCY) is left out of
       C, and nothing is said of any column involved.
NOT 0  A coefficient is not zero if its range excludes 0; a block if its norm exceeds that of the radii of its ranges.
"""

import argparse
import hashlib
import json
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

BALLS_UP_TO = 10_000_000
"""Entries of A up to which all products are taken in ball arithmetic; beyond, only those that matter."""

PRECISION = 128
"""Bits."""

UNIT = 2.0**-53


@dataclass(frozen=True)
class Verification:
    """The verdict, the first claim that does not follow, how many claims were checked, and in which arithmetic."""

    valid: bool
    reason: str
    checked: int
    method: str

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        verdict = "The certificate is valid" if self.valid else "The certificate is NOT valid"
        return f"{verdict}: {self.reason} ({self.checked} claims checked, {self.method})"


class Refused(Exception):
    """Raised where a claim does not follow, with the reason."""


def verify(certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, free: Any = None) -> Verification:
    """Check a certificate (a file, or the object that `Result.certificate()` returns) against the data."""
    bits, ctx.prec = ctx.prec, PRECISION
    checker = None
    try:
        content = read(certificate)
        data = Data(content, X, y, sample_weight, free)
        check_form(content)
        if content["claims"]["valid"] is not True:
            check_silence(content)
            return Verification(True, "it claims nothing.", 0, _method(None))
        checker = Checker(content, data)
        checker.check()
    except Refused as refusal:
        return Verification(False, str(refusal), 0 if checker is None else checker.checked, _method(checker))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        sentence = f"the file or the data are malformed: {type(error).__name__} ({error})"
        return Verification(False, sentence, 0, _method(checker))
    finally:
        ctx.prec = bits
    return Verification(True, "every claim follows from the data.", checker.checked, _method(checker))


def _method(checker: "Checker | None") -> str:
    if checker is None:
        return "nothing computed"
    return "ball arithmetic" if checker.all_in_balls else "ball arithmetic where it matters, bounded doubles elsewhere"


def read(certificate: Any) -> dict[str, Any]:
    """Return the content of a certificate, after its form and its seal were checked."""
    if hasattr(certificate, "content"):
        content = json.loads(json.dumps(certificate.content()))
    else:
        try:
            content = json.loads(Path(certificate).read_text(encoding="utf-8"))
        except OSError as error:
            raise Refused(f"the file cannot be read: {error}") from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise Refused(f"the file is truncated or no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != "atomsieve certificate":
        raise Refused("this is no atomsieve certificate")
    if content.get("version") != 1:
        raise Refused(f"version {content.get('version')!r} of the format is not known")
    told = {key: value for key, value in content.items() if key != "seal"}
    if hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest() != content.get(
        "seal"
    ):
        raise Refused("the seal does not fit: the file was changed after it was written")
    return content


def check_form(content: dict[str, Any]) -> None:
    """Refuse lists that could be read in two ways: of different lengths, with repetitions, or of truth values."""
    claims, point, problem = content["claims"], content["point"], content["problem"]
    entries, blocks = math.prod(problem["shape"]), problem["blocks"]
    for name, index, limit in (
        ("point.x", point["x"]["index"], entries),
        ("nonzero", claims["nonzero"], blocks),
        ("undecided", claims["undecided"], blocks),
        ("intervals", claims["intervals"]["index"], entries),
        ("unpenalised", problem["unpenalised"], entries),
    ):
        whole = all(type(j) is int and 0 <= j < limit for j in index)
        if not whole or sorted(set(index)) != index:
            raise Refused(f"the indices of {name} are not increasing whole numbers in range")
    if set(claims["nonzero"]) & set(claims["undecided"]):
        raise Refused("a block is claimed to be decided and undecided")
    intervals, free = claims["intervals"], claims["free"]
    lists = [(point["x"]["value"], point["x"]["index"]), (intervals["lower"], intervals["index"])]
    lists += [(intervals["upper"], intervals["index"]), (free["lower"], point["free"]), (free["upper"], point["free"])]
    if any(len(values) != len(index) for values, index in lists):
        raise Refused("lists that belong together have different lengths")
    numbers = [*point["x"]["value"], *point["free"]]
    bounds = [*intervals["lower"], *intervals["upper"], *free["lower"], *free["upper"]]
    bounds += [claims["gap"], claims["value"]["lower"], claims["value"]["upper"]]
    if not all(_is_number(v) for v in numbers) or not all(v is None or _is_number(v) for v in bounds):
        raise Refused("a number is missing, or is none")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def check_silence(content: dict[str, Any]) -> None:
    """Refuse a certificate that says it claims nothing, and does."""
    claims, problem = content["claims"], content["problem"]
    entries = [j for j in range(math.prod(problem["shape"])) if j not in set(problem["unpenalised"])]
    silent = [*claims["intervals"]["lower"], *claims["intervals"]["upper"], *claims["free"]["lower"], claims["gap"]]
    silent += [*claims["free"]["upper"], claims["value"]["lower"], claims["value"]["upper"]]
    if claims["nonzero"] or claims["intervals"]["index"] != entries or any(value is not None for value in silent):
        raise Refused("it says that it claims nothing, and makes claims")
    if len(claims["undecided"]) + len(problem["unpenalised"]) < problem["blocks"]:
        raise Refused("it says that it claims nothing, and leaves blocks out that are then claimed to be zero")


class Data:
    """X, y, weights and free columns as doubles, recognised by their digest; A and B made of them."""

    def __init__(self, content: dict[str, Any], X: Any, y: Any, sample_weight: Any, free: Any) -> None:
        self.sparse = hasattr(X, "tocsc")
        self.X: Any = X.tocsc().astype(np.float64) if self.sparse else np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64).ravel()
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).ravel()
        given = np.zeros((len(y), 0)) if free is None else np.asarray(free, dtype=np.float64).reshape(len(y), -1)
        shape = self.X.shape
        if len(shape) != 2 or shape[0] != len(y) or len(weights) != len(y):
            raise Refused(
                f"X has shape {shape}, y {len(y)} entries, the weights {len(weights)}: they do not fit together"
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise Refused("the sample weights must be finite, not negative, and not all 0")
        counted = weights > 0
        if not counted.all():  # samples of weight 0 do not count
            y, weights, given, self.X = y[counted], weights[counted], given[counted], self.X[np.flatnonzero(counted)]
        self.y, self.weights, self.given = y, weights, given
        self.shape = (len(y), shape[1])
        stored = self.X.data if self.sparse else self.X
        if not (np.isfinite(stored).all() and np.isfinite(y).all() and np.isfinite(given).all()):
            raise Refused("X, y or the free columns hold numbers that are not finite")
        if self._digest() != content["data"]["sha256"]:
            raise Refused("the data are not those of the certificate: their digest differs")

    def _digest(self) -> str:
        """SHA-256 over the shape, what is not zero in X, y, weights, free columns, in eight bytes each, little-endian.

        X in blocks of `max(1, 2^20 // d)` rows: how many entries there are in each row, their columns, their values.
        """
        digest = hashlib.sha256(f"{self.shape}".encode())
        width = max(1, (1 << 20) // self.shape[1])
        rows = self.X.tocsr() if self.sparse else self.X
        for start in range(0, self.shape[0], width):
            block = rows[start : start + width]
            if self.sparse:
                block.eliminate_zeros()
                block.sort_indices()
                counts, columns, values = np.diff(block.indptr), block.indices, block.data
            else:
                counts, columns, values = (block != 0).sum(axis=1), np.nonzero(block)[1], block[block != 0]
            for numbers, kind in ((counts, "<i8"), (columns, "<i8"), (values, "<f8")):
                digest.update(np.ascontiguousarray(numbers, dtype=kind).tobytes())
        for part in (self.y, self.weights, self.given):
            digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        return digest.hexdigest()

    def columns(self, index: Any) -> np.ndarray:
        """Return columns of X as a dense array."""
        return np.asarray(self.X[:, index].toarray() if self.sparse else self.X[:, index])


def power(x: arb, p: arb) -> arb:
    """Return x^p for x >= 0."""
    return (p * x.log()).exp() if x > 0 else (arb(0) if x == 0 else _cannot("a power of a number that may be 0"))


def _cannot(what: str) -> arb:
    raise Refused(f"cannot bound {what}")


PENALTIES: dict[str, tuple[Any, Any, Any]] = {  # phi(s), phi*(t), phi'(0); p holds the parameters
    "Linear": (lambda p, s: p["strength"] * s, None, lambda p: p["strength"]),
    "Square": (lambda p, s: p["strength"] * s * s / 2, lambda p, t: t * t / (2 * p["strength"]), lambda p: arb(0)),
    "LinearSquare": (
        lambda p, s: p["strength"] * s + p["square"] * s * s / 2,
        lambda p, t: _positive(t - p["strength"]) ** 2 / (2 * p["square"]),
        lambda p: p["strength"],
    ),
    "Power": (
        lambda p, s: p["strength"] * power(s, p["p"]) / p["p"],
        lambda p, t: p["strength"] * power(t / p["strength"], p["p"] / (p["p"] - 1)) * (p["p"] - 1) / p["p"],
        lambda p: arb(0),
    ),
    "Ball": (
        lambda p, s: arb(0) if s <= p["radius"] else _cannot("phi: x may lie outside the ball"),
        lambda p, t: p["radius"] * t,
        lambda p: arb(0),
    ),
    "LogBarrier": (
        lambda p, s: (-(1 - s / p["radius"]).log() - s / p["radius"]) / p["sharpness"],
        lambda p, t: p["radius"] * t - (1 + p["radius"] * p["sharpness"] * t).log() / p["sharpness"],
        lambda p: arb(0),
    ),
}


def root(v: arb) -> arb:
    """Return the square root of a number that is not negative, though its ball may reach below 0."""
    if v > 0:
        return v.sqrt()
    top = arb(v.upper()).max(arb(0)).sqrt().upper() / 2
    return arb(top, top)


def highest(values: Any) -> arb:
    """Return an upper bound of numbers, 0 at least; comparisons of doubles would lose digits."""
    top = arb(0)
    for v in values:
        if not v.is_finite():
            raise Refused("a number that matters is not finite")
        top = top.max(arb(v.upper()))
    return arb(top.upper())


def _positive(t: arb) -> arb:
    return t.max(arb(0))


class Loss:
    """One loss: value, slope, conjugate of a slope, and the range of loss'' over a range of slopes; M bounds loss''."""

    def __init__(self, piece: dict[str, Any]) -> None:
        self.kind = piece["type"]
        self.delta = arb(_parameter(piece, "delta") if self.kind == "Huber" else 1.0)
        if self.kind not in ("Squared", "Huber", "SquaredHinge", "Logistic", "Poisson"):
            raise Refused(f"the loss {self.kind} is not known to this checker")

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets for which the formulas do not hold."""
        if self.kind in ("Logistic", "SquaredHinge") and not np.isin(y, (-1.0, 1.0)).all():
            raise Refused(f"the labels of {self.kind} must be -1 and 1")
        if self.kind == "Poisson" and (y < 0).any():
            raise Refused("counts must not be negative")

    def most(self, low: arb, high: arb, y: float, reach: arb) -> arb:
        """Return a bound of loss'' from slopes between low and high to the optimum; reach is divided by the weight.

        Poisson: `(v - u)(exp(v) - exp(u)) >= exp(u) (v - u)^2` for v > u, the Bregman distance at least half of that.
        """
        if self.kind == "Poisson":
            least = low + arb(y)
            return (high + arb(y)) * root(reach / least).exp() if least > 0 else _cannot("the curvature at a rate of 0")
        return arb(0.25) if self.kind == "Logistic" else arb(1)

    def slope(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y)
        if self.kind == "Logistic":
            return -y / (1 + (y * u).exp())
        if self.kind == "SquaredHinge":
            return -y * _positive(1 - y * u)
        residual = u - arb(y)
        return residual if self.kind == "Squared" else residual.max(-self.delta).min(self.delta)

    def value(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y) * u + self._offset(y)
        if self.kind == "Logistic":
            return (1 + (-y * u).exp()).log() if y * u > -50 else -y * u + (1 + (y * u).exp()).log()
        t = self.slope(u, y)
        return t * (u - arb(y) - t / 2) if self.kind == "Huber" else t * t / 2

    def conjugate(self, t: arb, y: float) -> arb:
        """Return an upper bound; it is convex, so that the ends of t decide."""
        ends = [arb(t.lower()), arb(t.upper())]
        if self.kind == "Poisson":
            rates = [_positive(end + arb(y)) for end in ends]
            values = [(r * r.log() if r > 0 else arb(0)) - r - self._offset(y) for r in rates]
            return _larger(*values)
        if self.kind == "Logistic":
            return _larger(*(self._entropy(_within(-y * end, arb(0), arb(1))) for end in ends))
        if self.kind == "Huber":
            ends = [_within(end, -self.delta, self.delta) for end in ends]
        if self.kind == "SquaredHinge":
            ends = [-y * _positive(-y * end) for end in ends]
        return _larger(*(end * end / 2 + end * arb(y) for end in ends))

    @staticmethod
    def _offset(y: float) -> arb:
        return arb(y) * arb(y).log() - arb(y) if y > 0 else arb(0)

    @staticmethod
    def _entropy(p: arb) -> arb:
        return sum((q * q.log() for q in (p, 1 - p) if not q == 0), arb(0))

    def bends(self, low: arb, high: arb, y: float) -> tuple[arb, arb]:
        """Return bounds of loss'' over slopes from low to high."""
        if self.kind == "Squared":
            return arb(1), arb(1)
        if self.kind == "Poisson":
            return _positive(low + arb(y)), _positive(high + arb(y))
        if self.kind == "Huber":
            inside, beyond = low > -self.delta and high < self.delta, low >= self.delta or high <= -self.delta
            return arb(int(inside)), arb(int(not beyond))
        least, most = (low, high) if y < 0 else (-high, -low)  # of the shortfall, or the probability
        if self.kind == "SquaredHinge":
            return arb(int(least > 0)), arb(int(not most <= 0))
        ends = [_within(arb(least.lower()), arb(0), arb(1)), _within(arb(most.upper()), arb(0), arb(1))]
        bends = [p * (1 - p) for p in ends]
        middle = not (ends[0] > 0.5 or ends[1] < 0.5)
        return bends[0].min(bends[1]), arb(0.25) if middle else bends[0].max(bends[1])


def _larger(a: arb, b: arb) -> arb:
    return arb(a.upper()).max(arb(b.upper()))


def _within(t: arb, low: arb, high: arb) -> arb:
    return t.max(low).min(high)


def _parameter(piece: dict[str, Any], name: str) -> float:
    """Return a parameter, which must be a positive number."""
    value = piece[name]
    if not (_is_number(value) and value > 0):
        raise Refused(f"{piece['type']}: {name} must be a positive number")
    return float(value)


class Gauge:
    """Blocks of coefficients with their prices, and the matrix in front of them, None where there is none."""

    def __init__(self, piece: dict[str, Any], features: int) -> None:
        self.matrix: np.ndarray | None = None
        scale = arb(1)
        while piece["type"] in ("Scaled", "Image", "Atoms"):
            if piece["type"] == "Scaled":
                scale = scale * arb(_parameter(piece, "radius"))
            else:
                matrix = _matrix(piece["matrix"])
                if self.matrix is not None:
                    raise Refused("an Image of an Image is not known to this checker")
                self.matrix, features = matrix, matrix.shape[1]
            piece = piece["gauge"] if piece["type"] != "Atoms" else {"type": "NonNegative", "weights": None}
        kind, weights = piece["type"], piece.get("weights")
        if kind not in ("L1", "NonNegative", "Simplex", "Group", "L2"):
            raise Refused(f"the gauge {kind} is not known to this checker")
        self.signed = _signs(piece, features)
        self.labels = np.arange(features)
        if kind == "L2":
            self.labels = np.zeros(features, dtype=int)
        if kind == "Group" and piece["groups"] is not None:
            self.labels = np.unique(np.array(piece["groups"]), return_inverse=True)[1]
        blocks = int(self.labels.max()) + 1
        floats = [1.0] * blocks if weights is None else [math.inf if w == "inf" else float(w) for w in weights]
        if len(floats) != blocks or not all(w >= 0 for w in floats):
            raise Refused("there must be one weight for every block, none negative")
        if (kind != "L1" and 0.0 in floats) or (kind in ("Group", "L2") and math.inf in floats):
            raise Refused(f"{kind} has no such weights")
        if kind == "L1" and any(w == 0 and not both for w, both in zip(floats, self.signed)):
            raise Refused("a coefficient that must not be negative needs a price")
        self.free = [g for g in range(blocks) if floats[g] == 0]
        self.barred = {g for g in range(blocks) if floats[g] == math.inf}
        self.prices = [arb(w) / scale if 0 < w < math.inf else arb(0) for w in floats]
        self.coordinates = kind not in ("Group", "L2")

    def counts(self, block: int) -> bool:
        """Return whether a block has a price."""
        return block not in self.barred and not self.prices[block] == 0


def _signs(piece: dict[str, Any], features: int) -> list[bool]:
    """Return which coefficients may be negative."""
    kind, positive = piece["type"], piece.get("positive")
    if positive is None:
        return [kind not in ("NonNegative", "Simplex")] * features
    if kind != "L1" or not isinstance(positive, list) or len(positive) != features:
        raise Refused("positive is for L1, and must be one truth value for every coefficient")
    if not all(type(value) is bool for value in positive):
        raise Refused("positive must hold true and false, nothing else")
    return [not value for value in positive]


class Checker:
    """Derives everything at the point of the certificate, and compares."""

    def __init__(self, content: dict[str, Any], data: Data) -> None:
        self.claims, self.point, problem = content["claims"], content["point"], content["problem"]
        self.data, self.checked = data, 0
        if type(problem["intercept"]) is not bool:
            raise Refused("intercept must be true or false")
        self.loss, self.gauge = Loss(problem["loss"]), Gauge(problem["gauge"], data.shape[1])
        kind = problem["penalty"]["type"]
        if kind == "Power" and problem["penalty"]["p"] == "inf":
            kind, problem["penalty"] = "Ball", {"type": "Ball", "radius": 1.0}
        if kind not in PENALTIES:
            raise Refused(f"the penalty {kind} is not known to this checker")
        self.loss.check_targets(data.y)
        self.penalty = {k: arb(_parameter(problem["penalty"], k)) for k in problem["penalty"] if k != "type"}
        if kind == "Power" and not self.penalty["p"] > 1:
            raise Refused("Power: p must be greater than 1")
        self.phi, self.phi_conjugate, self.phi_slope = PENALTIES[kind]
        self.weights = [arb(w) for w in data.weights.tolist()]
        self.total = sum(self.weights, arb(0))
        self.n, self.d = data.shape[0], len(self.gauge.labels)
        self.all_in_balls = self.n * self.d <= BALLS_UP_TO
        parts = [np.ones((self.n, int(problem["intercept"]))), data.given]
        self.B = [arb_mat([[float(v)] for v in column]) for part in parts for column in part.T]
        self.B += [self._columns([j])[0] for j in self.gauge.free]
        self.given = len(self.B) - len(self.gauge.free)
        weighted = bool((data.weights != 1).any())
        stated = [problem[name] for name in ("shape", "blocks", "samples", "free", "unpenalised", "weighted")]
        found = [[self.d], len(self.gauge.prices), self.n, data.given.shape[1], self.gauge.free, weighted]
        if len(self.B) != len(self.point["free"]) or stated != found:
            raise Refused("what the certificate states of the problem does not fit the data and the gauge")

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self._values()
        self._curvature()
        self._zeros()
        self._ranges()

    def _claim(self, holds: bool, sentence: str) -> None:
        self.checked += 1
        if not holds:
            raise Refused(sentence)

    # -- products ------------------------------------------------------------------------------------------------------

    def _columns(self, index: list[int]) -> list[arb_mat]:
        """Return columns of A, exact or with their rounding."""
        if self.gauge.matrix is None:
            return [arb_mat([[v] for v in column]) for column in self.data.columns(index).T.tolist()]
        part = self.gauge.matrix[:, index]
        used = np.flatnonzero(part.any(axis=1))
        if not len(used):
            return [arb_mat(self.n, 1) for _ in index]
        image = arb_mat(self.data.columns(used).tolist()) * arb_mat(part[used].tolist())
        return [arb_mat([[image[i, k]] for i in range(self.n)]) for k in range(len(index))]

    def _adjoint(self) -> list[arb]:
        """Return z = -A' theta, for large data with a bound of the rounding of doubles where no claim is close."""
        if self.gauge.matrix is not None:
            theta = self.theta.transpose()
            return [-(theta * column)[0, 0] for column in self._columns(list(range(self.d)))]
        z: list[Any] = [None] * self.d
        width = max(1, (1 << 20) // self.n)
        rows = self.theta.transpose()
        if self.all_in_balls:
            for start in range(0, self.d, width):
                product = rows * arb_mat(self.data.columns(slice(start, start + width)).tolist())
                z[start : start + width] = [-product[0, k] for k in range(product.ncols())]
            return z
        mid = np.array([float(t.mid()) for t in self.theta.entries()])
        errors = np.array([_above(abs(t - arb(m))) for t, m in zip(self.theta.entries(), mid.tolist())])
        length, error = (float(_lengths(np.abs(v)[:, None])[0]) for v in (mid, errors))
        off = ((self.n + 8) * UNIT * 1.01 * length + error) * 1.01 + 2.0**-1000
        for start in range(0, self.d, width):
            block = self.data.columns(slice(start, start + width))
            with np.errstate(all="ignore"):
                values, rads = block.T @ mid, _lengths(np.abs(block)) * off + self.n * 2.0**-1070
            for k, (value, rad) in enumerate(zip(values.tolist(), rads.tolist())):
                known = math.isfinite(value) and math.isfinite(rad)
                z[start + k] = -arb(value, rad) if known else None
        top = max((_above(abs(v)) for v in z if v is not None), default=0.0)
        near = {j for j, v in enumerate(z) if v is None or _above(abs(v)) >= 0.99 * top}
        close = sorted(near | set(self.point["x"]["index"]))
        for start in range(0, len(close), width):
            part = close[start : start + width]
            product = rows * arb_mat(self.data.columns(part).tolist())
            for k, j in enumerate(part):
                z[j] = -product[0, k]
        return z

    # -- the point -----------------------------------------------------------------------------------------------------

    def _evaluate(self) -> None:
        """Derive u, theta, z, scores, mass and the gap."""
        index, values = self.point["x"]["index"], [arb(v) for v in self.point["x"]["value"]]
        self.x = dict(zip(index, values))
        if any(not 0 <= j < self.d or not self.gauge.counts(self.gauge.labels[j]) for j in index):
            raise Refused("the point has weight where the problem has no coefficient with a price")
        fit = arb_mat(self.n, 1)
        for start in range(0, len(index), 64):
            for j, column in zip(index[start : start + 64], self._columns(index[start : start + 64])):
                fit += column * self.x[j]
        u = self._settle(fit)
        slopes = [self.loss.slope(v, t) for v, t in zip(u, self.data.y.tolist())]
        self.slopes = slopes
        self.theta = arb_mat([[w * t] for w, t in zip(self.weights, slopes)])
        self.z = self._adjoint()
        self.scores = self._block_scores()
        sigma = highest(self.scores.values())
        norms: dict[int, arb] = {}
        for j, v in self.x.items():
            norms[self.gauge.labels[j]] = norms.get(self.gauge.labels[j], arb(0)) + v * v
            if not self.gauge.signed[j] and not v >= 0:
                raise Refused("the point has a negative coefficient where none is allowed")
        mass = sum((self.gauge.prices[g] * root(square) for g, square in norms.items()), arb(0))
        losses = sum((w * self.loss.value(v, t) for w, v, t in zip(self.weights, u, self.data.y.tolist())), arb(0))
        charge = self.total * self.phi(self.penalty, mass)
        self.objective = losses + charge
        self.shrink, factor = arb(1), 1
        limit = self.total * self.phi_slope(self.penalty)
        if self.phi_conjugate is not None or sigma <= limit:
            answer = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, sigma / self.total)
            pull = sum((v * self.z[j] for j, v in self.x.items()), arb(0))
            gap = charge + self.total * answer - pull
        else:
            self.shrink, factor = arb((limit / sigma).lower()), 2
            slopes_and_targets = zip(self.weights, slopes, self.data.y.tolist())
            dual = (w * self.loss.conjugate(self.shrink * t, y) for w, t, y in slopes_and_targets)
            gap = self.objective + sum(dual, arb(0))
            self.scores = {g: score * self.shrink for g, score in self.scores.items()}
        self.gap = _positive(arb(gap.upper()))
        self.reach = factor * self.gap

    def _block_scores(self) -> dict[int, arb]:
        """Return the score of every block with a price."""
        prices = {g: price for g, price in enumerate(self.gauge.prices) if self.gauge.counts(g)}
        if self.gauge.coordinates:
            return {g: (abs(self.z[g]) if self.gauge.signed[g] else self.z[g]) / price for g, price in prices.items()}
        squares = {g: arb(0) for g in prices}
        for g, v in zip(self.gauge.labels.tolist(), self.z):
            squares[g] += v * v
        return {g: root(squares[g]) / price for g, price in prices.items()}

    def _settle(self, fit: arb_mat) -> list[arb]:
        """Return u at the exact minimiser over b, which is shown to be close to the b of the certificate.

        Where the Hessian is at least lambda on a ball around b, and the gradient at b is shorter than lambda times its
        radius, the minimiser is within gradient / lambda.
        """
        b = [arb(v) for v in self.point["free"]]
        for column, value in zip(self.B, b):
            fit = fit + column * value
        u = list(fit.entries())
        sums = [
            d for d in self.claims["dependencies"] if d["column"] < 0
        ]  # free columns that add nothing to the others
        self._sums(sums, [-1 - k for k in range(len(b))])
        self.used = used = [k for k in range(len(b)) if -1 - k not in {d["column"] for d in sums}]
        self.shift = arb(0)
        if not used:
            return u
        y = self.data.y.tolist()
        largest = {k: max(float(abs(v).upper()) for v in self.B[k].entries()) for k in used}
        self.unit = {k: 2.0 ** -round(math.log2(largest[k])) if largest[k] > 0 else 1.0 for k in used}
        columns = [self.B[k] * arb(self.unit[k]) for k in used]  # entries of about 1 at most
        theta = arb_mat([[w * self.loss.slope(v, t) for w, v, t in zip(self.weights, u, y)]])
        gradient = root(sum(((theta * column)[0, 0] ** 2 for column in columns), arb(0)))
        lengths = [root(sum((column[i, 0] ** 2 for column in columns), arb(0))) for i in range(self.n)]
        radius = arb(0)
        for _ in range(4):
            least = []
            for v, r, t in zip(u, lengths, y):
                ends = [self.loss.slope(v - r * radius, t), self.loss.slope(v + r * radius, t)]
                least.append(self.loss.bends(arb(ends[0].lower()), arb(ends[1].upper()), t)[0])
            inverse = self._inverse(columns, least)
            bound = gradient * sum((inverse[k, k] for k in range(len(used))), arb(0))
            if radius > 0 and bound < radius:
                self.shift = arb(bound.upper())
                return [v + arb(0, (r * self.shift).upper()) for v, r in zip(u, lengths)]
            radius = arb(bound.upper()) * 8 + arb(2.0) ** -400
        raise Refused("the best free coefficients (intercept) cannot be enclosed")

    def _inverse(self, columns: list[arb_mat], least: list[arb]) -> arb_mat:
        """Return the inverse of `C' diag(s m) C`, with bounds; raise Refused where it is not proven to exist."""
        C = arb_mat([[column[i, 0] for column in columns] for i in range(self.n)])
        weighted = arb_mat(
            [
                [w * arb(m.lower()) * C[i, k] for k in range(len(columns))]
                for i, (w, m) in enumerate(zip(self.weights, least))
            ]
        )
        try:
            return (C.transpose() * weighted).inv()
        except ZeroDivisionError as error:
            raise Refused("columns that the certificate takes for independent are not, or as good as not") from error

    # -- the claims ----------------------------------------------------------------------------------------------------

    def _values(self) -> None:
        """GAP."""
        lower, upper, gap = self.claims["value"]["lower"], self.claims["value"]["upper"], self.claims["gap"]
        self._claim(gap is None or self.gap <= self.total * arb(gap), "the gap at the point is larger than claimed")
        self._claim(
            upper is None or self.objective <= self.total * arb(upper), "the objective is above the upper bound"
        )
        below = self.objective - self.gap
        self._claim(lower is None or below >= self.total * arb(lower), "the optimal value may be below the lower bound")

    def _curvature(self) -> None:
        """CURVE."""
        self.least, most = [], []
        for t, w, y in zip(self.slopes, self.weights, self.data.y.tolist()):
            low, high = (
                arb(t.lower()).min(arb((t * self.shrink).lower())),
                arb(t.upper()).max(arb((t * self.shrink).upper())),
            )
            bend = self.loss.most(low, high, y, self.reach / w)
            for _ in range(3):
                away = arb(root(self.reach * bend / w).upper())
                least, bend = self.loss.bends(low - away, high + away, y)
            self.least.append(least)
            most.append(bend)
        self.metric = np.array([_above(w * m) for w, m in zip(self.weights, most)])

    def _spreads(self) -> list[float]:
        """Return upper bounds of the spread of every block, in doubles rounded up."""
        width = max(1, (1 << 20) // self.n)
        lengths = np.zeros(self.d)
        roots = np.array([_above(root(arb(float(m)))) for m in self.metric])
        for start in range(0, self.d, width):
            index = list(range(start, min(start + width, self.d)))
            if self.gauge.matrix is None:
                block = np.abs(self.data.columns(index))
            else:
                block = np.array([[_above(abs(v)) for v in column.entries()] for column in self._columns(index)]).T
            lengths[index] = _lengths(block * roots[:, None])
        squares = {g: arb(0) for g in range(len(self.gauge.prices))}
        for g, length in zip(self.gauge.labels.tolist(), lengths.tolist()):
            squares[g] += arb(length) ** 2
        prices = enumerate(self.gauge.prices)
        return [_above(root(squares[g]) / p) if self.gauge.counts(g) else math.inf for g, p in prices]

    def _zeros(self) -> None:
        """ZERO."""
        told = set(self.claims["nonzero"]) | set(self.claims["undecided"]) | set(self.gauge.free)
        zero = [g for g in range(len(self.gauge.prices)) if g not in told and g not in self.gauge.barred]
        radius, spreads = arb(root(self.reach).upper()), self._spreads()
        slope = self.total * self.phi_slope(self.penalty)
        order = sorted(self.scores, key=lambda g: -float(self.scores[g].mid()))[:50]
        floor, best = slope, order[0] if order else None
        for g in order:
            candidate = self.scores[g] - radius * arb(spreads[g])
            floor = candidate if candidate > floor else floor
        for g in zero:
            if g not in self.scores:
                self._claim(False, f"block {g} is free of charge and cannot be proven zero")
            self._claim(
                self.scores[g] + radius * arb(spreads[g]) < floor or self._beaten(g, best, radius),
                f"coefficient or block {g} is not proven zero",
            )
            self._claim(
                not any(self.gauge.labels[j] == g for j in self.x) or g in told,
                f"block {g} carries weight at the point",
            )

    def _beaten(self, g: int, q: int | None, radius: arb) -> bool:
        """Return whether the best atom beats coordinate g by the distance of their images."""
        if not self.gauge.coordinates or q is None or g == q or not self.scores[q] > 0:
            return False
        first, second = (column for column in self._columns([g, q]))
        side = 1 if self.z[q] > 0 else -1
        for sign in (1, -1) if self.gauge.signed[g] else (1,):
            difference = first * (sign / self.gauge.prices[g]) - second * (side / self.gauge.prices[q])
            square = sum((arb(float(m)) * v * v for m, v in zip(self.metric, difference.entries())), arb(0))
            if not sign * self.z[g] * self.shrink / self.gauge.prices[g] + radius * root(square) < self.scores[q]:
                return False
        return True

    def _ranges(self) -> None:
        """RANGE, DEPENDENCY, NOT 0."""
        told = sorted(set(self.claims["nonzero"]) | set(self.claims["undecided"]))
        rows = [j for j in range(self.d) if self.gauge.labels[j] in told and self.gauge.counts(self.gauge.labels[j])]
        names = [-1 - k for k in self.used] + rows
        involved = self._sums([d for d in self.claims["dependencies"] if d["column"] >= 0], names)
        involved |= {name for d in self.claims["dependencies"] if d["column"] < 0 for name in (d["column"], *d["of"])}
        independent = [name for name in names if name not in {d["column"] for d in self.claims["dependencies"]}]
        intervals = self.claims["intervals"]
        low, high = dict(zip(intervals["index"], intervals["lower"])), dict(zip(intervals["index"], intervals["upper"]))
        self._claim(
            set(rows) <= set(low) <= set(range(self.d)), "a coefficient that is not proven zero has no interval"
        )
        zeros = all((low[j] is None or low[j] <= 0) and (high[j] is None or high[j] >= 0) for j in set(low) - set(rows))
        self._claim(zeros, "the interval of a coefficient that is proven zero does not contain 0")
        self._claim(not set(low) & set(self.gauge.free), "unpenalised coefficients have their intervals elsewhere")
        # where no coefficient may be negative a lower bound of 0 is no claim
        floor = {j: None if low[j] is not None and low[j] <= 0 and not self.gauge.signed[j] else low[j] for j in rows}
        wanted = [j for j in rows if (floor[j], high[j]) != (None, None)]
        free = list(zip(self.claims["free"]["lower"], self.claims["free"]["upper"]))
        bounded = [k for k, ends in enumerate(free) if ends != (None, None)]
        away: dict[int, arb] = {}
        if wanted or bounded or self.claims["nonzero"]:
            columns = [self.B[-1 - name] if name < 0 else self._columns([name])[0] for name in independent]
            if columns:
                inverse = self._inverse(columns, self.least)
                for k, name in enumerate(independent):
                    if name not in involved:
                        away[name] = root(inverse[k, k] * self.reach)
        for j in wanted:
            self._claim(
                self._fits(self.x.get(j, arb(0)), away.get(j), floor[j], high[j]),
                f"the interval of coefficient {j} is too narrow",
            )
        for k in bounded:
            spread = None if -1 - k not in away else away[-1 - k] + self.shift * arb(self.unit[k])
            self._claim(
                self._fits(arb(self.point["free"][k]), spread, *free[k]),
                f"the interval of free coefficient {k} is too narrow",
            )
        for g in self.claims["nonzero"]:
            entries = [j for j in rows if self.gauge.labels[j] == g]
            known = all(j in away for j in entries)
            size = sum((self.x.get(j, arb(0)) ** 2 for j in entries), arb(0))
            blur = sum((away[j] ** 2 for j in entries), arb(0)) if known else arb(0)
            self._claim(bool(entries) and known and size > blur, f"coefficient or block {g} is not proven non-zero")

    @staticmethod
    def _fits(value: arb, away: arb | None, low: float | None, high: float | None) -> bool:
        """Return whether all numbers within a distance of a value lie in an interval."""
        if away is None:
            return False
        return bool((low is None or value - away >= arb(low)) and (high is None or value + away <= arb(high)))

    def _sums(self, dependencies: list[dict[str, Any]], names: list[int]) -> set[int]:
        """DEPENDENCY: check that columns are sums of others, exactly; return all columns involved."""
        involved: set[int] = set()
        sums = {d["column"] for d in dependencies}
        for dependency in dependencies:
            column, others, times = dependency["column"], dependency["of"], dependency["times"]
            if not {column, *others} <= set(names) or sums & set(others):
                raise Refused("a dependency names columns that are not there")
            rest = self._exact(column)
            for other, factor in zip(others, times):
                rest = [a - _fraction(factor) * c for a, c in zip(rest, self._exact(other))]
            self._claim(not any(rest), f"column {column} is not the sum of others that the certificate says it is")
            involved |= {column, *others}
        return involved

    def _exact(self, name: int) -> list[Any]:
        """Return a column as fractions."""
        if name >= 0:
            if self.gauge.matrix is not None:
                raise Refused("dependencies of atoms are not known to this checker")
            return [_fraction(v) for v in self.data.columns([name])[:, 0].tolist()]
        if self.gauge.matrix is not None and -1 - name >= self.given:
            raise Refused("dependencies of atoms are not known to this checker")
        return [_fraction(float(v.mid())) for v in self.B[-1 - name].entries()]


def _fraction(value: float) -> Any:
    return Fraction(value)


def _matrix(content: Any) -> np.ndarray:
    """Read a matrix: rows of numbers, or the places and values of what is not zero."""
    if not isinstance(content, dict):
        return np.array(content, dtype=np.float64)
    rows, columns = (_whole(content[name]) for name in ("row", "column"))
    height, width = _whole(content["shape"])
    places = set(zip(rows, columns))
    if not (len(places) == len(rows) == len(columns) == len(content["value"])):
        raise Refused("the matrix has places that repeat, or values without a place")
    if not all(0 <= i < height and 0 <= j < width for i, j in places):
        raise Refused("the matrix has places outside its shape")
    if not all(type(value) in (int, float) for value in content["value"]):
        raise Refused("values in a matrix must be numbers")
    matrix = np.zeros((height, width))
    matrix[rows, columns] = content["value"]
    return matrix


def _whole(values: Any) -> list[int]:
    if not (isinstance(values, list) and all(type(value) is int for value in values)):
        raise Refused("places in a matrix must be whole numbers")
    return values


def _lengths(sizes: np.ndarray) -> np.ndarray:
    """Return upper bounds of the lengths of columns of rounded products that are not negative, in doubles."""
    n = len(sizes)
    with np.errstate(all="ignore"):
        largest = sizes.max(axis=0)
        scaled = sizes / np.where(largest > 0, largest, 1.0)
        sums = np.einsum("ij,ij->j", scaled, scaled) * (1 + (n + 16) * UNIT * 2) + n * 2.0**-1000
        return np.asarray(largest * np.sqrt(sums) * (1 + 16 * UNIT) + n * 2.0**-1070)


def _above(value: arb) -> float:
    """Return a double that is not below a ball."""
    return math.nextafter(float(value.upper()) * (1 + 4 * UNIT), math.inf)


def load(path: str) -> Any:
    """Read an array: .npy, .npz (one array, or a sparse matrix as SciPy stores it), or numbers in text."""
    if path.endswith(".npy"):
        return np.load(path, allow_pickle=False)
    if path.endswith(".npz"):
        archive = np.load(path, allow_pickle=False)
        if "indptr" not in archive:
            return archive[archive.files[0]]
        n, d = archive["shape"]
        dense = np.zeros((n, d))
        ends, index, values = archive["indptr"], archive["indices"], archive["data"]
        by_rows = bytes(archive["format"]).decode() == "csr"
        for k in range(len(ends) - 1):
            part = slice(ends[k], ends[k + 1])
            if by_rows:
                dense[k, index[part]] = values[part]
            else:
                dense[index[part], k] = values[part]
        return dense
    return np.loadtxt(path, delimiter="," if path.endswith(".csv") else None)


def main() -> int:
    """Check from the command line; the exit status is 0 for a valid certificate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("certificate", help="the JSON file")
    parser.add_argument("X", help="the design: .npy, .npz, or numbers in text")
    parser.add_argument("y", help="the targets")
    parser.add_argument("--weights", help="sample weights, if there were any")
    parser.add_argument("--free", help="unpenalised columns, if there were any")
    given = parser.parse_args()
    weights, free = (load(path) if path else None for path in (given.weights, given.free))
    X = load(given.X)
    X = X[:, None] if X.ndim == 1 else X
    verdict = verify(given.certificate, X, load(given.y), sample_weight=weights, free=free)
    print(verdict)
    return 0 if verdict.valid else 1


if __name__ == "__main__":
    sys.exit(main())
