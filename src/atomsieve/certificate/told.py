"""What a certificate says, in words and tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.certificate.dependence import linked_columns
from atomsieve.certificate.family import in_words
from atomsieve.certificate.features import about, changes_of, copies_of
from atomsieve.certificate.file import groups_of as numbers_of
from atomsieve.certificate.file import labels_of
from atomsieve.display.coefficients import Coefficients, verdict_words
from atomsieve.display.numbers import above, count, interval
from atomsieve.display.sections import coefficient_section
from atomsieve.display.sums import written_sum
from atomsieve.display.table import Section, Summary
from atomsieve.gauges.facts import Facts
from atomsieve.intake.names import listed, numbered_copies
from atomsieve.typing import Index

if TYPE_CHECKING:
    from atomsieve.certificate.claims import Certificate


MOST = 8
"""How many clusters, and how many places of the order, are written out."""


def sentence(certificate: "Certificate") -> str:
    """Return how much is decided, what the optimal value is, and why something is undecided."""
    if not certificate.valid:
        return f"Nothing is proven: {certificate.reason}."
    where = "" if certificate.family is None else f"For {in_words(certificate.family)}: "
    blocks = len(certificate.zero) - len(certificate.statement["unpenalised"])
    noun = "coefficients" if certificate.lower.size == len(certificate.zero) else "groups"
    masks = (certificate.zero, certificate.nonzero, certificate.undecided)
    zero, nonzero, undecided = (int(np.count_nonzero(mask)) for mask in masks)
    at_limit = int(np.count_nonzero(certificate.at_lower | certificate.at_upper))
    held = f" ({at_limit:,} at a limit)" if at_limit else ""
    decided = f"{zero:,} of {blocks:,} {noun} proven zero, {nonzero:,} proven non-zero{held}, {undecided:,} undecided"
    change = changes_of(certificate.statement["gauge"])
    if change is not None:
        found = f"{nonzero:,} proven {change}{'' if nonzero == 1 else 's'}"
        decided = f"{zero:,} of {blocks:,} places proven to have no {change}, {found}, {undecided:,} undecided"
    if noun == "groups" and blocks == 1:  # the whole of x, for gauges that cannot be taken apart
        verdict = "proven zero" if zero else "proven not all zero" if nonzero else "undecided as a whole"
        decided = f"{certificate.lower.size} coefficients {verdict}"
        if certificate.rank is not None and not zero:
            decided += f", a matrix of rank {certificate.rank} at most"
        if certificate.subspaces is not None:
            angle = above(certificate.subspaces.degrees)
            decided += f", its rows and columns within {angle} degrees of known subspaces"
    text = f"{where}{decided}; optimal value {interval(certificate.dual, certificate.primal)}."
    return text + (f" {certificate.reason}" if undecided else "")


def summary(certificate: "Certificate") -> Summary:
    """Return the sentence, and the coefficients that are not proven zero."""
    if not certificate.valid:
        return Summary([sentence(certificate)], [])
    noun = "feature" if "feature" in about(certificate) else changes_of(certificate.statement["gauge"]) or "preimage"
    sections = [coefficient_section(part, noun=noun) for part in coefficients(certificate)]
    facts = [Section(notes=fact_sentences(certificate))]
    return Summary([sentence(certificate)], sections + facts if facts[0].notes else sections)


def fact_sentences(certificate: "Certificate") -> list[str]:
    """Return what is proven beside zeros and intervals: clusters, saturated coefficients, and their order.

    A minus sign is before those whose coefficients are opposite to the first one's.
    """
    facts = certificate.facts
    if facts is None:
        return []
    names, noun = called(certificate), "feature" if "feature" in about(certificate) else "coefficient"

    def signed(index: Index) -> list[str]:
        turns = facts.signs[index] * facts.signs[index[0]]
        return [f"-{names[j]}" if turn < 0 else names[j] for j, turn in zip(index.tolist(), turns, strict=True)]

    saturated = np.flatnonzero(facts.saturated)
    clusters = [cluster for cluster in facts.sets if not facts.saturated[cluster].any()]
    told = [
        f"{len(cluster)} {noun}s share one absolute value: {listed(signed(cluster))}." for cluster in clusters[:MOST]
    ]
    if len(clusters) > MOST:
        told.append(f"So do those of {len(clusters) - MOST} other clusters: facts.sets.")
    if len(saturated):
        largest = "of the size of the whole solution" if certificate.atoms else "of the largest absolute value of all"
        what = f"{count(len(saturated), noun)} saturated, {largest}"
        told.append(f"{what}: {listed(signed(saturated))}.")
    if facts.tight:
        told.append(f"Tight sums, the largest in front: {_parts(facts, names)}.")
    if facts.order:
        told.append(f"In the order of their absolute values: {_chain(facts, names)}.")
    return told


def _parts(facts: Facts, names: list[str]) -> str:
    """Return the parts of tight sums in words."""
    shown = [names[part[0]] if len(part) == 1 else f"{len(part)} features" for part in facts.tight[:MOST]]
    return " >= ".join(shown) + " >= ..."


def _chain(facts: Facts, names: list[str]) -> str:
    """Return the order in words; what is in one cluster is equal."""
    tiers = facts.order
    clusters = [facts.clusters[tier] for tier in tiers]
    chain = names[tiers[0][0]] if len(tiers[0]) == 1 else f"{len(tiers[0])} features"
    for tier, before, here in zip(tiers[1:MOST], clusters, clusters[1:], strict=False):
        same = here[0] >= 0 and (here == before[0]).all() and (before == before[0]).all()
        chain += f" {'=' if same else '>='} {names[tier[0]] if len(tier) == 1 else f'{len(tier)} others'}"
    return chain + (" >= ..." if len(tiers) > MOST else "")


def table(certificate: "Certificate") -> dict[str, Any]:
    """Return one row per coefficient, by column: feature, output, group if it has a name, bounds, verdict."""
    verdicts = verdicts_of(certificate).ravel()
    told = {"lower": certificate.lower.ravel(), "upper": certificate.upper.ravel(), "verdict": verdicts}
    groups = groups_of(certificate)
    return about(certificate) | ({} if groups is None else {"group": groups}) | told


def coefficients(certificate: "Certificate") -> list[Coefficients]:
    """Return the coefficients with what is proven about them, once for each output."""
    columns = about(certificate)
    names = columns.get("feature") or columns["preimage"]
    per = max(columns["output"]) + 1 if "output" in columns else 1
    groups, titles = groups_of(certificate), _titles(certificate, per)
    values, unpenalised = certificate.x.copy(), certificate.statement["unpenalised"]
    values.ravel()[unpenalised] = certificate.free.ravel()[certificate.free.size - len(unpenalised) :]
    parts = (values, certificate.lower, certificate.upper, verdicts_of(certificate))
    x, lower, upper, verdicts = (part.reshape(-1, per) for part in parts)
    return [
        Coefficients(
            names[k::per],
            x[:, k],
            lower[:, k],
            upper[:, k],
            verdicts[:, k],
            groups=None if groups is None else groups[k::per],
            output=titles[k],
        )
        for k in range(per)
    ]


def _titles(certificate: "Certificate", count: int) -> Sequence[str | None]:
    """Return what outputs are called: classes by their names, others by their numbers; a single one needs no name."""
    named = certificate.names.get("outputs") or ()
    if len(named) == count:
        return named
    return [None] if count == 1 else [f"output {k}" for k in range(count)]


def groups_of(certificate: "Certificate") -> list[str] | None:
    """Return the name of the group of each entry of x; None if groups have no names."""
    blocks = certificate.names["blocks"]
    return None if blocks is None else [blocks[label] for label in numbers_of(certificate.statement)]


def called(certificate: "Certificate") -> list[str]:
    """Return the name of each entry of x; of a copy of a feature, with the group or the part that it is in."""
    columns, copies = about(certificate), copies_of(certificate.statement["gauge"])
    names: list[str] = columns.get("feature") or columns["preimage"]
    if copies is None:
        return names
    per = len(names) // len(copies)
    parts = groups_of(certificate) or [f"part {k}" for k in numbered_copies(copies) for _ in range(per)]
    return [f"{name} in {part}" for name, part in zip(names, parts, strict=True)]


def verdicts_of(certificate: "Certificate") -> NDArray[Any]:
    """Return a word for each entry of x."""
    labels, shape = labels_of(certificate.statement), certificate.statement["shape"]
    free = np.zeros(len(labels), dtype=bool)
    free[certificate.statement["unpenalised"]] = True
    zero, nonzero = certificate.zero[labels], certificate.nonzero[labels]
    if certificate.facts is not None:  # verdicts are about single coefficients, with or without an interval
        return verdict_words(zero, nonzero, unpenalised=free).reshape(shape)
    bounds, limits = (certificate.lower, certificate.upper), (certificate.at_lower, certificate.at_upper)
    limits = (limits[0][labels], limits[1][labels])
    return verdict_words(zero, nonzero, bounds[0].ravel(), bounds[1].ravel(), free, limits).reshape(shape)


def group_table(certificate: "Certificate") -> dict[str, Any]:
    """Return the name, the number of coefficients and the verdict of each group."""
    names = certificate.names["blocks"]
    if names is None:
        raise ValueError("Certificate.group_frame() needs groups with names: gauge=Group(groups).")
    sizes = np.bincount(numbers_of(certificate.statement), minlength=len(names))
    return {"group": names, "coefficients": sizes, "verdict": verdict_words(*certificate.of_groups())}


def sums_table(certificate: "Certificate") -> dict[str, list[Any]]:
    """Return the sums of coefficients that are determined, written out, with their intervals."""
    names = called(certificate)
    free = ["intercept"] * int(certificate.statement["intercept"]) + [f"free {k}" for k in range(len(certificate.free))]
    table: dict[str, list[Any]] = {"sum": [], "lower": [], "upper": [], "needed": []}
    for total in certificate.sums:
        named = [names[j] if j >= 0 else free[-1 - j] for j in total.index.tolist()]
        row = (written_sum(zip(total.times.tolist(), named, strict=True)), total.lower, total.upper, total.needed)
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    return table


def dependent_sets(certificate: "Certificate") -> list[list[str]]:
    """Return the names of features whose columns are linearly dependent, one list for each set of them."""
    numbers = about(certificate).get("output")
    titles = _titles(certificate, 1 + max(numbers or [0]))
    outputs = [""] * certificate.x.size if numbers is None else [f" of {titles[number]}" for number in numbers]
    names = [name + output for name, output in zip(called(certificate), outputs, strict=True)]
    return [[names[j] for j in linked if j >= 0] for linked in linked_columns(certificate.dependencies)]
