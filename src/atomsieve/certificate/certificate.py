"""A certificate: what is certain about the optimum, and the file that an auditor keeps."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy

from atomsieve.balls import UNIT, Ball
from atomsieve.certificate.inverse import Dependency
from atomsieve.design.base import bounded
from atomsieve.design.sparse import SparseDesign
from atomsieve.files import write_text
from atomsieve.gauges.group import numbered
from atomsieve.piece import Piece
from atomsieve.problem import Problem
from atomsieve.signs import admissible
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.certify import Proof

FORMAT = "atomsieve certificate"
VERSION = 1

ASSUMPTIONS = (
    "IEEE double precision, round to nearest, sums in any order, fused multiply-add allowed",
    "exp, log, log1p and expm1 are off by at most 4 units in the last place",
)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What is certain about every solution of one problem, in spite of rounding.

    It speaks of the exact problem whose data are the given floats, and of its optimum: not of the relevance of a
    feature, and not of other data. Masks have one truth value per block (a coefficient for L1, a group for Group).
    """

    zero: Mask
    """Blocks that are zero in every solution."""

    nonzero: Mask
    """Blocks that are not zero in the solution, which is then unique on the blocks that are not zero."""

    lower: Array
    """Lower bounds of the coefficients (lifted, for Image and Atoms); -inf where none is known."""

    upper: Array
    """Upper bounds of the coefficients."""

    primal: float
    """An upper bound of the optimal value."""

    dual: float
    """A lower bound of the optimal value."""

    gap: float
    """An upper bound of how far the objective at the certified point is above the optimal value."""

    x: Array
    """The point of the certificate: coefficients that carry no weight where they are proven zero."""

    free: Array
    """Its free coefficients: intercept, `free`, unpenalised columns, in that order; enclosed, not exact."""

    free_lower: Array
    """Lower bounds of the best free coefficients."""

    free_upper: Array
    """Upper bounds of them."""

    margin: float
    """The least relative distance from a wrong decision, over all blocks that are decided."""

    valid: bool
    """Whether anything could be proven; nothing is decided where not."""

    reason: str
    """Why nothing could be proven, or why something is undecided."""

    dependencies: list[Dependency]
    """Columns that are exact sums of others: the coefficients of all columns involved are not determined."""

    statement: dict[str, Any]
    """The problem in words and numbers: pieces with their parameters, sizes."""

    digest: str
    """A digest of X, y, the weights and the free columns as they were when this was proven, by which they are known."""

    @classmethod
    def of(
        cls,
        proof: "Proof",
        zero: Mask,
        nonzero: Mask,
        away: Array,
        around: Array,
        dependencies: list[Dependency],
    ) -> Self:
        """Return the claims that a proof supports."""
        statement, x, problem = proof.statement, proof.x, proof.statement.problem
        with np.errstate(invalid="ignore", over="ignore"):
            lower, upper = np.nextafter(x - away, -np.inf), np.nextafter(x + away, np.inf)
            fixed = zero[statement.labels].reshape(x.shape)
            lower[fixed] = upper[fixed] = 0.0
            lower = admissible(lower.ravel(), statement.signs).reshape(x.shape)
            primal = float((Ball.exact(proof.objective.high) / statement.total).high)
            least = Ball.exact(proof.objective.low) - Ball.exact(proof.gap)
            dual = float((least / statement.total).low)
            gap = float((Ball.exact(proof.gap) / statement.total).high)
            if statement.plain:  # a coefficient is not zero where its interval says so
                nonzero = nonzero & ((lower.ravel() > 0) | (upper.ravel() < 0))
            free_lower, free_upper = np.nextafter(proof.b - around, -np.inf), np.nextafter(proof.b + around, np.inf)
        rows = problem.core.free_rows()
        if len(rows):
            lower[rows], upper[rows] = free_lower[-len(rows) :], free_upper[-len(rows) :]
        free_blocks = np.isin(np.arange(len(zero)), statement.labels.reshape(x.shape)[rows])
        undecided = int(np.count_nonzero(~zero & ~nonzero & ~free_blocks))
        return cls(
            zero=zero,
            nonzero=nonzero,
            lower=lower,
            upper=upper,
            primal=primal,
            dual=dual,
            gap=gap,
            x=x,
            free=proof.b,
            free_lower=free_lower,
            free_upper=free_upper,
            margin=_margin(proof, zero, nonzero, away),
            valid=True,
            reason=_why(proof, undecided, away, dependencies),
            dependencies=dependencies,
            statement=describe(problem),
            digest=digest_of(problem),
        )

    @classmethod
    def nothing(cls, problem: Problem, x: Array, reason: str) -> Self:
        """Return a certificate that decides nothing."""
        blocks, unknown = len(problem.eligible), np.full(problem.shape, np.inf)
        b = np.zeros(0) if problem.free is None else problem.free.coefficients(problem.free.origin)
        return cls(
            zero=np.zeros(blocks, dtype=bool),
            nonzero=np.zeros(blocks, dtype=bool),
            lower=-unknown,
            upper=unknown,
            primal=np.inf,
            dual=-np.inf,
            gap=np.inf,
            x=x,
            free=b,
            free_lower=np.full(b.shape, -np.inf),
            free_upper=np.full(b.shape, np.inf),
            margin=0.0,
            valid=False,
            reason=reason,
            dependencies=[],
            statement=describe(problem),
            digest=digest_of(problem),
        )

    @property
    def undecided(self) -> Mask:
        """Penalised blocks of which nothing is certain."""
        unknown = ~self.zero & ~self.nonzero
        unknown[self.statement["unpenalised"]] = False
        return unknown

    def __str__(self) -> str:
        blocks, noun = len(self.zero), "coefficients" if self.lower.size == len(self.zero) else "blocks"
        blocks -= len(self.statement["unpenalised"])
        if not self.valid:
            return f"Nothing is proven: {self.reason}."
        counts = [int(np.count_nonzero(mask)) for mask in (self.zero, self.nonzero, self.undecided)]
        text = (
            f"{counts[0]} of {blocks} {noun} proven zero, {counts[1]} proven non-zero, {counts[2]} undecided; "
            f"optimal value in [{self.dual:.10g}, {self.primal:.10g}]."
        )
        return text + (f" {self.reason}" if counts[2] else "")

    def __repr__(self) -> str:
        return f"Certificate({self})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as readable JSON with exact floats, at once or not at all.

        A link is followed; a device or a pipe, such as /dev/stdout, is written to.
        """
        write_text(path, json.dumps(self.content(), indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a certificate; `verify` is what checks it."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (RecursionError, ValueError) as error:  # too deep, no text, no JSON, numbers without end
            raise ValueError(f"{path} is not a certificate: it is no JSON ({error}).") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is not a certificate: it does not say format {FORMAT!r}.")
        if content.get("version") != VERSION:
            raise ValueError(f"{path} has version {content.get('version')!r}; this package reads version {VERSION}.")
        try:
            return cls._from(content)
        except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {type(error).__name__} ({error}).") from error

    def content(self) -> dict[str, Any]:
        """Return all that the file says, as plain data."""
        if (self.zero & self.nonzero).any():
            raise ValueError("A certificate cannot claim that a block is zero and that it is not.")
        rows = np.flatnonzero(self.x.ravel())
        held = ~((self.lower == 0) & (self.upper == 0))
        held[self.statement["unpenalised"]] = False
        held = np.flatnonzero(held.ravel())
        content: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "problem": self.statement,
            "data": {"sha256": self.digest},
            "versions": {"numpy": np.__version__, "scipy": scipy.__version__},
            "assumptions": list(ASSUMPTIONS),
            "point": {
                "x": {"index": rows.tolist(), "value": self.x.ravel()[rows].tolist()},
                "free": self.free.ravel().tolist(),
            },
            "remarks": {"reason": self.reason, "margin": _number(self.margin)},
            "claims": {
                "valid": bool(self.valid),
                "value": {"lower": _number(self.dual), "upper": _number(self.primal)},
                "gap": _number(self.gap),
                "nonzero": np.flatnonzero(self.nonzero).tolist(),
                "undecided": np.flatnonzero(self.undecided).tolist(),
                "dependencies": [
                    {"column": d.column, "of": d.of.tolist(), "times": d.times.tolist()} for d in self.dependencies
                ],
                "intervals": {
                    "index": held.tolist(),
                    "lower": [_number(v) for v in self.lower.ravel()[held]],
                    "upper": [_number(v) for v in self.upper.ravel()[held]],
                },
                "free": {
                    "lower": [_number(v) for v in self.free_lower.ravel()],
                    "upper": [_number(v) for v in self.free_upper.ravel()],
                },
            },
        }
        return content | {"seal": seal(content)}

    @classmethod
    def _from(cls, content: dict[str, Any]) -> Self:
        problem, point, claims = content["problem"], content["point"], content["claims"]
        shape, blocks = tuple(problem["shape"]), int(problem["blocks"])
        x, lower, upper = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        x.ravel()[point["x"]["index"]] = point["x"]["value"]
        held = claims["intervals"]["index"]
        lower.ravel()[held] = [_float(v, -np.inf) for v in claims["intervals"]["lower"]]
        upper.ravel()[held] = [_float(v, np.inf) for v in claims["intervals"]["upper"]]
        nonzero, undecided = np.zeros(blocks, dtype=bool), np.zeros(blocks, dtype=bool)
        nonzero[claims["nonzero"]] = True
        undecided[claims["undecided"] + problem["unpenalised"]] = True
        free_lower = np.array([_float(v, -np.inf) for v in claims["free"]["lower"]])
        free_upper = np.array([_float(v, np.inf) for v in claims["free"]["upper"]])
        free_shape = (-1, *shape[1:])
        free_lower, free_upper = free_lower.reshape(free_shape), free_upper.reshape(free_shape)
        own = len(free_lower) - len(problem["unpenalised"])
        lower[problem["unpenalised"]], upper[problem["unpenalised"]] = free_lower[own:], free_upper[own:]
        return cls(
            zero=~nonzero & ~undecided,
            nonzero=nonzero,
            lower=lower,
            upper=upper,
            primal=_float(claims["value"]["upper"], np.inf),
            dual=_float(claims["value"]["lower"], -np.inf),
            gap=_float(claims["gap"], np.inf),
            x=x,
            free=np.array(point["free"], dtype=np.float64).reshape(free_shape),
            free_lower=free_lower,
            free_upper=free_upper,
            margin=_float(content["remarks"]["margin"], 0.0),
            valid=bool(claims["valid"]),
            reason=str(content["remarks"]["reason"]),
            dependencies=[
                Dependency(int(d["column"]), np.array(d["of"], dtype=np.intp), np.array(d["times"]))
                for d in claims["dependencies"]
            ],
            statement=problem,
            digest=content["data"]["sha256"],
        )


def describe(problem: Problem) -> dict[str, Any]:
    """Return the statement of a problem as plain data."""
    return {
        "loss": _piece(problem.loss),
        "gauge": _piece(problem.gauge),
        "penalty": _piece(problem.penalty),
        "intercept": problem.intercept,
        "free": int(problem.free_count),
        "weighted": bool((problem.stated_weights != 1).any()),
        "unpenalised": problem.core.free_rows().tolist(),
        "samples": int(problem.design.shape[0]),
        "shape": [int(side) for side in problem.shape],
        "blocks": len(problem.eligible),
    }


def _piece(piece: Piece) -> dict[str, Any]:
    """Return a piece as plain data."""
    parameters: Any = fields(piece)  # type: ignore[arg-type]
    names = [f.name for f in parameters if not f.name.startswith("_")]
    told = {name: (_plain_matrix if name == "matrix" else _plain)(getattr(piece, name)) for name in names}
    if told.get("groups") is not None:  # labels may be of any kind
        labels: Any = getattr(piece, "groups")  # noqa: B009 -- only Group has it
        told["groups"] = numbered(labels).tolist()
    return {"type": type(piece).__name__} | told


def _plain(value: Any) -> Any:
    if isinstance(value, Piece):
        return _piece(value)
    if isinstance(value, np.ndarray):
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return "inf" if value == np.inf else value


def _plain_matrix(matrix: Any) -> Any:
    """Return a matrix as designs read it: rows of doubles, or rows and columns of what is stored, duplicates added."""
    if not hasattr(matrix, "tocoo"):
        return np.asarray(matrix, dtype=np.float64).tolist()
    entries = SparseDesign.of(matrix, "matrix").matrix.tocoo()
    parts = {"row": entries.row, "column": entries.col, "value": entries.data}
    return {"shape": list(matrix.shape)} | {name: part.tolist() for name, part in parts.items()}


def digest_of(problem: Problem) -> str:
    """Return the SHA-256 of the data: shape, what is not zero in X, y, weights, free columns."""
    digest = hashlib.sha256()
    for part in _bytes(problem):
        digest.update(part)
    return digest.hexdigest()


def _bytes(problem: Problem) -> Iterator[bytes | memoryview]:
    yield from bounded(problem.stated_design).rows_as_bytes()
    for part in (problem.y, problem.stated_weights, problem.given):
        yield np.ascontiguousarray(part, dtype="<f8").reshape(-1).data


def seal(content: dict[str, Any]) -> str:
    """Return the SHA-256 of all that a file says but the seal itself."""
    told = {key: value for key, value in content.items() if key != "seal"}
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _number(value: float) -> float | None:
    """Return a float for JSON, None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def _float(value: float | None, unknown: float) -> float:
    return unknown if value is None else float(value)


