"""The file of a certificate: how the problem, the data and the claims are written and read."""

import hashlib
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from atomsieve.certificate.identity import Identity
from atomsieve.certificate.inverse import Dependency
from atomsieve.certificate.ranges import Sum
from atomsieve.design import Jumps
from atomsieve.design.sparse import SparseDesign
from atomsieve.gauges.facts import Facts
from atomsieve.gauges.leading import Subspaces
from atomsieve.numerics.places import support_of
from atomsieve.piece import Piece
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.claims import Certificate

FORMAT = "atomsieve certificate"
VERSION = 4
WITH_FACTS = 5
"""The version of files with facts about single coefficients of gauges that have no blocks of their own."""

ASSUMPTIONS = (
    "IEEE double precision, round to nearest, sums in any order, fused multiply-add allowed",
    "exp, log, log1p and expm1 are off by at most 4 units in the last place",
)


def content_of(certificate: "Certificate") -> dict[str, Any]:
    """Return the content of the file as plain data."""
    if (certificate.zero & certificate.nonzero).any():
        raise ValueError("A certificate cannot claim that a block is zero and that it is not.")
    index = support_of(certificate.x)
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION if certificate.facts is None else WITH_FACTS,
        "problem": certificate.statement,
        "family": certificate.family,
        "data": {"sha256": certificate.digest},
        "names": {key: names and list(names) for key, names in certificate.names.items()},
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__},
        "assumptions": list(ASSUMPTIONS),
        "point": {
            "x": {"index": index.tolist(), "value": certificate.x.ravel()[index].tolist()},
            "free": certificate.free.ravel().tolist(),
        },
        "remarks": {"reason": certificate.reason, "margin": _number(certificate.margin)},
        "claims": _claims(certificate),
    }
    if certificate.atoms is not None:
        content["point"]["atoms"] = certificate.atoms
    return content | {"seal": seal(content)}


def _claims(certificate: "Certificate") -> dict[str, Any]:
    """Return what is claimed as plain data."""
    held = ~((certificate.lower == 0) & (certificate.upper == 0)).ravel()
    held[certificate.statement["unpenalised"]] = False
    held = np.flatnonzero(held)
    claims: dict[str, Any] = {
        "valid": bool(certificate.valid),
        "value": {"lower": _number(certificate.dual), "upper": _number(certificate.primal)},
        "gap": _number(certificate.gap),
        "nonzero": np.flatnonzero(certificate.nonzero).tolist(),
        "undecided": np.flatnonzero(certificate.undecided).tolist(),
        "dependencies": [
            {"column": d.column, "of": d.of.tolist(), "times": d.times.tolist()} for d in certificate.dependencies
        ],
        "sums": [
            {"index": s.index.tolist(), "times": s.times.tolist(), "lower": _number(s.lower), "upper": _number(s.upper)}
            for s in certificate.sums
        ],
        "intervals": {"index": held.tolist()}
        | _bounds(certificate.lower.ravel()[held], certificate.upper.ravel()[held]),
        "free": _bounds(certificate.free_lower.ravel(), certificate.free_upper.ravel()),
    }
    if certificate.facts is not None:
        claims["facts"] = _facts(certificate.facts)
    if certificate.rank is not None:
        claims["rank"] = certificate.rank
    if certificate.subspaces is not None:
        left, right, sine = certificate.subspaces
        claims["subspaces"] = {"left": left.tolist(), "right": right.tolist(), "sine": sine}
    if "limits" in certificate.statement:
        claims["at_lower"] = np.flatnonzero(certificate.at_lower).tolist()
        claims["at_upper"] = np.flatnonzero(certificate.at_upper).tolist()
    return claims


def _bounds(lower: Array, upper: Array) -> dict[str, list[float | None]]:
    """Return bounds as plain data."""
    return {"lower": [_number(v) for v in lower], "upper": [_number(v) for v in upper]}


def _facts(facts: Facts) -> dict[str, Any]:
    """Return facts as plain data; which coefficients are zero and which are not is told elsewhere."""
    signs = np.flatnonzero(facts.signs)
    beside = {"tight": list(facts.tight)} if facts.tight else {}
    return beside | {
        "signs": {"index": signs.tolist(), "value": facts.signs[signs].astype(int).tolist()},
        "clusters": [cluster.tolist() for cluster in facts.sets],
        "saturated": np.flatnonzero(facts.saturated).tolist(),
        "order": [tier.tolist() for tier in facts.order],
    }


