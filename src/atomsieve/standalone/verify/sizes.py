"""Lists that belong together are as long as the statement, the data and the gauge say."""

import math
from typing import Any

from .data import Data
from .gauges import Gauge
from .verdict import Refused, Unknown


def check_sizes(content: dict[str, Any], data: Data, gauge: Gauge) -> None:
    """Refuse a statement that does not fit the data and the gauge, and lists that do not fit the statement."""
    claims = content["claims"]
    point = content["point"]
    problem = content["problem"]
    stated = [problem[name] for name in ("shape", "form", "blocks", "samples", "outputs", "free", "unpenalised")]
    entries = len(gauge.labels)
    blocks = len(gauge.prices) if "facts" not in claims else entries
    own = data.given.shape[1] // data.tasks
    flat, outputs = ([entries], data.tasks) if data.labels is None else (gauge.form, 1)
    found = [flat, gauge.form, blocks, data.rows[0], outputs, own, gauge.free]
    told = [problem["weighted"], problem["offset"]] == [bool((data.weights != 1).any()), bool(data.offset.any())]
    if stated != found or not told:
        raise Refused("what the certificate states of the problem does not fit the data and the gauge")
    intervals, free = claims["intervals"], data.tasks * (int(problem["intercept"]) + own) + len(gauge.free)
    lists = [(point["x"]["index"], point["x"]["value"])]
    lists += [(intervals["index"], intervals[side]) for side in ("lower", "upper")]
    lists += [(dependency["of"], dependency["times"]) for dependency in claims["dependencies"]]
    lists += [(total["index"], total["times"]) for total in claims["sums"]]
    lists += [(range(free), values) for values in (point["free"], claims["free"]["lower"], claims["free"]["upper"])]
    if any(len(index) != len(values) for index, values in lists):
        raise Refused("lists that belong together have different lengths")
    indices = {"point.x": point["x"]["index"], "intervals": intervals["index"]}
    limits = [(name, index, entries) for name, index in indices.items()]
    limits += [(name, claims[name], blocks) for name in ("nonzero", "undecided")]
    limits += [(name, claims.get(name, []), blocks) for name in ("at_lower", "at_upper")]
    for name, index, limit in limits:
        if index and index[-1] >= limit:
            raise Refused(f"the indices of {name} are not increasing whole numbers in range")
    if set(claims["nonzero"]) & set(claims["undecided"]):
        raise Refused("a block is claimed to be decided and undecided")
    if gauge.listed != ("atoms" in point):
        raise Refused("the point names atoms where the gauge has no names for them, or does not where it has")
    if "rank" in claims or "subspaces" in claims:
        check_matrix(content, data)
    if "facts" in claims:
        check_facts(content, data, gauge)
    if not {*claims.get("at_lower", []), *claims.get("at_upper", [])} <= set(claims["nonzero"]):
        raise Refused("a coefficient is claimed to be at a limit, and not to be decided")
    check_dependencies(claims["dependencies"])


def check_facts(content: dict[str, Any], data: Data, gauge: Gauge) -> None:
    """Refuse facts where none are derived, and lists of facts that do not fit."""
    facts = content["claims"]["facts"]
    if not gauge.has_facts or data.labels is not None or content["family"] is not None:
        raise Unknown("facts are for one problem, one output, and gauges whose facts are known here")
    signs = facts["signs"]
    if len(signs["index"]) != len(signs["value"]):
        raise Refused("lists that belong together have different lengths")
    for index in (signs["index"], facts["saturated"], *facts["clusters"], *facts["order"], *facts.get("tight", [])):
        if index and index[-1] >= len(gauge.labels):
            raise Refused("the indices of facts are not increasing whole numbers in range")


def check_matrix(content: dict[str, Any], data: Data) -> None:
    """Refuse claims about a matrix where none are derived, and bases of subspaces that do not fit it."""
    problem, stated = content["problem"], content["claims"].get("subspaces")
    if data.labels is not None or content["family"] is not None or "ridge" in problem:
        raise Unknown("a rank and subspaces are for one problem without a ridge or classes")
    if stated is None:
        return
    left, right, form = stated["left"], stated["right"], problem["form"]
    widths = {len(row) for row in (*left, *right)}
    if [len(left), len(right)] != form or len(widths) != 1 or not 0 < min(widths) <= min(form):
        raise Refused("the bases of subspaces do not fit the matrix")


def check_dependencies(dependencies: list[dict[str, Any]]) -> None:
    """Refuse ambiguous sums: a column with two sums, or a sum with a repeated or zero part."""
    columns = [dependency["column"] for dependency in dependencies]
    twice = len(set(columns)) < len(columns) or any(len(set(d["of"])) < len(d["of"]) for d in dependencies)
    if twice or any(factor == 0 for d in dependencies for factor in d["times"]):
        raise Refused("a dependency names a column twice, or one that does not count")


def check_silence(content: dict[str, Any]) -> None:
    """Refuse a certificate that says it claims nothing, but makes claims."""
    claims, problem = content["claims"], content["problem"]
    silent = [*claims["intervals"]["lower"], *claims["intervals"]["upper"], *claims["free"]["lower"], claims["gap"]]
    silent += [*claims["free"]["upper"], claims["value"]["lower"], claims["value"]["upper"]]
    facts = claims.get("facts", {})
    listed = [*facts.get("clusters", []), *facts.get("order", []), facts.get("saturated"), claims["nonzero"]]
    silent += [claims.get("rank"), claims.get("subspaces")]
    listed += [claims["dependencies"], claims["sums"], facts.get("tight"), facts.get("signs", {}).get("index")]
    speaks = any(listed) or any(value is not None for value in silent)
    free = set(problem["unpenalised"])
    if speaks or claims["intervals"]["index"] != [j for j in range(math.prod(problem["shape"])) if j not in free]:
        raise Refused("it says that it claims nothing, and makes claims")
    if len(set(claims["undecided"]) | free) < problem["blocks"]:
        raise Refused("it says that it claims nothing, and leaves blocks out that are then claimed to be zero")
