"""Measures some problems on one dataset with one solver, in a process of its own; `run.py` starts it and may end it.

Reads a job as JSON from standard input and writes events as JSON lines to standard output, each as soon as it is known,
so that a run that has to be ended still counts for what it did.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmark_utils.components import Component, objective
from benchmark_utils.ladder import RUNGS
from benchmark_utils.memory import peak_memory

Emit = Callable[..., None]

FAR = 100.0
"""How many times the next target a gap is at least where one rung is left out before the next try."""

SETTLE = (9, 6.0)
"""At most so many runs and seconds of the rung that first reaches a target; the best run counts."""


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_time(action: Callable[[], object], first: float) -> float:
    """Return the least of several times, the first of which is known."""
    best = spent = first
    for _ in range(SETTLE[0] - 1):
        if spent >= SETTLE[1]:
            break
        took = timed(action)
        best, spent = min(best, took), spent + took
    return best


def climb(solver: Any, judge: Any, targets: list[float], emit: Emit) -> None:
    """Run the solver at one tolerance after the other, until its gap is below all targets; two at a time while far.

    The rungs that reach a target are repeated afterwards: a run that has to be ended has then come as far as it could.
    """
    ahead = sorted(targets, reverse=True)
    arrivals = []
    skip = False
    for tol in RUNGS:
        if skip:
            skip = False
            continue
        took = timed(partial(solver.run, tol))
        quality = judge.evaluate_result(**solver.get_result())
        rung = {"tol": tol, "gap": quality["value"], "nonzero": quality["nonzero"], "primal": quality["primal"]}
        emit("rung", **rung, time=took)
        arrived = [target for target in ahead if quality["value"] <= target]
        if arrived:
            arrivals.append((rung, took))
        ahead = ahead[len(arrived) :]
        if not ahead:
            break
        skip = quality["value"] > FAR * ahead[0]
    arrivals.sort(key=lambda arrival: arrival[0]["gap"] > targets[0])  # the main target first
    for place, (rung, took) in enumerate(arrivals):
        emit("rung", **rung, time=best_time(partial(solver.run, rung["tol"]), took))
        if place == 0 and rung["gap"] <= targets[0]:
            emit("memory", megabytes=peak_memory(partial(solver.run, rung["tol"])))


def measure(dataset: dict[str, Any], solver: Any, problem: dict[str, Any], targets: list[float], emit: Emit) -> None:
    """Measure one problem; say what is skipped and why."""
    judge = objective(**problem)
    skip, reason = judge.skip(**dataset)
    if skip:
        emit("absent" if dataset["X"] is None else "skipped", reason=reason)
        return
    judge.set_data(**dataset)
    posed = judge.get_objective()
    skip, reason = solver.skip(**posed)
    if skip:
        emit("skipped", reason=reason)
        return
    X = posed["X"]
    emit("posed", shape=list(X.shape), entries=int(getattr(X, "nnz", X.size)))
    solver.set_objective(**posed)
    emit("began")
    solver.warm_up()
    emit("warm")
    climb(solver, judge, targets, emit)
    emit("done")


def main() -> None:
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what solvers print must not mix with the events
    dataset = Component(**job["dataset"]).instance().get_data()
    for number, problem in enumerate(job["problems"]):

        def emit(event: str, number: int = number, **facts: Any) -> None:
            print(json.dumps({"event": event, "problem": number, **facts}), file=channel)

        try:
            measure(dataset, Component(**job["solver"]).instance(), problem, job["targets"], emit)
        except ImportError as error:
            emit("absent", reason=f"not installed ({error})")
        except Exception as error:
            emit("error", reason=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