def _facts_of(stated: dict[str, Any], zero: Mask, nonzero: Mask) -> Facts:
    """Return facts from the content of a file."""
    signs, clusters, saturated = np.zeros(len(zero)), np.full(len(zero), -1), np.zeros(len(zero), dtype=bool)
    signs[stated["signs"]["index"]] = stated["signs"]["value"]
    saturated[stated["saturated"]] = True
    for k, cluster in enumerate(stated["clusters"]):
        clusters[cluster] = k
    tiers = np.where(zero, max(len(stated["order"]), 1), 0)
    for k, tier in enumerate(stated["order"]):
        tiers[tier] = k
    tight = tuple(list(part) for part in stated.get("tight", []))
    return Facts(zero, nonzero, signs, clusters, saturated, tiers, tight)


def _marked(places: list[int], count: int) -> Mask:
    """Return a mask of some places."""
    mask = np.zeros(count, dtype=bool)
    mask[places] = True
    return mask


def _dependency_of(stated: dict[str, Any]) -> Dependency:
    """Return a dependent column from the content of a file."""
    return Dependency(int(stated["column"]), np.array(stated["of"], dtype=np.intp), np.array(stated["times"]))


def _sum_of(stated: dict[str, Any]) -> Sum:
    """Return a sum of coefficients from the content of a file."""
    index, times = np.array(stated["index"], dtype=np.intp), np.array(stated["times"])
    return Sum(index, times, _float(stated["lower"], -np.inf), _float(stated["upper"], np.inf))


def _subspaces_of(stated: dict[str, Any]) -> Subspaces:
    """Return subspaces from the content of a file."""
    return Subspaces(np.array(stated["left"]), np.array(stated["right"]), float(stated["sine"]))


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a certificate from a file; raise ValueError if the file is not one."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (RecursionError, ValueError) as error:  # too deep, no text, no JSON, numbers without end
        raise ValueError(f"{path} is not a certificate: it is no JSON ({error}).") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a certificate: it does not say format {FORMAT!r}.")
    if content.get("version") not in (VERSION, WITH_FACTS):
        known = f"versions {VERSION} and {WITH_FACTS}"
        raise ValueError(f"{path} has version {content.get('version')!r}; this package reads {known}.")
    try:
        return claims_of(content)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__} ({error}).") from error


