"""What a fit shows while it goes on: tables and lines (`verbose`, `Printer`), and scikit-learn's callbacks."""

import io
import re

import numpy as np
import pytest
from samples import DATA
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from atomsieve import GCG, CertifiedLasso, CertifiedLassoCV, GaugeRegressorCV, Linear, Printer, Problem, Square, solve

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")

HEADER = "iteration     time       objective       gap    alive  nonzero"
ROW = re.compile(r"^ *(\d+) +([\d.]+) s +([-\d.e+]+) +([\d.e+-]+) +(\d+) +(\d+)$")


class Recorder:
    """A callback that writes down what it is told."""

    def __init__(self):
        self.begun, self.ended, self.closed = [], [], 0

    def setup(self, estimator, context):
        assert context.estimator_name == type(estimator).__name__

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.task_id))
        assert hasattr(estimator, "fit")

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.task_name, context.task_id))
        assert hasattr(estimator, "fit")

    def teardown(self, estimator, context):
        self.closed += 1
        assert context.estimator_name == type(estimator).__name__


class TestPrinter:
    def test_prints_a_table_of_the_trace(self):
        X, y = DATA["wide"]()
        stream = io.StringIO()
        problem = Problem(X, y, penalty=Square(0.1))
        result = solve(problem, GCG(), max_iter=20, trace=True, callbacks=[Printer(every=0.0, stream=stream)])
        header, *rows = stream.getvalue().splitlines()
        assert header == HEADER
        found = [ROW.match(row).groups() for row in rows]
        assert [int(row[0]) for row in found] == result.trace.iteration
        assert [float(row[3]) for row in found] == pytest.approx(result.trace.gap, rel=0.01)
        assert [int(row[5]) for row in found] == result.trace.nonzero
        assert all(len(row) == len(HEADER) for row in rows)

    def test_shows_the_first_and_the_last_however_rarely(self):
        X, y = DATA["wide"]()
        stream = io.StringIO()
        result = solve(Problem(X, y, penalty=Square(0.1)), GCG(), max_iter=20, callbacks=[Printer(1e9, stream)])
        rows = [int(ROW.match(row).group(1)) for row in stream.getvalue().splitlines()[1:]]
        assert rows == [1, result.n_iter + 1]

    def test_stops_nothing(self, capsys):
        X, y = DATA["wide"]()
        watched = solve(Problem(X, y, penalty=Linear(0.1)), callbacks=[Printer()])
        assert watched.converged
        assert capsys.readouterr().out.startswith(HEADER)


class TestVerbose:
    def test_of_a_fit_and_its_proof(self, capsys):
        X, y = DATA["diabetes"]()
        model = CertifiedLasso(0.1, verbose=True).fit(X, y)
        fitted = capsys.readouterr().out.splitlines()
        assert fitted[0] == HEADER
        assert ROW.match(fitted[1])
        assert "CONVERGED" in fitted[-1]
        assert model.certificate_.valid
        proven = capsys.readouterr().out
        assert re.search(r"certificate at the gap \S+: proving", proven)
        assert repr(model.certificate_) in proven

    def test_of_a_cross_validation(self, capsys):
        X, y = DATA["diabetes"]()
        model = CertifiedLassoCV(alphas=7, cv=3, verbose=True).fit(X, y)
        lines = capsys.readouterr().out.splitlines()
        parts = ["fold 1 of 3", "fold 2 of 3", "fold 3 of 3", "all samples"]
        for line, part in zip(lines, parts, strict=False):
            assert re.fullmatch(rf"\[CertifiedLassoCV\] {part}: 7 of 7 candidates, [\d.]+ s, done", line)
        assert f"chosen: alpha_min_ {model.alpha_min_:.6g} (" in lines[4]
        assert f"alpha_1se_ {model.alpha_1se_:.6g} (" in lines[4]

    @pytest.mark.parametrize("model", [CertifiedLasso(0.1), CertifiedLassoCV(alphas=5)])
    def test_changes_no_answer(self, model, capsys):
        X, y = DATA["wide"]()
        quiet, loud = clone(model).fit(X, y), clone(model).set_params(verbose=2).fit(X, y)
        assert np.array_equal(quiet.coef_, loud.coef_)
        assert capsys.readouterr().out

    def test_is_silent_by_default(self, capsys):
        X, y = DATA["wide"]()
        assert CertifiedLassoCV(alphas=5).fit(X, y).certificate_.valid
        assert capsys.readouterr() == ("", "")


class TestCallbacks:
    def test_of_a_cross_validation_see_every_candidate(self):
        X, y = DATA["tall"]()
        seen = Recorder()
        GaugeRegressorCV(strengths=4, cv=3).set_callbacks(seen).fit(X, y)
        parts = [("fold 1 of 3", 0), ("fold 2 of 3", 1), ("fold 3 of 3", 2), ("all samples", 3)]
        assert seen.begun[0] == seen.ended[-1] == ("fit", 0)
        assert [task for task in seen.begun if task in parts] == parts
        assert seen.ended.count(("candidate", 3)) == 4
        assert sorted(seen.begun) == sorted(seen.ended)
        assert seen.closed == 1

    def test_of_a_fit_see_its_ends(self):
        X, y = DATA["tall"]()
        seen = Recorder()
        CertifiedLasso(0.1).set_callbacks(seen).fit(X, y)
        assert seen.begun == seen.ended == [("fit", 0)]
        assert seen.closed == 1

    def test_are_torn_down_where_a_fit_fails(self):
        X, y = DATA["tall"]()
        seen = Recorder()
        with pytest.raises(ValueError, match="No candidate has a score"):
            CertifiedLassoCV(alphas=3, scoring=lambda *_: np.nan).set_callbacks(seen).fit(X, y)
        assert seen.closed == 1

    def test_reach_an_estimator_within_others(self, capsys):
        X, y = DATA["tall"]()
        bars = callback.ProgressBar(max_propagation_depth=None)
        pipe = make_pipeline(StandardScaler(), CertifiedLassoCV(alphas=3, cv=2)).set_callbacks(bars).fit(X, y)
        shown = capsys.readouterr().out
        assert "fold 2 of 2" in shown
        assert "all samples" in shown
        assert pipe.score(X, y) > 0.5
