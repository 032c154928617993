"""All solutions of small least-squares problems, in exact rational arithmetic.

    minimise  sum_i s_i (A x - y)_i^2 / 2  +  S phi(sum_j price_j abs(x_j))  +  S sum_j ridge_j x_j^2 / 2

where S = sum_i s_i, and x_j >= 0 for those j that are not `signed`. The predictions at the optimum are unique, and so
is the size of x. The solutions are a polytope; its corners have linearly independent columns (with their prices below
them), so that all corners are found by trying every choice of signs. With a ridge there is one solution.
"""

from dataclasses import dataclass
from itertools import product

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from atomsieve import Ball, Linear, Square


def rational(number):
    """Return a float as a fraction."""
    return fmpq(*float(number).as_integer_ratio())


@dataclass
class Truth:
    """The optimal value (of the mean problem), and the corners of the set of solutions."""

    value: object
    corners: list


def solve_exactly(A, y, penalty, *, counts, prices, signed, ridge=None):
    """Return the truth; None where the penalty plays no part and the solutions are no polytope of this kind."""
    d = A.shape[1]
    rows = [[rational(v) for v in row] for row in A.tolist()]
    targets, weights = [rational(v) for v in y.tolist()], [rational(v) for v in counts.tolist()]
    cost = [rational(v) for v in prices.tolist()]
    total = sum(weights, fmpq(0))
    gram = [[sum((w * r[i] * r[j] for w, r in zip(weights, rows)), fmpq(0)) for j in range(d)] for i in range(d)]
    for j, held in enumerate([] if ridge is None else ridge.tolist()):
        gram[j][j] += total * rational(held)
    pull = [sum((w * r[j] * t for w, r, t in zip(weights, rows, targets)), fmpq(0)) for j in range(d)]
    base = sum((w * t * t for w, t in zip(weights, targets)), fmpq(0)) / 2
    corners, value = [], None
    for signs in product(*((-1, 0, 1) if both else (0, 1) for both in signed)):
        support = [j for j in range(d) if signs[j]]
        found = _corner(gram, pull, total, [signs[j] * cost[j] for j in support], support, penalty)
        if found is None:
            continue
        on, alpha = found
        if any(x * signs[j] <= 0 for x, j in zip(on, support)):
            continue
        scores = [pull[j] - sum((gram[j][k] * x for k, x in zip(support, on)), fmpq(0)) for j in range(d)]
        if any((abs(z) if both else z) > alpha * c for z, both, c in zip(scores, signed, cost)):
            continue
        x = [fmpq(0)] * d
        for k, v in zip(support, on):
            x[k] = v
        mass = sum((c * abs(v) for c, v in zip(cost, x)), fmpq(0))
        if isinstance(penalty, Ball) and mass > rational(penalty.radius):
            continue
        quadratic = sum((x[i] * gram[i][j] * x[j] for i in support for j in support), fmpq(0)) / 2
        value = (
            base + quadratic - sum((p * v for p, v in zip(pull, x)), fmpq(0)) + total * _phi(penalty, mass)
        ) / total
        if x not in corners:
            corners.append(x)
    if not corners or (isinstance(penalty, Ball) and value is not None and _slack(gram, pull, corners[0])):
        return None
    return Truth(value, corners)


def _phi(penalty, mass):
    if isinstance(penalty, Linear):
        return rational(penalty.strength) * mass
    if isinstance(penalty, Square):
        return rational(penalty.strength) * mass * mass / 2
    return fmpq(0)


def _slack(gram, pull, x):
    """Return whether the gradient vanishes: then the ball does not bind."""
    return all(sum((g * v for g, v in zip(row, x)), fmpq(0)) == p for row, p in zip(gram, pull))


def _corner(gram, pull, total, normals, support, penalty):
    """Return x on the support and the slope alpha (of the sum), if the equations determine them."""
    k = len(support)
    if isinstance(penalty, Ball):
        if not k:
            return None
        matrix = fmpq_mat(k + 1, k + 1)
        side = fmpq_mat(k + 1, 1)
        for a, i in enumerate(support):
            for b, j in enumerate(support):
                matrix[a, b] = gram[i][j]
            matrix[a, k] = matrix[k, a] = normals[a]
            side[a, 0] = pull[i]
        side[k, 0] = rational(penalty.radius)
    else:
        alpha = total * rational(penalty.strength)
        if not k:
            return [], alpha if isinstance(penalty, Linear) else fmpq(0)
        matrix, side = fmpq_mat(k, k), fmpq_mat(k, 1)
        for a, i in enumerate(support):
            for b, j in enumerate(support):
                matrix[a, b] = gram[i][j] + (alpha * normals[a] * normals[b] if isinstance(penalty, Square) else 0)
            side[a, 0] = pull[i] - (alpha * normals[a] if isinstance(penalty, Linear) else 0)
    try:
        answer = matrix.solve(side)
    except ZeroDivisionError:
        return None
    on = [answer[a, 0] for a in range(k)]
    if isinstance(penalty, Ball):
        return (on, answer[k, 0]) if answer[k, 0] >= 0 else None
    if isinstance(penalty, Square):
        alpha = alpha * sum((s * x for s, x in zip(normals, on)), fmpq(0))
    return on, alpha


