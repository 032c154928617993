"""The law checkers fail on pieces that break one law: a checker that cannot fail proves nothing."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from atomsieve import L1, L2, OWL, Group, KSparse, KSupport, Logistic, Poisson, Square, Squared
from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.screening.rules import PairwiseRule, PaperRule
from atomsieve.testing import check_gauge, check_loss, check_penalty, check_rule


class TooSmooth(Logistic):
    smoothness = 0.2


class WrongGradient(Squared):
    def gradient(self, u, y):
        return 1.01 * (u - y)


class WrongCurvature(Logistic):
    def curvature(self, u, y):
        return 0.9 * super().curvature(u, y)


class SmallConjugate(Squared):
    def conjugate(self, t, y):
        return super().conjugate(t, y) - 0.1


class LargeConjugate(Squared):
    def conjugate(self, t, y):
        return super().conjugate(t, y) + 0.1


class Overflowing(Logistic):
    def value(self, u, y):
        with np.errstate(over="ignore"):
            return np.log(1 + np.exp(-y * u))


@pytest.mark.parametrize(
    "loss",
    [TooSmooth(), WrongGradient(), WrongCurvature(), SmallConjugate(), LargeConjugate(), Overflowing()],
    ids=repr,
)
def test_check_loss_catches(loss):
    with pytest.raises(AssertionError, match=r".+"):
        check_loss(loss)


class OnlyArrays(Squared):
    def value(self, u, y):
        return np.square(u - y) / 2


class WrongCurvatureAtSlope(Logistic):
    @property
    def bounds(self):
        return LossBounds(self)

    def curvature_at_slope(self, t, y):
        return 0.5 * super().curvature_at_slope(t, y)


class NarrowBounds(LossBounds):
    """Bounds that forget the radius."""

    def slopes(self, u, y):
        return super().slopes(Enclosure.exact(u.mid), y)


class ForgottenRadius(Logistic):
    @property
    def bounds(self):
        return NarrowBounds(self)


class OneFormulaForArrays(Logistic):
    """Right on arrays, wrong on enclosures."""

    def conjugate(self, t, y):
        return super().conjugate(t, y) - (0.1 if isinstance(t, Enclosure) else 0.0)


class OneValueForArrays(Squared):
    def value(self, u, y):
        return super().value(u, y) * (0.9 if isinstance(u, Enclosure) else 1.0)


class SmallTowards(Poisson):
    def smoothness_towards(self, slopes, y, gap_bound):
        return 0.5 * super().smoothness_towards(slopes, y, gap_bound)


@pytest.mark.parametrize(
    ("loss", "law"),
    [
        (OnlyArrays(), "OnlyArrays.value does not run with error bounds .*array_namespace"),
        (WrongCurvatureAtSlope(), "curvature_at_slope"),
        (ForgottenRadius(), "bounds of the gradient"),
        (OneFormulaForArrays(), "bounds of the conjugate"),
        (OneValueForArrays(), "bounds of the value"),
        (SmallTowards(), "bounds of the curvature"),
    ],
    ids=repr,
)
def test_check_loss_catches_bounds_that_do_not_hold(loss, law):
    with pytest.raises(AssertionError, match=law):
        check_loss(loss)


@dataclass(frozen=True, eq=False)
class WrongArgmax(Square):
    def argmax(self, t):
        return 0.9 * super().argmax(t)


@dataclass(frozen=True, eq=False)
class WrongSlope(Square):
    def slope(self, s):
        return 1.1 * super().slope(s)


@dataclass(frozen=True, eq=False)
class Concave(Square):
    def value(self, s):
        return s**0.5


@dataclass(frozen=True, eq=False)
class NotZeroAtZero(Square):
    def value(self, s):
        return super().value(s) + 1


@dataclass(frozen=True, eq=False)
class Stubborn(Square):
    def at(self, strength):  # noqa: ARG002
        return self


class PlainFloats(Square):
    def value(self, s):
        return float(s) * s * self.strength / 2


class OneFormulaForFloats(Square):
    def conjugate(self, t):
        return super().conjugate(t) * (0.9 if isinstance(t, Enclosure) else 1.0)


class OneSlopeForFloats(Square):
    def slope(self, s):
        return super().slope(s) + (0.1 if isinstance(s, Enclosure) else 0.0)


class WrongThrough(Square):
    def through(self, size, slope):
        return self.at(slope * size)


@pytest.mark.parametrize(
    ("penalty", "law"),
    [
        (WrongArgmax(), "argmax"),
        (WrongSlope(), "slope is not the derivative"),
        (Concave(), "derivative of phi"),
        (NotZeroAtZero(), "must be 0"),
        (Stubborn(), "main parameter"),
        (WrongThrough(), "does not charge that slope"),
        (PlainFloats(), "PlainFloats.value does not run with error bounds"),
        (OneFormulaForFloats(), "bounds of conjugate"),
        (OneSlopeForFloats(), "slope at 0"),
    ],
    ids=repr,
)
def test_check_penalty_catches(penalty, law):
    with pytest.raises(AssertionError, match=law):
        check_penalty(penalty)


@dataclass(frozen=True, eq=False)
class WrongAtom(L1):
    def atom(self, z, block):
        return super().atom(z, block).scaled(0.5)


@dataclass(frozen=True, eq=False)
class WrongScores(Group):
    def scores(self, z):
        return 1.1 * super().scores(z)


@dataclass(frozen=True, eq=False)
class SmallSpread(Group):
    def spread(self, seminorm, outputs):
        return 0.8 * super().spread(seminorm, outputs)


@dataclass(frozen=True, eq=False)
class SmallRivals(L1):
    def rivals(self, z, cross, spread, best, radius):
        return super().rivals(z, cross, spread, best, 0.9 * radius)


@dataclass(frozen=True, eq=False)
class ForgetfulRestriction(L1):
    def restrict(self, columns):
        return L1(np.asarray(self.weights)[: len(columns)])


@dataclass(frozen=True, eq=False)
class ForgottenSigns(L1):
    def restrict(self, columns):
        return L1(np.ones(len(columns)))


@dataclass(frozen=True, eq=False)
class PretendedSigns(L1):
    @property
    def signed(self):
        return np.array([True, True, False, False])

    def sizes(self, x):
        return np.abs(x)


@dataclass(frozen=True, eq=False)
class PretendedEntries(L2):
    entrywise = True


@dataclass(frozen=True, eq=False)
class HastyZeros(OWL):
    def decide(self, evidence):
        return super().decide(replace(evidence, most=0.8 * evidence.most))


@dataclass(frozen=True, eq=False)
class HastyNonZeros(KSupport):
    def settle(self, evidence, facts):
        return replace(super().settle(evidence, facts), nonzero=evidence.least > 0)


@dataclass(frozen=True, eq=False)
class AllSaturated(KSparse):
    def settle(self, evidence, facts):
        return replace(super().settle(evidence, facts), saturated=evidence.least > 0)


@dataclass(frozen=True, eq=False)
class OneCluster(OWL):
    def settle(self, evidence, facts):
        known = np.where(evidence.signs != 0, 0, -1)
        return replace(super().settle(evidence, facts), clusters=known)


@dataclass(frozen=True, eq=False)
class WrongSigns(KSupport):
    def decide(self, evidence):
        return super().decide(replace(evidence, signs=-evidence.signs))


@dataclass(frozen=True, eq=False)
class WrongOrder(KSupport):
    def decide(self, evidence):
        facts = super().decide(evidence)
        return replace(facts, tiers=facts.tiers.max() - facts.tiers)


@pytest.mark.parametrize(
    ("gauge", "shape", "law"),
    [
        (WrongAtom(), (4,), "attain"),
        (WrongScores([0, 0, 1, 1]), (4,), "attain"),
        (SmallSpread([0, 0, 1, 1]), (4,), "spread"),
        (SmallRivals(), (4,), "rivals"),
        (SmallRivals(), (4, 3), "rivals"),
        (ForgetfulRestriction([1.0, 2.0, 3.0, 4.0]), (4,), "restricted"),
        (ForgottenSigns(positive=[True, True, False, True]), (4,), "restricted"),
        (PretendedSigns(), (4,), "signed must tell"),
        (PretendedEntries(), (4, 3), "entrywise"),
        (HastyZeros([1.0, 0.8, 0.5, 0.1]), (4,), "calls zero"),
        (HastyNonZeros(2), (4,), "calls non-zero"),
        (AllSaturated(2), (4,), "saturated"),
        (OneCluster([1.0, 0.8, 0.5, 0.1]), (4,), "one absolute value"),
        (WrongSigns(2), (4,), "signs that decide tells"),
        (WrongOrder(2), (4,), "earlier tier"),
    ],
    ids=repr,
)
def test_check_gauge_catches(gauge, shape, law):
    with pytest.raises(AssertionError, match=law):
        check_gauge(gauge, shape)


class Half:
    def keep(self, point):
        return ~(point.scores < 0.5 * point.sigma)


class Numbers:
    def keep(self, point):
        return point.scores


@pytest.mark.parametrize(("rule", "law"), [(Half, "it is not safe"), (Numbers, "one truth value")])
def test_check_rule_catches(rule, law):
    with pytest.raises(AssertionError, match=law):
        check_rule(rule)


@pytest.mark.parametrize("rule", [PaperRule, PairwiseRule])
def test_check_rule_passes_what_is_safe(rule):
    check_rule(rule, seeds=1)
