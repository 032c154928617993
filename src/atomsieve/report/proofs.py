"""What the certificates say of the whole: the optimal value, groups, and columns that depend on one another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.certificate.file import is_mapped, labels_of
from atomsieve.certificate.told import fact_sentences
from atomsieve.display.coefficients import verdict_words
from atomsieve.estimators.proof import ModelProof
from atomsieve.report.outputs import finite
from atomsieve.typing import Array


@dataclass(frozen=True)
class ProofFacts:
    """One certificate, its claims counted."""

    label: str | None
    """The class that is set against the rest; None where there is one certificate."""

    valid: bool
    reason: str
    blocks: str
    """What is decided upon: a coefficient or a group."""

    zero: int
    nonzero: int
    undecided: int
    lower: float | None
    """A lower bound of the optimal value."""

    upper: float | None
    gap: float | None
    digest: str
    facts: tuple[str, ...] = ()
    """What is proven beside zeros and intervals, in sentences: clusters, saturated coefficients, order."""


@dataclass(frozen=True)
class GroupFacts:
    """A group of features and what is proven of it."""

    label: str | None
    name: str
    features: tuple[int, ...]
    verdict: str
    length: float
    """The Euclidean norm of its coefficients."""


@dataclass(frozen=True)
class Term:
    """A column, or its coefficient, times a number."""

    times: float
    name: str


@dataclass(frozen=True)
class Relation:
    """A column that is a combination of others, exactly or nearly."""

    label: str | None
    column: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Total:
    """A sum of coefficients that the data determine, and whether every solution needs one of them."""

    label: str | None
    terms: tuple[Term, ...]
    lower: float
    upper: float
    needed: bool


def proofs_of(proof: ModelProof, labels: Sequence[str | None]) -> tuple[ProofFacts, ...]:
    """Return the certificates of a model, their claims counted; `labels` has one for each."""
    return tuple(_facts(label, certificate) for label, certificate in zip(labels, proof.certificates, strict=True))


def _facts(label: str | None, certificate: Certificate) -> ProofFacts:
    masks = (certificate.zero, certificate.nonzero, certificate.undecided)
    zero, nonzero, undecided = (int(np.count_nonzero(mask)) for mask in masks)
    return ProofFacts(
        label=label,
        valid=bool(certificate.valid),
        reason=certificate.reason,
        blocks="coefficient" if certificate.lower.size == len(certificate.zero) else "group",
        zero=zero,
        nonzero=nonzero,
        undecided=undecided,
        lower=finite(certificate.dual),
        upper=finite(certificate.primal),
        gap=finite(certificate.gap),
        digest=certificate.digest,
        facts=tuple(fact_sentences(certificate)),
    )


def groups_of(proof: ModelProof, labels: Sequence[str | None], coef: Array) -> tuple[GroupFacts, ...] | None:
    """Return the groups of a model and what is proven of them; None where features have no groups with names."""
    pairs = list(zip(labels, proof.certificates, strict=True))
    if any(certificate.names["blocks"] is None or _mixed(certificate) for _, certificate in pairs):
        return None
    rows = np.split(coef, len(pairs))
    found = [_groups(*pair, part) for pair, part in zip(pairs, rows, strict=True)]
    return tuple(group for groups in found for group in groups)


def _groups(label: str | None, certificate: Certificate, coef: Array) -> list[GroupFacts]:
    """Return the groups of one certificate; `coef` has its rows of coefficients."""
    names = certificate.names["blocks"] or ()
    per = coef.shape[0]
    groups = labels_of(certificate.statement)[::per]
    lengths = np.sqrt(np.bincount(groups, (coef**2).sum(axis=0), len(names)))
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups, minlength=len(names)))[:-1])
    words = verdict_words(certificate.zero, certificate.nonzero)
    return [
        GroupFacts(label, name, tuple(map(int, members[g])), str(words[g]), float(lengths[g]))
        for g, name in enumerate(names)
    ]


def _mixed(certificate: Certificate) -> bool:
    """Return whether the coefficients of a certificate are no multiples of those of the features."""
    gauge = certificate.statement["gauge"]
    if not is_mapped(gauge):
        return False
    matrix = gauge.get("matrix")
    return not (isinstance(matrix, dict) and matrix["row"] == matrix["column"])


def relations_of(proof: ModelProof, labels: Sequence[str | None], names: Sequence[str]) -> tuple[Relation, ...]:
    """Return the dependencies between columns that certificates speak of, in the names of the features."""
    return tuple(
        Relation(
            label,
            called(certificate, names, found.column),
            tuple(Term(float(t), called(certificate, names, j)) for t, j in zip(found.times, found.of, strict=True)),
        )
        for label, certificate in zip(labels, proof.certificates, strict=True)
        for found in certificate.dependencies
    )


def sums_of(proof: ModelProof, labels: Sequence[str | None], names: Sequence[str]) -> tuple[Total, ...]:
    """Return the sums of coefficients that are determined, in the names of the features."""
    return tuple(
        Total(
            label,
            tuple(Term(float(t), called(certificate, names, j)) for t, j in zip(found.times, found.index, strict=True)),
            found.lower,
            found.upper,
            found.needed,
        )
        for label, certificate in zip(labels, proof.certificates, strict=True)
        for found in certificate.sums
        if math.isfinite(found.lower) and math.isfinite(found.upper)
    )


def called(certificate: Certificate, names: Sequence[str], column: Any) -> str:
    """Return the name of a column of a certificate; those that carry no penalty are counted -1, -2, ..."""
    statement = certificate.statement
    per = math.prod(statement["shape"][1:]) * max(int(statement["outputs"] or 1), 1)
    j, output = divmod(int(column) if column >= 0 else -1 - int(column), per)
    if column >= 0:
        name = f"preimage {j}" if _mixed(certificate) else names[j]
    else:
        own = [names[i // per] for i in statement["unpenalised"][::per]]
        free = [f"free column {i}" for i in range(int(statement["free"]))]
        name = [*(["the constant"] if statement["intercept"] else []), *free, *own][j]
    return name if per == 1 else f"{name} (output {output})"
