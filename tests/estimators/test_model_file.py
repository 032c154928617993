"""A fitted model as a small file that NumPy alone can use."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from samples import DATA, labels_of
from scipy.sparse import bsr_array, coo_array
from three_outputs import COUNTS, FRAME, LABELS, OFFSET, OFFSETS, K, N, X, Y

import atomsieve.standalone.predict
from atomsieve import (
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CriticalFraction,
    GaugeClassifier,
    GaugeRegressor,
    Group,
    Linear,
    Logistic,
    Multinomial,
    Poisson,
    Squared,
    SquaredHinge,
    load_model,
    save_model,
)


def saved(model, tmp_path):
    save_model(model, tmp_path / "model.json")
    return load_model(tmp_path / "model.json")


@pytest.mark.parametrize("model", [CertifiedLasso(CriticalFraction(0.2)), CertifiedLassoCV(alphas=5), GaugeRegressor()])
@pytest.mark.parametrize("name", ["wide", "sparse rows", "diabetes"])
def test_regression(model, name, tmp_path):
    X, y = DATA[name]()
    model.fit(X, y)
    assert np.allclose(saved(model, tmp_path).predict(X), model.predict(X))


def test_counts(tmp_path):
    X, y = DATA["tall"]()
    model = GaugeRegressor(loss=Poisson(), penalty=Linear(0.1)).fit(X, np.rint(np.exp(y / 4)))
    assert np.allclose(saved(model, tmp_path).predict(X), model.predict(X))


@pytest.mark.parametrize("loss", [None, Logistic(), Multinomial(), SquaredHinge()])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [str, int, object])
def test_classification(loss, classes, kind, tmp_path):
    X, y = DATA["wine"]()
    names = np.array(["red", "white", "rose"] if kind is not int else [3, 7, 11], dtype=None if kind is str else kind)
    labels = names[np.minimum(y.astype(int), classes - 1)]
    model = GaugeClassifier(loss=loss).fit(X, labels)
    copy = saved(model, tmp_path)
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert np.allclose(copy.decision_function(X), model.decision_function(X))
    if isinstance(loss, SquaredHinge):
        with pytest.raises(AttributeError, match="no probabilities"):
            copy.predict_proba(X)
    else:
        assert np.allclose(copy.predict_proba(X), model.predict_proba(X))


def test_data_frames_by_name(tmp_path):
    X, y = DATA["diabetes"]()
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    model = CertifiedLasso(alpha=0.5).fit(frame, y)
    copy = saved(model, tmp_path)
    assert np.allclose(copy.predict(frame[list("jihgfedcba")]), model.predict(frame))
    assert np.allclose(copy.predict(frame[copy.names]), model.predict(frame))
    with pytest.raises(ValueError, match="lacks the columns"):
        copy.predict(frame[["a", "b"]])


def test_a_model_without_features(tmp_path):
    X, y = DATA["tall"]()
    frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(15)})
    model = CertifiedLasso(alpha=100.0).fit(frame, y)
    assert np.allclose(saved(model, tmp_path).predict(X), y.mean())
    assert np.allclose(saved(model, tmp_path).predict(frame), y.mean())


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_small_and_with_numpy_alone(tmp_path):
    X, y = DATA["wide"]()
    model = CertifiedLogisticRegression(C=CriticalFraction(0.2)).fit(X, labels_of(y))
    save_model(model, tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 4096
    np.save(tmp_path / "X.npy", X)
    shutil.copy(atomsieve.standalone.predict.__file__, tmp_path / "predict.py")
    script = (
        "import sys, numpy as np; from predict import load_model; "
        "print(*load_model('model.json').predict(np.load('X.npy'))); "
        "assert not {'scipy', 'sklearn', 'atomsieve'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == model.predict(X).tolist()


def test_bad_files_and_data(tmp_path):
    X, y = DATA["tall"]()
    model = CertifiedLasso(alpha=0.1).fit(X, y)
    copy = saved(model, tmp_path)
    with pytest.raises(ValueError, match="must have shape"):
        copy.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        copy.predict(np.full_like(X, np.nan))
    for kind in coo_array, bsr_array:
        assert np.allclose(copy.predict(kind(X)), model.predict(X))
    assert (tmp_path / "model.json").stat().st_mode & 0o777 == 0o666 & ~_umask()
    with pytest.raises(TypeError, match="fitted estimator of atomsieve"):
        save_model("model", tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    for change, message in (
        ({"format": "other"}, "does not say format"),
        ({"version": 2}, "has version 2"),
        ({"inverse_link": "cube"}, "unknown inverse link"),
        ({"count": 1}, "out of range"),
        ({"coefficients": [[1.0]]}, "damaged"),
    ):
        (tmp_path / "bad.json").write_text(json.dumps(content | change))
        with pytest.raises(ValueError, match=message):
            load_model(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match="is no JSON"):
        load_model(tmp_path / "bad.json")


class TestOutputsAndOffsets:
    @pytest.mark.parametrize("loss", [Squared(), Poisson()])
    def test_outputs(self, loss, tmp_path):
        model = GaugeRegressor(loss, Group(), Linear(0.1)).fit(FRAME, COUNTS, offset=OFFSETS)
        copy = saved(model, tmp_path)
        assert copy.predict(FRAME).shape == (N, K)
        assert copy.predict(FRAME) == pytest.approx(model.predict(FRAME))
        assert copy.predict(FRAME, OFFSETS) == pytest.approx(model.predict(FRAME, OFFSETS))
        assert len(copy.names) == np.count_nonzero(model.coef_.any(axis=0))

    @pytest.mark.parametrize(
        ("loss", "labels", "offset"),
        [
            (Logistic(), LABELS == "a", OFFSET),
            (Logistic(), LABELS, OFFSET),
            (Logistic(), LABELS, OFFSETS),
            (Multinomial(), LABELS, OFFSETS),
            (Multinomial(), LABELS == "a", OFFSETS[:, :2]),
        ],
    )
    def test_classes(self, loss, labels, offset, tmp_path):
        model = GaugeClassifier(loss, penalty=Linear(0.05)).fit(X, labels, offset=offset)
        copy = saved(model, tmp_path)
        assert np.array_equal(copy.predict(X, offset), model.predict(X, offset))
        assert copy.decision_function(X, offset) == pytest.approx(model.decision_function(X, offset))
        assert copy.predict_proba(X, offset) == pytest.approx(model.predict_proba(X, offset))

    def test_what_is_refused(self, tmp_path):
        one, several = (saved(CertifiedLasso(alpha=0.1).fit(X, y), tmp_path) for y in (Y[:, 0], Y))
        joint = saved(GaugeClassifier(Multinomial(), penalty=Linear(0.05)).fit(X, LABELS), tmp_path)
        for model, offset in (one, OFFSETS), (one, OFFSET[1:]), (several, OFFSET), (joint, OFFSET):
            with pytest.raises(ValueError, match="offset must have shape"):
                model.predict(X, offset)
        with pytest.raises(ValueError, match="offset has NaN"):
            one.predict(X, np.full(N, np.nan))
