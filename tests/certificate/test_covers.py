"""Whole paths in a few certificates."""

from collections import Counter

import numpy as np
import pytest
from class_families import cut
from families import contradicted
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.linear_model import lars_path

from atomsieve import L1, Group, Linear, LInf, Logistic, Multinomial, Problem, Squared, path, solve, verify
from atomsieve.run.knots import next_knot
from atomsieve.run.progress import watched_by


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


def test_events_are_the_knots_of_the_path():
    """For the squared loss, every knot of LARS lies between the bounds of an event, and there are no others."""
    X, y = diabetes()
    found = path(Problem(X, y), n=5, ratio=0.01).certificates()
    knots, _, coefs = lars_path(X, y, method="lasso")
    inner = knots[(knots < found.strengths[1]) & (knots > found.strengths[0])]
    assert len(found.events) == len(inner)
    for event, knot in zip(found.events, inner, strict=True):
        assert event.lower <= knot <= event.upper
        assert event.upper - event.lower < 1e-4 * knot
    assert len(found.certificates) == len(inner) + 1
    assert found.covered > 0.999
    assert coefs.shape[1] == len(knots)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda v: type(v).__name__)
def test_supports_within_ranges(loss):
    rng = np.random.default_rng(0)
    X, y = diabetes()
    y = y if loss.quadratic else np.sign(y)
    problem = Problem(X[:150], y[:150], loss=loss, intercept=True)
    found = path(problem, n=5, ratio=0.3).certificates()
    assert found.covered > 0.99
    for (low, high), certificate in zip(found.ranges, found.certificates, strict=True):
        strength = float(rng.uniform(low, high))
        x = solve(problem.at_penalty(Linear(strength)), tol=1e-12).x
        assert np.array_equal(x != 0, certificate.nonzero)
        assert (certificate.lower <= x + 1e-9).all()
        assert (x - 1e-9 <= certificate.upper).all()
    frame = found.to_frame()
    assert list(frame.columns) == ["lower", "upper", "enters", "leaves"]
    assert "certificates for" in repr(found)


def test_events_have_names():
    X, y = diabetes()
    found = path(Problem(X, y, names=[f"gene {k}" for k in range(10)]), n=5, ratio=0.5).certificates()
    assert found.events[0].enters[0].startswith("gene")


GROUPS = [0, 0, 1, 1, 1, 2, 3, 3, 3, 4]


@pytest.mark.parametrize("pieces", [{"gauge": Group(GROUPS)}, {"ridge": 0.1}, {"gauge": Group(GROUPS), "ridge": 0.1}])
def test_paths_of_groups_and_of_the_elastic_net(pieces):
    """Within every range, exactly those blocks are in the model that its certificate says are."""
    rng = np.random.default_rng(0)
    X, y = diabetes()
    problem = Problem(X[:150], y[:150], intercept=True, **pieces)
    found = path(problem, n=5, ratio=0.3).certificates()
    assert found.covered > 0.99
    assert found.events
    for (low, high), certificate in zip(found.ranges, found.certificates, strict=True):
        here = solve(problem.at_penalty(Linear(float(rng.uniform(low, high)))), tol=1e-12)
        assert np.array_equal(problem.core.sizes(here.lifted) > 0, certificate.nonzero)
        assert (certificate.lower <= here.x + 1e-9).all()
        assert (here.x - 1e-9 <= certificate.upper).all()
    if "gauge" in pieces:
        assert {name for event in found.events for name in event.enters} <= set(problem.gauge.names())


@pytest.mark.parametrize(
    ("problem", "what"),
    [
        (Problem(np.eye(3), [1.0, 2.0, 3.0], gauge=LInf()), "gauges without blocks"),
        (Problem(np.eye(4), [0, 1, 0, 1], loss=Multinomial()), "two classes"),
    ],
)
def test_paths_that_are_refused(problem, what):
    with pytest.raises(ValueError, match=what):
        path(problem, n=3, ratio=0.5).certificates()