def solve_logistic(A, y, penalty, *, prices, signed, guess, ridge=0.0, bits=300):
    """Return the solution of a logistic problem in balls of many digits; None where its support is not proven.

    Newton's method in high precision from a guess, then a step of interval Newton that maps a box into itself: there is
    exactly one solution of the equations in it.
    """
    before, ctx.prec = ctx.prec, bits
    try:
        return _logistic(A, y, penalty, prices, signed, guess, arb(ridge))
    finally:
        ctx.prec = before


def _logistic(A, y, penalty, prices, signed, guess, ridge):
    n, d = A.shape
    support = [j for j in range(d) if guess[j] != 0]
    rows = [[arb(v) for v in row] for row in A.tolist()]
    normals = [arb(float(prices[j]) * (1 if guess[j] > 0 else -1)) for j in support]
    k, ball = len(support), isinstance(penalty, Ball)

    def sided(z):
        return [abs(v) if both else v for v, both in zip(z, signed)]

    def equations(x):
        """Return what must vanish and its derivative; for a ball the last unknown is the slope."""
        u = [sum((row[j] * v for j, v in zip(support, x)), arb(0)) for row in rows]
        p = [1 / (1 + (t * v).exp()) for t, v in zip(y.tolist(), u)]
        z = [sum((t * q * row[j] for t, q, row in zip(y.tolist(), p, rows)), arb(0)) / n for j in range(d)]
        mass = sum((s * v for s, v in zip(normals, x)), arb(0))
        slope = x[k] if ball else arb(penalty.strength) * (1 if isinstance(penalty, Linear) else mass)
        size = k + ball
        J, f = arb_mat(size, size), arb_mat(size, 1)
        for a, i in enumerate(support):
            f[a, 0] = slope * normals[a] - z[i] + ridge * x[a]
            for b, j in enumerate(support):
                J[a, b] = sum((q * (1 - q) * row[i] * row[j] for q, row in zip(p, rows)), arb(0)) / n
                if isinstance(penalty, Square):
                    J[a, b] += arb(penalty.strength) * normals[a] * normals[b]
            J[a, a] += ridge
            if ball:
                J[a, k] = J[k, a] = normals[a]
        if ball:
            f[k, 0] = mass - arb(penalty.radius)
        return f, J, z, slope

    if not k:
        _, _, z, slope = equations([arb(0)] if ball else [])
        inside = not ball and all(v < slope * arb(c) for v, c in zip(sided(z), prices.tolist()))
        return [arb(0)] * d if inside else None
    x = [arb(float(guess[j])) for j in support]
    if ball:
        _, _, z, _ = equations([*x, arb(0)])
        x.append(max(abs(v) / arb(c) for v, c in zip(z, prices.tolist())))
    try:
        for _ in range(60):
            f, J, _, _ = equations(x)
            step = J.solve(f)
            x = [arb(v.mid()) - arb(step[a, 0].mid()) for a, v in enumerate(x)]
            x = [arb(v.mid()) for v in x]
            if all(abs(step[a, 0]) < arb(2) ** (20 - ctx.prec) * (1 + abs(x[a])) for a in range(len(x))):
                break
        wide = [arb(v.mid(), abs(v) * arb(2) ** (60 - ctx.prec) + arb(2) ** (60 - ctx.prec)) for v in x]
        f, _, _, _ = equations(x)
        _, J, z, slope = equations(wide)
        step = J.solve(f)
    except ZeroDivisionError:
        return None
    image = [v - step[a, 0] for a, v in enumerate(x)]
    if not all(w.contains_interior(v) for w, v in zip(wide, image)):
        return None
    allowed = all(signed[j] or guess[j] > 0 for j in support)
    if not allowed or any(not v * s > 0 for v, s in zip(wide, normals)) or (ball and not wide[k] > 0):
        return None
    off = [j for j in range(d) if j not in support]
    if any(not sided(z)[j] < slope * arb(float(prices[j])) for j in off):
        return None
    answer = [arb(0)] * d
    for a, j in enumerate(support):
        answer[j] = wide[a]
    return answer