def _margin(proof: "Proof", zero: Mask, nonzero: Mask, away: Array) -> float:
    """Return the least relative distance from a wrong decision."""
    statement = proof.statement
    eligible = statement.problem.eligible
    with np.errstate(all="ignore"):
        above = proof.scores[1]
        slope = float(statement.total.mid) * statement.problem.penalty.slope(0.0)
        slack = (1 - above / max(proof.sigma * proof.shrink, slope, 1e-300))[zero & eligible]
        sizes = statement.least_norms(np.abs(proof.x))
        held = (1 - statement.block_norms(away) / sizes)[nonzero]
        return float(np.min(np.concatenate([slack, held]), initial=1.0))


def _why(proof: "Proof", undecided: int, away: Array, dependencies: list[Dependency]) -> str:
    """Return why blocks are undecided."""
    if not undecided:
        return "Every block is decided."
    if dependencies:
        columns = sorted({int(j) for d in dependencies for j in (d.column, *d.of) if j >= 0})
        shown = ", ".join(map(str, columns[:10])) + (", ..." if len(columns) > 10 else "")
        return f"Columns {shown} are linearly dependent: weight can move between them at no cost."
    if not np.isfinite(away[proof.x != 0]).all():
        return "The columns that are left are linearly dependent, or nearly: their coefficients are not determined."
    relative = proof.gap / max(float(proof.objective.high), UNIT)
    return (
        f"The gap is proven to be below {relative:.1e} of the objective; a smaller tolerance may decide more, unless "
        "scores are tied."
    )