# -- several classes ---------------------------------------------------------------------------------------------------


def iris():
    X, y = load_iris(return_X_y=True)
    return X / X.std(axis=0), y


CLASSES = [{}, {"gauge": Group()}, {"ridge": 0.02}, {"gauge": Group([0, 0, 1, 1])}]


@pytest.mark.parametrize("pieces", CLASSES, ids=["L1", "rows", "ridge", "groups"])
def test_paths_of_several_classes(pieces):
    """Within every range, exactly those blocks are in the model that its certificate says are; the checker agrees."""
    rng, (X, y) = np.random.default_rng(0), iris()
    problem = Problem(X, y, loss=Multinomial(), intercept=True, names=("a", "b", "c", "d"), **pieces)
    found = path(problem, n=2, ratio=0.9).certificates()
    assert found.covered > 0.999
    assert found.events
    if not isinstance(problem.gauge, Group) or problem.gauge.groups is None:
        assert found.events[0].enters[0][0] == "c"
    for (low, high), certificate in zip(found.ranges, found.certificates, strict=True):
        here = solve(problem.at_penalty(Linear(float(rng.uniform(low, high)))), tol=1e-12)
        assert np.array_equal(problem.core.sizes(here.lifted) > 0, certificate.nonzero)
        assert (certificate.lower <= here.x + 1e-9).all()
        assert (here.x - 1e-9 <= certificate.upper).all()
    assert verify(found.certificates[-1], X, y)


@pytest.mark.parametrize("gauge", [L1(), Group()], ids=repr)
def test_knots_of_several_classes_are_where_supports_change(gauge):
    """Between two events losses are curved, and just above an event the next knot is that event."""
    X, y = load_wine(return_X_y=True)
    problem = Problem(X / X.std(axis=0) + 100.0, y, loss=Multinomial(), gauge=gauge, intercept=True)
    found = path(problem, n=2, ratio=0.91).certificates()
    assert found.events
    for event in found.events:
        above = event.upper * (1 + 1e-4)
        knot = next_knot(solve(problem.at_penalty(Linear(above)), tol=1e-13), above)
        assert knot == pytest.approx(event.upper, rel=1e-5)


def covers_of_classes(seeds, *, ratio=0.93, check=False):
    """Return how many certificates cover random paths, how many members were shown to them, and what is false."""
    told, false = Counter(), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d, classes = int(rng.integers(8, 25)), int(rng.integers(2, 5)), int(rng.choice([3, 3, 4]))
        X = rng.standard_normal((n, d)) + rng.choice([0.0, 0.0, 1e3])
        y = np.argmax((X - X.mean(axis=0)) @ rng.standard_normal((d, classes)) + rng.gumbel(size=(n, classes)), axis=1)
        y[:classes] = range(classes)
        prices = rng.uniform(0.5, 2, d)
        prices[0] = rng.choice([0.0, 1.0, np.inf], p=[0.2, 0.7, 0.1])
        gauge = (L1(), L1(prices), Group(), Group(np.sort(rng.integers(0, 2, d)).tolist()))[int(rng.integers(4))]
        given = {"sample_weight": rng.uniform(0.2, 2, n) if rng.random() < 0.3 else None}
        given["free"] = rng.standard_normal((n, 1)) if rng.random() < 0.2 else None
        ridge = 0.05 if rng.random() < 0.3 else 0.0
        problem = Problem(X, y, loss=Multinomial(), gauge=gauge, intercept=True, ridge=ridge, **given)
        try:
            found = path(problem, n=2, ratio=ratio).certificates()
        except ValueError:  # columns without a price that separate the classes
            continue
        told["covers"] += 1
        told["whole"] += found.covered > 0.99
        for (low, high), certificate in zip(found.ranges, found.certificates, strict=True):
            told["certificates"] += 1
            for strength in (low, high, float(rng.uniform(low, high))):
                member = solve(problem.at_penalty(Linear(strength)), tol=1e-13).certificate()
                told["members"] += member.valid
                false += [(seed, strength, wrong) for wrong in contradicted(certificate, member)]
        if check and not (verdict := verify(found.certificates[-1], X, y, **given)):
            false.append((seed, str(verdict)))
    return told, false


