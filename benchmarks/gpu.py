"""A graphics card: logistic regression on data that are as large as its memory, with certificates.

    python benchmarks/gpu.py                      a million samples, 20,000 features in float32 (80 GB), and a path
    python benchmarks/gpu.py peers --n 100000     the same in float64 beside scikit-learn, skglm and ours on the host
    python benchmarks/gpu.py --n 20000 --d 2000   something small
    python benchmarks/gpu.py --profile            where the host spends its time

Needs PyTorch and a GPU. Data are standard normal, drawn on the device; 100 features carry the classes. What is timed
begins with `Problem(X, y)` and ends with the certificate; the first fit of a process, which compiles the kernels, is
given apart. A pass is the time of one product with A' by the kernel of the library.
"""

import argparse
import cProfile
import multiprocessing
import os
import pstats
import queue as queues
import time

import numpy as np
import torch

from atomsieve import Linear, Logistic, Problem, Square, path, solve
from atomsieve.design.array import ArrayDesign

SUPPORT, BLOCK = 100, 1 << 28

AROUND = 3
"""Passes that a solve does not count: entries and lengths at the beginning, products and then lengths for the proof."""


def drawn(n, d, dtype, seed=0):
    """Return columns and classes on the GPU."""
    generator = torch.Generator("cuda").manual_seed(seed)
    X = torch.empty((n, d), dtype=dtype, device="cuda")
    height = max(1, BLOCK // d)
    for start in range(0, n, height):
        X[start : start + height].normal_(generator=generator)
    w = torch.zeros(d, dtype=dtype, device="cuda")
    w[torch.randperm(d, generator=generator, device="cuda")[:SUPPORT]] = 0.3
    chances = torch.sigmoid((X @ w).to(torch.float64))
    y = torch.where(torch.rand(n, dtype=torch.float64, generator=generator, device="cuda") < chances, 1.0, -1.0)
    return X, y.to(torch.float64)


def seconds(task):
    """Return what a task returns, and how long it takes until the device is idle."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    found = task()
    torch.cuda.synchronize()
    return found, time.perf_counter() - start


def one_pass(X):
    """Return the least time of one product with A'."""
    design, r = ArrayDesign.of(X, "X"), torch.ones(X.shape[0], dtype=torch.float64, device="cuda")
    return min(seconds(lambda: design.rmatvec(r))[1] for _ in range(3))


def fitted(X, y, penalty):
    """Solve a problem and prove it; return the result, the certificate and all times."""
    problem, building = seconds(lambda: Problem(X, y, loss=Logistic(), penalty=penalty))
    result, solving = seconds(lambda: solve(problem, tol=1e-6))
    certificate, proving = seconds(result.certificate)
    return result, certificate, (building, solving, proving)


def told(name, result, certificate, times, a_pass):
    total, passes = sum(times), result.passes + AROUND
    print(
        f"{name}: {total:.3f} s (problem {times[0]:.3f}, solve {times[1]:.3f}, certificate {times[2]:.3f}), "
        f"{passes:.1f} passes, {total / (passes * a_pass):.2f} of their time; gap {result.gap:.1e}, "
        f"proven relative gap {certificate.gap / result.problem.baseline:.1e}; "
        f"{np.count_nonzero(result.x)} coefficients, {certificate.zero.sum()} proven zero, "
        f"{certificate.nonzero.sum()} proven non-zero",
        flush=True,
    )


def large(n, d, profile):
    """One problem, then a path."""
    X, y = drawn(n, d, torch.float32)
    a_pass = one_pass(X)
    print(f"{n} x {d} in float32, {X.nbytes / 1e9:.1f} GB; a pass takes {a_pass * 1e3:.1f} ms", flush=True)
    problem, building = seconds(lambda: Problem(X, y, loss=Logistic()))
    slope = 0.1 * problem.critical
    first, solving = seconds(lambda: solve(problem.at_penalty(Linear(slope)), tol=1e-6))
    print(f"first fit of the process, Linear: problem {building:.2f} s, solve {solving:.2f} s", flush=True)
    penalty = Square().through(first.point.state.mass, slope)
    fitted(X, y, penalty)
    told("Square", *fitted(X, y, penalty), a_pass)
    if profile:
        with cProfile.Profile() as found:
            fitted(X, y, penalty)
        for order in ("tottime", "cumtime"):
            pstats.Stats(found).strip_dirs().sort_stats(order).print_stats(30 if order == "tottime" else 90)

    def whole():
        return path(Problem(X, y, loss=Logistic()), n=20, ratio=0.05, tol=1e-6)

    found, took = seconds(whole)
    passes = sum(result.passes for result in found.results)
    last = np.count_nonzero(found.results[-1].x)
    print(f"path of 20 down to a twentieth: {took:.2f} s, {passes:.1f} passes, {last} coefficients at its end")
    proofs, proving = seconds(lambda: [result.certificate() for result in found.results])
    undecided = sum(np.count_nonzero(proof.undecided) for proof in proofs)
    print(f"its 20 certificates: {proving:.2f} s, {undecided} of {20 * d} coefficients undecided", flush=True)


def ours_on_the_host(X, y, slope):
    result = solve(Problem(X, y, loss=Logistic(), penalty=Linear(slope)), tol=1e-6)
    result.certificate()
    return result.x


def of_skglm(X, y, slope):
    from skglm import SparseLogisticRegression  # noqa: PLC0415 -- peers are optional

    return SparseLogisticRegression(alpha=slope, tol=1e-4, fit_intercept=False).fit(X, y).coef_.ravel()


def of_scikit_learn(X, y, slope):
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    C = 1 / (len(y) * slope)
    model = LogisticRegression(l1_ratio=1, C=C, solver="liblinear", tol=1e-4, fit_intercept=False)
    return model.fit(X, y).coef_.ravel()


PEERS = {"atomsieve on the host": ours_on_the_host, "skglm": of_skglm, "scikit-learn": of_scikit_learn}


def report(fit, X, y, slope, queue):
    start = time.perf_counter()
    x = fit(X, y, slope)
    queue.put((time.perf_counter() - start, x))


def peers(n, d, limit):
    """Everybody on the same doubles; peers have columns one after the other, as they like it."""
    X, y = drawn(n, d, torch.float64)
    a_pass = one_pass(X)
    problem = Problem(X, y, loss=Logistic())
    slope = 0.1 * problem.critical
    fitted(X, y, Linear(slope))
    result, certificate, times = fitted(X, y, Linear(slope))
    print(f"{n} x {d} in float64, {X.nbytes / 1e9:.1f} GB; a pass takes {a_pass * 1e3:.1f} ms; Linear", flush=True)
    told("on the GPU", result, certificate, times, a_pass)
    ours = sum(times)
    for fit in PEERS.values():  # what is compiled, is compiled now
        fit(np.eye(40), np.resize([1.0, -1.0], 40), 0.1)
    held, classes = np.asfortranarray(X.T.contiguous().cpu().numpy().T), y.cpu().numpy()
    problem = result.problem
    context = multiprocessing.get_context("fork")
    for name, fit in PEERS.items():
        queue = context.Queue()
        worker = context.Process(target=report, args=(fit, held, classes, slope, queue))
        worker.start()
        try:
            took, x = queue.get(timeout=limit)
        except queues.Empty:
            print(f"{name}: not in {limit} s, {limit / ours:.0f} times as long", flush=True)
            worker.kill()
            continue
        scores = y * (X @ torch.asarray(x, device="cuda"))
        value = float(torch.nn.functional.softplus(-scores).mean()) + slope * np.abs(x).sum()
        off = (value - certificate.dual) / problem.baseline
        print(f"{name}: {took:.2f} s, {took / ours:.0f} times as long, relative gap {off:.1e}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("large", "peers"), default="large")
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=20_000)
    parser.add_argument("--limit", type=float, default=200, help="seconds for each of the peers")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, PyTorch {torch.__version__}", flush=True)
    if given.what == "large":
        large(given.n, given.d, given.profile)
    else:
        peers(given.n, given.d, given.limit)
