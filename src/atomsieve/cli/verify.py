"""`atomsieve verify`: check a certificate against a data file, by a checker that shares no code with the solver."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from atomsieve.cli import options
from atomsieve.cli.said import NOT_PROVEN, RefusedError, complain, in_sentences, out, print_json

if TYPE_CHECKING:
    from atomsieve.certificate import Certificate
    from atomsieve.tables import Reading, Samples, Table


def verify(  # noqa: PLR0917 -- the options of the command
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="CERTIFICATE", help="certificate.json, or the folder that fit wrote.", show_default=False
        ),
    ],
    data: options.DataFile,
    target: options.Target = None,
    offset: options.Offset = None,
    weights: options.Weights = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a certificate against a data file; every claim is derived again from the data, in ball arithmetic.

    The columns are read as data.json beside the certificate says. Without it the certificate's names of features choose
    them, and --target must be given.

    Example: atomsieve verify fitted patients.csv
    """
    with in_sentences("Nothing was decided."):
        given = {"target": target, "offset": offset, "weights": weights}
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
    about = f" It is about {len(samples)} rows and {len(samples.columns)} features of {data}, target {reading.target}."
    says = f"{verdict}." + (about if verdict.valid else " Are these the data of the fit?")
    counts = {name: int(getattr(certificate, name).sum()) for name in ("zero", "nonzero", "undecided")}
    return {"valid": bool(verdict.valid), "says": says.replace("..", "."), "claims": verdict.checked, **counts}


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

    names = certificate.names.get("features")
    roles = Roles(given["target"], given["offset"], given["weights"])
    table = read_table(data, roles.selection())
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

    wanted = set(names)
    kept = [j for j, name in enumerate(table.names) if name in wanted]
    texts = {name.partition("=")[0] for name in names} | wanted
    beside = {name: column for name, column in table.beside.items() if name in texts}
    if len(kept) == len(table.names):
        return replace(table, beside=beside)
    return replace(table, matrix=table.matrix[:, kept], names=tuple(table.names[j] for j in kept), beside=beside)


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
