"""A loss or penalty that is written in one file is solved and certified, and no claim about it is false."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from own import solve_truly

from atomsieve import (
    Certificate,
    GaugeRegressor,
    Linear,
    Logistic,
    Problem,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.certificate.statement import unprovable
from atomsieve.losses.base import Loss
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.namespace import array_namespace
from atomsieve.penalties.base import Penalty

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
PIECES = {"__name__": "guide"}
exec("\n".join(re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)), PIECES)  # noqa: S102
PseudoHuber, Exponential = PIECES["PseudoHuber"], PIECES["Exponential"]


def pseudo_huber(u, y):
    root = (1 + (u - y) * (u - y)).sqrt()
    return root - 1, (u - y) / root, 1 / root**3


def squared(u, y):
    return (u - y) * (u - y) / 2, u - y, arb(1)


def logistic(u, y):
    p = 1 / (1 + (y * u).exp())
    return (1 + (-y * u).exp()).log(), -y * p, p * (1 - p)


LOSSES = {PseudoHuber: pseudo_huber, Squared: squared, Logistic: logistic}
PENALTIES = {
    Linear: lambda a: lambda s: (a * s, arb(a), arb(0)),
    Square: lambda a: lambda s: (a * s * s / 2, a * s, arb(a)),
    Exponential: lambda a: lambda s: (a * s.expm1(), a * s.exp(), a * s.exp()),
}
PAIRS = [(PseudoHuber, Linear), (PseudoHuber, Square), (PseudoHuber, Exponential), (Squared, Exponential)]
PAIRS += [(Logistic, Exponential)]


def problem_of(loss, penalty, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((15, 6))
    signal = A @ np.where(np.arange(6) < 2, 1.5, 0.0) + 0.3 * rng.standard_normal(15)
    y = np.where(signal > 0, 1.0, -1.0) if loss is Logistic else signal
    strength = float(rng.choice([0.02, 0.1, 0.3]))
    return Problem(A, y, loss=loss(), penalty=penalty(strength)), A, y, strength


def false_claims(certificate, answer, value):
    """Return what the certificate says and is not true."""
    claims = []
    for j, x in enumerate(answer):
        if certificate.zero[j] and not x == 0:
            claims.append(f"{j} is zero")
        if certificate.nonzero[j] and x == 0:
            claims.append(f"{j} is not zero")
        for bound, side in ((certificate.lower[j], 1), (certificate.upper[j], -1)):
            if np.isfinite(bound) and (x - arb(float(bound))) * side < 0:
                claims.append(f"{j} is on the other side of {bound}")
    if not (arb(certificate.dual) <= value <= arb(certificate.primal)):
        claims.append("the value")
    return claims


@pytest.mark.parametrize(("loss", "penalty"), PAIRS, ids=lambda kind: kind.__name__)
def test_no_claim_is_false_and_all_is_decided(loss, penalty):
    compared = 0
    for seed in range(12):
        problem, A, y, strength = problem_of(loss, penalty, seed)
        result = solve(problem, tol=1e-13)
        truth = solve_truly(A, y, result.x, LOSSES[loss], PENALTIES[penalty](arb(strength)))
        if truth is None:
            continue
        compared += 1
        sharp = result.certificate()
        assert sharp.valid, sharp.reason
        assert not sharp.undecided.any(), sharp.reason
        for tol in (None, 1e-1, 1e-3, 1e-6, 1e-9):
            certificate = sharp if tol is None else solve(problem, tol=tol).certificate()
            assert not false_claims(certificate, *truth)
    assert compared >= 9


def test_with_an_intercept_and_without():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    y = 3 + X[:, :3] @ [2.0, -1.0, 1.0] + 0.3 * rng.standard_t(2, 60)
    for penalty in (Linear(0.05), Square(0.02), Exponential(0.01)):
        certificate = solve(Problem(X, y, loss=PseudoHuber(), penalty=penalty, intercept=True)).certificate()
        assert not certificate.undecided.any()
        assert certificate.nonzero[:3].all()
        assert certificate.zero.sum() >= 10
        assert certificate.free_lower[0] <= certificate.free[0] <= certificate.free_upper[0]
    model = GaugeRegressor(loss=PseudoHuber(), penalty=Linear(0.05)).fit(X, y)
    assert model.certificate_.valid
    assert model.zero_mask().sum() >= 10


def test_the_file(tmp_path):
    problem, A, y, _ = problem_of(PseudoHuber, Exponential, 0)
    certificate = solve(problem, until="decided").certificate()
    certificate.save(tmp_path / "own.json")
    again = Certificate.load(tmp_path / "own.json")
    assert str(again) == str(certificate)
    assert again.statement["loss"] == {"type": "guide.PseudoHuber"}
    verdict = verify(tmp_path / "own.json", A, y)
    assert not verdict.valid
    assert verdict.reason == "the loss guide.PseudoHuber is not known to this checker"
    other, A, y, _ = problem_of(Squared, Exponential, 0)
    assert (
        verify(solve(other).certificate(), A, y).reason == "the penalty guide.Exponential is not known to this checker"
    )


def test_a_name_that_is_taken_does_not_pass_for_the_piece():
    @dataclass(frozen=True, eq=False, repr=False)
    class Squared(PseudoHuber):
        """Not the squared error."""

    problem, A, y, _ = problem_of(Squared, Linear, 0)
    assert "Squared is not known to this checker" in verify(solve(problem).certificate(), A, y).reason


def test_a_parameter_that_no_file_holds_is_refused_in_a_sentence(tmp_path):
    @dataclass(frozen=True, eq=False, repr=False)
    class Named(PseudoHuber):
        key: object = np.datetime64("2020-01-01")

    certificate = solve(problem_of(Named, Linear, 0)[0]).certificate()
    assert certificate.valid
    with pytest.raises(ValueError, match="more than numbers has no file"):
        certificate.save(tmp_path / "own.json")


class Slip(PseudoHuber):
    """Right on arrays."""


class NumPyValue(Slip):
    def value(self, u, y):
        return np.hypot(1.0, u - y) - 1


class NumPyGradient(Slip):
    def gradient(self, u, y):
        return (u - y) / np.sqrt(1 + (u - y) ** 2)


class Entries(Slip):
    def curvature(self, u, y):
        return np.array([(1 + float(r) ** 2) ** -1.5 for r in u - y])


class Branches(Slip):
    def conjugate(self, t, y):
        if (abs(t) > 1).any():
            return np.full(t.shape, np.inf)
        return super().conjugate(t, y)


class Misshapen(Slip):
    def curvature_at_slope(self, t, y):
        return (t + y)[:, None] + np.zeros(7)


@dataclass(frozen=True, eq=False, repr=False)
class Remembers(Slip):
    delta: float = 2.0

    def __post_init__(self):
        object.__setattr__(self, "half", self.delta / 2)

    def value(self, u, y):
        return super().value(u, y) * (self.half * 2 / self.delta)


class FloatValue(Exponential):
    def value(self, s):
        return self.strength * (np.exp(s) - 1)


class FloatSlope(Exponential):
    def slope(self, s):
        return self.strength * float(np.exp(float(s)))


@pytest.mark.parametrize(
    ("pieces", "name"),
    [
        ({"loss": NumPyValue()}, "NumPyValue.value"),
        ({"loss": NumPyGradient()}, "NumPyGradient.gradient"),
        ({"loss": Entries()}, "Entries.curvature"),
        ({"loss": Branches(), "tol": 0.2}, "Branches.conjugate"),
        ({"loss": Misshapen()}, "Misshapen.curvature_at_slope"),
        ({"loss": Remembers()}, "Remembers.gradient"),
        ({"penalty": FloatValue(0.1)}, "FloatValue.value"),
        ({"penalty": FloatSlope(0.1)}, "FloatSlope.slope"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_formulas_that_drop_bounds_prove_nothing_and_say_so(pieces, name):
    _, A, y, _ = problem_of(PseudoHuber, Linear, 0)
    tol = {"tol": pieces.pop("tol")} if "tol" in pieces else {}
    problem = Problem(A, y, **({"loss": PseudoHuber(), "penalty": Linear(0.1)} | pieces))
    certificate = solve(problem, **tol).certificate()
    assert not certificate.valid
    assert not (certificate.zero | certificate.nonzero).any()
    assert certificate.reason.startswith(f"{name} does not run with error bounds (")
    assert "functions of array_namespace" in certificate.reason
    assert unprovable(problem) == certificate.reason


def test_parameters_are_enclosures_where_bounds_are_asked_for():
    @dataclass(frozen=True, eq=False, repr=False)
    class Shape(Penalty):
        a: float = 0.1
        n: int = 3
        table: object = None
        made: float = field(default=0.0, init=False)

        def value(self, s):
            return self.a * s

        slope = conjugate = argmax = value

    shadow = Shape(table=np.array([1.0, 2.0])).enclosed()
    assert isinstance(shadow.a, Enclosure)
    assert isinstance(shadow.n, Enclosure)
    assert isinstance(shadow.table, Enclosure)
    assert shadow.made == 0.0
    assert (shadow.a * shadow.a).rad > 0


def test_rounded_parameters_widen_the_bounds():
    @dataclass(frozen=True, eq=False, repr=False)
    class Scaled(Loss):
        a: float = 0.1
        b: float = 0.3

        @property
        def smoothness(self):
            return self.a * self.b

        def value(self, u, y):
            return self.a * self.b * (u - y) ** 2 / 2

        def gradient(self, u, y):
            return self.a * self.b * (u - y)

        def curvature(self, u, y):
            return self.a * self.b * array_namespace(u).ones_like(u - y)

        def conjugate(self, t, y):
            return t * (t / (2 * (self.a * self.b)) + y)

    bounds = Scaled().bounds
    assert bounds.smoothness > 0.1 * 0.3 * (1 - 1e-16)
    exact = arb(0.1) * arb(0.3)
    assert arb(bounds.smoothness) >= exact
    slope = bounds.slopes(Enclosure.exact(np.ones(1)), np.zeros(1))
    assert arb(float(slope.low[0])) <= exact <= arb(float(slope.high[0]))
    assert float(slope.rad[0]) > 0


def test_a_piece_with_parameters_is_a_dataclass():
    class Loose(PseudoHuber):
        pass

    class Own(Loss):
        smoothness = 1.0
        value, gradient, curvature = Squared.value, Squared.gradient, Squared.curvature
        conjugate, curvature_at_slope = Squared.conjugate, Squared.curvature_at_slope

    _, A, y, _ = problem_of(PseudoHuber, Linear, 0)
    assert solve(Problem(A, y, loss=Loose(), penalty=Linear(0.1))).certificate().valid
    assert solve(Problem(A, y, loss=Own(), penalty=Linear(0.1))).certificate().valid
    loose = Own()
    loose.delta = 1.0
    with pytest.raises(TypeError, match="Own has parameters and is no dataclass: write @dataclass"):
        hash(loose)


def test_a_penalty_ends_at_its_limit():
    @dataclass(frozen=True, eq=False, repr=False)
    class Cap(Penalty):
        """The lower half of a circle: infinite beyond its radius, and its formula forgets to say so on enclosures."""

        radius: float = 1.0
        main = "radius"

        @property
        def limit(self):
            return self.radius

        def value(self, s):
            return self.radius - array_namespace(s).sqrt(self.radius * self.radius - s * s)

        slope = conjugate = argmax = value

    @dataclass(frozen=True, eq=False, repr=False)
    class Until(Square):
        """A square whose limit is a parameter, without one by default."""

        limit: float = np.inf

    for penalty in (Cap(1.0), Until(1.0, 1.0)):
        assert np.isfinite(penalty.bounds.value(Enclosure.exact(1.0)).high)
        assert not np.isfinite(penalty.bounds.value(Enclosure(1.0, 1e-10)).high)
    assert np.isfinite(Until(1.0).bounds.value(Enclosure(1.0, 1e-10)).high)
    for mass in (Enclosure(np.nan, 1.0), Enclosure(1.0, np.inf)):
        assert not np.isfinite(Linear(1.0).bounds.value(mass).high)


@dataclass(frozen=True, eq=False, repr=False)
class SetBeforehand(Squared):
    """Its smoothness is computed when it is made."""

    scale: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "smoothness", self.scale * 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Derived(Squared):
    """A field that is no parameter."""

    scale: float = 1.0
    cap: float | None = field(default=None, init=False)

    def __post_init__(self):
        object.__setattr__(self, "cap", self.scale)


@dataclass(frozen=True, eq=False, repr=False)
class Boxed(Squared):
    """Numbers in a box that nobody looks into."""

    box: object = field(default_factory=lambda: {"delta": 0.1})


@pytest.mark.parametrize("loss", [SetBeforehand(2.0), Derived(2.0), Boxed()])
def test_what_is_computed_or_hidden_beforehand_is_not_certified(loss):
    assert "does not run with error bounds" in unprovable(Problem(np.eye(3), [1.0, 2.0, 3.0], loss=loss))


@dataclass(frozen=True, eq=False, repr=False)
class InParts(Linear):
    """A slope that is a sum, rounded if nobody looks."""

    parts: tuple = (1e16, 3.0, -1e16)

    def slope(self, s):  # noqa: ARG002
        return self.parts[0] + self.parts[1] + self.parts[2]

    def value(self, s):
        return self.slope(s) * s

    def conjugate(self, t):
        return 0.0 if t <= self.slope(0.0) else array_namespace(t).inf


def test_numbers_in_a_tuple_are_enclosed():
    slope = InParts().bounds.first_slope
    assert slope.low <= 3.0 <= slope.high
