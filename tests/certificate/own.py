"""True solutions of small smooth problems with any loss and penalty, in balls of many digits."""

from flint import arb, arb_mat, ctx


def solve_truly(A, y, guess, loss, penalty, bits=300):
    """Return the solution and the optimal value of `mean loss + phi(norm1)`; None where the support is not proven.

    `loss` gives value, slope and curvature for a ball and a target, `penalty` those of phi. Newton's method from a
    guess, then a step of interval Newton that maps a box into itself: exactly one solution of the equations is in it.
    """
    before, ctx.prec = ctx.prec, bits
    try:
        return _solve(A, y, guess, loss, penalty)
    finally:
        ctx.prec = before


def _solve(A, y, guess, loss, penalty):
    n, d = A.shape
    support = [j for j in range(d) if guess[j] != 0]
    signs = [1 if guess[j] > 0 else -1 for j in support]
    rows, targets = [[arb(v) for v in row] for row in A.tolist()], [arb(v) for v in y.tolist()]

    def equations(x):
        u = [sum((row[j] * v for j, v in zip(support, x)), arb(0)) for row in rows]
        told = [loss(v, t) for v, t in zip(u, targets)]
        mass = sum((s * v for s, v in zip(signs, x)), arb(0))
        charge, slope, bend = penalty(mass)
        z = [sum((-told[i][1] * rows[i][j] for i in range(n)), arb(0)) / n for j in range(d)]
        f, J = arb_mat(len(support), 1), arb_mat(len(support), len(support))
        for a, i in enumerate(support):
            f[a, 0] = slope * signs[a] - z[i]
            for b, j in enumerate(support):
                curved = sum((told[k][2] * rows[k][i] * rows[k][j] for k in range(n)), arb(0)) / n
                J[a, b] = curved + bend * signs[a] * signs[b]
        return f, J, z, slope, sum((t[0] for t in told), arb(0)) / n + charge

    x = [arb(float(guess[j])) for j in support]
    for _ in range(40):
        f, J, _, _, _ = equations(x)
        step = J.solve(f)
        x = [arb((v - step[a, 0]).mid()) for a, v in enumerate(x)]
    wide = [arb(v.mid(), arb(2) ** (60 - ctx.prec)) for v in x]
    f = equations(x)[0]
    _, J, z, slope, value = equations(wide)
    step = J.solve(f)
    if not all(w.contains_interior(v - step[a, 0]) for a, (w, v) in enumerate(zip(wide, x))):
        return None
    if any(not v * s > 0 for v, s in zip(wide, signs)):
        return None
    if any(not abs(z[j]) < slope for j in range(d) if j not in support):
        return None
    answer = [arb(0)] * d
    for a, j in enumerate(support):
        answer[j] = wide[a]
    return answer, value
