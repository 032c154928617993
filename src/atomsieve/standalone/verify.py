"""Check a certificate against the data: `python verify.py certificate.json X y`.

This file stands alone: it needs NumPy and python-flint (ball arithmetic), and nothing from the package that made the
certificate. It trusts the data and the formulas below, and uses the point that the certificate names. It derives every
claim again. The proofs are in docs/certificates.md.

The problem, multiplied by S, the sum of the sample weights s_i:

    minimise over x, b   sum_i s_i loss(u_i, y_i) + S phi(mass(x)) + sum_g R_g norm2(x_g)^2 / 2
    with   u = A x + B b + o,   mass(x) = sum_g price_g norm2(x_g),   R_g = S ridge_g, or 0 if no ridge is stated

A is X, or X times the matrix of an Image or Atoms gauge, or those of an Image of an Image, the outer one first. B holds
a constant column (intercept), the columns passed as `free`, and the columns of A with price 0; o is the offset. If y
has K columns, each of its entries is a separate sample with the weight of its row. Then X, the matrix and the columns
of B stand for their Kronecker products with the K x K identity, and x, a matrix of features and outputs, stands for the
vector of its rows. For the given x let b~ be the exact minimiser over b. At (x, b~) let

    theta_i = s_i loss'(u_i),   z = -A' theta,   score_g = norm2(z_g) / price_g,   sigma = the largest score;

    score_j = z_j / price_j for a coefficient that must not be negative (all of NonNegative, Simplex and Atoms, those of
    L1 where `positive` is true).

LInf is one block: `mass(x) = price max_j abs(x_j)`, and its score is `sum_j abs(z_j) / price`. Its spread is the sum of
the spreads of its columns, because abs(p_j) <= 1 / price for an atom p.

GAP    `gap = S phi(mass) + S phi*(sigma / S) - x . z` bounds objective minus optimum; let `reach = gap`. For a linear
       phi with slope a and `sigma > S a`, theta is first multiplied by some k < 1 with `k sigma <= S a`, and
       `gap = objective + sum_i s_i (loss*(t_i) - t_i o_i)` with `t_i = k theta_i / s_i`, `reach = 2 gap`. For any phi
       this holds with k = 0. Then the sum is 0, because no loss is negative.
CURVE  Between the point and the optimum loss'(u_i) moves by at most `sqrt(reach M / s_i)`, where M bounds loss''. This
       gives bounds m_i and M_i of loss'' there.
ZERO   Block g is zero in every solution if `score_g + sqrt(reach) spread_g` is below `score_q - sqrt(reach) spread_q`
       for some block q, or below `S phi'(0)`. Here spread_g^2 is the sum over its columns of `sum_i s_i M_i A_ij^2`,
       divided by price_g^2. A coordinate is also zero if `score_g + sqrt(reach) dist < score_q`, where dist is the
       length of the difference of the two atoms in the same metric.
RANGE  Let C hold the columns of blocks that are not proven zero, and those of B. With `G = C' diag(s m) C`:
       `abs(x_j - x*_j) <= sqrt(inv(G)_jj reach)`.
DEPENDENCY  A column k that is a combination of others, `C_k = sum_l t_l C_l + rest`, exactly or nearly, may be left out
       of C. Then `x_l + t_l x_k` takes the place of x_l, no range is claimed for any coefficient involved, and
       `sqrt(reach)` grows by `norm(rest) (abs(x_k) + M / price)`, with the norm of G and M a bound of the mass of the
       optimum: S phi(M) is at most the objective at the point. Free columns are left out only for exact sums.
NOT 0  A coefficient is not zero if its range excludes 0; a block if those with a range are longer than their radii.

With an intercept, theta is orthogonal to the constant at the point and at the optimum. So in spread, dist and z every
column may be replaced by the same column less a number: below, one near its mean, or its mean in the metric.

With a RIDGE, R_g > 0 for all g, these become:

GAP    `gap = S phi(mass) + R(x) + S phi*(t / S) + sum_g max(0, norm2(z_g) - t price_g)^2 / (2 R_g) - x . z` for any t,
       where R(x) is what the ridge charges; t = S a for a linear phi. `reach = gap`, let c = 1. With theta multiplied
       by k < 1 the conjugate of the loss joins as above, with k z for z; `reach = 2 gap`, let c = 2.
SLOPE  The slope t* of S phi at the optimum is S a for a linear phi. For others it is the best score of `z* - R x*`, and
       at least S phi'(0). The scores of `k z - R x` are within `sqrt(reach (spread_g^2 + 2 R_g / (c price_g^2)))` of
       those. This gives bounds of t*.
ZERO   Block g is zero if `score_g + sqrt(reach) spread_g` is below the lower bound of t*.
RANGE  `G = C' diag(s m) C` plus `c R_g / 2` on the diagonal, for columns of A. No column is left out. Also
       `(x_j - x*_j)^2 <= 2 reach / (c R_g)`. Also `x*_g = max(0, 1 - t* price_g / norm2(z*_g)) z*_g / R_g`, where z*_j
       is within `sqrt(reach sum_i s_i M_i A_ij^2)` of `k z_j`, and the norm of a block within
       `sqrt(reach) spread_g price_g` of that of `k z_g`. A claim holds if it follows from one of the three.
NOT 0  A block is also not zero if the norm of its z* exceeds `t* price_g` for certain.

Multinomial: K CLASSES, and predictions of K numbers for each sample, with probabilities `p = softmax(u_i)`, the loss
`log(sum_c exp(u_ic)) - u_i,label`, the slopes `t = p - e_label` and the conjugate `sum_c p_c log(p_c)`. A, B and x are
the same Kronecker products as for a y of K columns, and rows are pairs of a sample i and a class c. What differs:

CURVE  Each entry of p_i moves by at most `sqrt(reach M_ic / s_i)`, where M_ic bounds `p_c (1 - p_c)`. This gives bounds
       M_ic, and lower bounds q_ic of the probabilities at the point and at the optimum, and hence between them.
ZERO   For single coefficients as above with M_ic, but without the rule of differences of atoms. A block holds its
       features in all classes; its spread_g^2 is the sum over its features of `sum_i s_i L_i A_ij^2`, divided by
       price_g^2, with `L_i = min(2 max_c M_ic, sum_c M_ic, 1/2)`, a bound of the eigenvalues of the Hessian.
RANGE  The Hessian of a sample is at least `diag(q) - q q' / sum(q)`. So G is as above with q for m, after subtraction
       from each column of its mean over the classes of a sample, weighted by q_i. It does not see a number that is
       added to all classes of a feature. Free coefficients are claimed for the b* whose sums over the classes are 0. A
       feature of a block of l2 norm that is not proven zero has the sum 0, if the lower bound of the slope of S phi is
       positive, or there is a ridge. In both cases its columns are those of the classes less that of the last class,
       and the coefficient of the last class is minus the sum of the others; the mean of the point's K numbers is added
       to their distances. A feature that is left in all classes otherwise (so always for LInf), without a ridge, has no
       ranges, and its last column is left out. A column is an exact sum of others if it differs from that sum by the
       same numbers in all classes.

A FAMILY of problems: every claim is about all members, whose data A~ and y~ obey `abs(A~_ij - A_ij) <= E_ij` and, for
losses of u - y, `abs(y~_i - y_i) <= e_i`, and whose penalty has a strength in a range. B, o and s are exact. E_ij is
what the file states, or that times `abs(X_ij)` if it is relative; without `zeros` it is 0 where X_ij is. Point, theta
and z are those of the stated data. No ridge, classes, matrices or LInf, and only free columns may be left out. Let C
hold the columns of B and those of the blocks that are not claimed zero, C~ those of a member, v a subgradient of
S phi(mass) at x, p = (b~, x) and p~ the optimum of the member over these columns, with its slopes theta~. Then:

ETA    u less y moves by at most `eta_i = sum_j E_ij abs(x_j) + e_i` if only the data move. Let c_i be the secant
       curvatures between u and u~, with `m_i <= c_i <= M_i`; `e^2 = sum_i s_i M_i eta_i^2`, `a^2 = sum_i s_i c_i
       (u~_i - u_i)^2`, both less y, and r the length of `C~ (p~ - p)` in the metric s m.
PULL   `delta = -C~' theta - v` is 0 for B. For columns of A it is z - v, plus or minus `sum_i E_ij abs(theta_i)`. Let d
       bound its length in the metric of `inv(C~' diag(s m) C~)`, which is at most `inv(G) / (1 - rho)^2`, with
       `rho^2 = sum_i s_i m_i sum_kl E_ik abs(inv(G)_kl) E_il`. The length of a box is at most that of its middle plus
       `sqrt(sum_kl r_k abs(inv(G)_kl) r_l)` for its radii r. Where `x_g = 0`, v is z_g, shortened to the length that
       the slope of S phi allows. For Ball any slope serves; then `slack = slope (radius - mass)`, and 0 otherwise.
FACE   p~ is optimal, phi convex: `(theta~ - theta) . C~ (p~ - p) <= delta . (p~ - p) + slack <= d r + slack`. So `a^2
       <= a e + d (a + e) + slack` bounds a, and `r <= a + e`. Also `r^2 <= r q + slack`, with `q = d + sqrt(sum_i s_i
       M_i^2 eta_i^2 / m_i)`; for samples with m_i = 0, `s_i M_i eta_i` times the length of the row of C~ in the metric
       of the inverse is added instead. Bounds m and M for slopes within w_i of those of the point hold if
       `sqrt(M_i / s_i) a < w_i` for every sample: the best p among those with slopes within w_i obeys all this too, so
       it is not on the border, and is p~.
ZERO   as above; z_j moves by at most `a` times the length of A~_j in the metric s M, plus `sum_i E_ij abs(theta_i)`.
       If all blocks pass that are claimed zero, p~ is optimal among all.
RANGE  as above, with `r / (1 - rho)` for `sqrt(reach)`.
GAP    The member's objective at p is at most that with the worse of both ends `u_i - eta_i` and `u_i + eta_i` for each
       sample. Its optimum is at least the objective at p for the stated data, less `sum_i abs(theta_i) eta_i + d r +
       slack`. They differ by at most `d r + slack`, plus the smaller of `e^2 / 2` and `(q - d) r`.
LINE   For strengths of Linear between two numbers, and exact data, the point moves with the slope: `p + t l`, for the
       difference t of the slope of S phi to the stated one, a line l that is 0 where x is, and t between -h and h, as
       long as no x_j changes its sign. u moves by `t g`, g = C l, and theta by `t s D g` for any numbers D, and by what
       the secants c differ from D: at most `h max(M - D, D - m) abs(g_i)` for each slope. delta without that is linear
       in t, so its length is largest at an end. What is left has a length of at most that of the differences in the
       metric s / m (or, where m_i = 0, by the row of C). d is the sum of both, a = d, r = d; slopes may move by
       `M h abs(g_i)` more. Scores differ from those of `theta + t s D g` by at most the length of A_j, less its centre,
       times d and the length of the differences in the metric s / M. They are convex in t, the slope is linear: both
       ends decide. Values differ by at most h times the largest mass.
"""

import argparse
import hashlib
import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from flint import arb, arb_mat, ctx

VERSION = 4
"""Of the format of the file."""

BALLS_UP_TO = 10_000_000
"""Number of entries of A up to which all products use ball arithmetic; for larger A, only those that matter do."""

PRECISION = 128
"""Bits."""

DEPTH = 64
"""How deeply lists and objects may be nested."""

DIGITS = 20
"""Digits that a whole number may have."""

ROOM = 1000
"""A matrix may have so many columns in addition to one for each of its entries and each entry of the data."""

MOST = 4000
"""Largest number of columns for which an inverse is computed, as in the package that makes certificates."""

ROUNDS = 8
"""Number of balls around the free coefficients that are tried before much larger ones."""

FINE = 2.0**20
"""An inverse is known well enough if the radii of its diagonal are smaller than this part of it."""

REFINEMENTS = 2
"""Newton steps for the free coefficients; each doubles the number of digits."""

CLOSE = 2.0**-10
"""A column is nearly a combination of others if it is off by no more than this part of its length."""

BISECTIONS = 40
"""For the largest mass that a solution can have."""

SECTIONS = 120
"""Golden sections for the slope of a penalty beside a ridge; every slope gives a bound."""

UNIT = 2.0**-53


@dataclass(frozen=True)
class Verification:
    """The verdict, the first claim that does not follow, how many claims were checked, and in which arithmetic."""

    valid: bool
    reason: str
    checked: int
    method: str
    known: bool = True
    """Whether this checker has formulas for the problem; if not, nothing is said for or against the certificate."""

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        refuted = "The certificate is NOT valid" if self.known else "The certificate cannot be checked here"
        verdict = "The certificate is valid" if self.valid else refuted
        return f"{verdict}: {self.reason} ({self.checked} claims checked, {self.method})"


class Refused(Exception):
    """Raised if a claim does not follow, with the reason."""


class Unknown(Refused):
    """Raised where this checker has no formulas for a piece of the problem."""


def verify(
    certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, free: Any = None, offset: Any = None
) -> Verification:
    """Check a certificate (a file, or the object that `Result.certificate()` returns) against the data."""
    bits, ctx.prec = ctx.prec, PRECISION
    checker = None
    try:
        content = read(certificate)
        data = Data(X, y, sample_weight, free, offset, content["problem"]["loss"])
        data.check_digest(content["data"]["sha256"], content["problem"])
        gauge = Gauge(content["problem"]["gauge"], data, content["problem"]["form"])
        check_sizes(content, data, gauge)
        Loss(content["problem"]["loss"]).check_targets(data.y)
        family = None if content["family"] is None else Family(content, data, gauge)
        if not content["claims"]["valid"]:
            check_silence(content)
            return Verification(True, "it claims nothing.", 0, _method(None))
        if family is None:
            checker = (Classes if data.labels is not None else Checker)(content, data, gauge)
        else:
            checker = (Line if family.strengths else Face)(content, data, gauge, family)
        checker.check()
    except Refused as refusal:
        checked, known = 0 if checker is None else checker.checked, not isinstance(refusal, Unknown)
        return Verification(False, str(refusal), checked, _method(checker), known)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        sentence = f"the file or the data are malformed: {type(error).__name__} ({str(error)[:200]})"
        return Verification(False, sentence, 0, _method(checker))
    finally:
        ctx.prec = bits
    members = "" if family is None else family.words()
    return Verification(True, f"every claim follows from the data{members}.", checker.checked, _method(checker))


def _method(checker: "Checker | None") -> str:
    if checker is None:
        return "nothing computed"
    return "ball arithmetic" if checker.all_in_balls else "ball arithmetic where it matters, bounded doubles elsewhere"


# -- the form of the file ----------------------------------------------------------------------------------------------


def read(certificate: Any) -> dict[str, Any]:
    """Check the form and the seal of a certificate, and return its content."""
    content = parse(_text(certificate))
    if not isinstance(content, dict) or content.get("format") != "atomsieve certificate":
        raise Refused("this is no atomsieve certificate")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise Refused(f"version {_shown(version)} of the format is not known")
    told = {key: value for key, value in content.items() if key != "seal"}
    seal = hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    if seal != content.get("seal"):
        raise Refused("the seal does not fit: the file was changed after it was written")
    check_form(content, FILE, "")
    return content


