"""What a certificate says of x itself, where its claims are about a preimage of x (images, overlapping groups, unions).

Where the preimage has copies of features, the data do not tell the copies apart, but they tell their sum.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array

from atomsieve.design import Jumps, Steps, TreeSteps, as_design
from atomsieve.design.base import bounded
from atomsieve.design.selected import enclosed_fold, places_of
from atomsieve.display.coefficients import verdict_words
from atomsieve.intake.names import entries, feature_names
from atomsieve.numerics.enclosures import Enclosure, root, up
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.claims import Certificate

FREE = ("level", "slope")
"""Names of the free coefficients of a signal, by degree."""


def matrices_of(gauge: dict[str, Any]) -> list[Any]:
    """Return the matrices of a gauge, as a file describes it, the outer one first."""
    own = [_matrix(gauge["matrix"])] if "matrix" in gauge else []
    return own + (matrices_of(gauge["gauge"]) if "gauge" in gauge else [])


def copies_of(gauge: dict[str, Any]) -> Index | None:
    """Return the feature that each row of the preimage is a copy of; None if it holds no copies of features."""
    matrices = matrices_of(gauge)
    return places_of(matrices[0]) if len(matrices) == 1 else None


def about(certificate: "Certificate") -> dict[str, list[Any]]:
    """Return the columns of a table that identify the entries of x, or of its preimage."""
    shape, gauge = certificate.x.shape, certificate.statement["gauge"]
    matrices = matrices_of(gauge)
    if not matrices:
        return entries(certificate.names["features"], shape)
    if all(isinstance(matrix, Jumps) for matrix in matrices):
        per = certificate.x.size // len(certificate.x)
        named = change_names(matrices, feature_names(certificate.names["features"], len(certificate.x)))
        return {"preimage" if key == "feature" else key: column for key, column in entries(None, shape).items()} | {
            "preimage": [name for name in named for _ in range(per)]
        }
    copies = copies_of(gauge)
    if copies is None:  # these coefficients belong to no feature, or are multiples of those of features
        own = certificate.names["features"] if all(map(is_diagonal, matrices)) else None
        return {"preimage" if key == "feature" else key: column for key, column in entries(own, shape).items()}
    names = feature_names(certificate.names["features"], matrices[0].shape[0])
    per = certificate.x.size // len(copies)
    return entries(None, shape) | {"feature": [names[j] for j in copies for _ in range(per)]}


def is_diagonal(matrix: Any) -> bool:
    """Return whether a matrix does nothing but scale, so that each entry of the preimage is one of x in other units.

    >>> is_diagonal(csc_array(np.diag([1.0, 2.0]))), is_diagonal(csc_array(np.eye(2)[::-1]))
    (True, False)
    """
    if isinstance(matrix, np.ndarray | Jumps) or matrix.shape[0] != matrix.shape[1]:
        return False
    held = matrix.tocoo()
    return bool((held.row == held.col).all())


def change_names(matrices: list[Any], names: list[str]) -> list[str]:
    """Return what the coefficients of a signal are called: changes by the places they lie between, free ones by degree.

    >>> change_names([Steps(4, 2)], ["a", "b", "c", "d"])
    ['a to b', 'b to c', 'level', 'c to d']
    >>> change_names([TreeSteps(np.array([0, 0, 0]))], ["a", "b", "c"])
    ['level', 'a to b', 'a to c']
    """
    if isinstance(matrices[0], TreeSteps):
        alone = len(matrices[0].roots) == 1
        pairs = [(names[place], name) for place, name in zip(matrices[0].parents, names, strict=True)]
        return [f"{a} to {b}" if a != b else "level" if alone else f"level of {b}" for a, b in pairs]
    order, roots = len(matrices), [steps.root for steps in matrices]
    called = [f"{first} to {last}" for first, last in zip(names, names[order:], strict=False)]
    for degree, place in sorted(enumerate(roots), key=lambda pair: pair[1]):
        called.insert(place, FREE[degree] if degree < len(FREE) else f"degree {degree}")
    return called


def changes_of(gauge: dict[str, Any]) -> str | None:
    """Return what the coefficients of a signal are, "jump" or "knot"; None for other gauges."""
    stated, piece = [], gauge
    while "gauge" in piece:
        stated += [piece["matrix"]] if "matrix" in piece else []
        piece = piece["gauge"]
    if not stated or not all(
        isinstance(matrix, dict) and not matrix.keys().isdisjoint(("steps", "tree")) for matrix in stated
    ):
        return None
    return "jump" if len(stated) == 1 else "knot"


def bounds_of(certificate: "Certificate") -> tuple[Array, Array, Mask]:
    """Return bounds of the entries of x from those of its preimage, and which entries are zero."""
    matrices = matrices_of(certificate.statement["gauge"])
    lower, upper = merged(certificate, places_of(matrices[-1]))
    known = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(known, lower, 0.0), np.where(known, upper, 0.0)
    middle = low + (high - low) / 2
    around = np.nextafter(np.maximum(high - middle, middle - low), np.inf)
    x = Enclosure(middle, np.where((low == 0) & (high == 0), 0.0, around))
    unknown, alive = ~known, (low != 0) | (high != 0) | ~known
    for matrix in reversed(matrices):
        places = places_of(matrix)
        x = bounded(as_design(matrix)).enclose(x) if places is None else enclosed_fold(x, places, matrix.shape[0])
        unknown, alive = _touched(matrix, unknown), _touched(matrix, alive)
    low = np.where(unknown, -np.inf, np.where(alive, x.low, 0.0))
    high = np.where(unknown, np.inf, np.where(alive, x.high, 0.0))
    if "ridge" in certificate.statement and certificate.valid:
        held = held_by_ridge(certificate, matrices)
        low, high = np.where(alive, np.maximum(low, held.low), low), np.where(alive, np.minimum(high, held.high), high)
    return low, high, ~alive


def held_by_ridge(certificate: "Certificate", matrices: list[Any]) -> Enclosure:
    """Return bounds of x: the objective is above the optimum by at least `ridge / 2 |x - x*|^2`, and at most the gap.

    They hold whether or not x determines its preimage. Of coefficients that are not penalised the point has no number:
    twice their interval has the one that belongs to it.
    """
    middle, radius = certificate.x.copy(), np.zeros(certificate.x.shape)
    own = unpenalised_rows(certificate.statement["gauge"])
    if own is not None:
        low, high = certificate.lower[own], certificate.upper[own]
        if not np.isfinite(high - low).all():
            shape = (as_design(matrices[0]).shape[0], *middle.shape[1:])
            return Enclosure(np.zeros(shape), np.full(shape, np.inf))
        middle[own] = low + (high - low) / 2
        radius[own] = up(2 * np.maximum(high - middle[own], middle[own] - low))
    x = Enclosure(middle, radius)
    for matrix in reversed(matrices):
        x = bounded(as_design(matrix)).enclose(x)
    ridge = np.asarray(certificate.statement["ridge"])
    with np.errstate(over="ignore"):
        away = root(np.asarray(up(2 * certificate.gap / ridge)))
        return x.widened(away.reshape(x.shape) if ridge.ndim else away)


def unpenalised_rows(gauge: dict[str, Any]) -> Mask | None:
    """Return which rows of a preimage are not penalised, from the weights of a gauge; None if it has no weights."""
    while "gauge" in gauge:
        gauge = gauge["gauge"]
    if gauge.get("weights") is None:
        return None
    free = np.asarray(gauge["weights"], dtype=np.float64) == 0
    if gauge.get("groups") is not None:
        free = free[np.asarray(gauge["groups"])]
    return np.asarray(free if free.ndim == 1 else free[:, 0])


def merged(certificate: "Certificate", places: Index | None) -> tuple[Array, Array]:
    """Return bounds of a preimage of the same x: the sum of copies, where it is known, stands for the first of them."""
    lower, upper = certificate.lower.copy(), certificate.upper.copy()
    if places is None:
        return lower, upper
    low, high = lower.reshape(len(places), -1), upper.reshape(len(places), -1)
    for total in certificate.sums:
        if not ((total.times == 1).all() and (total.index >= 0).all()):
            continue
        rows, outputs = np.divmod(total.index, low.shape[1])
        feature, output = places[rows[0]], outputs[0]
        if not ((places[rows] == feature).all() and (outputs == output).all()):
            continue
        unknown = (places == feature) & ~np.isfinite(high[:, output] - low[:, output])
        if unknown.any() and np.isin(np.flatnonzero(unknown), rows).all():
            low[rows, output] = high[rows, output] = 0.0
            low[rows[0], output], high[rows[0], output] = total.lower, total.upper
    return lower, upper


def feature_table(certificate: "Certificate") -> dict[str, Any]:
    """Return one row per entry of x, by column: feature, output, bounds, verdict; there is a preimage."""
    lower, upper, zero = bounds_of(certificate)
    told = {"lower": lower, "upper": upper, "verdict": verdict_words(zero, (lower > 0) | (upper < 0), lower, upper)}
    return entries(certificate.names["features"], lower.shape) | {key: part.ravel() for key, part in told.items()}


def _matrix(stated: Any) -> Any:
    """Return a matrix from its description in a file."""
    if isinstance(stated, dict) and "steps" in stated:
        return Steps(stated["steps"], stated["root"], tuple(stated["fixed"]))
    if isinstance(stated, dict) and "tree" in stated:
        return TreeSteps(np.array(stated["tree"], dtype=np.intp))
    if not isinstance(stated, dict):
        return np.array(stated, dtype=np.float64)
    return csc_array((stated["value"], (stated["row"], stated["column"])), shape=stated["shape"])


def _touched(matrix: Any, chosen: Mask) -> Mask:
    """Return which entries of `Q c` can be non-zero when only the chosen entries of c are."""
    if isinstance(matrix, Jumps):
        return matrix.touched(chosen)
    return np.asarray(abs(matrix) @ chosen.astype(np.float64) > 0)