def claims_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a certificate from the content of a file."""
    problem = content["problem"]
    point = content["point"]
    claims = content["claims"]
    shape, blocks = tuple(problem["shape"]), int(problem["blocks"])
    x = np.zeros(shape)
    lower = np.zeros(shape)
    upper = np.zeros(shape)
    x.ravel()[point["x"]["index"]] = point["x"]["value"]
    held = claims["intervals"]["index"]
    lower.ravel()[held] = [_float(v, -np.inf) for v in claims["intervals"]["lower"]]
    upper.ravel()[held] = [_float(v, np.inf) for v in claims["intervals"]["upper"]]
    nonzero = _marked(claims["nonzero"], blocks)
    undecided = _marked(claims["undecided"] + problem["unpenalised"], blocks)
    free_lower = np.array([_float(v, -np.inf) for v in claims["free"]["lower"]])
    free_upper = np.array([_float(v, np.inf) for v in claims["free"]["upper"]])
    free_shape = (-1, *shape[1:])  # flat, except for losses with several outputs per target
    free_lower, free_upper = free_lower.reshape(free_shape), free_upper.reshape(free_shape)
    unpenalised = problem["unpenalised"]
    own = free_lower.size - len(unpenalised)
    lower.ravel()[unpenalised], upper.ravel()[unpenalised] = free_lower.ravel()[own:], free_upper.ravel()[own:]
    lower, upper, x = (array.reshape(problem["form"]) for array in (lower, upper, x))
    zero = ~nonzero & ~undecided
    return {
        "zero": zero,
        "nonzero": nonzero,
        "lower": lower,
        "upper": upper,
        "primal": _float(claims["value"]["upper"], np.inf),
        "dual": _float(claims["value"]["lower"], -np.inf),
        "gap": _float(claims["gap"], np.inf),
        "x": x,
        "free": np.array(point["free"], dtype=np.float64).reshape(free_shape),
        "free_lower": free_lower,
        "free_upper": free_upper,
        "at_lower": _marked(claims.get("at_lower", []), blocks),
        "at_upper": _marked(claims.get("at_upper", []), blocks),
        "margin": _float(content["remarks"]["margin"], 0.0),
        "valid": bool(claims["valid"]),
        "reason": str(content["remarks"]["reason"]),
        "dependencies": [_dependency_of(stated) for stated in claims["dependencies"]],
        "sums": [_sum_of(stated) for stated in claims["sums"]],
        "statement": problem,
        "names": {key: names and tuple(names) for key, names in content["names"].items()},
        "family": content["family"],
        "facts": _facts_of(claims["facts"], zero, nonzero) if "facts" in claims else None,
        "atoms": point.get("atoms"),
        "rank": claims.get("rank"),
        "subspaces": _subspaces_of(claims["subspaces"]) if "subspaces" in claims else None,
        "identity": Identity(content["data"]["sha256"]),
    }


def describe(problem: Problem, blocks: int) -> dict[str, Any]:
    """Return the statement of a problem as plain data; a ridge and limits are stated if there are any.

    Verdicts are about `blocks`.
    """
    ridge = problem.ridge
    charged = ridge.any() if isinstance(ridge, np.ndarray) else ridge != 0
    beside: dict[str, Any] = {"ridge": _plain(ridge)} if charged else {}
    if problem.limits is not None:
        sides = zip(("lower", "upper"), problem.stated_limits, strict=True)
        beside["limits"] = {side: [_number(v) for v in values] for side, values in sides}
    return beside | {
        "loss": _piece(problem.loss.stated_loss),
        "gauge": _piece(problem.gauge.spelled_out(problem.lifted.form)),
        "penalty": _piece(problem.penalty),
        "intercept": problem.data.intercept,
        "free": int(problem.data.free.shape[1]),
        "weighted": bool((problem.data.stated_weights != 1).any()),
        "unpenalised": problem.unpenalised.tolist(),
        "offset": problem.data.offset is not None,
        "samples": int(problem.data.design.shape[0]),
        "outputs": problem.data.tasks,
        "form": [int(side) for side in problem.lifted.form],
        "shape": [int(side) for side in problem.shape],
        "blocks": blocks,
    }


def labels_of(statement: dict[str, Any]) -> Index:
    """Return what the verdict on each entry of x is about, flattened: the number of the entry, or of its block."""
    entries = math.prod(statement["form"])
    if statement["blocks"] == entries:
        return np.arange(entries)
    labels = groups_of(statement)
    return labels if labels.max() < statement["blocks"] else np.zeros_like(labels)


def groups_of(statement: dict[str, Any]) -> Index:
    """Return the group of each entry of x, flattened, as a file describes the gauge; by default its row."""
    form, piece = statement["form"], statement["gauge"]
    while "gauge" in piece:
        piece = piece["gauge"]
    rows, groups = form[0], piece.get("groups")
    return np.repeat(np.arange(rows) if groups is None else np.array(groups), math.prod(form[1:]))


def is_mapped(gauge: dict[str, Any]) -> bool:
    """Return whether a gauge, as a file describes it, is an image: coefficients are then those of the preimage."""
    return "matrix" in gauge or ("gauge" in gauge and is_mapped(gauge["gauge"]))


def _piece(piece: Piece) -> dict[str, Any]:
    """Return a piece as plain data."""
    told = {name: (_plain_matrix if name == "matrix" else _plain)(value) for name, value in piece.stated().items()}
    return {"type": _name(type(piece))} | told


def _name(kind: type[Piece]) -> str:
    """Return the name of a piece, with its module if that is outside this package: names may repeat there."""
    own = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    return kind.__name__ if own else f"{kind.__module__}.{kind.__name__}"


def _plain(value: Any) -> Any:
    if isinstance(value, Piece):
        return _piece(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isposinf(value).any():  # the most common case, and much the longest
            return value.tolist()
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return "inf" if value == np.inf else value


def _plain_matrix(matrix: Any) -> Any:
    """Return a matrix as plain data: rows of doubles, or the places and values of stored entries without duplicates."""
    if isinstance(matrix, Jumps):
        return matrix.stated()
    if not hasattr(matrix, "tocoo"):
        return np.asarray(matrix, dtype=np.float64).tolist()
    entries = SparseDesign.of(matrix, "matrix").matrix.tocoo()
    parts = {"row": entries.row, "column": entries.col, "value": entries.data}
    return {"shape": list(matrix.shape)} | {name: part.tolist() for name, part in parts.items()}


def seal(content: dict[str, Any]) -> str:
    """Return the SHA-256 of the content of a file, without the seal itself."""
    told = {key: value for key, value in content.items() if key != "seal"}
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _number(value: float) -> float | None:
    """Return a float for JSON, or None if it is not finite."""
    return float(value) if np.isfinite(value) else None


def _float(value: float | None, unknown: float) -> float:
    return unknown if value is None else float(value)
