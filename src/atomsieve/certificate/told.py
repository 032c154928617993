"""What a certificate says, in words and tables."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.certificate.family import in_words
from atomsieve.certificate.features import about, copies_of
from atomsieve.certificate.file import groups_of as numbers_of
from atomsieve.certificate.file import labels_of
from atomsieve.display.coefficients import Coefficients, verdict_words
from atomsieve.display.numbers import interval
from atomsieve.display.sections import coefficient_section
from atomsieve.display.table import Summary
from atomsieve.intake.names import numbered_copies

if TYPE_CHECKING:
    from atomsieve.certificate.claims import Certificate


def sentence(certificate: "Certificate") -> str:
    """Return how much is decided, what the optimal value is, and why something is undecided."""
    if not certificate.valid:
        return f"Nothing is proven: {certificate.reason}."
    where = "" if certificate.family is None else f"For {in_words(certificate.family)}: "
    blocks = len(certificate.zero) - len(certificate.statement["unpenalised"])
    noun = "coefficients" if certificate.lower.size == len(certificate.zero) else "groups"
    masks = (certificate.zero, certificate.nonzero, certificate.undecided)
    zero, nonzero, undecided = (int(np.count_nonzero(mask)) for mask in masks)
    decided = f"{zero} of {blocks} {noun} proven zero, {nonzero} proven non-zero, {undecided} undecided"
    if noun == "groups" and blocks == 1:  # the whole of x, for gauges that cannot be taken apart
        verdict = "proven zero" if zero else "proven not all zero" if nonzero else "undecided as a whole"
        decided = f"{certificate.lower.size} coefficients {verdict}"
    text = f"{where}{decided}; optimal value {interval(certificate.dual, certificate.primal)}."
    return text + (f" {certificate.reason}" if undecided else "")


def summary(certificate: "Certificate") -> Summary:
    """Return the sentence, and the coefficients that are not proven zero."""
    if not certificate.valid:
        return Summary([sentence(certificate)], [])
    noun = "feature" if "feature" in about(certificate) else "preimage"
    sections = [coefficient_section(part, noun=noun) for part in coefficients(certificate)]
    return Summary([sentence(certificate)], sections)


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
    groups = groups_of(certificate)
    parts = (certificate.x, certificate.lower, certificate.upper, verdicts_of(certificate))
    x, lower, upper, verdicts = (part.reshape(-1, per) for part in parts)
    return [
        Coefficients(
            names[k::per],
            x[:, k],
            lower[:, k],
            upper[:, k],
            verdicts[:, k],
            groups=None if groups is None else groups[k::per],
            output=None if per == 1 else f"output {k}",
        )
        for k in range(per)
    ]


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
        return verdict_words(zero, nonzero).reshape(shape)
    return verdict_words(zero, nonzero, certificate.lower.ravel(), certificate.upper.ravel(), free).reshape(shape)
