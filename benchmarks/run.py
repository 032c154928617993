"""Time to a given duality gap: every solver on every problem, each over a ladder of its own tolerances.

    python benchmarks/run.py                              everything that has no result yet
    python benchmarks/run.py --only lasso --data leu      one problem on one dataset
    python benchmarks/run.py --solver atomsieve --force   ours again
    python benchmarks/run.py --list                       what there is

`report.py` makes a page of the results. The solvers, datasets and objective are those of benchopt in this folder.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark_utils.components import Component, components
from benchmark_utils.store import ENDS, Cell
from benchmark_utils.table import SCALING, STRENGTHS, TARGETS, TASKS

SETUP, WARM_UP = 900.0, 60.0
"""Seconds for reading data and computing a reference solution, and, beyond the limit, for a first fit that compiles."""

PATH = 4
"""How many times as long as a single fit a path may take, all rungs together."""

WORKER = Path(__file__).with_name("worker.py")


THREAD_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def events(job: dict[str, Any], limits: list[float], threads: int) -> Iterator[dict[str, Any]]:
    """Run a worker and yield what it says; end it when a problem takes longer than its limit."""
    environment = os.environ | (dict.fromkeys(THREAD_POOLS, str(threads)) if threads else {})
    worker = subprocess.Popen(  # noqa: S603 -- our own file
        [sys.executable, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    heard: queue.Queue[str | None] = queue.Queue()
    complaints: list[str] = []

    def listen() -> None:
        for line in worker.stdout:
            heard.put(line)
        heard.put(None)

    listeners = (listen, lambda: complaints.extend(worker.stderr))
    for listener in listeners:
        threading.Thread(target=listener, daemon=True).start()
    worker.stdin.write(json.dumps(job))
    worker.stdin.close()
    deadline = time.monotonic() + SETUP
    try:
        while (line := heard.get(timeout=max(0.0, deadline - time.monotonic()))) is not None:
            event = json.loads(line)
            limit = limits[event["problem"]]
            allowed = dict.fromkeys(ENDS, SETUP) | {"began": limit + WARM_UP, "warm": limit}
            yield event
            deadline = time.monotonic() + allowed.get(event["event"], deadline - time.monotonic())
        if worker.wait() != 0:
            yield {"event": "error", "problem": None, "reason": "".join(complaints[-3:]).strip() or "the process died"}
    except queue.Empty:
        yield {"event": "timeout", "problem": None}
    finally:
        worker.kill()
        worker.wait()


def measure(dataset: Component, solver: Component, cells: list[Cell]) -> None:
    """Measure cells that share a dataset and a solver; a worker that has to be ended is followed by another."""
    while cells:
        job = {
            "dataset": asdict(dataset),
            "solver": asdict(solver),
            "problems": [{"task": cell.task, "reg": cell.reg} for cell in cells],
            "targets": TARGETS,
        }
        current = 0
        for event in events(job, [cell.limit for cell in cells], cells[0].threads):
            number = event.pop("problem")
            current = current if number is None else number
            cells[current].take(**event)
            if event["event"] in ENDS:
                finish(cells[current])
                current += 1
        cells = cells[max(current, 1) :]


def finish(cell: Cell) -> None:
    """Keep a cell and say so."""
    cell.save()
    arrivals = [rung for target in TARGETS if (rung := cell.quickest_below(target))]
    best = cell.best()
    if cell.reason:
        outcome = f"{cell.status}: {cell.reason}"[:160]
    elif arrivals:
        outcome = ", ".join(f"{rung['time']:.4f} s to {rung['gap']:.1e}" for rung in arrivals)
    else:
        outcome = f"{cell.status}, best gap {best['gap']:.1e} in {best['time']:.3f} s" if best else cell.status
    print(f"{cell.task:14s} {cell.reg!s:5s} {cell.dataset:30s} {cell.solver:24s} {outcome}", flush=True)


def chosen(component: Component, names: list[str] | None) -> bool:
    return not names or any(str(component) == name or str(component).split("[")[0] == name for name in names)


def grid(options: argparse.Namespace) -> Iterator[tuple[Component, Component, list[Cell]]]:
    """Yield what is to be measured: dataset, solver and their cells."""
    tasks = [task for task in TASKS if not options.only or task in options.only]
    strengths = [reg for reg in STRENGTHS if not options.reg or str(reg) in options.reg]
    solvers = [solver for solver in components("solvers") if chosen(solver, options.solver)]
    for dataset in components("datasets"):
        regs = [reg for reg in strengths if reg == 0.1 or not str(dataset).startswith(SCALING)]
        for solver in solvers:
            names = (str(dataset), str(solver))
            cells = [
                Cell(task, reg, *names, limit=options.limit * (PATH if reg == "path" else 1), threads=options.threads)
                for task in tasks
                for reg in regs
            ]
            fresh = [cell for cell in cells if options.force or not cell.file.is_file()]
            if fresh and chosen(dataset, options.data):
                yield dataset, solver, fresh


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TASKS, help="which problems")
    parser.add_argument("--reg", nargs="+", choices=[str(reg) for reg in STRENGTHS], help="which strengths")
    parser.add_argument("--data", nargs="+", help="which datasets")
    parser.add_argument("--solver", nargs="+", help="which solvers")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for one solver on one fit, all rungs")
    parser.add_argument("--threads", type=int, default=1, help="for linear algebra; 0: what packages choose")
    parser.add_argument("--force", action="store_true", help="measure again what has a result")
    parser.add_argument("--list", action="store_true", help="say what would be measured, and stop")
    options = parser.parse_args()
    for dataset, solver, cells in grid(options):
        if options.list:
            print(f"{dataset!s:32s} {solver!s:24s} {len(cells)} problems")
        else:
            measure(dataset, solver, cells)


if __name__ == "__main__":
    main()