def test_no_certificate_of_a_path_is_false():
    told, false = covers_of_classes(range(3), check=True)
    assert false == []
    assert told["whole"] >= 2
    assert told["members"] > 12


@pytest.mark.deep
def test_no_certificate_of_many_paths_is_false():
    told, false = covers_of_classes(range(100, 112), ratio=0.85)
    assert false == []
    assert told["whole"] > 9


def test_shorter_distances_would_be_noticed():
    with cut(1e-3):
        _, false = covers_of_classes(range(2))
    assert len(false) > 10


@pytest.mark.parametrize("pieces", [{}, {"gauge": Group(GROUPS)}, {"ridge": 0.1}], ids=["L1", "groups", "ridge"])
def test_knots_are_where_supports_change(pieces):
    """For the squared loss the next knot is that of the path; groups turn, and it is near by."""
    X, y = diabetes()
    problem = Problem(X + 100.0, y + 1e3, intercept=True, **pieces)
    found = path(problem, n=5, ratio=0.2).certificates()
    for event in found.events[:3]:
        above = event.upper * (1.2 if "gauge" not in pieces else 1.001)
        before = [e.upper for e in found.events if event.upper < e.upper < above]
        result = solve(problem.at_penalty(Linear(above)), tol=1e-13)
        knot = next_knot(result, above)
        assert (before or [event.upper])[0] == pytest.approx(knot, rel=1e-4)


class Impatient:
    """A watcher who presses Ctrl-C: after so many iterations, or so many certificates."""

    def __init__(self, iterations=np.inf, certificates=np.inf):
        self.left, self.told, self.texts = iterations, certificates, []

    def see(self, progress, target):  # noqa: ARG002
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def say(self, text):
        self.texts.append(text)
        if len(self.texts) >= self.told:
            raise KeyboardInterrupt

    def end(self):
        pass


def test_watchers_are_told_of_every_certificate():
    X, y = diabetes()
    found = path(Problem(X, y), n=5, ratio=0.1)
    somebody = Impatient()
    with watched_by(somebody):
        whole = found.certificates()
    assert len(somebody.texts) == len(whole.certificates)
    assert somebody.texts[-1] == f"{len(whole.certificates)} certificates for 100.0 % of the strengths"
    assert somebody.left == np.inf
    assert not whole.interrupted


@pytest.mark.parametrize("pressed", [{"certificates": 3}, {"iterations": 25}, {"iterations": 0}], ids=repr)
def test_an_interrupted_cover_has_what_was_found(pressed):
    """Ctrl-C between certificates, within a run, and before anything is found."""
    X, y = diabetes()
    found = path(Problem(X, y), n=5, ratio=0.01)
    whole = found.certificates()
    with watched_by(Impatient(**pressed)):
        part = found.certificates()
    assert part.interrupted
    assert "interrupted" in repr(part)
    assert not whole.interrupted
    assert part.covered < whole.covered
    assert part.ranges == whole.ranges[: len(part.ranges)]
    assert part.strengths == whole.strengths
    assert ("certificates" in pressed) == (len(part.certificates) == 3)


def test_ctrl_c_ends_a_certificate_for_strengths():
    """The run to the middle of the range answers Ctrl-C with its best point; the certificate does not take that."""
    X, y = diabetes()
    result = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-12)
    with watched_by(Impatient(iterations=1)), pytest.raises(KeyboardInterrupt):
        result.certificate(strengths=(0.01, 0.15))


def test_watchers_are_told_of_samples():
    X, y = diabetes()
    certificate = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-12).certificate()
    somebody = Impatient()
    with watched_by(somebody):
        found = certificate.without_each_sample()
    assert somebody.texts[-1] == f"{found.sum()} of {len(y)} samples can be left out, so far"
