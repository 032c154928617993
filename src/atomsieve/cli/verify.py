"""`atomsieve verify`: check a certificate against a data file, by a checker that shares no code with the solver."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from atomsieve.cli import options
from atomsieve.cli.said import NOT_PROVEN, RefusedError, complain, in_sentences, out, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atomsieve.certificate import Certificate
    from atomsieve.tables import Reading, Samples, Table


def verify(  # noqa: PLR0917 -- the options of the command
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="CERTIFICATE", help="The folder that fit wrote, or a certificate.json in it.", show_default=False
        ),
    ],
    data: options.DataFile,
    target: options.Target = None,
    offset: options.Offset = None,
    exposure: options.Exposure = None,
    weights: options.Weights = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a certificate against a data file; every claim is derived again from the data, in spite of rounding.

    The columns are read as data.json beside the certificate says. Where that is missing the certificate itself names
    the features; --target must be given then, and whatever else fit was told of --offset, --exposure and --weights.

    Example: atomsieve verify fitted patients.csv
    """
    with in_sentences("Nothing was decided."):
        given = {"target": target, "offset": offset, "exposure": exposure, "weights": weights}
        verdicts = [(path, checked(path, str(data), given)) for path in certificates_at(certificate)]
    valid = all(verdict["valid"] for _, verdict in verdicts)
    if json:
        print_json({"command": "verify", "valid": valid, "certificates": [v | {"file": str(p)} for p, v in verdicts]})
    for path, verdict in verdicts if not json else []:
        if not verdict["valid"]:
            complain(f"{path}: {verdict['says']}")
        elif not quiet:
            out().print(f"{path}: {verdict['says']}", markup=False)
    if not valid:
        raise typer.Exit(NOT_PROVEN)


def certificates_at(place: Path) -> list[Path]:
    """Return the certificates at a path: the file, or those in the folder."""
    from atomsieve.tables.opened import require_file  # noqa: PLC0415

    if not place.is_dir():
        require_file(str(place))
        return [place]
    found = sorted(place.glob("certificate*.json"), key=lambda path: (len(path.name), path.name))
    if not found:
        raise RefusedError(f"The folder {place} holds no certificate.json: is it one that fit wrote?")
    return found


def checked(path: Path, data: str, given: dict[str, str | None]) -> dict[str, Any]:
    """Check one certificate."""
    from atomsieve.certificate import Certificate  # noqa: PLC0415 -- slow to import
    from atomsieve.certificate.verify import verify as check  # noqa: PLC0415
    from atomsieve.display.numbers import count  # noqa: PLC0415

    _require_certificate(path)
    try:
        certificate = Certificate.load(path)
    except ValueError as error:
        return {"valid": False, "says": str(error), "claims": 0}
    samples, reading = samples_of(certificate, path, data, given)
    names = certificate.names.get("features")
    if names is not None and tuple(names) != samples.columns:
        return {
            "valid": False,
            "says": "The certificate is about other features than the data were read for.",
            "claims": 0,
        }
    y = targets(certificate, path, samples, reading)
    verdict = check(path, samples.X, y, sample_weight=samples.weights, offset=samples.offset)
    if not certificate.valid and (verdict.valid or not verdict.known):
        return {"valid": False, "says": _nothing(certificate), "claims": 0}
    size = f"{count(len(samples), 'row')} and {count(len(samples.columns), 'feature')}"
    whole = f"{size} of {data}, target {reading.target}"
    about = f" It is about {whole}{_one_class(certificate)}."
    doubt = " Are these the data of the fit?" if verdict.known else ""
    says = f"{verdict}." + (about if verdict.valid else doubt)
    counts = {name: int(getattr(certificate, name).sum()) for name in ("zero", "nonzero", "undecided")}
    return {"valid": bool(verdict.valid), "says": says.replace("..", "."), "claims": verdict.checked, **counts}


def _one_class(certificate: "Certificate") -> str:
    """Say which class a certificate is about, where there is one for each."""
    titles = certificate.names.get("outputs") or ()
    return f", {titles[0]} against the rest" if len(titles) == 1 else ""


