"""How good a model is: the measures are scikit-learn's, on the training data and on all held-out samples together."""

import gc

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import accuracy_score, d2_tweedie_score, log_loss, mean_poisson_deviance, r2_score
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.preprocessing import scale

from atomsieve import (
    CertifiedElasticNetCV,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressor,
    GaugeRegressorCV,
    Huber,
    Logistic,
    Poisson,
    SquaredHinge,
)
from atomsieve.estimators.quality import SEEN, UNSEEN, quality_of

X, Y = load_diabetes(return_X_y=True)
FOLDS = KFold(4, shuffle=True, random_state=0)


def told(model):
    """Return each measure with its value on the training data and by cross-validation."""
    return {quality.name: (quality.training, quality.held_out) for quality in quality_of(model)}


class TestNumbers:
    def test_the_training_data_are_told_as_score_does(self):
        weights = np.random.default_rng(0).uniform(0, 2, len(Y))
        shift = np.linspace(-50, 50, len(Y))
        both = np.column_stack([Y, np.sqrt(Y)])
        for model, y in ((CertifiedLasso(0.3), Y), (GaugeRegressor(Huber(30.0)), Y), (CertifiedLasso(0.01), both)):
            offset = shift if y.ndim == 1 else None
            model.fit(X, y, weights, offset)
            assert told(model) == {"R²": (pytest.approx(model.score(X, y, weights, offset)), None)}

    def test_held_out_samples_are_told_as_cross_val_predict_does(self):
        model = CertifiedLassoCV(alphas=20, cv=FOLDS).fit(X, Y)
        predicted = cross_val_predict(CertifiedLasso(model.alpha_), X, Y, cv=FOLDS)
        training, held_out = told(model)["R²"]
        assert held_out == model.cv_quality_["R²"] == pytest.approx(r2_score(Y, predicted), abs=1e-4)
        assert training > held_out

    @pytest.mark.parametrize("cv", [LeaveOneOut(), ShuffleSplit(3, random_state=0)])
    def test_any_splitter(self, cv):
        model = CertifiedLassoCV(alphas=4, cv=cv).fit(X[:40], Y[:40])
        assert -1 < model.cv_quality_["R²"] < 1

    def test_several_ratios_tell_of_the_one_that_was_chosen(self):
        model = CertifiedElasticNetCV(l1_ratio=[0.5, 1.0], alphas=20, cv=FOLDS).fit(X, Y)
        same = CertifiedElasticNetCV(l1_ratio=model.l1_ratio_, alphas=20, cv=FOLDS).fit(X, Y)
        assert model.cv_quality_ == same.cv_quality_


class TestClasses:
    def test_two_classes(self):
        features, classes = load_breast_cancer(return_X_y=True)
        features = scale(features)
        model = CertifiedLogisticRegressionCV(Cs=8, cv=FOLDS).fit(features, classes)
        single = CertifiedLogisticRegression(C=model.C_)
        likely = cross_val_predict(single, features, classes, cv=FOLDS, method="predict_proba")
        assert told(model) == {
            "accuracy": (
                pytest.approx(model.score(features, classes)),
                pytest.approx(accuracy_score(classes, likely.argmax(axis=1)), abs=1e-9),
            ),
            "log-loss": (
                pytest.approx(log_loss(classes, model.predict_proba(features))),
                pytest.approx(log_loss(classes, likely), rel=1e-2),
            ),
        }

    @pytest.mark.parametrize("loss", [Logistic(), None])
    def test_more_classes_and_weights(self, loss):
        features, classes = load_wine(return_X_y=True)
        features, weights = scale(features), np.where(classes == 1, 3.0, 1.0)
        model = GaugeClassifier(loss, class_weight="balanced").fit(features, classes, weights)
        assert told(model) == {
            "accuracy": (pytest.approx(model.score(features, classes, weights)), None),
            "log-loss": (pytest.approx(log_loss(classes, model.predict_proba(features), sample_weight=weights)), None),
        }

    def test_without_probabilities_there_is_no_log_loss(self):
        features, classes = load_wine(return_X_y=True)
        model = GaugeClassifierCV(SquaredHinge(), strengths=4, standardize=True, cv=FOLDS).fit(features, classes)
        assert list(told(model)) == list(model.cv_quality_) == ["accuracy"]


class TestCounts:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((300, 5))
    exposure = rng.uniform(0.5, 5, 300)
    counts = rng.poisson(exposure * np.exp(0.5 * features[:, 0]))

    def test_deviance_explained_is_that_of_scikit_learn(self):
        model = GaugeRegressorCV(Poisson(), strengths=10, cv=FOLDS).fit(self.features, self.counts)
        training, held_out = told(model)["deviance explained"]
        assert training == pytest.approx(d2_tweedie_score(self.counts, model.predict(self.features), power=1))
        assert 0 < held_out < training

    def test_an_offset_is_part_of_the_model_without_features(self):
        offset = np.log(self.exposure)
        model = GaugeRegressorCV(Poisson(), strengths=10, cv=FOLDS).fit(self.features, self.counts, offset=offset)
        null = self.exposure * self.counts.sum() / self.exposure.sum()
        without = mean_poisson_deviance(self.counts, null)
        with_features = mean_poisson_deviance(self.counts, model.predict(self.features, offset))
        assert told(model)["deviance explained"][0] == pytest.approx(1 - with_features / without, abs=1e-6)


class TestWords:
    def test_training_and_cross_validation_stand_apart(self):
        model = CertifiedLassoCV(alphas=20, cv=FOLDS).fit(X, Y)
        text = str(model.summary())
        assert "training data  cross-validation" in text
        assert f"R²          {told(model)['R²'][0]:.3f}             {told(model)['R²'][1]:.3f}" in text
        assert SEEN in text
        assert UNSEEN in text

    def test_without_cross_validation_there_is_no_such_column(self):
        text = str(CertifiedLasso(0.3).fit(X, Y).summary())
        assert SEEN in text
        assert "cross-validation" not in text.lower()

    def test_data_that_are_gone_leave_cross_validation(self):
        model = CertifiedLassoCV(alphas=5, cv=FOLDS).fit(X.copy(), Y)
        gc.collect()
        assert told(model) == {"R²": (None, model.cv_quality_["R²"])}
        assert "unknown" in str(model.summary())
        single = CertifiedLasso(0.3).fit(X.copy(), Y)
        gc.collect()
        assert told(single) == {}
        assert "R²" not in str(single.summary())

    @pytest.mark.parametrize(
        ("model", "y", "words"),
        [
            (CertifiedLassoCV(alphas=4), Y, "Held-out loss: half the mean squared error."),
            (GaugeRegressorCV(strengths=4), Y, "Held-out loss: half the mean squared error."),
            (
                GaugeRegressorCV(strengths=4),
                np.column_stack([Y, Y]),
                "Held-out loss: half the mean squared error, added up over 2 outputs.",
            ),
            (CertifiedLogisticRegressionCV(Cs=4), Y > 150, "Held-out loss: log-loss."),
            (
                GaugeClassifierCV(Logistic(), strengths=4),
                np.digitize(Y, [100, 200]),
                "Held-out loss: log-loss of each class against the rest, added up.",
            ),
        ],
    )
    def test_losses_are_called_by_the_names_that_people_know(self, model, y, words):
        model.set_params(cv=FOLDS)
        assert words in str(model.fit(X, y).summary())
