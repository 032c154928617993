"""A small table of samples, as CSV."""

import numpy as np


def table(rows=60, seed=0, **columns):
    """Return CSV with four numbers, of which two matter, a colour and an outcome."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 4))
    colour = rng.choice(["red", "green", "blue"], rows)
    score = 2 * X[:, 0] - X[:, 1] + (colour == "red") + 0.3 * rng.standard_normal(rows)
    held = {f"x{j}": X[:, j] for j in range(4)} | {"colour": colour, "outcome": score} | columns
    lines = [",".join(held)]
    lines += [
        ",".join(str(v) for v in row) for row in zip(*(np.asarray(v).tolist() for v in held.values()), strict=True)
    ]
    return "\n".join(lines) + "\n"