def _require_certificate(path: Path) -> None:
    """Refuse a file that is meant for something else; one that may be a damaged certificate is not valid instead."""
    import json  # noqa: PLC0415

    from atomsieve.certificate.file import FORMAT  # noqa: PLC0415

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
        why = None if found == FORMAT else f"its format is {found!r}"
    except (RecursionError, ValueError):
        why = None if path.suffix == ".json" else "it is no JSON"
    if why is not None:
        raise RefusedError(
            f"{path} is no certificate: {why}. Name the folder that fit wrote, or certificate.json in it, and then the "
            "data."
        )


def _nothing(certificate: "Certificate") -> str:
    """Say that a certificate claims nothing, and why."""
    return f"There is nothing to check: the certificate claims nothing, because {certificate.reason}."


def samples_of(
    certificate: "Certificate", path: Path, data: str, given: dict[str, str | None]
) -> "tuple[Samples, Reading]":
    """Read the data as they were read for the fit; what is given must agree with that."""
    from atomsieve.tables import Reading, read_table  # noqa: PLC0415 -- NumPy

    record = path.parent / "data.json"
    if not record.exists():
        return _by_names(certificate, data, given)
    reading = Reading.load(record)
    for role, name in given.items():
        known = getattr(reading, role)
        if name is not None and name != known:
            told = "none" if known is None else repr(known)
            raise RefusedError(f"--{role} {name} is not what the model was fitted with: {record} says {told}.")
    table = read_table(data, reading.selection(), **reading.text_layout)
    return reading.take(table), reading


def _by_names(certificate: "Certificate", data: str, given: dict[str, str | None]) -> "tuple[Samples, Reading]":
    """Read the columns that the certificate names, or all of them."""
    from atomsieve.tables import Roles, plan, read_table  # noqa: PLC0415 -- NumPy
    from atomsieve.tables.errors import listed  # noqa: PLC0415

    names = certificate.names.get("features")
    roles = Roles(given["target"], given["offset"], given["weights"], exposure=given["exposure"])
    table = read_table(data, roles.selection())
    if roles.target is None and table.target is None and names is not None:
        others = [name for name in table.columns if name not in _sources(names)]
        held = f"{data} has {listed(others)}" if others else f"{data} has no column: add that of the target"
        raise RefusedError(
            f"Which column does the model explain? No data.json beside the certificate says it: name it by --target. "
            f"Beside the features {held}."
        )
    if names is not None:
        table = _only(table, [*names, *roles.apart])
    classes = certificate.statement["loss"]["type"] in ("Logistic", "SquaredHinge", "Multinomial")
    gauge = certificate.statement["gauge"]
    while "gauge" in gauge:
        gauge = gauge["gauge"]
    reading, _ = plan(table, roles, classes=classes, reference=gauge["type"] == "Group")
    return reading.take(table), reading


def _only(table: "Table", names: list[str]) -> "Table":
    """Return the table without the columns that are not named."""
    from dataclasses import replace  # noqa: PLC0415

    wanted, sources = set(names), _sources(names)
    kept = [j for j, name in enumerate(table.names) if name in wanted]
    beside = {name: column for name, column in table.beside.items() if name in sources}
    if len(kept) == len(table.names):
        return replace(table, beside=beside)
    return replace(table, matrix=table.matrix[:, kept], names=tuple(table.names[j] for j in kept), beside=beside)


def _sources(names: "Sequence[str]") -> set[str]:
    """Return the columns that features may come from: of the same name, or with a level after an equals sign."""
    return {*names, *(name.partition("=")[0] for name in names)}


def targets(certificate: "Certificate", path: Path, samples: "Samples", reading: "Reading") -> Any:
    """Return the numbers that stand for the targets: of several classes, certificate-2.json is about the second."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    labels = reading.labels
    if labels is None:
        return samples.y
    codes = np.searchsorted(np.array(labels), np.asarray(samples.y))
    if certificate.statement["loss"]["type"] == "Multinomial":
        return codes
    numbered = re.fullmatch(r"certificate-(\d+)\.json", path.name)
    if len(labels) > 2 and numbered is None:
        raise RefusedError(
            f"{path} is about one of {len(labels)} classes: call it certificate-K.json for the K-th of them."
        )
    which = 1 if numbered is None else int(numbered[1]) - 1
    return np.where(codes == which, 1.0, -1.0)
