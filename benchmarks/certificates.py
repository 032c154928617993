"""Certificates on real data: what is decided, what they cost, and which rule decides how much.

    python benchmarks/certificates.py             what is decided: a Markdown table
    python benchmarks/certificates.py cost        time and memory beside a solve: a Markdown table
    python benchmarks/certificates.py rules       the rules, one beside the other at equal points
    python benchmarks/certificates.py check       the independent checker on them: time and memory (--scaled: columns
                                                  of variance or mean square 1)
    python benchmarks/certificates.py families    digits that may be unknown, samples that may be left out, whole paths
    python benchmarks/certificates.py classes     the same digits for several classes (data of scikit-learn)

Needs the folder named by ATOMSIEVE_DATA; a set that is not there is skipped.
"""

import argparse
import itertools
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_digits, load_iris, load_wine

from atomsieve import L1, Group, Linear, Logistic, Multinomial, Pairwise, Problem, Square, Squared, path, solve, verify
from atomsieve.certificate.dependence import linked_columns
from atomsieve.certificate.gap import prove
from atomsieve.certificate.statement import Statement
from atomsieve.screening.rules import PairwiseRule, PaperRule
from benchmark_utils.components import Component
from benchmark_utils.memory import peak_memory

SETS = ("leu", "colon", "riboflavin", "dorothea", "newsgroups", "a9a", "mnist", "simulated")
PARAMETERS = {"simulated": {"n, d": (2000, 10000)}}
FRACTIONS = (0.3, 0.1, 0.03)


def problems(
    names: tuple[str, ...], prepare: Callable[[Any], Any] = lambda X: X
) -> Iterator[tuple[str, str, Problem, Any, np.ndarray]]:
    """Yield every set with both losses, with and without an intercept."""
    for name in names:
        data = Component(f"datasets/{name}.py", PARAMETERS.get(name, {})).instance().get_data()
        if data["X"] is None:
            print(f"{name}: {data['reason']}", file=sys.stderr)
            continue
        data["X"] = prepare(data["X"])
        for loss in (Squared(), Logistic()):
            y = (
                data["y"]
                if loss.quadratic
                else data.get("labels", np.where(data["y"] > np.median(data["y"]), 1.0, -1.0))
            )
            for intercept in (False, True):
                label = f"{type(loss).__name__}{', intercept' if intercept else ''}"
                yield name, label, Problem(data["X"], y, loss=loss, intercept=intercept), data["X"], y


