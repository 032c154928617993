"""Numbers beyond double precision, labels of mixed kinds, frames without columns: a sentence each, or they work."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from atomsieve import (
    L1,
    Atoms,
    Ball,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedSelector,
    CriticalFraction,
    FeatureCount,
    Group,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Multinomial,
    OpenLoop,
    Power,
    Problem,
    Scaled,
    Square,
    StabilitySelector,
    path,
    solve,
    verify,
)

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 4)), RNG.standard_normal(20)

BEYOND = {
    "an int": 10**400,
    "an int that Python does not print": 10**5000,
    "a fraction": Fraction(10**400, 3),
    "a fraction that rounds to 0": Fraction(1, 10**400),
    "a long double": np.longdouble("1e4000"),
    "a long double that rounds to 0": np.longdouble("1e-4000"),
}

PIECES = {
    "Linear: strength": Linear,
    "Square: strength": Square,
    "Power: strength": Power,
    "Power: p": lambda value: Power(1.0, value),
    "Ball: radius": Ball,
    "LogBarrier: radius": LogBarrier,
    "LogBarrier: sharpness": lambda value: LogBarrier(1.0, value),
    "LinearSquare: strength": lambda value: LinearSquare(value, 1.0),
    "LinearSquare: square": lambda value: LinearSquare(1.0, value),
    "Huber: delta": Huber,
    "Scaled: radius": lambda value: Scaled(L1(), value),
    "OpenLoop: scale": OpenLoop,
    "CriticalFraction: fraction": CriticalFraction,
    "FeatureCount: count": FeatureCount,
    "Multinomial: classes": Multinomial,
}


@pytest.mark.parametrize("value", BEYOND.values(), ids=BEYOND)
@pytest.mark.parametrize("name", PIECES)
def test_parameters_of_pieces(name, value):
    with pytest.raises(ValueError, match=f"{name} must be ") as caught:
        PIECES[name](value)
    assert len(str(caught.value)) < 250


def with_first(value, count):
    return [value, *[1.0] * (count - 1)]


ARRAYS = {
    "L1: weights": lambda value: L1(with_first(value, 4)),
    "Group: weights": lambda value: Group(range(4), with_first(value, 4)),
    "X": lambda value: Problem([with_first(value, 2)] * 20, Y),
    "y": lambda value: Problem(X, with_first(value, 20)),
    "sample_weight": lambda value: Problem(X, Y, sample_weight=with_first(value, 20)),
    "free": lambda value: Problem(X, Y, free=with_first(value, 20)),
    "slopes": lambda value: path(Problem(X, Y), with_first(value, 2)),
    "start": lambda value: solve(Problem(X, Y), start=with_first(value, 4)),
    "penalty_factors": lambda value: CertifiedLasso(penalty_factors=with_first(value, 4)).fit(X, Y),
    "alphas": lambda value: CertifiedLassoCV(alphas=with_first(value, 2)).fit(X, Y),
}


@pytest.mark.parametrize("value", [BEYOND["an int"], BEYOND["a fraction"], BEYOND["a long double"]])
@pytest.mark.parametrize("name", ARRAYS)
def test_entries_of_arrays(name, value):
    with pytest.raises(ValueError, match=f"{name}.* beyond the range of double precision. Rescale it"):
        ARRAYS[name](value)


@pytest.mark.parametrize("value", BEYOND.values(), ids=BEYOND)
def test_strengths_of_estimators(value):
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        CertifiedLasso(alpha=value).fit(X, Y)
    with pytest.raises(ValueError, match="C must be a positive number"):
        CertifiedLogisticRegression(C=value).fit(X, Y > 0)


@pytest.mark.parametrize("value", [np.inf, 10**400])
def test_whole_numbers(value):
    with pytest.raises(ValueError, match="n must be a positive whole number"):
        path(Problem(X, Y), n=value)
    with pytest.raises(ValueError, match="count must be a positive whole number"):
        FeatureCount(value)
    with pytest.raises(ValueError, match="n_subsamples must be a whole number"):
        StabilitySelector(CertifiedLasso(), n_subsamples=value).fit(X, Y)


def test_a_number_of_classes_that_is_a_float():
    assert Multinomial(3.0) == Multinomial(3)
    assert solve(Problem(X, np.arange(20) % 3, loss=Multinomial(np.float64(3)))).x.shape == (4, 3)


class TestLabels:
    def test_labels_of_mixed_kinds(self):
        gauge = Group(np.array([1, "a", 1, "b"], dtype=object), weights=[1.0, 2.0, 3.0])  # as they come: 1, a, b
        plain = Group([0, 1, 0, 2], weights=[1.0, 2.0, 3.0])
        mixed, same = (Problem(X, Y, gauge=g, penalty=Linear(0.05)) for g in (gauge, plain))
        assert np.array_equal(solve(mixed).x, solve(same).x)
        assert hash(gauge) == hash(Group(np.array([1, "a", 1, "b"], dtype=object), weights=[1.0, 2.0, 3.0]))
        assert verify(solve(mixed).certificate(), X, Y)

    @pytest.mark.parametrize("none", [None, np.nan, pd.NA, pd.NaT])
    def test_missing_labels(self, none):
        with pytest.raises(ValueError, match="groups has missing labels"):
            Group(np.array([none, 1, 2, 3], dtype=object))

    def test_labels_that_are_no_labels(self):
        with pytest.raises(ValueError, match="not lists or dicts"):
            Group(np.array([{}, 1, 2, 3], dtype=object))


class TestFrames:
    EMPTY = pd.DataFrame(index=range(20))

    @pytest.mark.parametrize("model", [CertifiedLasso(), CertifiedLassoCV(), CertifiedSelector(CertifiedLasso())])
    def test_without_columns(self, model):
        with pytest.raises(ValueError, match="X has no columns"):
            model.fit(self.EMPTY, Y)

    def test_without_columns_in_predict(self):
        with pytest.raises(ValueError, match="X has no columns"):
            CertifiedLasso().fit(X, Y).predict(self.EMPTY)

    @pytest.mark.parametrize("parameter", ["unpenalized", "positive"])
    def test_in_place_of_a_list_of_features(self, parameter):
        with pytest.raises(TypeError, match=f"{parameter} must be one list of features, got DataFrame"):
            CertifiedLasso(**{parameter: pd.DataFrame({"a": [True]})}).fit(X, Y)


def test_atoms_and_numbers():
    with pytest.raises(ValueError, match="beyond the range of double precision"):
        Problem(X, Y, gauge=Atoms([[10**400, 1.0]] * 4))


@pytest.mark.parametrize("path", [None, 1, b"bytes", ["name"]])
def test_what_is_no_name_of_a_file(path):
    with pytest.raises(TypeError, match="path must be the name of a file"):
        solve(Problem(X, Y)).certificate().save(path)
