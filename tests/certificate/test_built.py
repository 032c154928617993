"""No false claim about problems that are built around their solutions; and false claims would be noticed."""

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from built import build
from flint import fmpq
from judge import CUTS, KINDS, POINTS, Tally, cut, judge, points, problem_of, run, start_of, try_problem
from polished import polish
from solutions import Stated, ceil, floor, known
from truth import solve_exactly

from atomsieve import Ball, Group, Huber, Linear, Scaled, Square, Squared, solve
from atomsieve.certificate import certify


@pytest.mark.parametrize("part", range(4))
def test_no_false_claim(part):
    tally = run(part, range(50))
    assert tally.faults == []
    whole = tally.whole
    assert whole["certificates"] > 45 * POINTS
    assert min(whole[name] for name in ("zeros", "nonzeros", "intervals", "values")) > 100
    assert sum(tally.refusals.values()) < 6


@pytest.mark.deep
@pytest.mark.parametrize("part", range(100, 104))
def test_no_false_claim_in_very_many(part):
    tally = run(part, range(1000 // POINTS))
    assert tally.faults == []
    assert set(tally.kinds) == set(KINDS)


@pytest.mark.parametrize("name", CUTS)
def test_smaller_bounds_would_be_noticed(name):
    """A thousandth of the true bounds: false claims in a few problems."""
    with cut(name):
        tally = run(7, range(30), check=False)
    assert tally.whole["false"] > 12
    assert len({fault["kind"] for fault in tally.faults}) > 3


def test_every_kind_of_claim_would_be_noticed():
    with cut("gap"):
        tally = run(8, range(60), check=False)
    words = Counter(wrong.rsplit(" ", 1)[0] for fault in tally.faults for wrong in fault["wrong"])
    assert set(words) == {"zero", "non-zero", "lower", "upper", "free lower", "free upper", "value"}


def test_the_checker_refuses_what_is_false(monkeypatch):
    """What the truth refutes is refused by the checker as well."""
    monkeypatch.setattr("judge.CHECKED", 1)
    tally = Tally()
    with cut("gap"):
        for number in range(12):
            try_problem(9, number, tally)
    false = [fault for fault in tally.faults if any(not wrong.startswith("refused") for wrong in fault["wrong"])]
    assert len(false) > 5
    assert all(fault["wrong"][-1].startswith("refused") for fault in false)


def stated(A, y, x, B=None, b=(), **changes):
    """Return a problem with the squared loss and a penalty of slope 1, and what is said to be its solution."""
    A = np.array(A, dtype=float)
    n, d = A.shape
    parts = {
        "loss": Squared(),
        "penalty": Linear(1.0 / n),
        "weights": np.ones(n),
        "total": float(n),
        "offset": np.zeros(n),
        "labels": np.arange(d),
        "prices": np.ones(d),
        "signed": np.ones(d, dtype=bool),
        "ridge": np.zeros(d),
    }
    B = np.zeros((n, 0)) if B is None else np.array(B, dtype=float)
    return Stated(A=A, B=B, y=np.array(y), x=np.array(x), b=np.array(b), **parts | changes)


class TestSolutions:
    twins = ((1.0, 1.0),)

    def test_all_of_them_are_known(self):
        truth = known(stated(self.twins, [3.0], [2.0, 0.0]))
        assert sorted(corner.tolist() for corner in truth.corners) == [[0, 2], [2, 0]]
        assert not truth.zero.any()
        assert not truth.nonzero.any()
        assert truth.low.tolist() == [0, 0]
        assert truth.high.tolist() == [2, 2]
        assert truth.value == (2.5, 2.5)

    def test_what_is_no_solution_is_not_taken_for_one(self):
        assert known(stated(self.twins, [3.0], [2.0, 0.5])) is None
        assert known(stated(self.twins, [3.0], [3.0, -1.0])) is None
        assert known(stated(self.twins, [3.0], [2.0, 0.0], prices=np.array([1.0, 0.5]))) is None
        assert known(stated(self.twins, [3.0], [2.0, 0.0], penalty=Square(1.0))) is None
        assert known(stated(self.twins, [3.0], [2.0, 0.0], signed=np.array([True, False]))) is not None

    def test_a_tie_may_be_zero_in_every_solution(self):
        truth = known(stated([[1.0, 1.0], [0.0, 4.0]], [3.0, 0.0], [2.0, 0.0]))
        assert truth.zero.tolist() == [False, True]
        assert truth.nonzero.tolist() == [True, False]
        assert len(truth.corners) == 1

    def test_clipped_residuals_leave_room(self):
        """Beyond the kink of Huber's loss the prediction can move until it is reached."""
        truth = known(stated([[1.0, 0.0]], [5.0], [2.0, 0.0], loss=Huber(1.0)))
        assert truth.low.tolist() == [0, 0]
        assert truth.high.tolist() == [4, 0]

    def test_free_coefficients_of_dependent_columns_are_open(self):
        B = [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        truth = known(stated([[0.0], [1.0], [0.0], [0.0]], [1.0, 3.0, 7.0, 0.0], [2.0], B=B, b=[1.0, 0.0, 7.0]))
        assert truth.nonzero.all()
        assert truth.free_low.tolist() == [-np.inf, -np.inf, 7.0]

    @pytest.mark.parametrize("v", [fmpq(1, 3), fmpq(-1, 3), fmpq(1, 2), fmpq(10) ** 30 + fmpq(1, 7), fmpq(0)])
    def test_ends(self, v):
        low, high = floor(v), ceil(v)
        assert fmpq(*low.as_integer_ratio()) <= v <= fmpq(*high.as_integer_ratio())
        assert high in (low, np.nextafter(low, np.inf))


def test_corners_agree_with_those_found_by_trying_all_signs():
    compared = several = 0
    for number in range(800):
        built = build(np.random.default_rng([11, number]), "Squared")
        if built is None or built.X.shape[1] > 6 or not isinstance(built.pieces["penalty"], (Linear, Square, Ball)):
            continue
        if isinstance(built.pieces["gauge"], (Group, Scaled)):
            continue
        problem = built.problem()
        if problem.span is not None or not problem.eligible.all() or "inside" in built.traits:
            continue
        found = solve_exactly(
            problem.design.columns(np.arange(built.X.shape[1])),
            built.y - (0.0 if built.given["offset"] is None else built.given["offset"]),
            built.pieces["penalty"],
            counts=problem.data.stated_weights,
            prices=problem.core.prices(problem.shape),
            signed=np.broadcast_to(problem.core.signs(problem.shape), problem.shape),
            ridge=np.full(problem.shape, built.pieces["ridge"]),
        )
        assert {tuple(int(v.p) / int(v.q) for v in x) for x in found.corners} == {
            tuple(x.tolist()) for x in built.truth.corners
        }
        assert (floor(found.value), ceil(found.value)) == built.truth.value
        compared += 1
        several += len(found.corners) > 1
    assert compared > 30
    assert several > 2


def test_newton_agrees_with_the_solver():
    """The other truth, in balls of 300 bits, is what the solver finds."""
    rng = np.random.default_rng(0)
    built = next(built for built in iter(lambda: polish(rng, "Logistic"), 0) if built is not None)
    assert np.allclose(solve(built.problem(), tol=1e-13).lifted, built.x, atol=1e-5)


def test_one_unit_in_the_last_place_is_noticed():
    _, built, rng = problem_of(0, 3)
    problem = built.problem()
    x = next(points(rng, problem, built))
    certificate = certify(problem, x.reshape(problem.shape), start_of(problem))
    assert judge(certificate, built.truth)[1] == []
    built.truth.value = (np.nextafter(certificate.dual, -np.inf), certificate.primal)
    assert judge(certificate, built.truth)[1] == ["value 0"]


class TestCommand:
    """`python benchmarks/truth.py`."""

    @pytest.fixture
    def command(self, monkeypatch, tmp_path):
        path = Path(__file__).resolve().parents[2] / "benchmarks" / "truth.py"
        spec = importlib.util.spec_from_file_location("truth_by_the_million", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setattr(sys, "path", list(sys.path))
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", ["truth.py", "--count", "40", "--out", str(tmp_path / "truth.json")])
        return module

    def test_counts_are_written(self, command, tmp_path, capsys):
        assert command.main() == 0
        table = json.loads((tmp_path / "truth.json").read_text())
        assert table["finished"]
        assert table["whole"]["certificates"] == 40
        assert table["whole"]["false"] == 0
        assert "| all | 40 |" in capsys.readouterr().out

    def test_families_are_among_them(self, command, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "argv", [*sys.argv, "--first", "19", "--seed", "1"])
        assert command.main() == 0
        kinds = json.loads((tmp_path / "truth.json").read_text())["kinds"]
        assert sum(kinds[kind]["certificates"] for kind in kinds if kind.endswith(", family")) == 1

    def test_an_interrupted_run_keeps_its_counts(self, command, tmp_path, capsys, monkeypatch):
        def interrupted(seed, number, tally):
            if number == 3:
                raise KeyboardInterrupt
            try_problem(seed, number, tally)

        monkeypatch.setattr(command, "try_problem", interrupted)
        assert command.main() == 0
        table = json.loads((tmp_path / "truth.json").read_text())
        assert not table["finished"]
        assert table["whole"]["certificates"] == 3 * POINTS
        assert "Interrupted" in capsys.readouterr().out

    def test_false_claims_are_the_exit_status(self, command, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", [*sys.argv, "--cut", "gap"])
        assert command.main() == 1
        assert "False: " in capsys.readouterr().out


def test_offsets_that_overflow_get_a_sentence():
    """Poisson with offsets of 1e7: the rates at x = 0 are infinite, and so are their second derivatives."""
    _, built, _ = problem_of(21, 85)
    with pytest.raises(ValueError, match="could not be fitted to full precision"):
        solve(built.problem())