def best_time(call: Callable[[], Any], times: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the least of several times."""
    found = []
    for _ in range(times):
        start = clock()
        call()
        found.append(clock() - start)
    return min(found)


def strength(names: tuple[str, ...]) -> None:
    """Print what is decided of each set, raw and scaled, over both penalties and three strengths, `until="decided"`.

    Features whose columns depend on others are counted apart: what is known of them is said by sums of coefficients.
    """
    print("| data | columns | problem | problems | all decided | undecided | of these in dependent sets | gap bound |")
    print("|---|---|---|---|---|---|---|---|")
    for columns, prepare in (("raw", lambda X: X), ("scaled", scaled)):
        for name, label, problem, _, _ in problems(names, prepare):
            undecided, linked, gaps = [], [], []
            for kind, fraction in itertools.product((Linear, Square), FRACTIONS):
                chosen = problem.at_penalty(kind(fraction * problem.origin.sigma))
                certificate = solve(chosen, until="decided").certificate()
                left = np.flatnonzero(certificate.undecided)
                undecided.append(len(left))
                sets = linked_columns(certificate.dependencies)
                linked.append(len(np.intersect1d(left, [j for columns in sets for j in columns])))
                gaps.append(certificate.gap / problem.baseline)
            counts = f"{len(gaps)} | {undecided.count(0)} | {spread(undecided)} | {spread(linked)}"
            print(f"| {name} | {columns} | {label} | {counts} | {max(gaps):.0e} |", flush=True)


def spread(counts: list[int]) -> str:
    """Return the least and the largest number."""
    return f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])


def cost(names: tuple[str, ...]) -> None:
    """Print what a certificate costs beside the solve to a relative gap of 1e-9 that it follows, for Linear at a tenth.

    Times are those of the processor, the best of five, and of the memory the peak beside X.
    """
    print("| data | columns | problem | solve, ms | certificate, ms | ratio | decided | memory / X | undecided |")
    print("|---|---|---|---|---|---|---|---|---|")
    for columns, prepare in (("raw", lambda X: X), ("scaled", scaled)):
        for name, label, problem, X, _ in problems(names, prepare):
            chosen = problem.at_penalty(Linear(0.1 * problem.origin.sigma))
            result = solve(chosen, tol=1e-9)
            solved = best_time(lambda: solve(chosen, tol=1e-9), 5, time.process_time)  # noqa: B023 -- called here
            proven = best_time(lambda: replace(result).certificate(), 5, time.process_time)  # noqa: B023
            decided = best_time(lambda: solve(chosen, tol=1e-9, until="decided"), 2, time.process_time)  # noqa: B023
            memory = peak(lambda: replace(result).certificate()) / size_of(X)  # noqa: B023
            times = f"{1e3 * solved:.1f} | {1e3 * proven:.1f} | {proven / solved:.1f} | {decided / solved:.1f}"
            undecided = int(result.certificate().undecided.sum())
            print(f"| {name} | {columns} | {label} | {times} | {memory:.2f} | {undecided} |", flush=True)


def scaled(X: Any) -> Any:
    """Return columns of variance 1; those of a sparse matrix have a mean square of 1 and stay sparse."""
    if issparse(X):
        roots = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
        return X.multiply(1 / np.where(roots > 0, roots, 1.0)[None]).asformat(X.format)
    deviations = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)


def peak(call: Callable[[], Any]) -> int:
    """Return the most bytes that a call holds at a time beyond what was there."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def size_of(X: Any) -> int:
    """Return the bytes of a matrix."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes


def rules(names: tuple[str, ...]) -> None:
    """Print how many coefficients each rule rules out at the same points."""
    print("| data | problem | relative gap | paper | data space | pairwise | local curvature | zero in truth |")
    print("|---|---|---|---|---|---|---|---|")
    for name, label, problem, _, _ in problems(names):
        chosen = problem.at_penalty(Square(0.1 * problem.origin.sigma))
        truth = int(solve(chosen, tol=1e-13).certificate().zero.sum())
        for tol in (1e-2, 1e-3, 1e-4, 1e-5):
            result = solve(chosen, Pairwise(), tol=tol, screening="off")
            point = chosen.at(chosen.state(result.lifted, result.point.state.coordinates), chosen.eligible)
            paired = PairwiseRule()
            paired._looks = 8  # so that it spends its product here
            kept = [PaperRule().keep(point), PairwiseRule().keep(point), paired.keep(point)]
            statement = Statement.of(chosen)
            b = np.zeros(0) if chosen.span is None else chosen.span.coefficients(point.state.coordinates)
            local = int(prove(statement, result.lifted, b).zero().sum())
            counts = " | ".join(str(int((~mask).sum())) for mask in kept)
            relative = point.gap / problem.baseline
            print(f"| {name} | {label} | {relative:.0e} | {counts} | {local} | {truth} |", flush=True)


def check(names: tuple[str, ...], prepare: Callable[[Any], Any] = lambda X: X) -> None:
    """Print what the independent checker says, its time as a multiple of a solve to 1e-9, and its peak memory."""
    print("| data | problem | penalty | left | valid | solve, ms | verify, ms | ratio | memory, MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, label, problem, X, y in problems(names, prepare):
        for kind in (Square, Linear):
            chosen = problem.at_penalty(kind(0.1 * problem.origin.sigma))
            certificate = solve(chosen, tol=1e-13).certificate()
            valid = verify(certificate, X, y).valid
            solved = best_time(lambda chosen=chosen: solve(chosen, tol=1e-9), clock=time.process_time)
            seconds = best_time(lambda told=certificate, X=X, y=y: verify(told, X, y), clock=time.process_time)
            memory = peak_memory(lambda told=certificate, X=X, y=y: verify(told, X, y))
            told = f"{kind.__name__} 0.1 | {int((~certificate.zero).sum())} | {'yes' if valid else 'NO'}"
            times = f"{1e3 * solved:.1f} | {1e3 * seconds:.0f} | {seconds / solved:.0f}"
            held = "-" if memory is None else f"{memory:.0f}"
            print(f"| {name} | {label} | {told} | {times} | {held} |", flush=True)


def families(names: tuple[str, ...]) -> None:
    """Print how much of the data may be unknown before the first verdict is lost, for Linear at a tenth."""
    print("| data | loss | features | error of X | error of X and y | samples | certificates | events | covered |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, label, problem, _, y in problems(names):
        if not problem.data.intercept:
            continue
        top = problem.origin.sigma
        result = solve(problem.at_penalty(Linear(0.1 * top)), tol=1e-14)
        certificate = result.certificate()
        errors = [largest_error(result, targets=targets) for targets in (False, problem.loss.translates)]
        samples = certificate.without_each_sample()
        covered = path(problem, n=10, ratio=0.1).certificates()
        told = f"{certificate.nonzero.sum()} | {errors[0]:.1e} | {errors[1]:.1e} | {samples.sum()} of {len(y)}"
        whole = f"{len(covered.certificates)} | {len(covered.events)} | {100 * covered.covered:.4g} %"
        print(f"| {name} | {label.partition(',')[0]} | {told} | {whole} |", flush=True)


def classes(_: tuple[str, ...]) -> None:
    """Print how much of X may be unknown before the first verdict is lost, for several classes and Linear at a tenth.

    Features are in units of their spread. Times are those of a family with half of that error, CPU time.
    """
    print("| data | size | classes | gauge | in the model | error of X | family, ms | verify, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        X = X[:, X.std(axis=0) > 0]
        X = X / X.std(axis=0)
        for gauge in (L1(), Group()):
            problem = Problem(X, y, loss=Multinomial(), gauge=gauge, intercept=True)
            result = solve(problem.at_penalty(Linear(0.1 * problem.origin.sigma)), tol=1e-14, until="decided")
            error = largest_error(result, targets=False)
            asked = {"x_error": error / 2, "relative": True}
            seconds = best_time(lambda asked=asked, of=result.certificate: of(**asked), clock=time.process_time)
            told = result.certificate(**asked)
            checked = best_time(lambda told=told, X=X, y=y: _accepted(told, X, y), times=2, clock=time.process_time)
            size = f"{X.shape[0]} x {X.shape[1]} | {len(set(y))} | {type(gauge).__name__} | {told.nonzero.sum()}"
            times = f"{1e3 * seconds:.0f} | {1e3 * checked:.0f}"
            print(f"| {name} | {size} | {error:.1e} | {times} |", flush=True)


def _accepted(told: Any, X: Any, y: Any) -> None:
    """Let the checker look at a certificate; an honest one is accepted."""
    verdict = verify(told, X, y)
    if not verdict:
        sys.exit(str(verdict))


def largest_error(result: Any, *, targets: bool) -> float:
    """Return the largest error, relative to each entry, at which every coefficient is still decided."""
    low, high = 1e-12, 1.0
    while high > 1.1 * low:
        error = float(np.sqrt(low * high))
        found = result.certificate(x_error=error, y_error=error if targets else None, relative=True)
        low, high = (error, high) if found.valid and not found.undecided.any() else (low, error)
    return low


TABLES = {"strength": strength, "cost": cost, "rules": rules, "check": check, "families": families, "classes": classes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="?", default="strength", choices=TABLES)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--scaled", action="store_true", help="scale the columns first (check only)")
    given = parser.parse_args()
    if given.scaled and given.what != "check":
        parser.error("--scaled is for check")
    check(tuple(given.data), scaled) if given.scaled else TABLES[given.what](tuple(given.data))


if __name__ == "__main__":
    main()
