"""Everything that a report shows, as plain values: made from a fitted estimator, kept in a file."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
import sklearn

import atomsieve
from atomsieve.display.coefficients import weights_of
from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.quality import Quality, quality_of
from atomsieve.intake.files import write_text
from atomsieve.report.codec import decode, encode
from atomsieve.report.model import ModelFacts
from atomsieve.report.outputs import Entry, Output, labels_of, outputs_of, scales_for
from atomsieve.report.proofs import GroupFacts, ProofFacts, Relation, Total, groups_of, proofs_of, relations_of, sums_of
from atomsieve.report.walk import Choice, PathFacts, choice_of, path_of
from atomsieve.typing import Index

FORMAT = "atomsieve findings"
VERSION = 1

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Findings:
    """What was found: the model, its coefficients, what is proven of them, how the strength was chosen.

    Parts that a model does not have are None: `choice` and `path` without cross-validation, `groups` without groups.
    """

    target: str
    data: Facts
    settings: Facts
    versions: Facts
    model: ModelFacts
    quality: tuple[Quality, ...]
    """How good the predictions are."""

    names: tuple[str, ...]
    """The features."""

    scales: tuple[tuple[int, float], ...] | None
    """Standard deviations of the features that are in a model; None where the data were gone."""

    outputs: tuple[Output, ...]
    silence: str | None
    """Why nothing is proven, and what to do about it; None where something is."""

    proofs: tuple[ProofFacts, ...]
    relations: tuple[Relation, ...]
    sums: tuple[Total, ...]
    groups: tuple[GroupFacts, ...] | None
    choice: Choice | None
    path: PathFacts | None

    @classmethod
    def of(cls, model: Any, *, target: str, data: Mapping[str, Any], settings: Mapping[str, Any]) -> Self:
        """Return the findings of a fitted estimator; it is certified if it is not yet.

        Parameters
        ----------
        model : estimator of atomsieve
            Fitted; its data must still be there, as for `certificate_`.
        target : str
            What is predicted.
        data, settings : mapping
            What else is to be shown of the data (file, rows, columns, ...) and of the fit, by name.
        """
        if not isinstance(model, SparseEstimator):
            raise TypeError(
                f"Findings.of takes a fitted estimator of atomsieve, got {type(model).__name__}. Of a pipeline, pass "
                "its last step, fitted with keep_data=True."
            )
        proof = model._told_proof()
        labels = labels_of(model)
        problems = labels if len(proof.certificates) > 1 else [None]
        names, samples = tuple(model._names), model._known_data()
        outputs, path = outputs_of(model, proof), path_of(model, proof, samples)
        return cls(
            target=str(target),
            data=facts(data),
            settings=facts(settings),
            versions=facts(versions()),
            model=ModelFacts.of(model, proof),
            quality=tuple(quality_of(model)),
            names=names,
            scales=None if samples is None else scales_for(model._solved, samples, used_by(outputs, path)),
            outputs=outputs,
            silence=proof.silence,
            proofs=proofs_of(proof, problems),
            relations=relations_of(proof, problems, names),
            sums=sums_of(proof, problems, names),
            groups=groups_of(proof, problems, np.atleast_2d(model.coef_)),
            choice=choice_of(model),
            path=path,
        )

    def weight(self, entry: Entry) -> float:
        """Return how much a coefficient contributes: see `weights_of`."""
        return float(weights_of(entry.coefficient, self._scales.get(entry.feature)))

    @cached_property
    def _scales(self) -> dict[int, float]:
        return dict(self.scales or ())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the findings as JSON, all of it or nothing; numbers are read back exactly."""
        content = {"format": FORMAT, "version": VERSION, "findings": encode(self)}
        write_text(path, json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read findings; raise ValueError if the file holds none."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (RecursionError, ValueError) as error:
            raise ValueError(f"{path} holds no findings: it is no JSON ({error}).") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} holds no findings: it does not say format {FORMAT!r}.")
        if content.get("version") != VERSION:
            raise ValueError(
                f"{path} has version {content.get('version')!r}; this package reads version {VERSION}. Fit again."
            )
        try:
            return decode(cls, content.get("findings"), "findings")
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}") from error


def used_by(outputs: Sequence[Output], path: PathFacts | None) -> Index:
    """Return the features that have a number to show."""
    told = {entry.feature for output in outputs for entry in output.entries}
    drawn = set() if path is None else {line.feature for line in path.lines}
    return np.array(sorted(told | drawn), dtype=np.intp)


def facts(mapping: Mapping[str, Any]) -> Facts:
    """Return a mapping as pairs of text, whole numbers with their thousands apart.

    >>> facts({"rows": 12345, "file": "a.csv"})
    (('rows', '12,345'), ('file', 'a.csv'))
    """
    return tuple((str(key), f"{value:,}" if type(value) is int else str(value)) for key, value in mapping.items())


def versions() -> dict[str, str]:
    """Return what computed the findings."""
    packages = {module.__name__: module.__version__ for module in (atomsieve, np, scipy, sklearn)}
    return packages | {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