def _text(certificate: Any) -> str:
    """Return the text of a file, or the text that an object would write."""
    if hasattr(certificate, "content"):
        return json.dumps(certificate.content(), allow_nan=False)
    try:
        return Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"the file cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"the file is truncated or no JSON: {error}") from error


def parse(text: str) -> Any:
    """Read JSON strictly: no duplicate keys, no NaN, no huge whole numbers, no deep nesting."""
    depth = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"(?:[^"\\]+|\\.)*"?', "", text, flags=re.DOTALL)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH:
            raise Refused(f"the file is malformed: it is nested deeper than {DEPTH} levels")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_int=_small, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise Refused(f"the file is truncated or no JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in content if keys.count(key) > 1) if len(keys) < ROOM else "a key"
        raise Refused(f"the file is malformed: {_shown(twice)} is there twice")
    return content


def _small(digits: str) -> int:
    if len(digits) > DIGITS:
        raise Refused(f"the file is malformed: a whole number has more than {DIGITS} digits")
    return int(digits)


def _no_number(word: str) -> NoReturn:
    raise Refused(f"the file is malformed: {word} is no number")


def _shown(value: Any) -> str:
    """Return a short text of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


@dataclass(frozen=True)
class Leaf:
    """A value that is not an object: its description in words, and a test for it."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class OrNull:
    """A form, or null."""

    form: Any


@dataclass(frozen=True)
class Optional:
    """The form of a key that may be left out."""

    form: Any


@dataclass(frozen=True)
class Kinds:
    """An object whose `type` says which parameters it has."""

    role: str
    kinds: dict[str, dict[str, Any]]


def check_form(value: Any, form: Any, place: str) -> None:
    """Refuse a value that does not fit a form, and say where the fault is.

    A form is a leaf, a list of one form (for lists of any length) or a dictionary of forms (for objects with exactly
    these keys).
    """
    form = _stands_for(value, form, place)
    if isinstance(form, Leaf):
        if not form.fits(value):
            raise Refused(f"the file is malformed: {place} must be {form.words}, not {_shown(value)}")
    elif isinstance(form, list):
        _check_list(value, form[0], place)
    else:
        _check_keys(value, form, place)
        for key in value:
            check_form(value[key], form[key], f"{place}.{key}" if place else key)


def _stands_for(value: Any, form: Any, place: str) -> Any:
    """Return the leaf, list or dictionary that a form means for this value."""
    if isinstance(form, Optional):
        form = form.form
    if callable(form):
        form = form(value)
    if isinstance(form, OrNull):
        form = NULL if value is None else form.form
    return _kind(value, form, place) if isinstance(form, Kinds) else form


def _check_list(value: Any, form: Any, place: str) -> None:
    if not isinstance(value, list):
        raise Refused(f"the file is malformed: {place} must be a list")
    if isinstance(form, Leaf) and all(map(form.fits, value)):
        return
    for k, part in enumerate(value):
        check_form(part, form, f"{place}[{k}]")


def _check_keys(value: Any, form: dict[str, Any], place: str) -> None:
    where = place or "the file"
    if not isinstance(value, dict):
        raise Refused(f"the file is malformed: {where} must be an object")
    for key, part in form.items():
        if key not in value and not isinstance(part, Optional):
            raise Refused(f"the file is malformed: {where} lacks {key!r}")
    for key in value:
        if key not in form:
            raise Refused(f"the file is malformed: {where} has {_shown(key)}, which is not known to this checker")


def _kind(value: Any, form: Kinds, place: str) -> dict[str, Any]:
    """Return the form of a piece."""
    if not isinstance(value, dict) or type(value.get("type")) is not str:
        raise Refused(f"the file is malformed: {place} has no type")
    if value["type"] not in form.kinds:
        raise Unknown(f"the {form.role} {value['type'][:40]} is not known to this checker")
    return {"type": TEXT} | form.kinds[value["type"]]


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= 2**53


def _is_number(value: Any) -> bool:
    return (type(value) is float and math.isfinite(value)) or _is_whole(value)


def _is_increasing(value: Any) -> bool:
    whole = isinstance(value, list) and all(_is_whole(v) for v in value)
    return whole and all(a < b for a, b in zip([-1, *value], value))


TEXT = Leaf("a text", lambda v: type(v) is str)
TRUTH = Leaf("true or false", lambda v: type(v) is bool)
WHOLE = Leaf("a whole number", _is_whole)
COUNT = Leaf("a whole number that is not negative", lambda v: _is_whole(v) and v >= 0)
NUMBER = Leaf("a number", _is_number)
BOUND = Leaf("a number or null", lambda v: v is None or _is_number(v))
POSITIVE = Leaf("a positive number", lambda v: _is_number(v) and v > 0)
PRICE = Leaf('a number that is not negative, or "inf"', lambda v: v == "inf" or (_is_number(v) and v >= 0))
EXPONENT = Leaf('a number greater than 1, or "inf"', lambda v: v == "inf" or (_is_number(v) and v > 1))
ERROR = Leaf("a finite number that is not negative", lambda v: _is_number(v) and v >= 0)
NULL = Leaf("null", lambda v: v is None)
NON_NEGATIVE = Leaf('"NonNegative"', lambda v: v == "NonNegative")
INDICES = Leaf("increasing whole numbers", _is_increasing)

CLASSES = Leaf("a whole number, 2 or more", lambda v: _is_whole(v) and v >= 2)

LOSS = Kinds(
    "loss",
    {
        "Squared": {},
        "Huber": {"delta": POSITIVE},
        "SquaredHinge": {},
        "Logistic": {},
        "Poisson": {},
        "Multinomial": {"classes": OrNull(CLASSES)},
    },
)

PENALTY = Kinds(
    "penalty",
    {
        "Linear": {"strength": POSITIVE},
        "Square": {"strength": POSITIVE},
        "LinearSquare": {"strength": POSITIVE, "square": POSITIVE},
        "Power": {"strength": POSITIVE, "p": EXPONENT},
        "Ball": {"radius": POSITIVE},
        "LogBarrier": {"radius": POSITIVE, "sharpness": POSITIVE},
    },
)


def _prices_form(value: Any) -> Any:
    """Return the form of weights: null, one for each row of x, or one for each entry."""
    nested = isinstance(value, list) and value and isinstance(value[0], list)
    return OrNull([[PRICE]] if nested else [PRICE])


PLACES = {"shape": [COUNT], "row": [COUNT], "column": [COUNT], "value": [NUMBER]}

BLOCKS: dict[str, dict[str, Any]] = {
    "L1": {"weights": _prices_form, "positive": OrNull([TRUTH])},
    "NonNegative": {"weights": _prices_form},
    "Simplex": {"weights": NULL},
    "Group": {"groups": OrNull([COUNT]), "weights": OrNull([POSITIVE])},
    "Parts": {"groups": [COUNT], "weights": OrNull([POSITIVE]), "positive": OrNull([TRUTH])},
    "L2": {},
    "LInf": {},
}


def _matrix_form(value: Any) -> Any:
    """Return the form of a matrix: places and values of its non-zero entries, or rows of numbers."""
    return PLACES if isinstance(value, dict) else [[NUMBER]]


def _gauge_form(_: Any) -> Kinds:
    """Return the form of a gauge; it may contain another gauge."""
    made: dict[str, dict[str, Any]] = {
        "Scaled": {"gauge": _gauge_form, "radius": POSITIVE},
        "Image": {"gauge": _gauge_form, "matrix": _matrix_form},
        "Atoms": {"gauge": {"type": NON_NEGATIVE, "weights": NULL}, "matrix": _matrix_form},
    }
    return Kinds("gauge", BLOCKS | made)


def _ridge_form(value: Any) -> Any:
    """Return the form of a ridge: one number for all blocks, or one for each coefficient."""
    return [POSITIVE] if isinstance(value, list) else POSITIVE


def _errors_form(value: Any) -> Any:
    """Return the form of errors: one for all entries, one for each column or sample, or one for each entry."""
    nested = isinstance(value, list) and value and isinstance(value[0], list)
    return [[ERROR]] if nested else [ERROR] if isinstance(value, list) else ERROR


FILE: dict[str, Any] = {
    "format": TEXT,
    "version": COUNT,
    "problem": {
        "loss": LOSS,
        "gauge": _gauge_form,
        "penalty": PENALTY,
        "ridge": Optional(_ridge_form),
        "intercept": TRUTH,
        "free": COUNT,
        "weighted": TRUTH,
        "unpenalised": INDICES,
        "offset": TRUTH,
        "samples": COUNT,
        "outputs": COUNT,
        "form": [COUNT],
        "shape": [COUNT],
        "blocks": COUNT,
    },
    "data": {"sha256": TEXT},
    "family": OrNull(
        {
            "x_error": OrNull({"relative": TRUTH, "zeros": TRUTH, "values": _errors_form}),
            "y_error": OrNull({"relative": TRUTH, "values": _errors_form}),
            "strengths": OrNull([POSITIVE]),
        }
    ),
    "names": {"features": OrNull([TEXT]), "blocks": OrNull([TEXT])},
    "versions": {"numpy": TEXT, "scipy": TEXT},
    "assumptions": [TEXT],
    "point": {"x": {"index": INDICES, "value": [NUMBER]}, "free": [NUMBER]},
    "remarks": {"reason": TEXT, "margin": BOUND},
    "claims": {
        "valid": TRUTH,
        "value": {"lower": BOUND, "upper": BOUND},
        "gap": BOUND,
        "nonzero": INDICES,
        "undecided": INDICES,
        "dependencies": [{"column": WHOLE, "of": [WHOLE], "times": [NUMBER]}],
        "sums": [{"index": [WHOLE], "times": [NUMBER], "lower": BOUND, "upper": BOUND}],
        "intervals": {"index": INDICES, "lower": [BOUND], "upper": [BOUND]},
        "free": {"lower": [BOUND], "upper": [BOUND]},
    },
    "seal": TEXT,
}
"""The form of a file: every key, and what its value must be."""


def check_sizes(content: dict[str, Any], data: "Data", gauge: "Gauge") -> None:
    """Refuse a statement that does not fit the data and the gauge, and lists that do not fit the statement."""
    claims = content["claims"]
    point = content["point"]
    problem = content["problem"]
    stated = [problem[name] for name in ("shape", "form", "blocks", "samples", "outputs", "free", "unpenalised")]
    entries = len(gauge.labels)
    blocks = len(gauge.prices)
    own = data.given.shape[1] // data.tasks
    flat, outputs = ([entries], data.tasks) if data.labels is None else (gauge.form, 1)
    found = [flat, gauge.form, blocks, data.rows[0], outputs, own, gauge.free]
    told = [problem["weighted"], problem["offset"]] == [bool((data.weights != 1).any()), bool(data.offset.any())]
    if stated != found or not told:
        raise Refused("what the certificate states of the problem does not fit the data and the gauge")
    intervals, free = claims["intervals"], data.tasks * (int(problem["intercept"]) + own) + len(gauge.free)
    lists = [(point["x"]["index"], point["x"]["value"])]
    lists += [(intervals["index"], intervals[side]) for side in ("lower", "upper")]
    lists += [(dependency["of"], dependency["times"]) for dependency in claims["dependencies"]]
    lists += [(total["index"], total["times"]) for total in claims["sums"]]
    lists += [(range(free), values) for values in (point["free"], claims["free"]["lower"], claims["free"]["upper"])]
    if any(len(index) != len(values) for index, values in lists):
        raise Refused("lists that belong together have different lengths")
    indices = {"point.x": point["x"]["index"], "intervals": intervals["index"]}
    limits = [(name, index, entries) for name, index in indices.items()]
    limits += [(name, claims[name], blocks) for name in ("nonzero", "undecided")]
    for name, index, limit in limits:
        if index and index[-1] >= limit:
            raise Refused(f"the indices of {name} are not increasing whole numbers in range")
    if set(claims["nonzero"]) & set(claims["undecided"]):
        raise Refused("a block is claimed to be decided and undecided")
    check_dependencies(claims["dependencies"])


def check_dependencies(dependencies: list[dict[str, Any]]) -> None:
    """Refuse ambiguous sums: a column with two sums, or a sum with a repeated or zero part."""
    columns = [dependency["column"] for dependency in dependencies]
    twice = len(set(columns)) < len(columns) or any(len(set(d["of"])) < len(d["of"]) for d in dependencies)
    if twice or any(factor == 0 for d in dependencies for factor in d["times"]):
        raise Refused("a dependency names a column twice, or one that does not count")


def check_silence(content: dict[str, Any]) -> None:
    """Refuse a certificate that says it claims nothing, but makes claims."""
    claims, problem = content["claims"], content["problem"]
    silent = [*claims["intervals"]["lower"], *claims["intervals"]["upper"], *claims["free"]["lower"], claims["gap"]]
    silent += [*claims["free"]["upper"], claims["value"]["lower"], claims["value"]["upper"]]
    speaks = claims["nonzero"] or claims["dependencies"] or claims["sums"] or any(value is not None for value in silent)
    free = set(problem["unpenalised"])
    if speaks or claims["intervals"]["index"] != [j for j in range(math.prod(problem["shape"])) if j not in free]:
        raise Refused("it says that it claims nothing, and makes claims")
    if len(set(claims["undecided"]) | free) < problem["blocks"]:
        raise Refused("it says that it claims nothing, and leaves blocks out that are then claimed to be zero")


# -- the data ----------------------------------------------------------------------------------------------------------


class Data:
    """X, y, weights, free columns and offset as doubles; with K outputs or classes, every row counts as K samples.

    For K classes, y is then 1 in the row of the label and 0 in the other ones.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, free: Any, offset: Any, loss: dict[str, Any]) -> None:
        self.sparse = hasattr(X, "tocsc")
        self.X: Any = _without_duplicates(X) if self.sparse else np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        y = y if y.ndim == 2 and y.shape[1] > 1 else y.ravel()
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).ravel()
        given = np.zeros((len(y), 0)) if free is None else np.asarray(free, dtype=np.float64)
        shape = self.X.shape
        if len(shape) != 2 or not all(shape) or {shape[0]} != {len(y), len(weights), len(given)}:
            lengths = f"y {len(y)} entries, the weights {len(weights)}, the free columns {len(given)}"
            raise Refused(f"X has shape {shape}, {lengths}: they do not fit together")
        given = given.reshape(len(y), -1)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise Refused("the sample weights must be finite, not negative, and not all 0")
        counted = weights > 0
        classes = _classes(y[counted], loss["classes"]) if loss["type"] == "Multinomial" else None
        wanted = y.shape if classes is None else (len(y), classes)
        added = np.zeros(wanted) if offset is None else np.asarray(offset, dtype=np.float64)
        if added.shape != wanted:
            raise Refused(f"the offset has shape {added.shape}, and the predictions {wanted}: they do not fit together")
        if not counted.all():  # samples of weight 0 do not count
            y = y[counted]
            weights = weights[counted]
            given = given[counted]
            added = added[counted]
            self.X = self.X[np.flatnonzero(counted)]
        stored = self.X.data if self.sparse else self.X
        if not all(np.isfinite(part).all() for part in (stored, y, given, added)):
            raise Refused("X, y, the free columns or the offset hold numbers that are not finite")
        self.stated = (y, weights, given, added) if added.any() else (y, weights, given)
        self.labels = None if classes is None else y.astype(int).tolist()
        if classes is not None:
            y = (y[:, None] == np.arange(classes)).astype(np.float64)
        self.rows, self.tasks = (len(y), shape[1]), y.shape[1] if y.ndim == 2 else 1
        self.shape = (len(y) * self.tasks, shape[1] * self.tasks)
        self.total = weights
        self.y = y.ravel()
        self.weights = np.repeat(weights, self.tasks)
        self.offset = added.ravel()
        self.given = np.kron(given, np.eye(self.tasks))

    def check_digest(self, stated: str, problem: dict[str, Any]) -> None:
        """Refuse data that are not those of the certificate."""
        if self._digest() == stated:
            return
        given = {"offset": bool(self.offset.any()), "sample_weight": bool((self.weights != 1).any())}
        given["free"] = bool(self.given.shape[1])
        told = {"offset": problem["offset"], "sample_weight": problem["weighted"], "free": problem["free"] > 0}
        lacking = [name for name, there in told.items() if there and not given[name]]
        hint = f" (it was made with {' and '.join(lacking)}, which you did not pass)" if lacking else ""
        raise Refused(f"the data are not those of the certificate: their digest differs{hint}")

    def _digest(self) -> str:
        """Return the SHA-256 of the shape (as text), X, y, weights, free columns, and the offset if there is one.

        Numbers have eight bytes, little-endian. X comes in blocks of `max(1, 2^20 // d)` rows; for each block: the
        number of non-zero entries in each row, their columns, their values.
        """
        digest = hashlib.sha256(f"{self.rows}".encode())
        width = max(1, (1 << 20) // self.rows[1])
        rows = self.X.tocsr() if self.sparse else self.X
        for start in range(0, self.rows[0], width):
            block = rows[start : start + width]
            if self.sparse:
                block.eliminate_zeros()
                block.sort_indices()
                counts = np.diff(block.indptr)
                columns = block.indices
                values = block.data
            else:
                counts = (block != 0).sum(axis=1)
                columns = np.nonzero(block)[1]
                values = block[block != 0]
            for numbers, kind in ((counts, "<i8"), (columns, "<i8"), (values, "<f8")):
                digest.update(np.ascontiguousarray(numbers, dtype=kind).tobytes())
        for part in self.stated:
            digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        return digest.hexdigest()

    def columns(self, index: Any) -> np.ndarray:
        """Return columns of X as a dense array; with several outputs, each in the rows of its output."""
        if self.tasks == 1:
            return self.features(index)
        places = np.arange(self.shape[1])[index]
        return in_outputs(self.features(places // self.tasks), places, self.tasks)

    def features(self, index: Any) -> np.ndarray:
        """Return columns of X as a dense array."""
        return np.asarray(self.X[:, index].toarray() if self.sparse else self.X[:, index])


def _classes(y: np.ndarray, stated: int | None) -> int:
    """Return the number of classes, after checking the labels."""
    if y.ndim != 1 or not np.isfinite(y).all() or (y != np.floor(y)).any() or (y < 0).any():
        raise Refused("the labels of Multinomial must be whole numbers from 0 on, one for each row of X")
    classes = int(y.max()) + 1 if stated is None else stated
    if not max(1, int(y.max())) < classes <= ROOM + len(y):
        raise Refused(f"{len(y)} labels up to {int(y.max())} do not fit {classes} classes")
    return classes


def in_outputs(columns: np.ndarray, index: np.ndarray, tasks: int) -> np.ndarray:
    """Return columns of a Kronecker product with the identity: each column in the rows of its output."""
    n, m = columns.shape
    spread = np.zeros((n, tasks, m))
    spread[:, index % tasks, np.arange(m)] = columns
    return spread.reshape(n * tasks, m)


def _without_duplicates(X: Any) -> Any:
    """Return a sparse matrix of doubles, by columns; duplicate entries are added up in their order."""
    matrix = (X if X.format in ("csr", "csc") else X.tocsc()).astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix.tocsc()


# -- the pieces --------------------------------------------------------------------------------------------------------


def power(x: arb, p: arb) -> arb:
    """Return x^p for x >= 0."""
    return (p * x.log()).exp() if x > 0 else (arb(0) if x == 0 else _cannot("a power of a number that may be 0"))


def _cannot(what: str) -> arb:
    raise Refused(f"cannot bound {what}")


PENALTIES: dict[str, tuple[Any, Any, Any]] = {  # phi(s), phi*(t), phi'(s); p holds the parameters
    "Linear": (lambda p, s: p["strength"] * s, None, lambda p, s: p["strength"]),
    "Square": (
        lambda p, s: p["strength"] * s * s / 2,
        lambda p, t: t * t / (2 * p["strength"]),
        lambda p, s: p["strength"] * s,
    ),
    "LinearSquare": (
        lambda p, s: p["strength"] * s + p["square"] * s * s / 2,
        lambda p, t: square(_positive(t - p["strength"])) / (2 * p["square"]),
        lambda p, s: p["strength"] + p["square"] * s,
    ),
    "Power": (
        lambda p, s: p["strength"] * power(s, p["p"]) / p["p"],
        lambda p, t: p["strength"] * power(t / p["strength"], p["p"] / (p["p"] - 1)) * (p["p"] - 1) / p["p"],
        lambda p, s: p["strength"] * power(s, p["p"] - 1),
    ),
    "Ball": (
        lambda p, s: arb(0) if s <= p["radius"] else _cannot("phi: x may lie outside the ball"),
        lambda p, t: p["radius"] * t,
        lambda p, s: arb(0),
    ),
    "LogBarrier": (
        lambda p, s: (-(-s / p["radius"]).log1p() - s / p["radius"]) / p["sharpness"],
        lambda p, t: p["radius"] * t - (p["radius"] * p["sharpness"] * t).log1p() / p["sharpness"],
        lambda p, s: s / (p["radius"] - s) / (p["radius"] * p["sharpness"]),
    ),
}


def square(v: arb) -> arb:
    """Return the square; `v ** 2` is NaN if v may be 0."""
    return v * v


def root(v: arb) -> arb:
    """Return the square root of a number that is not negative; its ball may contain negative numbers."""
    if v > 0:
        return v.sqrt()
    top = arb(v.upper()).max(arb(0)).sqrt().upper() / 2
    return arb(top, top)


def highest(values: Any) -> arb:
    """Return an upper bound of 0 and all numbers, as a ball: doubles would lose digits."""
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
        self.delta = arb(piece.get("delta", 1))

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets for which the formulas do not hold."""
        if self.kind in ("Logistic", "SquaredHinge") and not np.isin(y, (-1.0, 1.0)).all():
            raise Refused(f"the labels of {self.kind} must be -1 and 1")
        if self.kind == "Poisson" and (y < 0).any():
            raise Refused("counts must not be negative")

    def most(self, low: arb, high: arb, y: float, reach: arb) -> arb:
        """Return a bound of loss'' between a slope in [low, high] and the optimum; reach is divided by the weight.

        Poisson, for v > u: `(v - u)(exp(v) - exp(u)) >= exp(u) (v - u)^2`, and the Bregman distance is at least half of
        that. Also `log(t) (t - 1) >= t - 2` and `2 (t log(t) - t + 1) >= t - 2` for t = exp(v - u) > 1. So
        `reach + 2 exp(u)` bounds exp(v), even if exp(u) may be 0.
        """
        if self.kind == "Poisson":
            least, most = low + arb(y), high + arb(y)
            anyhow = arb((reach + 2 * _positive(most)).upper())
            return anyhow.min(arb((most * root(reach / least).exp()).upper())) if least > 0 else anyhow
        return arb(0.25) if self.kind in ("Logistic", "Multinomial") else arb(1)

    @property
    def translates(self) -> bool:
        """Whether the loss is a function of u - y."""
        return self.kind in ("Squared", "Huber")

    def slope(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y)
        if self.kind == "Logistic":
            return -y / (1 + (y * u).exp())
        if self.kind == "SquaredHinge":
            return -y * _positive(1 - y * u)
        residual = u - arb(y)
        return residual if self.kind == "Squared" else residual.max(-self.delta).min(self.delta)

    def slopes_around(self, u: arb, moved: arb, y: float) -> tuple[arb, arb]:
        """Return the slopes at both ends of a way; residuals first, whose distance from kinks may be tiny beside u."""
        if self.kind == "Huber":
            return self.slope(u - arb(y) - moved, 0.0), self.slope(u - arb(y) + moved, 0.0)
        return self.slope(u - moved, y), self.slope(u + moved, y)

    def value(self, u: arb, y: float) -> arb:
        """Return the value at the middle of a ball, plus or minus the largest slope times the radius."""
        steepest = arb(abs(self.slope(u, y)).upper())
        return self._at(arb(u.mid()), y) + arb(0, (steepest * arb(u.rad())).upper())

    def _at(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y) * u + self._offset(y)
        if self.kind == "Logistic":
            return (1 + (-y * u).exp()).log() if y * u > -50 else -y * u + (1 + (y * u).exp()).log()
        t = self.slope(u, y)
        return t * (u - arb(y) - t / 2) if self.kind == "Huber" else square(t) / 2

    def conjugate(self, t: arb, y: float) -> arb:
        """Return an upper bound of the conjugate over the ball t: it is convex, so the ends are enough."""
        ends = [arb(t.lower()), arb(t.upper())]
        if self.kind == "Poisson":
            rates = [_positive(end + arb(y)) for end in ends]
            values = [(r * r.log() if r > 0 else arb(0)) - r - self._offset(y) for r in rates]
            return _larger(*values)
        if self.kind == "Multinomial":  # what one class adds; it is not positive
            return _larger(*(p * p.log() if p > 0 else arb(0) for p in self._probabilities(ends[0], ends[1], y)))
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

    @staticmethod
    def _probabilities(low: arb, high: arb, y: float) -> list[arb]:
        """Return the ends of the probabilities of a class whose slopes are from low to high."""
        ends = (arb(low.lower()) + arb(y)).lower(), (arb(high.upper()) + arb(y)).upper()
        return [_within(arb(end), arb(0), arb(1)) for end in ends]

    def bends(self, low: arb, high: arb, y: float) -> tuple[arb, arb]:
        """Return bounds of loss'' over slopes from low to high; for a class, q and a bound of p (1 - p)."""
        if self.kind == "Squared":
            return arb(1), arb(1)
        if self.kind == "Poisson":
            return _positive(low + arb(y)), _positive(high + arb(y))
        if self.kind == "Huber":
            inside, beyond = low > -self.delta and high < self.delta, low >= self.delta or high <= -self.delta
            return arb(int(inside)), arb(int(not beyond))
        least, most = (low, high) if y < 0 else (-high, -low)  # of the margin's shortfall, or of the probability
        if self.kind == "SquaredHinge":
            return arb(int(least > 0)), arb(int(not most <= 0))
        ends = self._probabilities(low, high, y) if self.kind == "Multinomial" else self._probabilities(least, most, 0)
        bends = [p * (1 - p) for p in ends]
        middle = not (ends[0] > 0.5 or ends[1] < 0.5)
        lower = ends[0] if self.kind == "Multinomial" else bends[0].min(bends[1])
        return lower, arb(0.25) if middle else bends[0].max(bends[1])


LARGE = arb(2) ** 30
"""Differences of predictions up to which exponentials are computed."""


def odds(u: list[arb], c: int) -> tuple[arb, arb]:
    """Return bounds of `sum over all other classes k of exp(u_k - u_c)`; the second may be inf."""
    least, most = arb(0), arb(0)
    for k, v in enumerate(u):
        if k != c:
            low, high = arb((v - u[c]).lower()), arb((v - u[c]).upper())
            least += arb(low.min(LARGE).exp().lower()) if low > -LARGE else arb(0)
            most += arb(high.max(-LARGE).exp().upper()) if high < LARGE else arb("inf")
    return arb(least.lower()), arb(most.upper())


def probability(u: list[arb], c: int) -> tuple[arb, arb]:
    """Return bounds of the probability of a class, `1 / (1 + odds)`."""
    least, most = odds(u, c)
    return arb((1 / (1 + most)).lower()) if most.is_finite() else arb(0), arb((1 / (1 + least)).upper())


def class_slopes(u: list[arb], label: int) -> list[arb]:
    """Return the probabilities; for the label, minus the probability of all other classes, `odds / (1 + odds)`."""
    slopes = [low.union(high) for low, high in (probability(u, c) for c in range(len(u)))]
    least, most = odds(u, label)
    slopes[label] = -(least / (1 + least)).union(most / (1 + most) if most.is_finite() else arb(1))
    return slopes


def class_loss(u: list[arb], label: int) -> arb:
    """Return the loss in the middle of balls, plus or minus the largest slopes times the radii."""
    above = [arb(v.mid()) - arb(u[label].mid()) for k, v in enumerate(u) if k != label]
    top = highest(above)
    if top > 50:
        value = top + sum(((v - top).exp() for v in above), (-top).exp()).log()
    else:
        value = sum((v.exp() for v in above), arb(0)).log1p()
    moved = sum((arb(abs(t).upper()) * arb(v.rad()) for t, v in zip(class_slopes(u, label), u)), arb(0))
    return value + arb(0, moved.upper())


def _larger(a: arb, b: arb) -> arb:
    return arb(a.upper()).max(arb(b.upper()))


def _within(t: arb, low: arb, high: arb) -> arb:
    return t.max(low).min(high)


class Gauge:
    """Blocks of coefficients with their prices, and the innermost matrix of Image or Atoms gauges, if there is one."""

    def __init__(self, piece: dict[str, Any], data: Data, form: list[int]) -> None:
        self.matrix: Matrix | None = None
        self.form, scale = form, arb(1)
        while "gauge" in piece:
            if piece["type"] == "Scaled":
                scale = scale * arb(piece["radius"])
            else:
                self.matrix = Matrix(piece["matrix"], data, self.matrix)
            piece = piece["gauge"]
        entries = data.shape[1] if self.matrix is None else self.matrix.width * data.tasks
        per = math.prod(form[1:])
        if not form or math.prod(form) != entries or per < data.tasks or per % data.tasks:
            raise Refused(f"x of shape {form} does not fit {entries} coefficients")
        if (data.tasks > 1 or self.matrix is not None) and form[1:] != [data.tasks] * (data.tasks > 1):
            raise Refused(f"x of shape {form} does not fit features and {data.tasks} outputs")
        self.kind: str = piece["type"]
        self.coordinates = self.kind not in ("Group", "Parts", "L2", "LInf")
        self.signed = self._signs(piece.get("positive"), form[0], per)
        self.labels = self._labels(piece.get("groups"), form[0], per)
        weights = self._weights(piece.get("weights"), int(self.labels.max()) + 1, form[0], per)
        self.free = [g for g, w in enumerate(weights) if w == 0]
        self.barred = {g for g, w in enumerate(weights) if w == math.inf}
        self.prices = [arb(w) / scale if 0 < w < math.inf else arb(0) for w in weights]
        self.upward = self._upward(piece)

    def _upward(self, piece: dict[str, Any]) -> set[int]:
        """Return the blocks beside groups whose only coefficient must not be negative."""
        if self.kind != "Parts":
            return set()
        if piece["weights"] is None:
            raise Unknown("LInf beside other gauges is not known to this checker")
        upward = {int(g) for g, both in zip(self.labels, self.signed) if not both}
        if (np.bincount(self.labels)[list(upward)] > 1).any():
            raise Refused("a coefficient that must not be negative is in a group with others")
        return upward

    def _signs(self, positive: list[bool] | None, rows: int, per: int) -> list[bool]:
        """Return which coefficients may be negative; `positive` for a row of x holds for all of its entries."""
        if positive is None:
            return [self.kind not in ("NonNegative", "Simplex")] * (rows * per)
        if len(positive) != rows:
            raise Refused(f"positive has {len(positive)} truth values for {rows} coefficients")
        return [not value for value in positive for _ in range(per)]

    def _labels(self, groups: list[int] | None, rows: int, per: int) -> np.ndarray:
        """Return the block of every coefficient."""
        if self.coordinates:
            return np.arange(rows * per)
        if self.kind in ("L2", "LInf"):
            return np.zeros(rows * per, dtype=int)
        groups = list(range(rows)) if groups is None else groups
        if len(groups) != rows:
            raise Refused(f"the groups have {len(groups)} labels for {rows} coefficients")
        if set(groups) != set(range(len(set(groups)))):
            raise Refused("the groups are not numbered 0, 1, 2 and so on")
        return np.repeat(np.array(groups), per)

    def _weights(self, stated: list[Any] | None, blocks: int, rows: int, per: int) -> list[float]:
        """Return the price of every block before scaling."""
        if stated and isinstance(stated[0], list):
            if any(len(row) != per for row in stated) or len(stated) != rows:
                raise Refused("the weights do not have the shape of x")
            stated = [w for row in stated for w in row]
        elif stated is not None and self.coordinates and len(stated) == rows:
            stated = [w for w in stated for _ in range(per)]
        weights = [1.0] * blocks if stated is None else [math.inf if w == "inf" else float(w) for w in stated]
        if len(weights) != blocks:
            raise Refused(f"there are {len(weights)} weights for {blocks} blocks: every block needs one")
        if self.kind != "L1" and 0.0 in weights:
            raise Refused(f"{self.kind} has no weights of 0")
        if any(w == 0 and not both for w, both in zip(weights, self.signed)):
            raise Refused("a coefficient that must not be negative needs a price")
        return weights

    def norm(self, values: list[arb]) -> arb:
        """Return what the price of a block is multiplied by: its l2 norm, for LInf the largest absolute value."""
        if self.kind == "LInf":
            return reduce(arb.max, (abs(v) for v in values), arb(0))
        return root(sum((v * v for v in values), arb(0)))

    def dual_norm(self, values: list[arb]) -> arb:
        """Return the largest inner product with a block of norm 1."""
        return sum((abs(v) for v in values), arb(0)) if self.kind == "LInf" else self.norm(values)

    def counts(self, block: int) -> bool:
        """Return whether a block has a price."""
        return block not in self.barred and not self.prices[block] == 0


class Matrix:
    """The matrix of an Image or Atoms gauge: its non-zero entries, sorted by columns.

    `outer` is the matrix of the Image that this one is in; it is multiplied from the left.
    """

    def __init__(self, content: Any, data: Data, outer: "Matrix | None" = None) -> None:
        self.outer = outer
        rows, columns, values, (height, width) = _places(content)
        left, wanted = ("X", data.rows[1]) if outer is None else ("the matrix around it", outer.width)
        if height != wanted:
            raise Refused(f"the matrix of the gauge has {height} rows, and {left} has {wanted} columns")
        if not 0 < width <= ROOM + len(values) + data.rows[0] * data.rows[1]:
            raise Refused(f"the matrix of the gauge cannot have {width} columns")
        if rows and not (max(rows) < height and max(columns) < width):
            raise Refused("the matrix has places outside its shape")
        self.height = height
        self.width: int = width
        self.tasks = data.tasks
        order = np.argsort(np.array(columns, dtype=int), kind="stable")
        self._rows, self._values = np.array(rows, dtype=int)[order], np.array(values, dtype=np.float64)[order]
        self._starts = np.searchsorted(np.array(columns, dtype=int)[order], np.arange(width + 1))

    def columns(self, index: Any) -> np.ndarray:
        """Return columns as a dense array, in the rows of their output."""
        dense = np.zeros((self.height, len(index)))
        for k, j in enumerate(index):
            part = slice(self._starts[j // self.tasks], self._starts[j // self.tasks + 1])
            dense[self._rows[part], k] = self._values[part]
        return dense if self.tasks == 1 else in_outputs(dense, np.array(index, dtype=int), self.tasks)


def _places(content: Any) -> tuple[list[int], list[int], list[float], tuple[int, int]]:
    """Return rows, columns and values of the non-zero entries of a matrix, and its shape."""
    if isinstance(content, dict):
        rows, columns, values, shape = (content[name] for name in ("row", "column", "value", "shape"))
        if len(shape) != 2 or not len(set(zip(rows, columns))) == len(rows) == len(columns) == len(values):
            raise Refused("the matrix has places that repeat, values without a place, or no shape")
        return rows, columns, values, (shape[0], shape[1])
    width = len(content[0]) if content else 0
    if any(len(row) != width for row in content):
        raise Refused("the rows of the matrix have different lengths")
    filled = [(i, j, v) for i, row in enumerate(content) for j, v in enumerate(row) if v != 0]
    rows, columns, values = ([place[k] for place in filled] for k in range(3))
    return rows, columns, values, (len(content), width)


class Family:
    """What the claims are about, if not the stated problem alone: bounds of the errors of X and y, and the strengths.

    Bounds are doubles, rounded up.
    """

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        check_members(content, data, gauge)
        stated, (n, d) = content["family"], data.rows
        self.data, self.x_error = data, stated["x_error"]
        if self.x_error is not None:
            self.values = _shaped(self.x_error["values"], "x_error", [(), (d,), (n, d)])
        self.targets = np.zeros(len(data.y))
        if stated["y_error"] is not None:
            values = _shaped(stated["y_error"]["values"], "y_error", [(), data.y.shape])
            self.targets += _times_above(values, np.abs(data.y)) if stated["y_error"]["relative"] else values
        if self.targets.any() and not Loss(content["problem"]["loss"]).translates:
            raise Refused("errors of y are only for losses of u - y (Squared, Huber)")
        if gauge.free and self.columns(gauge.free).any():
            raise Unknown("errors of features without a price are not known to this checker")
        self.strengths = _strengths(stated["strengths"], content["problem"]["penalty"])
        if self.strengths and (self.x_error is not None or self.targets.any() or data.tasks > 1):
            raise Refused("a range of strengths is claimed for exact data with one output only")
        if self.strengths and gauge.labels.tolist() != list(range(len(gauge.prices))):
            raise Refused("a range of strengths is claimed for gauges of coordinates only")

    def columns(self, index: list[int]) -> np.ndarray:
        """Return the bounds for columns of A, in the rows of their output."""
        if self.x_error is None:
            return np.zeros((len(self.data.y), len(index)))
        places, per = np.array(index, dtype=int), self.data.tasks
        sizes = np.abs(self.data.features(places // per))
        values = np.broadcast_to(self.values, self.data.rows)[:, places // per]
        if self.x_error["relative"]:
            bounds = _times_above(values, sizes)
        else:
            bounds = np.where(self.x_error["zeros"] | (sizes > 0), values, 0.0)
        return bounds if per == 1 else in_outputs(bounds, places, per)

    def words(self) -> str:
        """Return what the members of the family are, for the verdict."""
        inexact = [name for name, there in (("X", self.x_error is not None), ("y", self.targets.any())) if there]
        members = [f"all {' and '.join(inexact)} within the stated errors"] if inexact else []
        if self.strengths:
            members.append("all strengths from {:g} to {:g}".format(*self.strengths))
        return f", for {' and '.join(members)}" if members else ""


def check_members(content: dict[str, Any], data: Data, gauge: Gauge) -> None:
    """Refuse families of problems for which there are no formulas, and claims that are not made about families."""
    problem, claims = content["problem"], content["claims"]
    lacking = {
        "Multinomial": data.labels is not None,
        "a ridge": problem.get("ridge") is not None,
        "an Image or Atoms": gauge.matrix is not None,
        "LInf": gauge.kind == "LInf",
        "groups beside coefficients with a sign": bool(gauge.upward),
    }
    for piece, there in lacking.items():
        if there:
            raise Unknown(f"a family of problems with {piece} is not known to this checker")
    if claims["sums"] or any(d["column"] >= 0 for d in claims["dependencies"]):
        raise Refused("for a family of problems, only free columns may depend on others, and no sums are claimed")


def _shaped(values: Any, name: str, shapes: list[tuple[int, ...]]) -> np.ndarray:
    """Return errors as an array of one of some shapes."""
    if isinstance(values, list) and len({len(row) for row in values if isinstance(row, list)}) > 1:
        raise Refused(f"the rows of {name} have different lengths")
    array = np.array(values, dtype=np.float64)
    if array.shape not in shapes:
        wanted = " or ".join("one number" if not shape else f"the shape {shape}" for shape in shapes)
        raise Refused(f"{name} has the shape {array.shape}: it needs {wanted}")
    return array


def _times_above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return upper bounds of products of numbers that are not negative; 0 only if one of them is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(np.where((a > 0) & (b > 0), np.nextafter(a * b, np.inf), 0.0))


def _strengths(stated: list[float] | None, penalty: dict[str, Any]) -> list[float]:
    """Return the range of strengths; an empty list if there is only the stated one."""
    if stated is None:
        return []
    if penalty["type"] != "Linear":
        raise Refused(f"a range of strengths is claimed for Linear only, and the penalty is {penalty['type']}")
    if len(stated) != 2 or not stated[0] <= penalty["strength"] <= stated[1]:
        raise Refused(f"the range of strengths must be two numbers around the stated strength {penalty['strength']}")
    return stated


# -- the claims --------------------------------------------------------------------------------------------------------


class Checker:
    """Derive everything from the point of the certificate, and compare with its claims."""

    pairwise = True
    """Whether the difference of two atoms moves by no more than its length, so that one can beat the other."""

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        self.claims = content["claims"]
        self.point = content["point"]
        problem = content["problem"]
        self.data = data
        self.gauge = gauge
        self.checked = 0
        self.loss = Loss(problem["loss"])
        penalty = problem["penalty"]
        if penalty["type"] == "Power" and penalty["p"] == "inf":
            penalty = {"type": "Ball", "radius": 1}
        self.penalty = {name: arb(value) for name, value in penalty.items() if name != "type"}
        self.phi, self.phi_conjugate, self.phi_slope = PENALTIES[penalty["type"]]
        self.weights = [arb(w) for w in data.weights.tolist()]
        self.total = sum((arb(w) for w in data.total.tolist()), arb(0))
        self.n, self.d = data.shape[0], len(gauge.labels)
        self.ridge = self._ridges(problem.get("ridge"))
        self.width = max(1, (1 << 20) // max(data.shape))
        self.all_in_balls = self.n * self.d <= BALLS_UP_TO
        self.intercept: bool = problem["intercept"]
        self.constants = arb_mat(np.kron(np.ones((data.rows[0], 1)), np.eye(data.tasks)).tolist())
        constant = np.kron(np.ones((data.rows[0], int(problem["intercept"]))), np.eye(data.tasks))
        parts = [constant, data.given]
        self.B = [arb_mat([[float(v)] for v in column]) for part in parts for column in part.T]
        self.B += [self._columns([j])[0] for j in gauge.free]
        self.given = len(self.B) - len(gauge.free)

    def _ridges(self, stated: Any) -> list[arb]:
        """Return R_g for every block; an empty list without a ridge."""
        if stated is None:
            return []
        if self.gauge.matrix is not None or self.gauge.kind == "LInf":
            raise Unknown("a ridge beside an Image or LInf is not known to this checker")
        blocks = len(self.gauge.prices)
        if isinstance(stated, list) and not (self.gauge.coordinates and len(stated) == blocks):
            raise Refused(f"there are {len(stated)} ridges for {blocks} blocks: one for all, or one per coefficient")
        return [self.total * arb(v) for v in (stated if isinstance(stated, list) else [stated] * blocks)]

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self._duals()
        self._values()
        before, refusals = self.checked, []
        for dual in self.duals:
            self.shrink, self.factor, self.reach, self.scores = dual
            self.checked = before
            try:
                self._curvature()
                self._zeros()
                self._ranges()
            except Refused as refusal:
                refusals.append(refusal)
            else:
                return
        raise refusals[0]

    def _claim(self, holds: bool, sentence: str) -> None:
        self.checked += 1
        if not holds:
            raise Refused(sentence)

    # -- products ------------------------------------------------------------------------------------------------------

    def _columns(self, index: list[int], *, centred: bool = False) -> list[arb_mat]:
        """Return columns of A, exact or with their rounding; or of X less its centres, times the matrix."""
        if self.gauge.matrix is None and not centred:
            return [arb_mat([[v] for v in column]) for column in self.data.columns(index).T.tolist()]
        inner, *outer = self._factors()
        image = arb_mat(inner.columns(index).tolist()) if outer else self._centred(inner.columns(index), index)
        for factor in outer:
            image = self._times(factor, image, centred=centred and factor is self.data)
        return [arb_mat([[image[i, k]] for i in range(self.n)]) for k in range(len(index))]

    def _factors(self) -> list[Any]:
        """Return the matrices whose product is A, the last one first: those of the gauge, and then X."""
        factors: list[Any] = []
        matrix = self.gauge.matrix
        while matrix is not None:
            factors.append(matrix)
            matrix = matrix.outer
        return [*factors, self.data]

    def _times(self, factor: Any, image: arb_mat, *, centred: bool) -> arb_mat:
        """Return the product of a matrix with others, from the rows that are not zero."""
        width = image.ncols()
        used = [i for i in range(image.nrows()) if any(not image[i, k] == 0 for k in range(width))]
        chosen = factor.columns(np.array(used, dtype=int))
        if not used:
            return arb_mat(len(chosen), width)
        left = self._centred(chosen, used) if centred else arb_mat(chosen.tolist())
        return left * arb_mat([[image[i, k] for k in range(width)] for i in used])

    def _own_rows(self, block: np.ndarray, index: list[int]) -> np.ndarray:
        """Return columns of A without the rows of other outputs, where they are 0."""
        per = self.data.tasks
        if per == 1:
            return block
        return np.asarray(block.reshape(-1, per, len(index))[:, np.array(index) % per, np.arange(len(index))])

    def _centres(self, own: np.ndarray) -> np.ndarray:
        """Return a double near the mean of every column, and the number itself for a constant; 0 without an intercept.

        Theta is orthogonal to the constant, at the point and at the optimum. So columns less their centres do for the
        columns themselves.
        """
        if not self.intercept:
            return np.zeros(own.shape[1])
        with np.errstate(all="ignore"):
            own = np.asfortranarray(own)  # NumPy adds up in another order if it is stored otherwise
            means = np.where(own.max(axis=0) == own.min(axis=0), own[0], own.mean(axis=0))
        return np.asarray(np.where(np.isfinite(means), means, 0.0))

    def _centred(self, block: np.ndarray, index: list[int]) -> arb_mat:
        """Return columns of A less their centres, in balls."""
        centres, per = self._centres(self._own_rows(block, index)), self.data.tasks
        columns = arb_mat(block.tolist())
        if not centres.any():
            return columns
        taken = np.zeros((per, len(index)))
        taken[np.array(index) % per, np.arange(len(index))] = centres
        return columns - self.constants * arb_mat(taken.tolist())

    def _adjoint(self) -> list[arb]:
        """Return z = -A' theta; for large data, in doubles with a bound of their rounding where no claim is close."""
        if self.gauge.matrix is not None:
            theta = self.theta.transpose()
            parts = (range(self.d)[start : start + self.width] for start in range(0, self.d, self.width))
            return [-(theta * v)[0, 0] for part in parts for v in self._columns(list(part), centred=True)]
        z: list[Any] = [None] * self.d
        width, rows = self.width, self.theta.transpose()
        if self.all_in_balls:
            for start in range(0, self.d, width):
                index = list(range(self.d)[start : start + width])
                product = rows * self._centred(self.data.columns(slice(start, start + width)), index)
                z[start : start + width] = [-product[0, k] for k in range(product.ncols())]
            return z
        mid = np.array([float(t.mid()) for t in self.theta.entries()])
        errors = np.array([_above(abs(t - arb(m))) for t, m in zip(self.theta.entries(), mid.tolist())])
        length, error = (float(_lengths(np.abs(v)[:, None])[0]) for v in (mid, errors))
        off = ((self.n + 12) * UNIT * 1.01 * length + error) * 1.01 + 2.0**-1000
        for start in range(0, self.d, width):
            index = list(range(self.d)[start : start + width])
            own = self._own_rows(self.data.columns(slice(start, start + width)), index)
            block = own - self._centres(own)
            with np.errstate(all="ignore"):
                values = block.T @ mid if self.data.tasks == 1 else _by_outputs(block, mid, index, self.data.tasks)
                rads = _lengths(np.abs(block)) * off + self.n * 2.0**-1070
            for k, (value, rad) in enumerate(zip(values.tolist(), rads.tolist())):
                known = math.isfinite(value) and math.isfinite(rad)
                z[start + k] = -arb(value, rad) if known else None
        top = max((_above(abs(v)) for v in z if v is not None), default=0.0)
        near = {j for j, v in enumerate(z) if v is None or _above(abs(v)) >= 0.99 * top}
        close = sorted(near | set(self.point["x"]["index"]))
        for start in range(0, len(close), width):
            part = close[start : start + width]
            product = rows * self._centred(self.data.columns(part), part)
            for k, j in enumerate(part):
                z[j] = -product[0, k]
        return z

    # -- the point -----------------------------------------------------------------------------------------------------

    def _evaluate(self) -> None:
        """Derive u, theta, z, scores, mass and the objective."""
        index, values = self.point["x"]["index"], [arb(v) for v in self.point["x"]["value"]]
        self.x = dict(zip(index, values))
        if not all(self.gauge.counts(self.gauge.labels[j]) for j in index):
            raise Refused("the point has weight where the problem has no coefficient with a price")
        fit = arb_mat([[v] for v in self.data.offset.tolist()])
        for start in range(0, len(index), 64):
            for j, column in zip(index[start : start + 64], self._columns(index[start : start + 64])):
                fit += column * self.x[j]
        self.u = self._settle(fit)
        self.slopes = self._slopes_at(self.u)
        self.theta = arb_mat([[w * t] for w, t in zip(self.weights, self.slopes)])
        self.z = self._adjoint()
        self.scores = self._block_scores(self.z)
        parts: dict[int, list[arb]] = {}
        for j, v in self.x.items():
            parts.setdefault(self.gauge.labels[j], []).append(v)
            if not self.gauge.signed[j] and not v >= 0:
                raise Refused("the point has a negative coefficient where none is allowed")
        self.norms = {g: self.gauge.norm(part) for g, part in parts.items()}
        self.mass = sum((self.gauge.prices[g] * v for g, v in self.norms.items()), arb(0))
        self.losses = self._losses_at(self.u)
        self.charge = self.total * self.phi(self.penalty, self.mass)
        if self.ridge:
            self.charge += sum((self.ridge[self.gauge.labels[j]] * v * v / 2 for j, v in self.x.items()), arb(0))
        self.objective = self.losses + self.charge

    def _slopes_at(self, u: list[arb]) -> list[arb]:
        """Return the slope of every row."""
        return [self.loss.slope(v, t) for v, t in zip(u, self.data.y.tolist())]

    def _losses_at(self, u: list[arb]) -> arb:
        """Return the weighted sum of the losses."""
        return sum((w * self.loss.value(v, t) for w, v, t in zip(self.weights, u, self.data.y.tolist())), arb(0))

    def _least_around(self, u: list[arb], moved: list[arb]) -> list[arb]:
        """Return lower bounds of loss'' where every u moves by at most so much."""
        least = []
        for v, r, t in zip(u, moved, self.data.y.tolist()):
            ends = self.loss.slopes_around(v, r, t)
            least.append(self.loss.bends(arb(ends[0].lower()), arb(ends[1].upper()), t)[0])
        return least

    def _first_slope(self) -> arb:
        """Return S phi'(0)."""
        return self._slope_at(arb(0), self.penalty)

    def _slope_at(self, mass: arb, penalty: dict[str, arb]) -> arb:
        """Return S phi'(mass)."""
        slope: arb = self.total * self.phi_slope(penalty, mass)
        return slope

    def _duals(self) -> None:
        """GAP: derive the dual points, and the smallest gap."""
        charge, sigma = self.charge, highest(self.scores.values())
        pull = sum((v * self.z[j] for j, v in self.x.items()), arb(0))
        self.duals: list[tuple[arb, int, arb, dict[int, arb]]] = []
        limit = self._first_slope()
        if self.ridge:
            self._add(arb(1), charge + self._answer(arb(1)) - pull)
            shrink = self._fitting(limit) if self.phi_conjugate is None else arb(1)
            if shrink < 1:
                self._add(shrink, self.objective + self._dual_loss(shrink) + self._answer(shrink))
                self.duals.sort(key=lambda dual: float(dual[2].mid()))
        elif self.phi_conjugate is not None or sigma <= limit:
            answer = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, sigma / self.total)
            self._add(arb(1), charge + self.total * answer - pull)
        else:
            shrink = arb((limit / sigma).lower())
            self._add(shrink, self.objective + self._dual_loss(shrink))
        if 2 * arb(self.objective.upper()) < self.duals[0][2]:
            self._add(arb(0), self.objective)  # GAP with k = 0: the objective itself
        self.gap = arb(self.objective.upper())
        for _, factor, reach, _ in self.duals:
            gap = arb((reach / factor).upper())
            self.gap = gap if gap < self.gap else self.gap

    def _add(self, shrink: arb, gap: arb) -> None:
        """Take note of a dual point, theta times a number, and of its gap."""
        factor = 1 if shrink == 1 else 2
        scores = self.scores if shrink == 1 else {g: score * shrink for g, score in self.scores.items()}
        self.duals.append((shrink, factor, factor * _positive(arb(gap.upper())), scores))

    def _dual_loss(self, shrink: arb) -> arb:
        """Return the conjugate of the loss where theta is multiplied by a number, less what the offset adds."""
        samples = zip(self.weights, self.slopes, self.data.y.tolist(), self.data.offset.tolist())
        dual = (w * (self.loss.conjugate(shrink * t, y) - shrink * t * arb(o)) for w, t, y, o in samples)
        return sum(dual, arb(0))

    def _answer(self, shrink: arb) -> arb:
        """Return the conjugate of penalty and ridge at k z, or a bound of it: GAP with a RIDGE."""
        scores = [(arb((shrink * score).upper()), g) for g, score in self.scores.items() if score > 0]
        scores.sort(key=lambda pair: -float(pair[0].mid()))

        def at(t: arb) -> arb:
            surely_below = float(t.lower()) * (1 - 2.0**-40)
            total = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, t / self.total)
            total = self.total * total
            for score, g in scores:
                if float(score.mid()) < surely_below:
                    break
                total += square(_positive(score - t) * self.gauge.prices[g]) / (2 * self.ridge[g])
            return total

        first = self._first_slope()
        if self.phi_conjugate is None:
            return at(first)
        top = highest([first, *(score for score, _ in scores[:1])])
        found = [at(t) for t in (first, top, _lowest(at, first, top))]
        return min(found, key=lambda value: float(value.mid()))

    def _fitting(self, limit: arb) -> arb:
        """Return a number by which theta may be multiplied so that no score is far above that of the optimum."""
        shrink = arb(1)
        for g, score in self.scores.items():
            most = limit + self.ridge[g] * self.norms.get(g, arb(0)) / self.gauge.prices[g]
            if score > most:
                shrink = shrink.min(arb((most / score).lower()))
        return arb(shrink.lower())

    def _block_scores(self, z: list[arb]) -> dict[int, arb]:
        """Return the score of every block with a price."""
        prices = {g: price for g, price in enumerate(self.gauge.prices) if self.gauge.counts(g)}
        if self.gauge.coordinates:
            return {g: (abs(z[g]) if self.gauge.signed[g] else z[g]) / price for g, price in prices.items()}
        parts: dict[int, list[arb]] = {g: [] for g in prices}
        for g, v in zip(self.gauge.labels.tolist(), z):
            if g in parts:
                parts[g].append(v)
        up = self.gauge.upward
        return {g: (parts[g][0] if g in up else self.gauge.dual_norm(parts[g])) / price for g, price in prices.items()}

    def _settle(self, fit: arb_mat) -> list[arb]:
        """Return u at the exact minimiser over b, after proving that it is close to the b of the certificate.

        If the Hessian is at least lambda on a ball around b, and the gradient at b is shorter than lambda times the
        radius, then the minimiser is within norm(gradient) / lambda of b.
        """
        self.b = [arb(v) for v in self.point["free"]]
        b = self.b
        for column, value in zip(self.B, b):
            fit = fit + column * value
        u = list(fit.entries())
        sums = [d for d in self.claims["dependencies"] if d["column"] < 0]  # they add nothing to the others
        self._sums(sums, [-1 - k for k in range(len(b))], self._exact)
        left_out = {d["column"] for d in sums}
        self.used = used = [k for k in range(len(b)) if -1 - k not in left_out]
        self.shift = arb(0)
        if not used:
            return u
        columns = self._free_columns()  # entries of about 1 at most
        u = self._refine(u, columns)
        lengths = [root(sum((square(column[i, 0]) for column in columns), arb(0))) for i in range(self.n)]
        self.shift = self._enclose(u, columns, lengths)
        return [v + arb(0, (r * self.shift).upper()) for v, r in zip(u, lengths)]

    def _refine(self, u: list[arb], columns: list[arb_mat]) -> list[arb]:
        """Move b towards the minimiser by Newton steps, and return u there: doubles may be too coarse for it.

        Whatever b they lead to, the minimiser is proven to be near it afterwards.
        """
        for _ in range(REFINEMENTS):
            theta = arb_mat([[w * t for w, t in zip(self.weights, self._slopes_at(u))]])
            gradient = arb_mat([[(theta * column)[0, 0]] for column in columns])
            try:
                change = self._inverse(columns, self._least_around(u, [arb(0)] * self.n)) * gradient
            except Refused:
                break
            if not all(v.is_finite() for v in change.entries()):
                break
            steps = [-arb(v.mid()) for v in change.entries()]
            self._move(steps)
            moved = arb_mat(self.n, 1)
            for column, step in zip(columns, steps):
                moved += column * step
            u = [v + m for v, m in zip(u, moved.entries())]
        return u

    def _move(self, steps: list[arb]) -> None:
        """Move b by so much along the columns that are used, in their units."""
        for k, step in zip(self.used, steps):
            self.b[k] += step * self.unit[k]
            self.b[self._home(k)] -= step * self.unit[k] * self.centre[k]

    def _home(self, k: int) -> int:
        """Return the place of the constant in the rows of a column of B."""
        return (k if k < self.given else self.gauge.free[k - self.given]) % self.data.tasks

    def _free_columns(self) -> list[arb_mat]:
        """Return the columns of B that are used, in their units, less a double near their mean times the constant."""
        columns = []
        self.unit: dict[int, arb] = {}
        self.centre = dict.fromkeys(self.used, arb(0))
        constants = range(self.data.tasks) if self.intercept else range(0)
        for k in self.used:
            column = self.B[k]
            if constants and k not in constants and set(constants) <= set(self.used):
                mean = math.fsum(float(v.mid()) for v in column.entries()) / (self.n // len(constants))
                self.centre[k] = arb(mean if math.isfinite(mean) else 0.0)
                column = column - self.B[self._home(k)] * self.centre[k]
            self.unit[k] = _unit(column)
            columns.append(column * self.unit[k])
        return columns

    def _moved(self, k: int) -> arb:
        """Return how far a free coefficient of the point may be from the best one."""
        others = sum((abs(c) * self.unit[j] for j, c in self.centre.items() if self._home(j) == k), arb(0))
        return self.shift * (self.unit[k] + others)

    def _enclose(self, u: list[arb], columns: list[arb_mat], lengths: list[arb]) -> arb:
        """Return a bound of the distance from b to the minimiser, in the units of the columns.

        The distance found for one ball is the radius of the next, until the distance is below the radius. At first the
        radius grows as slowly as possible, because the curvature on a larger ball may be 0.
        """
        theta = arb_mat([[w * t for w, t in zip(self.weights, self._slopes_at(u))]])
        gradient = root(sum((square((theta * column)[0, 0]) for column in columns), arb(0)))

        def away(radius: arb) -> arb:
            inverse = self._inverse(columns, self._least_around(u, [r * radius for r in lengths]))
            return arb((gradient * sum((inverse[k, k] for k in range(len(columns))), arb(0))).upper())

        first = bound = away(arb(0))
        for factor in (0,) * ROUNDS + (4, 64, 2**20):
            radius = (bound * (1 + arb(2) ** -41)).max(factor * first) + arb(2) ** -1000
            bound = away(radius)
            if bound < radius:
                return bound
        raise Refused("the best free coefficients (intercept) cannot be enclosed")

    def _inverse(self, columns: list[arb_mat], least: list[arb], ridge: list[arb] | None = None) -> arb_mat:
        """Return the inverse of `C' diag(s m) C + diag(ridge)`, with bounds; raise Refused if it may not exist."""
        ridge = [arb(0)] * len(columns) if ridge is None else ridge
        if len(columns) > MOST or sum(v == 0 for v in ridge) > self.n:
            raise Refused(f"{len(columns)} columns are more than there are samples, or than {MOST}")
        C = arb_mat([[column[i, 0] for column in columns] for i in range(self.n)])
        weighted = arb_mat(
            [
                [w * arb(m.lower()) * C[i, k] for k in range(len(columns))]
                for i, (w, m) in enumerate(zip(self.weights, least))
            ]
        )
        try:
            gram = C.transpose() * weighted
            for k, v in enumerate(ridge):
                gram[k, k] += v
            inverse = gram.inv()
            if all(arb(inverse[k, k].rad()) * FINE < abs(inverse[k, k]) for k in range(len(columns))):
                return inverse
            # balls may grow with every column that has next to no curvature, unless there is a preconditioner
            unit = arb_mat([[int(i == k) for k in range(len(columns))] for i in range(len(columns))])
            return gram.solve(unit, algorithm="precond")
        except ZeroDivisionError as error:
            raise Refused("columns that the certificate takes for independent are not, or as good as not") from error

    # -- the claims ----------------------------------------------------------------------------------------------------

    def _values(self) -> None:
        """GAP."""
        lower = self.claims["value"]["lower"]
        upper = self.claims["value"]["upper"]
        gap = self.claims["gap"]
        below, above = self._value_range()
        self._claim(gap is None or self.gap <= self.total * arb(gap), "the gap at the point is larger than claimed")
        self._claim(upper is None or above <= self.total * arb(upper), "the objective is above the upper bound")
        self._claim(lower is None or below >= self.total * arb(lower), "the optimal value may be below the lower bound")

    def _value_range(self) -> tuple[arb, arb]:
        """Return bounds of the optimal value."""
        return self.objective - self.gap, self.objective

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
        self.lengths = self._lengths_in(self.metric, range(self.d))
        return self._of_blocks(range(self.d), self.lengths)

    def _lengths_in(self, metric: np.ndarray, entries: range) -> list[float]:
        """Return upper bounds of the lengths of some columns of A in a metric."""
        lengths: list[float] = []
        roots = np.array([_above(root(arb(float(m)))) for m in metric])
        for start in range(0, len(entries), self.width):
            index = list(entries[start : start + self.width])
            if self.gauge.matrix is None:
                own = self._own_rows(self.data.columns(index), index)
                lengths += self._least_lengths(own, roots, index).tolist()
            else:
                both = [self._columns(index, centred=centred) for centred in (False, True)]
                sizes = [np.array([[_above(abs(v)) for v in column.entries()] for column in part]).T for part in both]
                lengths += np.minimum(*(_lengths(part * roots[:, None]) for part in sizes)).tolist()
        return lengths

    def _least_lengths(self, own: np.ndarray, roots: np.ndarray, index: list[int]) -> np.ndarray:
        """Return upper bounds of the lengths of columns, modulo the constant if there is an intercept.

        The number that makes a column shortest is its mean in the metric: near that of the rest after the centre is
        taken, which is rounded once more.
        """
        per = self.data.tasks
        mine = roots[:, None] if per == 1 else roots.reshape(-1, per)[:, np.array(index) % per]
        rest = own - self._centres(own)
        if not self.intercept:
            return _lengths(np.abs(rest) * mine)
        with np.errstate(all="ignore"):
            squares = mine * mine
            means = (squares * rest).sum(axis=0) / (squares + np.zeros(rest.shape)).sum(axis=0)
            means = np.where(np.isfinite(means), means, 0.0)
            sizes = np.abs(rest - means) * (1 + 4 * UNIT) + 2 * UNIT * np.abs(rest)
            return np.asarray(np.minimum(_lengths(sizes * mine), _lengths(np.abs(rest) * mine)))

    def _of_blocks(self, entries: range, lengths: list[float]) -> list[float]:
        """Return upper bounds of the spread of every block, from the lengths of its columns."""
        parts: dict[int, list[arb]] = {g: [] for g in range(len(self.gauge.prices))}
        for g, length in zip(self.gauge.labels[list(entries)].tolist(), lengths):
            parts[g].append(arb(length))
        prices = enumerate(self.gauge.prices)
        dual = self.gauge.dual_norm
        return [_above(dual(parts[g]) / p) if self.gauge.counts(g) else math.inf for g, p in prices]

    def _zeros(self) -> None:
        """ZERO."""
        told = set(self.claims["nonzero"]) | set(self.claims["undecided"]) | set(self.gauge.free)
        zero = [g for g in range(len(self.gauge.prices)) if g not in told and g not in self.gauge.barred]
        carried = {self.gauge.labels[j] for j in self.x}
        moves, floor = self._moves(), self._first_slope()
        if self.ridge:
            self.steepness = self._slopes(floor)
            for g in zero:
                below = self.scores[g] + moves[g] < self.steepness[0]
                self._claim(below, f"coefficient or block {g} is not proven zero")
                self._claim(g not in carried, f"block {g} carries weight at the point")
            return
        for g, score in self.scores.items():
            candidate = score - moves[g]
            floor = candidate if candidate > floor else floor
        self.floor = floor
        rivals = sorted((g for g, v in self.scores.items() if v > 0), key=lambda g: -float(self.scores[g].mid()))
        for g in zero:
            self._claim(
                self.scores[g] + moves[g] < floor or self._beaten(g, rivals),
                f"coefficient or block {g} is not proven zero",
            )
            self._claim(g not in carried, f"block {g} carries weight at the point")

    def _moves(self) -> list[arb]:
        """Return how far the score of every block can be from that of the optimum."""
        self.spreads = self._spreads()
        radius = arb(root(self.reach).upper())
        return [radius * arb(spread) for spread in self.spreads]

    def _slopes(self, first: arb) -> tuple[arb, arb]:
        """SLOPE: return bounds of the slope of S phi at the optimum."""
        if self.phi_conjugate is None:
            return first, first
        low, high = first, first
        dragged = [self.shrink * v for v in self.z]
        for j, v in self.x.items():
            dragged[j] -= self.ridge[self.gauge.labels[j]] * v
        for g, score in self._block_scores(dragged).items():
            bend = 2 * self.ridge[g] / (self.factor * square(self.gauge.prices[g]))
            moved = arb(root(self.reach * (square(arb(self.spreads[g])) + bend)).upper())
            low = low.max(arb((score - moved).lower()))
            high = high.max(arb((score + moved).upper()))
        return arb(low.lower()), arb(high.upper())

    def _beaten(self, g: int, rivals: list[int]) -> bool:
        """Return whether one of the rivals, the best first, beats coordinate g by the distance of their images.

        That rival is moved to the front: it is likely to beat the next coordinate, too.
        """
        if not (self.pairwise and self.gauge.coordinates):
            return False
        radius = arb(root(self.reach).upper())
        for k, q in enumerate(rivals):
            if q != g and self._beats(q, g, radius):
                rivals.insert(0, rivals.pop(k))
                return True
        return False

    def _beats(self, q: int, g: int, radius: arb) -> bool:
        """Return whether coordinate q beats coordinate g by the distance of their images."""
        if not self.scores[g] < self.scores[q]:
            return False
        return any(self._is_shorter(q, g, radius, self._columns([g, q], centred=way)) for way in (True, False))

    def _is_shorter(self, q: int, g: int, radius: arb, columns: list[arb_mat]) -> bool:
        """Return whether the atoms of both coordinates, given by their columns, are as near to each other as that."""
        side = 1 if self.z[q] > 0 else -1
        for sign in (1, -1) if self.gauge.signed[g] else (1,):
            difference = columns[0] * (sign / self.gauge.prices[g]) - columns[1] * (side / self.gauge.prices[q])
            length = root(sum((arb(float(m)) * v * v for m, v in zip(self.metric, difference.entries())), arb(0)))
            if not sign * self.z[g] * self.shrink / self.gauge.prices[g] + radius * length < self.scores[q]:
                return False
        return True

    def _ranges(self) -> None:
        """RANGE, DEPENDENCY, NOT 0."""
        rows = self._left()
        names = self._names(rows)
        dependencies = self.claims["dependencies"]
        self._combinations([d for d in dependencies if d["column"] >= 0], names)
        sums = {d["column"] for d in dependencies}
        involved = sums.union(*(d["of"] for d in dependencies))
        bounds = self._bounds(rows)
        free = list(zip(self.claims["free"]["lower"], self.claims["free"]["upper"]))
        told_of_free = [k for k, ends in enumerate(free) if ends != (None, None)]
        away: dict[int, arb] = {}
        self.independent: list[int] = []  # until `_distances` has found them
        self.inverse: list[list[arb]] = []
        if bounds or told_of_free or self.claims["nonzero"] or self.claims["sums"]:
            away = self._distances([name for name in names if name not in sums], involved)
        for j in rows if self.ridge else ():
            alone = root(2 * self.reach / (self.factor * self.ridge[self.gauge.labels[j]]))
            away[j] = alone if j not in away or alone < away[j] else away[j]
        for j, ends in bounds.items():
            fits = self._fits(self._range(j, away.get(j)), *ends)
            self._claim(fits, f"the interval of coefficient {j} is too narrow")
        for k in told_of_free:
            distance = None if -1 - k not in away else away[-1 - k] + self._moved(k)
            value = self.b[k]
            fits = self._fits(None if distance is None else (value - distance, value + distance), *free[k])
            self._claim(fits, f"the interval of free coefficient {k} is too narrow")
        self._not_zero(rows, away)
        self._totals(dependencies)

    def _left(self) -> list[int]:
        """Return the coefficients of the blocks that are not claimed zero."""
        told = {*self.claims["nonzero"], *self.claims["undecided"]}
        return [j for j, g in enumerate(self.gauge.labels.tolist()) if g in told and self.gauge.counts(g)]

    def _combinations(self, dependencies: list[dict[str, Any]], names: list[int]) -> None:
        """DEPENDENCY: bound what columns are off the combinations of others, and what that adds to distances.

        No coefficient of the optimum is larger than its mass over its price, and phi is at most the objective there.
        """
        there, left_out = set(names), {d["column"] for d in dependencies}
        self.beside = arb(0)
        mass = self._largest_mass() if dependencies else arb(0)
        for dependency in dependencies:
            column, others = dependency["column"], dependency["of"]
            if not {column, *others} <= there or left_out & set(others):
                raise Refused("a dependency names columns that are not there")
            rest = self._column(column)
            for other, factor in zip(others, dependency["times"]):
                rest = rest - self._column(other) * arb(factor)
            near = _norm(rest) <= CLOSE * _norm(self._column(column))
            self._claim(near, f"column {column} is not the sum of others that the certificate says it is, nor nearly")
            samples = zip(self.weights, self.least, rest.entries())
            size = root(sum((w * arb(m.lower()) * square(v) for w, m, v in samples), arb(0)))
            most = mass / self.gauge.prices[self.gauge.labels[column]]
            self.beside += arb((size * (abs(self.x.get(column, arb(0))) + most)).upper())

    def _largest_mass(self) -> arb:
        """Return a bound of the mass of the optimum."""
        if "radius" in self.penalty:
            return self.penalty["radius"]
        most = arb(self.objective.upper())
        low, high = arb(0), arb(2) ** -1000
        while not self.total * self.phi(self.penalty, high) > most:
            low, high = high, 2 * high
            if high > arb(2) ** 2000:
                raise Refused("the mass of the optimum cannot be bounded")
        for _ in range(BISECTIONS):
            middle = arb(((low + high) / 2).mid())
            low, high = (low, middle) if self.total * self.phi(self.penalty, middle) > most else (middle, high)
        return high

    def _totals(self, dependencies: list[dict[str, Any]]) -> None:
        """DEPENDENCY: check the intervals of sums that the data determine.

        Column k is left out for a combination of others with the factors t_l. So `sum_j v_j x_j` is determined if
        `v_k = sum_l t_l v_l` for all of them, and then it is the same sum without k, over what takes their place.
        """
        left_out = {d["column"] for d in dependencies}
        for total in self.claims["sums"]:
            v = dict(zip(total["index"], total["times"]))
            if len(v) < len(total["index"]) or not set(v) <= {*self.independent, *left_out}:
                raise Refused("a sum names a coefficient twice, or one that is not there")
            for d in dependencies:
                shares = (Fraction(t) * Fraction(v.get(other, 0)) for other, t in zip(d["of"], d["times"]))
                self._claim(Fraction(v.get(d["column"], 0)) == sum(shares), "a sum is not determined by the data")
            used = [(k, name) for k, name in enumerate(self.independent) if name in v]
            squares = (arb(v[a]) * arb(v[b]) * self.inverse[i][j] for i, a in used for j, b in used)
            away = root(sum(squares, arb(0))) * (root(self.reach) + self.beside)
            away += sum((abs(arb(v[name])) * self._moved(-1 - name) for _, name in used if name < 0), arb(0))
            parts = (arb(t) * (self.x.get(j, arb(0)) if j >= 0 else self.b[-1 - j]) for j, t in v.items())
            value = sum(parts, arb(0))
            fits = self._fits((value - away, value + away), total["lower"], total["upper"])
            self._claim(fits, "the interval of a sum is too narrow")

    def _names(self, rows: list[int]) -> list[int]:
        """Return the columns of C: those of B as -1, -2, ..., and those of A that are not proven zero."""
        return [-1 - k for k in self.used] + rows

    def _column(self, name: int) -> arb_mat:
        """Return a column of C."""
        return self.B[-1 - name] if name < 0 else self._columns([name])[0]

    def _bounds(self, rows: list[int]) -> dict[int, tuple[float | None, float | None]]:
        """Return the bounds that are claims, for the coefficients that are not proven zero."""
        index, *sides = (self.claims["intervals"][name] for name in ("index", "lower", "upper"))
        ends = dict(zip(index, zip(*sides)))
        self._claim(set(rows) <= set(ends), "a coefficient that is not proven zero has no interval")
        self._claim(not set(ends) & set(self.gauge.free), "unpenalised coefficients have their intervals elsewhere")
        others = [ends[j] for j in set(ends) - set(rows)]
        zeros = all((low is None or low <= 0) and (high is None or high >= 0) for low, high in others)
        self._claim(zeros, "the interval of a coefficient that is proven zero does not contain 0")
        bounds = {}
        for j in rows:
            low, high = ends[j]
            if low is not None and low <= 0 and not self.gauge.signed[j]:
                low = None  # if a coefficient must not be negative, a lower bound of 0 is no claim
            if (low, high) != (None, None):
                bounds[j] = low, high
        return bounds

    def _distances(self, independent: list[int], involved: set[int]) -> dict[int, arb]:
        """Return how far coefficients can be from the optimum, for the columns that are in no dependency."""
        try:
            inverse = self._inverted(independent) if independent else []
        except Refused:
            if self.ridge:  # other bounds may do
                return {}
            raise
        self.independent, self.inverse = independent, inverse
        return self._radii(independent, inverse, involved)

    def _inverted(self, independent: list[int]) -> list[list[arb]]:
        """Return the inverse of G for some columns of C."""
        columns = [self._column(name) for name in independent]
        units = [_unit(column) for column in columns]  # badly scaled columns would cost the inverse all its digits
        ridge = [arb(0)] * len(columns)
        if self.ridge:
            ridge = [
                arb(0) if name < 0 else self.factor * self.ridge[self.gauge.labels[name]] * square(unit) / 2
                for name, unit in zip(independent, units)
            ]
        inverse = self._inverse([column * unit for column, unit in zip(columns, units)], self.least, ridge)
        return [[inverse[a, b] * u * v for b, v in enumerate(units)] for a, u in enumerate(units)]

    def _radii(self, independent: list[int], inverse: list[list[arb]], involved: set[int]) -> dict[int, arb]:
        """RANGE: return the distances for columns that are in no dependency."""
        known = [(k, name) for k, name in enumerate(independent) if name not in involved]
        return {name: root(inverse[k][k]) * (root(self.reach) + self.beside) for k, name in known}

    def _not_zero(self, rows: list[int], away: dict[int, arb]) -> None:
        """NOT 0."""
        entries: dict[int, list[int]] = {}
        for j in rows:
            entries.setdefault(int(self.gauge.labels[j]), []).append(j)
        for g in self.claims["nonzero"]:
            block = entries.get(g, [])
            known = [j for j in block if j in away]
            size = sum((square(self.x.get(j, arb(0))) for j in known), arb(0))
            blur = sum((square(away[j]) for j in known), arb(0))
            pulled = bool(self.ridge and block) and self._pulled(g)
            self._claim(pulled or bool(known and size > blur), f"coefficient or block {g} is not proven non-zero")

    def _pulled(self, g: int) -> bool:
        """NOT 0 with a RIDGE."""
        return bool(self._dual_norm(g)[0] > self.steepness[1] * self.gauge.prices[g])

    @staticmethod
    def _fits(ends: tuple[arb, arb] | None, low: float | None, high: float | None) -> bool:
        """Return whether a range lies in an interval."""
        if ends is None:
            return False
        return bool((low is None or ends[0] >= arb(low)) and (high is None or ends[1] <= arb(high)))

    def _range(self, j: int, away: arb | None) -> tuple[arb, arb] | None:
        """RANGE: return bounds of a coefficient."""
        x = self.x.get(j, arb(0))
        if not self.ridge or away is None:
            return None if away is None else (x - away, x + away)
        g = int(self.gauge.labels[j])
        least, most = self._dual_norm(g)
        moved = arb(root(self.reach).upper()) * arb(self.lengths[j])
        ends = [self.shrink * self.z[j] - moved, self.shrink * self.z[j] + moved]
        low, high = self.steepness
        price = self.gauge.prices[g]
        smaller = arb(_positive(1 - high * price / least).lower()) if least > 0 else arb(0)
        larger = arb(_positive(1 - low * price / most).upper()) if most > 0 else arb(0)
        below = (larger if not ends[0] >= 0 else smaller) * ends[0] / self.ridge[g]
        above = (larger if not ends[1] <= 0 else smaller) * ends[1] / self.ridge[g]
        return arb((x - away).lower()).max(arb(below.lower())), arb((x + away).upper()).min(arb(above.upper()))

    def _dual_norm(self, g: int) -> tuple[arb, arb]:
        """Return bounds of what a block pulls at the optimum: the norm of z*_g, or z*_g itself if x_g >= 0."""
        moved = arb(root(self.reach).upper()) * arb(self.spreads[g])
        price = self.gauge.prices[g]
        return arb(((self.scores[g] - moved) * price).lower()), arb(((self.scores[g] + moved) * price).upper())

    def _sums(
        self, dependencies: list[dict[str, Any]], names: list[int], exact: Callable[[int], list[Fraction]]
    ) -> None:
        """DEPENDENCY: check that columns are sums of others, exactly."""
        there, sums = set(names), {d["column"] for d in dependencies}
        for dependency in dependencies:
            column = dependency["column"]
            others = dependency["of"]
            times = dependency["times"]
            if not {column, *others} <= there or sums & set(others):
                raise Refused("a dependency names columns that are not there")
            rest = exact(column)
            for other, factor in zip(others, times):
                rest = [a - Fraction(factor) * c for a, c in zip(rest, exact(other))]
            self._claim(not any(rest), f"column {column} is not the sum of others that the certificate says it is")

    def _exact(self, name: int) -> list[Fraction]:
        """Return a column of A or B as fractions."""
        place = -1 - name
        if 0 <= place < self.given:
            return [Fraction(float(v.mid())) for v in self.B[place].entries()]
        inner, *outer = self._factors()
        index = name if name >= 0 else self.gauge.free[place - self.given]
        column = [Fraction(v) for v in inner.columns([index])[:, 0].tolist()]
        for factor in outer:
            used = [i for i, v in enumerate(column) if v]
            rows = factor.columns(np.array(used, dtype=int)).tolist()
            column = [sum((Fraction(v) * column[i] for v, i in zip(row, used) if v), Fraction(0)) for row in rows]
        return column


class Classes(Checker):
    """The same for Multinomial: the K rows of a sample share one loss. `last` is the number of the last class."""

    pairwise = False

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        super().__init__(content, data, gauge)
        self.last = data.tasks - 1
        self.centred: set[int] = set()  # features in all classes with the sum 0, by their first coefficient
        self.open: set[int] = set()  # features in all classes with any sum

    def _samples(self, u: list[arb]) -> list[tuple[list[arb], int]]:
        """Return the predictions of every sample, and its label."""
        per = self.last + 1
        return [(u[i * per : (i + 1) * per], label) for i, label in enumerate(self.data.labels or [])]

    def _slopes_at(self, u: list[arb]) -> list[arb]:
        return [t for part, label in self._samples(u) for t in class_slopes(part, label)]

    def _losses_at(self, u: list[arb]) -> arb:
        samples = zip(self.weights[:: self.last + 1], self._samples(u))
        return sum((w * class_loss(part, label) for w, (part, label) in samples), arb(0))

    def _least_around(self, u: list[arb], moved: list[arb]) -> list[arb]:
        wide = [v + arb(0, r.upper()) for v, r in zip(u, moved)]
        return [probability(part, c)[0] for part, _ in self._samples(wide) for c in range(len(part))]

    def _spreads(self) -> list[float]:
        alone = super()._spreads()
        if self.gauge.coordinates or self.gauge.kind == "LInf":
            return alone
        per = self.last + 1
        rows = self.metric.reshape(-1, per)
        half = np.array([_above(w / 2) for w in self.weights[::per]])
        both = np.minimum(2 * rows.max(axis=1), rows.sum(axis=1) * (1 + per * UNIT * 2))
        first = range(0, self.d, per)
        return self._of_blocks(first, self._lengths_in(np.repeat(np.minimum(both, half), per), first))

    # -- columns that are differences to the last class ----------------------------------------------------------------

    def _place(self, name: int) -> tuple[int, int]:
        """Return the number of the first class of the same feature, or free column, and the class."""
        k = name if name >= 0 else -1 - name
        c = k % (self.last + 1)
        return (name - c if name >= 0 else name + c), c

    def _in_class(self, first: int, c: int) -> int:
        """Return the number of a coefficient from that of the first class."""
        return first + c if first >= 0 else first - c

    def _in_last(self, name: int) -> int:
        return self._in_class(self._place(name)[0], self.last)

    def _is_coded(self, name: int) -> bool:
        """Return whether a column is less that of the last class."""
        return name < 0 or self._place(name)[0] in self.centred

    def _column(self, name: int) -> arb_mat:
        column = super()._column(name)
        return column - super()._column(self._in_last(name)) if self._is_coded(name) else column

    def _free_columns(self) -> list[arb_mat]:
        per = self.last + 1
        if set(self.used) != {k // per * per + c for k in self.used for c in range(per)}:
            raise Refused("a free column is left out in some classes, and not in others")
        columns = dict(zip(self.used, super()._free_columns()))
        return [column - columns[k // per * per + self.last] for k, column in columns.items() if k % per < self.last]

    def _move(self, steps: list[arb]) -> None:
        per = self.last + 1
        for k, step in zip([k for k in self.used if k % per < self.last], steps):
            last = k // per * per + self.last
            self.b[k] += step * self.unit[k]
            self.b[last] -= step * self.unit[last]
            self.b[self._home(k)] -= step * self.unit[k] * self.centre[k]
            self.b[self._home(last)] += step * self.unit[last] * self.centre[last]

    def _moved(self, k: int) -> arb:
        alone = super()._moved(k)
        return alone * arb(self.last).sqrt() if k % (self.last + 1) == self.last else alone

    def _inverse(self, columns: list[arb_mat], least: list[arb], ridge: list[arb] | None = None) -> arb_mat:
        """Return the inverse for rows that are samples and classes; `least` holds q."""
        per = self.last + 1
        shares = [arb(q.lower()) for q in least]
        parts = []
        for i in range(0, self.n, per):
            total = sum(shares[i : i + per], arb(0))
            parts += [q / total if total > 0 else arb(0) for q in shares[i : i + per]]

        def without_mean(column: arb_mat) -> arb_mat:
            entries = column.entries()
            means = [
                sum((q * v for q, v in zip(parts[i : i + per], entries[i : i + per])), arb(0))
                for i in range(0, self.n, per)
            ]
            return arb_mat([[v - means[i // per]] for i, v in enumerate(entries)])

        return super()._inverse([without_mean(column) for column in columns], shares, ridge)

    def _names(self, rows: list[int]) -> list[int]:
        """Return the columns of C; features that are in all classes lack the last one, unless there is a ridge."""
        there = set(rows)
        every = {first for first in rows if not first % (self.last + 1)}
        every = {j for j in every if there.issuperset(range(j, j + self.last + 1))}
        sloped = bool(self.ridge) or bool(self.floor > 0)
        euclidean = not self.gauge.coordinates and self.gauge.kind != "LInf"
        self.centred = every if sloped and euclidean else set()
        self.open = set() if self.ridge else every - self.centred
        short = self.centred | self.open
        names = super()._names(rows)
        return [v for v in names if self._place(v)[1] < self.last or (v >= 0 and self._place(v)[0] not in short)]

    def _radii(self, independent: list[int], inverse: list[list[arb]], involved: set[int]) -> dict[int, arb]:
        """RANGE: also for the last class of features whose columns are less that of the last class."""
        unknown = self.open | {self._place(name)[0] for name in involved if self._is_coded(name)}
        found = super()._radii(independent, inverse, involved)
        found = {name: v for name, v in found.items() if self._place(name)[0] not in unknown}
        for first in {self._place(name)[0] for name in found if self._is_coded(name)}:
            places = [k for k, name in enumerate(independent) if self._place(name)[0] == first]
            whole = sum((inverse[a][b] for a in places for b in places), arb(0))
            found[self._in_class(first, self.last)] = root(whole * self.reach)
            for c in range(self.last + 1):
                found[self._in_class(first, c)] += self._mean(first)
        return found

    def _combinations(self, dependencies: list[dict[str, Any]], names: list[int]) -> None:
        """DEPENDENCY: columns that are left out must be sums of others, exactly."""
        if self.claims["sums"]:
            raise Refused("sums of coefficients are not claimed for several classes")
        self.beside = arb(0)
        self._sums(dependencies, names, self._exact_as_seen)

    def _mean(self, first: int) -> arb:
        """Return the mean over the classes at the point, without its sign."""
        names = [self._in_class(first, c) for c in range(self.last + 1)]
        values = [self.x.get(name, arb(0)) if name >= 0 else self.b[-1 - name] for name in names]
        return arb(abs(sum(values, arb(0)) / len(names)).upper())

    def _exact_as_seen(self, name: int) -> list[Fraction]:
        """Return what losses see of a column of C: the differences to its last class."""
        per = self.last + 1
        column = self._exact(name)
        if self._is_coded(name):
            column = [a - b for a, b in zip(column, self._exact(self._in_last(name)))]
        return [v - column[i // per * per + self.last] for i, v in enumerate(column) if i % per < self.last]


class Face(Checker):
    """The same for a family of problems: FAMILY. What is derived at the point stays that of the stated data.

    `eta` bounds how far predictions less targets move with the data while the coefficients stay, and `pulls` how far z
    moves while theta stays. `slack` is that of the subgradient v; `rests` holds z - v.
    """

    pairwise = False

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge, family: Family) -> None:
        super().__init__(content, data, gauge)
        self.family = family

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self.rows = self._left()
        self.names = self._names(self.rows)
        self.eta, self.pulls = self._eta(), self._pulls()
        self.slack, slope = self._subgradient()
        self.rests = [self._rest(j, slope) for j in self.rows]
        self._curvature()
        self._values()
        self._zeros()
        self._ranges()

    def _eta(self) -> list[arb]:
        """Return how far predictions less targets can move with the data at the point."""
        moved = arb_mat([[v] for v in self.family.targets.tolist()])
        if self.x:
            sizes = arb_mat([[abs(v)] for v in self.x.values()])
            moved += arb_mat(self.family.columns(list(self.x)).tolist()) * sizes
        return [arb(v.upper()) for v in moved.entries()]

    def _pulls(self) -> list[float]:
        """Return how far every z can move with the data while theta stays: sums of `E_ij abs(theta_i)`, rounded up."""
        theta = np.array([_above(abs(t)) for t in self.theta.entries()])
        pulls: list[float] = []
        for start in range(0, self.d, self.width):
            with np.errstate(all="ignore"):
                sums = theta @ self.family.columns(list(range(self.d)[start : start + self.width]))
                pulls += (sums * (1 + (self.n + 12) * UNIT * 2) + self.n * 2.0**-1070).tolist()
        return pulls

    def _subgradient(self) -> tuple[arb, arb]:
        """Return the slack of v, and the slope of S phi that belongs to v."""
        if "radius" in self.penalty and "sharpness" not in self.penalty:  # Ball: any slope has some slack
            best = arb(highest(self.scores.values()).mid())
            return arb(_positive(best * (self.penalty["radius"] - self.mass)).upper()), best
        return arb(0), self._slope_at(self.mass, self.penalty)

    def _rest(self, j: int, slope: arb) -> arb:
        """Return `z_j - v_j`, or bounds of it around 0 where the point is 0: there v is as near to z as it may be."""
        g = int(self.gauge.labels[j])
        norm, score = self.norms.get(g, arb(0)), self.scores[g]
        if norm > 0:
            rest: arb = self.z[j] - slope * self.gauge.prices[g] * self.x.get(j, arb(0)) / norm
            return rest
        if score <= slope:
            return arb(0)
        excess = _positive(1 - slope / score) if score > 0 else arb(1)
        return arb(0, abs(self.z[j] * excess).upper())

    # -- the way from the point to the optimum of a member -------------------------------------------------------------

    def _curvature(self) -> None:
        """FACE: find bounds of loss'' that hold on the way to the optimum of every member."""
        if self.loss.kind == "Squared":
            self._steps([arb(0)] * self.n)
        else:
            self._prove_steps()
        self.metric = np.array([_above(w * bend) for w, bend in zip(self.weights, self.most)])

    def _prove_steps(self) -> None:
        """FACE: find a range of slopes that proves itself; the steps in it are another one, the better one counts."""
        steps = [arb(0)] * self.n
        for _ in range(ROUNDS):
            away = [2 * step + arb(2) ** -1000 for step in steps]
            steps = self._steps(away)
            if all(step < limit for step, limit in zip(steps, away)):
                wide = arb(self.reach.upper())
                self._steps(steps)
                if not self.reach < wide:
                    self._steps(away)
                return
        raise Refused("the curvature of the loss cannot be bounded over the family")

    def _steps(self, away: list[arb]) -> list[arb]:
        """Return how far the slopes of samples move, from bounds of loss'' for slopes that move by at most `away`."""
        samples = zip(self.slopes, away, self.data.y.tolist())
        bends = [self.loss.bends(arb((t - r).lower()), arb((t + r).upper()), y) for t, r, y in samples]
        self.least, self.most = [arb(low.lower()) for low, _ in bends], [arb(high.upper()) for _, high in bends]
        self._travel()
        return [arb((root(bend / w) * self.way).upper()) for bend, w in zip(self.most, self.weights)]

    def _travel(self) -> None:
        """FACE: derive a (`way`), the reach and the gap."""
        self.held = self._inverted(self.names) if self.names else []
        self.forms = arb_mat(self.held), arb_mat([[abs(v) for v in row] for row in self.held])
        errors = self._errors()
        kept = 1 - self._widening(errors)
        d = self._pull(self.rests) / kept
        e = root(sum((w * bend * square(v) for w, bend, v in zip(self.weights, self.most, self.eta)), arb(0)))
        self.way = _solved(d + e, d * e + self.slack)
        drag = self._drag(errors, kept)
        reach = (self.way + e).min(_solved(d + drag, self.slack))
        self.lost = d * reach + self.slack
        self.gap = arb((self.lost + (square(e) / 2).min(drag * reach)).upper())
        self.reach = square(reach / kept)

    def _errors(self) -> list[list[arb]]:
        """Return bounds of the errors of C, by samples."""
        free = [arb(0)] * (len(self.names) - len(self.rows))
        return [free + [arb(v) for v in row] for row in self.family.columns(self.rows).tolist()]

    def _widening(self, errors: list[list[arb]]) -> arb:
        """PULL: return rho."""
        if self.family.x_error is None:
            return arb(0)
        samples = zip(self.weights, self.least, errors)
        rho = root(sum((w * m * _form(self.forms[1], row) for w, m, row in samples), arb(0)))
        if not rho < 1:
            raise Refused("columns that are not claimed zero may depend on each other, as far as their errors tell")
        return rho

    def _pull(self, rests: list[arb]) -> arb:
        """PULL: return d for the stated columns."""
        free = [arb(0)] * (len(self.names) - len(self.rows))
        radii = [arb(rest.rad()) + arb(self.pulls[j]) for j, rest in zip(self.rows, rests)]
        return self._length(free + [arb(rest.mid()) for rest in rests], free + radii)

    def _length(self, middle: list[arb], radii: list[arb]) -> arb:
        """Return a bound of the lengths of a box in the metric of inv(G)."""
        return root(_form(self.forms[0], middle)) + root(_form(self.forms[1], radii))

    def _drag(self, errors: list[list[arb]], kept: arb) -> arb:
        """FACE: return q - d; a sample without curvature counts by the length of its row of C."""
        columns = [self._column(name) for name in self.names]
        curved, flat = arb(0), arb(0)
        for i, (w, bend, m, v) in enumerate(zip(self.weights, self.most, self.least, self.eta)):
            if m > 0:
                curved += w * square(bend * v) / m
            elif not (bend == 0 or v == 0):
                flat += w * bend * v * self._length([column[i, 0] for column in columns], errors[i]) / kept
        return root(curved) + flat

    # -- what that means for the claims --------------------------------------------------------------------------------

    def _value_range(self) -> tuple[arb, arb]:
        """FAMILY: return bounds of the optimal values of all members."""
        charge = self.total * self.phi(self.penalty, self.mass)
        samples = zip(self.weights, self.u, self.eta, self.data.y.tolist())
        tops = (w * _larger(self.loss.value(v - r, y), self.loss.value(v + r, y)) for w, v, r, y in samples)
        tilt = sum((abs(t) * r for t, r in zip(self.theta.entries(), self.eta)), arb(0))
        return self.losses + charge - tilt - self.lost, sum(tops, arb(0)) + charge

    def _moves(self) -> list[arb]:
        lengths = zip(self._lengths_in(self.metric, range(self.d)), self.pulls)
        moved = [_above(self.way * arb(length) + arb(pull)) for length, pull in lengths]
        return [arb(v) for v in self._of_blocks(range(self.d), moved)]

    def _least_lengths(self, own: np.ndarray, roots: np.ndarray, index: list[int]) -> np.ndarray:
        errors = _lengths(self.family.columns(index) * roots[:, None])
        return np.asarray((super()._least_lengths(own, roots, index) + errors) * (1 + 4 * UNIT))

    def _distances(self, independent: list[int], involved: set[int]) -> dict[int, arb]:
        return self._radii(independent, self.held, involved)


class Line(Face):
    """The same for a range of strengths of Linear: LINE. The point moves along a line with the slope of the penalty.

    `line` is its direction, `turn` that of the predictions and `lean` that of theta, if losses were quadratic; `step`
    is how far the slope goes in both directions.
    """

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self.rows = self._left()
        self.names = self._names(self.rows)
        self.slope = self._slope_at(self.mass, self.penalty)
        stated = self.penalty["strength"]
        low, high = (arb(v) for v in self.family.strengths)
        self.step = arb((self.total * _larger(high - stated, stated - low)).upper())
        self._draw()
        self._curvature()
        self._values()
        self._zeros()
        self._ranges()

    def _draw(self) -> None:
        """LINE: choose a line in doubles; any line would do."""
        columns = [self._column(name) for name in self.names]
        samples = ((t, abs(t) * UNIT + arb(2) ** -1000, y) for t, y in zip(self.slopes, self.data.y.tolist()))
        ends = [self.loss.bends(arb((t - r).lower()), arb((t + r).upper()), y) for t, r, y in samples]
        bends = np.array([float(((low + high) / 2).mid()) for low, high in ends])
        weights = np.array([float(w.mid()) for w in self.weights]) * bends
        towards = np.array([float(self._towards(name).mid()) for name in self.names])
        moving = [k for k, name in enumerate(self.names) if name < 0 or name in self.x]
        doubles = np.array([[float(v.mid()) for v in columns[k].entries()] for k in moving])
        doubles = doubles.reshape(len(moving), self.n)
        found = np.zeros(len(self.names))
        found[moving] = -np.linalg.lstsq((doubles * weights) @ doubles.T, towards[moving], rcond=None)[0]
        self.line = [arb(v) for v in found.tolist()]
        turn = sum((column * p for column, p in zip(columns, self.line)), arb_mat(self.n, 1))
        self.turn, self.bends = turn.entries(), [arb(v) for v in bends.tolist()]
        self.lean = arb_mat([[w * bend * v] for w, bend, v in zip(self.weights, self.bends, self.turn)])
        self.leans = [(column.transpose() * self.lean)[0, 0] for column in columns]
        sway = {name: self.step * abs(p) for name, p in zip(self.names, self.line)}
        if not all(abs(v) >= sway[j] for j, v in self.x.items()):
            raise Refused("a coefficient reaches zero within the range of strengths")
        self.sway = sway

    def _towards(self, name: int) -> arb:
        """Return the subgradient of the gauge where x is not zero."""
        v = self.x.get(name, arb(0))
        price = self.gauge.prices[self.gauge.labels[name]] if name >= 0 else arb(0)
        return price if v > 0 else -price if v < 0 else arb(0)

    def _end(self, side: int) -> list[arb]:
        """LINE: return delta at one end of the range."""
        slope, rests = self.slope + side * self.step, []
        for name, lean in zip(self.names, self.leans):
            if name < 0:
                rests.append(-side * self.step * lean)
                continue
            z = self.z[name] - side * self.step * lean
            price = self.gauge.prices[self.gauge.labels[name]]
            over = _positive((abs(z) if self.gauge.signed[name] else z) - slope * price)
            rests.append(z - slope * self._towards(name) if name in self.x else arb(0, over.upper()))
        return rests

    def _steps(self, away: list[arb]) -> list[arb]:
        steps = super()._steps(away)
        moved = (arb((bend * self.step * abs(v)).upper()) for bend, v in zip(self.most, self.turn))
        return [a + b for a, b in zip(steps, moved)]

    def _travel(self) -> None:
        """LINE: derive a (`way`), the reach and the gap."""
        self.held = self._inverted(self.names) if self.names else []
        self.forms = arb_mat(self.held), arb_mat([[abs(v) for v in row] for row in self.held])
        around = zip(self.least, self.most, self.bends, self.turn)
        off = [arb((_larger(high - bend, bend - low) * self.step * abs(v)).upper()) for low, high, bend, v in around]
        d = highest(self._boxed(self._end(side)) for side in (-1, 1)) + self._bent(off)
        beyond = zip(self.weights, self.most, off)
        self.way = d + root(sum((w * square(v) / high for w, high, v in beyond if not v == 0), arb(0)))
        self.reach = square(d)
        lengths = {name: root(self.held[k][k]) * d for k, name in enumerate(self.names)}
        parts = ((j, abs(self.x.get(j, arb(0))) + self.sway[j] + lengths[j]) for j in self.rows)
        mass = sum((self.gauge.prices[self.gauge.labels[j]] * v for j, v in parts), arb(0))
        self.gap = arb((square(d) + self.step * mass).upper())

    def _boxed(self, rests: list[arb]) -> arb:
        return self._length([arb(v.mid()) for v in rests], [arb(v.rad()) for v in rests]) if rests else arb(0)

    def _bent(self, off: list[arb]) -> arb:
        """LINE: return how far losses are off the parabola; a sample without curvature counts by its row of C."""
        columns = [self._column(name) for name in self.names]
        curved, flat = arb(0), arb(0)
        for i, (w, m, v) in enumerate(zip(self.weights, self.least, off)):
            if m > 0:
                curved += w * square(v) / m
            elif not v == 0:
                flat += w * v * self._length([column[i, 0] for column in columns], [arb(0)] * len(columns))
        return root(curved) + flat

    def _value_range(self) -> tuple[arb, arb]:
        return self.objective - self.gap, self.objective + self.step * self.mass

    def _zeros(self) -> None:
        """ZERO at both ends of the range, which decide for all of it: scores are convex there, and slopes linear."""
        theta, self.theta = self.theta, self.lean
        change, self.theta = self._adjoint(), theta
        lengths = self._lengths_in(self.metric, range(self.d))
        told = {*self.claims["nonzero"], *self.claims["undecided"], *self.gauge.free}
        for j in range(self.d):
            if j in told or j in self.gauge.barred:
                continue
            for side in (-1, 1):
                z = self.z[j] + side * self.step * change[j]
                score = (abs(z) if self.gauge.signed[j] else z) + self.way * arb(lengths[j])
                below = score < (self.slope + side * self.step) * self.gauge.prices[j]
                self._claim(below, f"coefficient or block {j} is not proven zero")
            self._claim(j not in self.x, f"block {j} carries weight at the point")

    def _least_lengths(self, own: np.ndarray, roots: np.ndarray, index: list[int]) -> np.ndarray:  # noqa: ARG002
        """Return lengths of columns less their centres, as in z: on the line theta is not orthogonal to constants."""
        return _lengths(np.abs(own - self._centres(own)) * (1 + 4 * UNIT) * roots[:, None])

    def _radii(self, independent: list[int], inverse: list[list[arb]], involved: set[int]) -> dict[int, arb]:
        return {name: v + self.sway[name] for name, v in super()._radii(independent, inverse, involved).items()}


def _solved(b: arb, c: arb) -> arb:
    """Return the largest a with `a^2 <= b a + c`."""
    return b / 2 + root(square(b) / 4 + c)


def _form(matrix: arb_mat, v: list[arb]) -> arb:
    """Return `v' matrix v`."""
    image = (matrix * arb_mat([[a] for a in v])).entries() if v else []
    return sum((a * b for a, b in zip(v, image)), arb(0))


def _lowest(function: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """Return a place near the minimum of a convex function between two numbers, by golden sections."""
    ratio = (arb(5).sqrt() - 1) / 2
    ends = [arb(low.mid()), arb(high.mid())]
    inner = [arb((ends[1] - ratio * (ends[1] - ends[0])).mid()), arb((ends[0] + ratio * (ends[1] - ends[0])).mid())]
    values = [function(t).mid() for t in inner]
    for _ in range(SECTIONS):
        if values[0] < values[1]:
            ends[1], inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = arb((ends[1] - ratio * (ends[1] - ends[0])).mid())
            values[0] = function(inner[0]).mid()
        else:
            ends[0], inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = arb((ends[0] + ratio * (ends[1] - ends[0])).mid())
            values[1] = function(inner[1]).mid()
    return inner[0]


def _by_outputs(block: np.ndarray, values: np.ndarray, index: list[int], tasks: int) -> np.ndarray:
    """Return the products of columns with the numbers of their outputs."""
    return np.asarray(np.einsum("ij,ij->j", block, values.reshape(-1, tasks)[:, np.array(index) % tasks]))


def _norm(column: arb_mat) -> arb:
    """Return the length of a column."""
    return root(sum((square(v) for v in column.entries()), arb(0)))


def _unit(column: arb_mat) -> arb:
    """Return a power of two near 1 over the largest entry of a column; scaling by it is exact."""
    largest = max(float(abs(v).upper()) for v in column.entries())
    return arb(2) ** -round(math.log2(largest)) if 0 < largest < math.inf else arb(1)


def _lengths(sizes: np.ndarray) -> np.ndarray:
    """Return upper bounds, in doubles, of the lengths of columns of non-negative rounded products."""
    n = len(sizes)
    with np.errstate(all="ignore"):
        largest = sizes.max(axis=0)
        scaled = sizes / np.where(largest > 0, largest, 1.0)
        sums = np.einsum("ij,ij->j", scaled, scaled) * (1 + (n + 24) * UNIT * 2) + n * 2.0**-1000
        return np.asarray(largest * np.sqrt(sums) * (1 + 16 * UNIT) + n * 2.0**-1070)


def _above(value: arb) -> float:
    """Return a double that is not below a ball."""
    return math.nextafter(float(value.upper()) * (1 + 4 * UNIT), math.inf)


def _dense(archive: Any) -> np.ndarray:
    """Return a sparse matrix from a file of SciPy as a dense array; duplicate entries are added up."""
    if "indptr" in archive:
        inner, outer = archive["indices"], np.repeat(np.arange(len(archive["indptr"]) - 1), np.diff(archive["indptr"]))
        by_rows = bytes(archive["format"]).decode() == "csr"
        rows, columns = (outer, inner) if by_rows else (inner, outer)
    else:
        rows, columns = archive["row"], archive["col"]
    dense = np.zeros(tuple(archive["shape"]))
    np.add.at(dense, (rows, columns), archive["data"])
    return dense


def load(path: str) -> Any:
    """Read an array: .npy, .npz (one array, or a sparse matrix as SciPy stores it), or numbers in text."""
    if path.endswith(".npy"):
        return np.load(path, allow_pickle=False)
    if path.endswith(".npz"):
        archive = np.load(path, allow_pickle=False)
        if "shape" not in archive:
            return archive[archive.files[0]]
        return _dense(archive)
    return np.loadtxt(path, delimiter="," if path.endswith(".csv") else None)


def main() -> int:
    """Check from the command line; the exit status is 0 for a valid certificate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("certificate", help="the JSON file")
    parser.add_argument("X", help="the design: .npy, .npz, or numbers in text")
    parser.add_argument("y", help="the targets")
    parser.add_argument("--weights", help="sample weights, if there were any")
    parser.add_argument("--free", help="unpenalised columns, if there were any")
    parser.add_argument("--offset", help="what was added to the predictions, if anything")
    given = parser.parse_args()
    weights, free, offset = (load(path) if path else None for path in (given.weights, given.free, given.offset))
    X = load(given.X)
    X = X[:, None] if X.ndim == 1 else X
    verdict = verify(given.certificate, X, load(given.y), sample_weight=weights, free=free, offset=offset)
    print(verdict)
    return 0 if verdict.valid else 1


if __name__ == "__main__":
    sys.exit(main())
