"""A start from a sample saves passes over the data and changes no answer."""

import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    OSCAR,
    Group,
    Huber,
    Linear,
    Logistic,
    Multinomial,
    Nuclear,
    Positive,
    Problem,
    SparseGroup,
    Square,
    solve,
)
from atomsieve.design import files
from atomsieve.methods.corrective.method import Corrections
from atomsieve.run.sample import sample_size

N, D = 1200, 300
RNG = np.random.default_rng(8)
X = RNG.standard_normal((N, D))
SCORES = X[:, ::30].sum(axis=1) + RNG.standard_normal(N)
SIGNS = np.where(SCORES > 0, 1.0, -1.0)
CLASSES = np.digitize(SCORES, [-1.0, 1.0])
GROUPS = np.repeat(np.arange(D // 3), 3)

PROBLEMS = {
    "squared": {"y": SCORES, "penalty": Linear(0.2)},
    "square": {"y": SCORES, "penalty": Square(1.0), "intercept": True},
    "logistic": {"y": SIGNS, "loss": Logistic(), "penalty": Linear(0.02), "intercept": True},
    "weights": {"y": SIGNS, "loss": Logistic(), "penalty": Linear(0.05), "sample_weight": np.arange(N) % 4.0},
    "groups": {"y": SCORES, "gauge": Group(GROUPS), "penalty": Linear(0.2), "intercept": True},
    "sparse groups": {"y": SCORES, "gauge": SparseGroup(GROUPS), "penalty": Linear(0.2)},
    "positive": {"y": SCORES, "gauge": Positive(Group(GROUPS)), "penalty": Linear(0.2)},
    "sorted": {"y": SCORES, "gauge": OSCAR(1.0, 0.001), "penalty": Linear(0.2)},
    "classes": {"y": CLASSES, "loss": Multinomial(), "penalty": Linear(0.03), "intercept": True},
    "ridge": {"y": SCORES, "penalty": Linear(0.2), "ridge": 0.1},
    "limits": {"y": SCORES, "penalty": Linear(0.1), "limits": (-0.5, 0.5)},
    "offset": {"y": SCORES, "loss": Huber(), "penalty": Linear(0.05), "offset": X[:, 1], "free": X[:, 2:4]},
}


@pytest.mark.parametrize("pieces", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
def test_no_answer_changes(pieces, kind):
    problem = Problem(kind(X), **pieces)
    assert sample_size(problem)
    found, expected = (solve(problem, tol=1e-10, start=start) for start in ("sample", None))
    assert found.converged
    assert np.abs(found.x - expected.x).max() <= 1e-4 * np.abs(expected.x).max()
    assert abs(found.objective - expected.objective) <= 2e-10 * problem.baseline
    own, other = found.certificate(), expected.certificate()
    assert not (own.zero & other.nonzero).any()
    assert not (own.nonzero & other.zero).any()


@pytest.mark.parametrize(
    "given",
    [
        (X[:100], {"y": SCORES[:100]}),
        (X[:, :100], {"y": SCORES}),
        (X[:, :9], {"y": SCORES, "gauge": Nuclear(), "shape": (3, 3)}),
        (X, {"y": SCORES[:, None] * [1.0, 2.0]}),
    ],
    ids=["few samples", "few features", "matrices", "outputs"],
)
def test_where_a_sample_says_nothing_a_run_starts_at_0(given):
    problem = Problem(given[0], **given[1])
    assert sample_size(problem) is None
    assert np.array_equal(solve(problem, start="sample").x, solve(problem).x)


def test_a_sample_of_one_class_is_no_start():
    y = np.ones(N)
    y[0] = -1.0
    problem = Problem(X, y, loss=Logistic(), penalty=Linear(1e-4), intercept=True)
    assert solve(problem, tol=1e-6, start="sample").converged


def test_other_words_are_refused():
    with pytest.raises(ValueError, match='start must be coefficients, a Result or "sample"'):
        solve(Problem(X, SCORES), start="samples")


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_is_read_less_often(tmp_path, monkeypatch, order):
    monkeypatch.setattr(files, "MAPPED", 0)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    held = np.load(tmp_path / "X.npy", mmap_mode="r")
    passes = []
    for options in ({"start": np.zeros(D)}, {}):
        problem = Problem(held, SIGNS, loss=Logistic(), penalty=Linear(0.05))
        result = solve(problem, **options)
        certificate = result.certificate()
        assert result.converged
        assert certificate.gap <= 2e-6 * problem.baseline
        passes.append(problem.data.design.file.traffic.bytes / held.nbytes)
    assert passes[1] < passes[0]
    assert passes[1] <= 8


@pytest.mark.parametrize("round_", [1, 2])
def test_ctrl_c_is_not_lost_in_a_sample(monkeypatch, round_):
    """The run on the sample and the run on its columns keep their best points; what follows is not to begin."""
    advance, seen = Corrections.advance, []

    def interrupted(self, point, t):
        if not seen or seen[-1] is not point.problem.data:
            seen.append(point.problem.data)
        if len(seen) == round_:
            raise KeyboardInterrupt
        return advance(self, point, t)

    monkeypatch.setattr(Corrections, "advance", interrupted)
    problem = Problem(X, SIGNS, loss=Logistic(), penalty=Linear(0.02))
    with pytest.raises(KeyboardInterrupt):
        solve(problem, start="sample", tol=1e-10)
    assert len(seen) == round_
