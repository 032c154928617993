"""What a fit found, and the files it becomes."""

import json
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np

from atomsieve.cli.choices import Wish
from atomsieve.cli.claims import Parts, as_json, coefficients_csv, counts_of, parts_of
from atomsieve.cli.intake import Job, Source
from atomsieve.cli.said import in_options
from atomsieve.intake.extras import install
from atomsieve.intake.files import write_text

NAMELESS = ".*valid feature names.*"
"""scikit-learn's warning where names come apart from the matrix; here they come from the table."""

STALE = ("certificate.json", "certificate-*.json", "findings.json", "report.html")
"""Files of an earlier fit, which this one may not write again."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A certified model with what there is to say about it."""

    job: Job
    wish: Wish
    parts: Parts
    notes: list[str]

    @classmethod
    def of(cls, job: Job, wish: Wish, notes: list[str]) -> "Fitted":
        """Look at a certified model."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=NAMELESS)
            return cls(job, wish, parts_of(job.model), notes)

    @property
    def certificates(self) -> list[Any]:
        """The certificates, one for each problem."""
        certificates: list[Any] = self.job.model._told_proof().certificates
        return certificates

    @property
    def proven(self) -> bool:
        """Whether anything is proven."""
        return any(certificate.valid for certificate in self.certificates)

    @property
    def strength(self) -> float | None:
        """The strength of the penalty; None where classes have their own."""
        penalty = self.job.model.penalty_
        return None if isinstance(penalty, list) else float(getattr(penalty, penalty.main))

    @property
    def free(self) -> list[int]:
        """The features that are not penalised."""
        return self.job.model.unpenalized or []

    @property
    def used(self) -> int:
        """How many features the model has, without those that are not penalised."""
        return int(np.count_nonzero(np.delete(np.atleast_2d(self.job.model.coef_), self.free, axis=1).any(axis=0)))

    @property
    def sentences(self) -> list[str]:
        """What signs mean, and what became of a number of features that was asked for."""
        told = []
        labels = self.job.reading.labels
        if labels is not None and len(labels) == 2 and len(self.parts) == 1:
            told.append(f"Positive coefficients speak for {labels[1]}, negative ones for {labels[0]}.")
        asked, there = self.wish.features, self.job.shape[1] - len(self.free)
        if asked is not None and self.used < asked:
            some = f"{self.used} of the {there} features, and no strength was found for more"
            held = some if self.used < there else f"all {there} features"
            told.append(f"--features asks for {asked}: the model has {held}.")
        return told

    @property
    def doubts(self) -> list[str]:
        """Why nothing is proven, or why anything is undecided; the summary says it too."""
        silence = self.job.model._told_proof().silence
        if silence is not None:
            return [silence[0].upper() + silence[1:]]
        return list(dict.fromkeys(c.reason for c in self.certificates if c.reason and c.undecided.any()))

    def summary(self, width: int) -> str:
        """Return the summary of the model as text, at most so wide where names are short."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=NAMELESS)
            return in_options(str(self.job.model.summary().text(width)))

    def content(self, source: Source, files: list[Path], missing: list[str], command: str) -> dict[str, Any]:
        """Return everything as plain data."""
        model, reading = self.job.model, self.job.reading
        rows, features = self.job.shape
        return {
            "command": "fit",
            "data": {"file": source.path, "rows": rows, "features": features},
            "target": reading.target,
            "classes": None if reading.labels is None else list(reading.labels),
            "loss": self.wish.loss_for(reading.labels),
            "gauge": self.wish.gauge,
            "penalty": self.wish.penalty,
            "strength": self.strength,
            "proven": self.proven,
            "counts": counts_of(self.parts),
            "intercept": np.atleast_1d(model.intercept_).tolist(),
            "coefficients": list(as_json(self.parts)),
            "optimal_value": [[_finite(c.dual), _finite(c.primal)] for c in self.certificates],
            "status": str(model.status_),
            "notes": [*self.job.notes, *self.notes, *missing, *self.sentences, *self.doubts],
            "files": [str(file) for file in files],
            "verify": command,
        }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def verify_command(folder: Path, source: Source) -> str:
    """Return the command that checks the certificate."""
    return join(["atomsieve", "verify", str(folder), source.path])


def write_all(fitted: Fitted, source: Source, folder: Path, staging: Path) -> tuple[list[Path], list[str]]:
    """Write all files to the staging folder; return where they will be, and why one is missing."""
    from atomsieve.estimators import save_model  # noqa: PLC0415 -- slow to import

    model = fitted.job.model
    save_model(model, staging / "model.json", offset=fitted.job.reading.offset_record)
    several = len(fitted.certificates) > 1
    for k, certificate in enumerate(fitted.certificates, 1):
        certificate.save(staging / (f"certificate-{k}.json" if several else "certificate.json"))
    write_text(staging / "coefficients.csv", coefficients_csv(fitted.parts))
    write_text(staging / "data.json", json.dumps(fitted.job.reading.content(), indent=1, ensure_ascii=False) + "\n")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NAMELESS)
        missing = _report(fitted, source, folder, staging)
    return [folder / file.name for file in sorted(staging.iterdir())], missing


def _report(fitted: Fitted, source: Source, folder: Path, staging: Path) -> list[str]:
    """Write findings.json and report.html; what they need is an extra, and may be missing."""
    try:
        report = import_module("atomsieve.report")
        rows, features = fitted.job.shape
        facts = {
            "file": source.path,
            "verify": verify_command(folder, source),
            "rows": rows,
            "features": features,
            "columns left out": ", ".join(fitted.job.excluded) or None,
            "offset": source.offset,
            "exposure": source.exposure,
            "weights": source.weights,
            "digest": fitted.certificates[0].digest,
        }
        wish = fitted.wish
        settings = {
            "command": source.command(wish, folder),
            "fit": wish.words(fitted.job.reading.labels),
            "seed": str(wish.seed),
        }
        data = {name: value for name, value in facts.items() if value is not None}
        findings = report.Findings.of(fitted.job.model, target=fitted.job.reading.target, data=data, settings=settings)
        findings.save(staging / "findings.json")
        report.write_report(findings, staging / "report.html")
    except ModuleNotFoundError as error:
        return [install("There is no report.html: it needs", error.name)]
    return []
