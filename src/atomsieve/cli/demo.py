"""`atomsieve demo`: the whole way on built-in data, a file to a verified certificate."""

from pathlib import Path
from typing import Annotated

import typer

from atomsieve.cli import options
from atomsieve.cli.said import in_sentences, out


def demo(
    folder: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where the files go; it is made if need be.")
    ] = Path("demo"),
    quiet: options.Quiet = False,
) -> None:
    """Fit built-in data (569 tumours, 30 measurements of each), show the table and check the certificate."""
    with in_sentences():
        from atomsieve.cli.choices import Wish  # noqa: PLC0415
        from atomsieve.cli.fit import run_fit  # noqa: PLC0415
        from atomsieve.cli.folder import together  # noqa: PLC0415
        from atomsieve.cli.intake import Source  # noqa: PLC0415

        data = folder / "tumours.csv"
        source, wish = Source(str(data), "diagnosis"), Wish()
        with together(folder) as staging:
            (staging / data.name).write_text(tumours(), encoding="utf-8")
        if not quiet:
            out().print(f"$ {source.command(wish, folder)}", style="bold", markup=False)
        run_fit(source, wish, folder, quiet=quiet)
        _verify(folder, data, quiet=quiet)


def _verify(folder: Path, data: Path, *, quiet: bool) -> None:
    from atomsieve.cli.verify import verify  # noqa: PLC0415

    console = out()
    if not quiet:
        console.print(f"\n$ atomsieve verify {folder} {data}", style="bold", markup=False)
    verify(folder, data, quiet=quiet)
    page = folder / "report.html"
    if page.exists() and not quiet:
        console.print(f"\nThe report: {page.absolute()}", style="bold", markup=False)


def tumours() -> str:
    """Return the breast cancer data of scikit-learn as CSV, with the diagnosis in words."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415 -- slow to import

    bunch = load_breast_cancer()
    rows = [",".join([*bunch.feature_names, "diagnosis"])]
    for values, label in zip(bunch.data.tolist(), bunch.target.tolist(), strict=True):
        rows.append(",".join([*map(repr, values), str(bunch.target_names[label])]))
    return "\n".join(rows) + "\n"
