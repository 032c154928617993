"""Which measurements of a tumour can be left out? Sparse logistic regression with safe screening, in a second.

Fits l1-regularised logistic regression to scikit-learn's breast cancer data and shows, feature by feature, what is in
the model and what the safe rule has ruled out: ruled-out features are zero in every solution of this problem.
"""

import textwrap

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from atomsieve import GCG, L1, Corrective, Logistic, Problem, Result, Square, solve


def load() -> tuple[np.ndarray, np.ndarray, list[str]]:
    data = load_breast_cancer()
    return StandardScaler().fit_transform(data.data), 2.0 * data.target - 1, list(data.feature_names)


def print_runs(problem: Problem) -> None:
    print(f"{'method':34s} {'iterations':>10s} {'gap':>9s} {'ruled out':>10s}  status")
    for method, screening in ((GCG(), "paper"), (GCG(), "auto"), (Corrective(), "auto")):
        result = solve(problem, method, tol=1e-9, max_iter=2000, screening=screening)
        label = f"{type(method).__name__}, screening {screening!r}"
        out = f"{np.sum(~result.alive)} of {len(result.alive)}"
        print(f"{label:34s} {result.n_iter:10d} {result.gap:9.1e} {out:>10s}  {result.status.name}")


def print_features(result: Result, names: list[str]) -> None:
    certificate = result.certificate()
    print(f"\nCertificate: {certificate}")
    print(f"\n{'proven non-zero':26s} {'coefficient':>11s}   between          (positive speaks for benign)")
    for j in sorted(np.flatnonzero(certificate.nonzero), key=lambda j: -abs(result.x[j])):
        print(f"{names[j]:26s} {result.x[j]:11.4f}   {certificate.lower[j]:.6f} and {certificate.upper[j]:.6f}")
    out = [names[j] for j in np.flatnonzero(certificate.zero)]
    print(f"\nproven zero in every solution ({len(out)} of {len(names)}):")
    print(textwrap.fill(", ".join(out), width=100, initial_indent="  ", subsequent_indent="  "))


def main() -> None:
    X, y, names = load()
    print(f"breast cancer: {X.shape[0]} samples, {X.shape[1]} features; logistic loss + 0.05 * norm1(x)^2 / 2\n")
    problem = Problem(X, y, loss=Logistic(), gauge=L1(), penalty=Square(0.05), intercept=True)
    print_runs(problem)
    result = solve(problem, until="decided")
    print_features(result, names)
    print(f"\nobjective {result.objective:.8f}, at most {result.gap:.1e} above the optimum")
    print(f"{result.status}")


if __name__ == "__main__":
    main()
