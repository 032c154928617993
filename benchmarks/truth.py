"""Certificates against the truth, by the million.

    python benchmarks/truth.py --count 1000000 --seed 0
    python benchmarks/truth.py --count 5000 --cut gap             with bounds cut to a thousandth: is it noticed?
    python benchmarks/truth.py --seed 0 --first 1234 --count 1    one problem again, whose number a fault names
    python benchmarks/truth.py --facts --count 100000             gauges with facts about single coefficients
    python benchmarks/truth.py --shapes --count 100000            signals, graphs, matrices and combinatorial sets

With --facts, problems are those of tests/certificate/facts_built.py, and signs, clusters, saturated coefficients and
order are judged too; `--cut twentieth` leaves a twentieth of the radius. With --shapes they are those of
tests/certificate/shapes_built.py: jumps over the edges of lines, trees and graphs, bends, ranks, what atoms use.

Problems are built around their solutions (tests/certificate/built.py), and certified at points near them and far from
them. After every twentieth problem comes a random family (tests/certificate/families.py), and certificates of its
members contradict its claims or not. Counted are certificates, their claims, and which of them are false (none should
be), by kind of problem and by trait. Ctrl-C ends the run with the counts so far. The table is written to a JSON file
every half minute and at the end.
The exit status is 1 if a claim is false, or if the independent checker refuses one of those it is shown.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificate"))

from facts_built import POINTS as PLACES  # noqa: E402
from facts_built import try_facts  # noqa: E402
from families import try_family  # noqa: E402
from judge import CUTS, POINTS, Tally, cut, try_problem  # noqa: E402
from shapes_built import try_shape  # noqa: E402

from atomsieve.intake.files import write_text  # noqa: E402

OUT = Path(__file__).resolve().parent / "outputs" / "truth.json"
BATCH = 100
"""Problems that a process takes at once."""
FAMILIES = 20
"""After so many problems comes a random family of problems."""
PAUSE = 30.0
"""Seconds between two looks at the table."""
COLUMNS = (
    "certificates",
    "zeros",
    "nonzeros",
    "intervals",
    "values",
    "signs",
    "clusters",
    "saturated",
    "ordered",
    "subspaces",
    "false",
    "undecided",
    "silent",
    "checked",
    "refused",
)


def main() -> int:
    asked = _arguments()
    began = time.perf_counter()
    tally, looked = Tally(), began
    first, last = asked.first, asked.first + -(-asked.count // (POINTS if asked.of == "blocks" else PLACES))
    interrupted = False
    try:
        with cut(asked.cut) if asked.cut else nullcontext():
            for done in _run(asked, first, last, tally):
                if time.perf_counter() - looked > PAUSE:
                    looked = time.perf_counter()
                    _write(asked, tally, looked - began, finished=False)
                    print(_progress(tally, looked - began, done, last - first), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.perf_counter() - began
    _write(asked, tally, seconds, finished=not interrupted)
    print(_table(tally, seconds))
    if interrupted:
        print("Interrupted: these are the counts so far.")
    print(f"Written to {asked.out}.")
    return int(bool(tally.faults))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--count", type=int, default=10_000, help=f"certificates, {POINTS} or {PLACES} for each problem"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--cut", choices=sorted(CUTS), help="cut a bound within the proofs; false claims should follow")
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--facts", dest="of", action="store_const", const="facts", help="facts about single coefficients")
    of.add_argument("--shapes", dest="of", action="store_const", const="shapes", help="signals, matrices, atoms")
    parser.set_defaults(of="blocks")
    parser.add_argument("--out", type=Path, default=OUT, help="the file of the table (benchmarks/outputs/truth.json)")
    asked = parser.parse_args()
    if min(asked.count, asked.jobs) < 1 or min(asked.seed, asked.first) < 0:
        parser.error("--count and --jobs are at least 1, --seed and --first at least 0.")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    return asked


def _run(asked: argparse.Namespace, first: int, last: int, tally: Tally) -> Iterator[int]:
    """Try all problems, and yield how many are done now and then; the tally is up to date at any time."""
    if asked.jobs == 1:
        for number in range(first, last):
            _try(asked, number, tally)
            yield number + 1 - first
        return
    with ProcessPoolExecutor(asked.jobs, initializer=_quiet) as pool:
        starts = range(first, last, BATCH)
        batches = [pool.submit(_batch, asked, k, min(k + BATCH, last)) for k in starts]
        try:
            for done, batch in enumerate(as_completed(batches), 1):
                tally.merge(batch.result())
                yield min(done * BATCH, last - first)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _quiet() -> None:
    """Leave Ctrl-C to the process that holds the counts."""
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _batch(asked: argparse.Namespace, first: int, last: int) -> Tally:
    tally = Tally()
    with cut(asked.cut) if asked.cut else nullcontext():
        for number in range(first, last):
            _try(asked, number, tally)
    return tally


def _try(asked: argparse.Namespace, number: int, tally: Tally) -> None:
    {"facts": try_facts, "shapes": try_shape, "blocks": try_problem}[asked.of](asked.seed, number, tally)
    if asked.of == "blocks" and (number + 1) % FAMILIES == 0:
        try_family(asked.seed, number, tally)


def _progress(tally: Tally, seconds: float, done: int, count: int) -> str:
    whole = tally.whole
    rate = whole["certificates"] / seconds
    false = f"{rate:.0f} per second, {whole['false']} false"
    return f"{done:,} of {count:,} problems, {whole['certificates']:,} certificates, {false}"


def _content(asked: argparse.Namespace, tally: Tally, seconds: float) -> dict[str, Any]:
    def plain(counts: Counter[str]) -> dict[str, int]:
        return {name: counts[name] for name in COLUMNS}

    return {
        "seed": asked.seed,
        "first": asked.first,
        "of": asked.of,
        "cut": asked.cut,
        "seconds": round(seconds, 1),
        "per_second": round(tally.whole["certificates"] / seconds, 1),
        "whole": plain(tally.whole),
        "kinds": {name: plain(counts) for name, counts in sorted(tally.kinds.items())},
        "traits": {name: plain(counts) for name, counts in sorted(tally.traits.items())},
        "problems without a certificate": dict(tally.refusals.most_common()),
        "faults": tally.faults[:1000],
    }


def _write(asked: argparse.Namespace, tally: Tally, seconds: float, *, finished: bool) -> None:
    write_text(asked.out, json.dumps({"finished": finished} | _content(asked, tally, seconds), indent=1) + "\n")


def _table(tally: Tally, seconds: float) -> str:
    """Return the counts as Markdown, the faults and the refusals."""
    whole = tally.whole
    lines = [_line(["kind", *COLUMNS]), _line(["---"] * (len(COLUMNS) + 1))]
    for name, counts in [*sorted(tally.kinds.items()), ("all", whole), *sorted(tally.traits.items())]:
        lines.append(_line([name, *(f"{counts[column]:,}" for column in COLUMNS)]))
    rate = whole["certificates"] / seconds
    lines.append(f"\n{whole['certificates']:,} certificates in {seconds:.0f} s, {rate:.0f} per second.")
    lines.append(f"{len(tally.faults):,} of them say something false; {whole['checked']:,} were shown to the checker.")
    lines += [f"No certificate, {count} times: {why}" for why, count in tally.refusals.most_common(8)]
    lines += [f"False: {fault}" for fault in tally.faults[:5]]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
