"""A memory map that does not fit into memory: passes, rates and memory of a fit with its certificate.

    python benchmarks/out_of_core.py /scratch/X.bin                              500,000 x 10,000 in float32, 20 GB
    python benchmarks/out_of_core.py /scratch/X.bin --n 500000 --d 1000          the same memory for a file of 2 GB
    python benchmarks/out_of_core.py /scratch/X.bin --n 200000 --d 2000 --order F --loss squared --keep

The file is drawn piece by piece (standard normal, some features matter) and removed afterwards, unless it is to be
kept; one that is there with the right size is used as it is. The fit runs in a process whose anonymous memory is
limited by the system (`RLIMIT_DATA`), and a thread there reads how much memory is resident, anonymous and of files. The
streaming rate is that of reading the file and adding up its numbers, piece by piece, and so are passes counted: bytes
read over bytes of the file, everything included, from `Problem(X, y)` to the certificate.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from atomsieve import Linear, Logistic, Problem, Squared, solve

SUPPORT, SIZE = 100, 0.3
PIECE = 1 << 22
LOSSES = {"logistic": Logistic, "squared": Squared}


def drawn(given):
    """Write the file and return the scores of the samples."""
    path, shape = Path(given.file), (given.n, given.d)
    rng = np.random.default_rng(0)
    scores = np.zeros(given.n)
    chosen = np.sort(rng.permutation(given.d)[:SUPPORT])
    whole = given.n * given.d * np.dtype(given.dtype).itemsize
    there = path.exists() and path.stat().st_size == whole
    held = np.memmap(path, given.dtype, "r" if there else "w+", shape=shape, order=given.order)
    side = 0 if given.order == "C" else 1
    for start in range(0, shape[side], max(1, PIECE // shape[1 - side])):
        part = slice(start, start + max(1, PIECE // shape[1 - side]))
        where = (part, slice(None)) if side == 0 else (slice(None), part)
        if not there:
            block = rng.standard_normal(held[where].shape[:: 1 if side == 0 else -1], dtype=np.float32)
            held[where] = block if side == 0 else block.T
        if side == 0:
            scores[part] = held[part][:, chosen].sum(axis=1)
    if side == 1:
        for j in chosen:
            scores += held[:, j]
    return SIZE * scores


def targets(scores, loss):
    rng = np.random.default_rng(1)
    if loss == "squared":
        return scores + rng.standard_normal(len(scores))
    return np.where(rng.random(len(scores)) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)


class Watch:
    """Peaks of resident memory, anonymous and of files, in megabytes."""

    def __init__(self):
        self.peaks = {"RssAnon": 0, "RssFile": 0, "VmRSS": 0}
        self.done = False
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self):
        while not self.done:
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in self.peaks:
                    self.peaks[name] = max(self.peaks[name], int(rest.split()[0]) / 1000)
            time.sleep(0.02)

    def end(self):
        """Return the peaks."""
        self.done = True
        self.thread.join()
        return self.peaks


def timed(task):
    wall, cpu = time.perf_counter(), time.process_time()
    found = task()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def streamed(path):
    """Read a file and add up its numbers."""
    space, total = np.empty(PIECE // 4, np.float32), 0.0
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(space.data):
            total += float(space[: count // 4].sum())
    return total


def fitted(given):
    """Fit and prove in a process of limited memory; print what it took."""
    bound = int(given.limit * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
    y = np.load(given.file + ".y.npy")
    X = np.memmap(given.file, given.dtype, "r", shape=(given.n, given.d), order=given.order)
    _, stream, stream_cpu = timed(lambda: streamed(given.file))
    watch = Watch()
    pieces = {"loss": LOSSES[given.loss](), "intercept": given.intercept}
    problem, building, cpu = timed(lambda: Problem(X, y, **pieces))
    traffic = problem.data.design.file.traffic
    marks = [traffic.bytes]
    slope, looking, more = timed(lambda: given.part * problem.critical)
    marks.append(traffic.bytes)
    options = {"start": np.zeros(given.d)} if given.from_zero else {}
    result, solving, again = timed(lambda: solve(problem.at_penalty(Linear(slope)), tol=1e-6, **options))
    marks.append(traffic.bytes)
    certificate, proving, last = timed(result.certificate)
    marks.append(traffic.bytes)
    peaks = watch.end()
    r = np.random.default_rng(2).standard_normal(given.n)
    _, product, product_cpu = timed(lambda: problem.data.design.rmatvec(r))
    whole, passes = X.nbytes, np.diff([0, *marks]) / X.nbytes
    print(
        json.dumps(
            {
                "gigabytes": whole / 1e9,
                "passes": passes.tolist(),
                "seconds": [building, looking, solving, proving],
                "cpu": cpu + more + again + last,
                "stream": whole / stream / 1e9,
                "stream_cpu": whole / stream_cpu / 1e9,
                "product": whole / product / 1e9,
                "product_cpu": whole / product_cpu / 1e9,
                "rss": peaks,
                "gap": result.gap / problem.baseline,
                "proven": certificate.gap / problem.baseline,
                "zero": int(certificate.zero.sum()),
                "nonzero": int(certificate.nonzero.sum()),
                "undecided": int(certificate.undecided.sum()),
            }
        )
    )


def told(given, found):
    """Print what was found as a row of a table."""
    seconds, passes = sum(found["seconds"]), sum(found["passes"])
    each = found["gigabytes"] * passes / seconds
    rss = found["rss"]
    split = " + ".join(f"{part:.1f}" for part in found["passes"])
    print(
        "| data | passes (first look, critical slope, solve, certificate) | seconds | GB/s read and added up | GB/s of "
        "a product | GB/s of the whole fit | resident MB: anonymous, files | proven relative gap | zero, not zero, "
        "open |\n|---|---|---|---|---|---|---|---|---|"
    )
    print(
        f"| {given.n:,} x {given.d:,} {given.dtype} {given.order}, {found['gigabytes']:.1f} GB, {given.loss} | "
        f"**{passes:.1f}** ({split}) | {seconds:.0f} (processor {found['cpu']:.0f}) | {found['stream']:.1f} (processor "
        f"{found['stream_cpu']:.1f}) | {found['product']:.1f} (processor {found['product_cpu']:.1f}) | {each:.1f} "
        f"(processor {found['gigabytes'] * passes / found['cpu']:.1f}) | {rss['RssAnon']:.0f}, {rss['RssFile']:.0f} | "
        f"{found['proven']:.1e} | {found['zero']:,}, {found['nonzero']:,}, {found['undecided']:,} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--n", type=int, default=500_000)
    parser.add_argument("--d", type=int, default=10_000)
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--order", choices="CF", default="C")
    parser.add_argument("--loss", choices=LOSSES, default="logistic")
    parser.add_argument("--intercept", action="store_true")
    parser.add_argument("--part", type=float, default=0.1, help="the strength, as a part of the critical one")
    parser.add_argument("--limit", type=float, default=2.0, help="gigabytes of anonymous memory")
    parser.add_argument("--from-zero", action="store_true", help="start at 0 and not from a sample")
    parser.add_argument("--keep", action="store_true", help="keep the file")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        fitted(given)
        return
    start = time.perf_counter()
    np.save(given.file + ".y.npy", targets(drawn(given), given.loss))
    print(f"drawn in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, *sys.argv[1:], "--child"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603 -- this script itself
    told(given, json.loads(answer.stdout))
    if not given.keep:
        os.remove(given.file)
        os.remove(given.file + ".y.npy")


if __name__ == "__main__":
    main()
