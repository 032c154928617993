"""A family of problems: errors of the data, and a range of strengths."""

from typing import Any

import numpy as np

from .data import Data, in_outputs
from .doubles import product_above, times_above
from .gauges import Gauge
from .losses import Loss
from .verdict import Refused, Unknown


class Family:
    """What the claims are about, if not the stated problem alone: bounds of the errors of X and y, and the strengths.

    Bounds are doubles, rounded up.
    """

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        check_members(content, gauge)
        stated, (n, d) = content["family"], data.rows
        self.data, self.matrix, self.x_error = data, gauge.matrix, stated["x_error"]
        if self.x_error is not None:
            self.values = _shaped(self.x_error["values"], "x_error", [(), (d,), (n, d)])
        self.targets = np.zeros(len(data.y))
        if stated["y_error"] is not None:
            values = _shaped(stated["y_error"]["values"], "y_error", [(), data.y.shape])
            self.targets += times_above(values, np.abs(data.y)) if stated["y_error"]["relative"] else values
        if self.targets.any() and not Loss(content["problem"]["loss"]).translates:
            raise Refused("errors of y are only for losses of u - y (Squared, Huber)")
        self.strengths = _strengths(stated["strengths"], content["problem"]["penalty"])
        self.slopes: list[float] = []
        if content["claims"]["valid"]:
            self.slopes = _slopes_told(stated.get("slopes"), content["problem"]["penalty"], self.strengths)

    def columns(self, index: list[int]) -> np.ndarray:
        """Return the bounds for columns of A, in the rows of their output: times the sizes of matrices of the gauge."""
        if self.x_error is None or not index:
            return np.zeros((len(self.data.y), len(index)))
        if self.matrix is None:
            return self._of_features(index)
        sizes, factor = np.abs(self.matrix.columns(index)), self.matrix.outer
        while factor is not None:
            used = np.flatnonzero(sizes.any(axis=1))
            sizes, factor = product_above(np.abs(factor.columns(used)), sizes[used]), factor.outer
        used = np.flatnonzero(sizes.any(axis=1))
        return product_above(self._of_features(used.tolist()), sizes[used])

    def _of_features(self, index: list[int]) -> np.ndarray:
        """Return the bounds for columns of X, in the rows of their output."""
        places, per = np.array(index, dtype=int), self.data.tasks
        sizes = np.abs(self.data.features(places // per))
        values = np.broadcast_to(self.values, self.data.rows)[:, places // per]
        if self.x_error["relative"]:
            bounds = times_above(values, sizes)
        else:
            bounds = np.where(self.x_error["zeros"] | (sizes > 0), values, 0.0)
        return bounds if per == 1 else in_outputs(bounds, places, per)

    def words(self) -> str:
        """Return what the members of the family are, for the verdict."""
        inexact = [name for name, there in (("X", self.x_error is not None), ("y", self.targets.any())) if there]
        members = [f"all {' and '.join(inexact)} within the stated errors"] if inexact else []
        if self.strengths:
            members.append("all strengths from {:g} to {:g}".format(*self.strengths))
        return f", for {' and '.join(members)}" if members else ""


def check_members(content: dict[str, Any], gauge: Gauge) -> None:
    """Refuse families of problems for which there are no formulas, and claims that are not made about families."""
    claims = content["claims"]
    lacking = {
        "LInf": not gauge.euclidean,
        "groups beside coefficients with a sign": bool(gauge.upward),
    }
    for piece, there in lacking.items():
        if there:
            raise Unknown(f"a family of problems with {piece} is not known to this checker")
    if claims["sums"] or any(d["column"] >= 0 for d in claims["dependencies"]):
        raise Refused("for a family of problems, only free columns may depend on others, and no sums are claimed")


def _shaped(values: Any, name: str, shapes: list[tuple[int, ...]]) -> np.ndarray:
    """Return errors as an array of one of some shapes."""
    if isinstance(values, list) and len({len(row) for row in values if isinstance(row, list)}) > 1:
        raise Refused(f"the rows of {name} have different lengths")
    array = np.array(values, dtype=np.float64)
    if array.shape not in shapes:
        wanted = " or ".join("one number" if not shape else f"the shape {shape}" for shape in shapes)
        raise Refused(f"{name} has the shape {array.shape}: it needs {wanted}")
    return array


def _strengths(stated: list[float] | None, penalty: dict[str, Any]) -> list[float]:
    """Return the range of strengths; an empty list if there is only the stated one."""
    if stated is None:
        return []
    if penalty["type"] == "Ball" or penalty.get("p") == "inf":
        raise Refused("a range of strengths is claimed for a ball, which has none")
    here = penalty[main_parameter(penalty)]
    if len(stated) != 2 or not stated[0] <= here <= stated[1]:
        raise Refused(f"the range of strengths must be two numbers around the stated strength {here}")
    return stated


def main_parameter(penalty: dict[str, Any]) -> str:
    """Return the parameter that a range of strengths is about; phi and its slope are monotone in it."""
    return "radius" if "radius" in penalty else "strength"


def _slopes_told(stated: list[float] | None, penalty: dict[str, Any], strengths: list[float]) -> list[float]:
    """Return the range of slopes that a file names, for strengths of a penalty that is not linear: SHAPE."""
    if not (strengths and penalty["type"] != "Linear"):
        if stated is not None:
            raise Refused("a range of slopes belongs to strengths of a penalty that is not linear")
        return []
    if stated is None or len(stated) != 2 or not stated[0] < stated[1]:
        raise Refused("strengths of a penalty that is not linear need a range of slopes, two rising numbers")
    return stated
