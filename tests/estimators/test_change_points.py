"""Change points of signals: levels, proven places and intervals."""

import numpy as np
import pytest
from scipy.sparse import eye_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from atomsieve import ChangePoints, verify
from atomsieve.core.signals import denoised

RNG = np.random.default_rng(0)
TRUTH = np.repeat([[1.0, 3.0, 2.0], [0.0, -1.0, 4.0]], [30, 20, 40], axis=1)
X = TRUTH + 0.2 * RNG.normal(size=TRUTH.shape)


def test_levels_and_change_points():
    model = ChangePoints(strength=3.0).fit(X)
    for signal, levels, segments, certificate in zip(
        X, model.levels_, model.segments_, model.certificates_, strict=True
    ):
        best = denoised(signal, np.ones(90), np.full(89, 3.0))
        np.testing.assert_allclose(levels, best, atol=1e-9)
        assert segments.change_points.tolist() == (np.flatnonzero(np.diff(best)) + 1).tolist()
        assert {30, 50} <= set(segments.change_points.tolist())
        assert not len(segments.undecided)
        assert (segments.lower <= best[segments.starts] + 1e-9).all()
        assert (segments.upper >= best[segments.starts] - 1e-9).all()
        assert (segments.upper - segments.lower < 1e-3).all()
        assert verify(certificate, eye_array(90), signal).valid
    np.testing.assert_array_equal(model.transform(X), model.levels_)
    assert model.segments_[0].to_frame()["proven"].tolist()[:2] == [False, True]


def test_strengths_without_units():
    one, other = (ChangePoints(fraction=0.2).fit(factor * X) for factor in (1.0, 1000.0))
    np.testing.assert_allclose(1000 * one.levels_, other.levels_, rtol=1e-9)
    flat = ChangePoints().fit(np.full((1, 5), 7.0))
    np.testing.assert_allclose(flat.levels_, 7.0)
    assert len(flat.segments_[0].starts) == 1


def test_names_and_pipelines():
    pipeline = make_pipeline(FunctionTransformer(), ChangePoints(1.0))
    assert pipeline.fit_transform(X).shape == X.shape
    assert ChangePoints().fit(X).get_feature_names_out()[:2].tolist() == ["x0", "x1"]


@pytest.mark.parametrize("given", [{"strength": 0.0}, {"strength": "much"}, {"fraction": -1.0}, {"tol": np.inf}])
def test_what_is_refused(given):
    with pytest.raises(ValueError, match=f"ChangePoints: {next(iter(given))} must be a positive number"):
        ChangePoints(**given).fit(X)
    with pytest.raises(ValueError, match="reshape"):
        ChangePoints().fit(X[0])
