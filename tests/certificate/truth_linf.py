"""The optimum of small least-squares problems over LInf, in exact rational arithmetic.

    minimise  sum_i s_i (A x - y)_i^2 / 2  +  S phi(max_j abs(x_j)),      S = sum_i s_i

Some entries of x are at the limit t, with their signs; the others are free within it. For each such choice the
conditions for an optimum are linear equations in t and the free entries.
"""

from dataclasses import dataclass
from itertools import product

from flint import fmpq, fmpq_mat
from truth import rational

from atomsieve import Ball, Linear, Square


@dataclass
class Truth:
    """The optimal value (of the mean problem), z at the optimum, and the slope there, both times S; whether x is 0."""

    value: fmpq
    z: list
    slope: fmpq
    empty: bool

    def may_carry(self, atom):
        """Return whether a point of P reaches the best score, so that it may have weight in a solution."""
        score = sum((rational(p) * z for p, z in zip(atom, self.z, strict=True)), fmpq(0))
        return not self.empty and score >= self.slope


def solve_largest(A, y, penalty, counts):
    """Return the truth, None where no choice of entries has equations with one solution that is an optimum."""
    d = A.shape[1]
    rows = [[rational(v) for v in row] for row in A.tolist()]
    targets, weights = [rational(v) for v in y.tolist()], [rational(v) for v in counts.tolist()]
    total = sum(weights, fmpq(0))

    def judge(x, slope):
        rest = [t - sum((a * v for a, v in zip(row, x)), fmpq(0)) for row, t in zip(rows, targets)]
        z = [sum((w * row[j] * r for w, row, r in zip(weights, rows, rest)), fmpq(0)) for j in range(d)]
        t = max((abs(v) for v in x), default=fmpq(0))
        if sum(map(abs, z), fmpq(0)) > slope or sum((v * p for v, p in zip(x, z)), fmpq(0)) < t * slope:
            return None
        value = sum((w * r * r for w, r in zip(weights, rest)), fmpq(0)) / 2 + total * _phi(penalty, t)
        return Truth(value / total, z, slope, t == 0)

    start = total * rational(penalty.strength) if isinstance(penalty, Linear) else fmpq(0)
    found = judge([fmpq(0)] * d, start)
    for signs in () if found else product((-1, 0, 1), repeat=d):
        chosen = [j for j in range(d) if signs[j]]
        inside = [j for j in range(d) if not signs[j]]
        if not chosen:
            continue
        columns = [[sum((row[j] * signs[j] for j in chosen), fmpq(0)), *(row[j] for j in inside)] for row in rows]
        answer = _solve(columns, targets, weights, total, penalty)
        if answer is None:
            continue
        t, slope, others = answer
        x = [t * sign for sign in signs]
        for j, v in zip(inside, others):
            x[j] = v
        if t >= 0 and slope >= 0 and all(abs(v) <= t for v in x):
            found = found or judge(x, slope)
    return found


def _phi(penalty, t):
    strength = rational(getattr(penalty, "strength", 0.0))
    return strength * t if isinstance(penalty, Linear) else strength * t * t / 2


def _solve(columns, targets, weights, total, penalty):
    """Return the limit, the slope there and the entries within it; the first column is that of the limit."""
    k = len(columns[0])
    gram = [[_dot(weights, [c[a] for c in columns], [c[b] for c in columns]) for b in range(k)] for a in range(k)]
    pull = [_dot(weights, [c[a] for c in columns], targets) for a in range(k)]
    first = 1 if isinstance(penalty, Ball) else 0  # the limit is known
    known = rational(penalty.radius) if first else fmpq(0)
    if isinstance(penalty, Linear):
        pull[0] -= total * rational(penalty.strength)
    if isinstance(penalty, Square):
        gram[0][0] += total * rational(penalty.strength)
    size = k - first
    answer = [known] * first
    if size:
        matrix, side = fmpq_mat(size, size), fmpq_mat(size, 1)
        for a in range(size):
            side[a, 0] = pull[a + first] - gram[a + first][0] * known
            for b in range(size):
                matrix[a, b] = gram[a + first][b + first]
        try:
            solved = matrix.solve(side)
        except ZeroDivisionError:
            return None
        answer += [solved[a, 0] for a in range(size)]
    if first:
        slope = pull[0] - sum((g * v for g, v in zip(gram[0], answer)), fmpq(0))
    else:
        slope = total * rational(penalty.strength) * (answer[0] if isinstance(penalty, Square) else 1)
    return answer[0], slope, answer[1:]


def _dot(weights, a, b):
    return sum((w * p * q for w, p, q in zip(weights, a, b)), fmpq(0))
