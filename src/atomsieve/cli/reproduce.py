"""`atomsieve reproduce`: the experiments of the paper, and their report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atomsieve.cli.said import NOT_WRITTEN, RefusedError, complain, err, in_sentences, out
from atomsieve.intake.extras import install
from atomsieve.paper import NAMES

if TYPE_CHECKING:
    from rich.progress import Progress

    from atomsieve.paper.experiment import Progress as Report


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar=f"{'|'.join(NAMES)}|all", help="What to run; everything if nothing is named."),
    ] = None,
    folder: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", file_okay=False, help="Where the report, the pictures and the numbers go."
        ),
    ] = Path("reproduction"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Smaller settings, seconds instead of minutes; some claims cannot be told then."),
    ] = False,
) -> None:
    """Run the experiments of Sun and Bach (2020), and what goes beyond them, and write report.html.

    Every step is kept in DIR/cache as soon as it is done.
    After Ctrl-C the same command goes on from there.
    """
    with in_sentences(f"What was finished is kept in {folder / 'cache'}; the same command goes on from there."):
        chosen = choose(names or ["all"])
        try:
            run_experiments(chosen, folder, quick=quick)
        except ModuleNotFoundError as error:
            raise RefusedError(install("The experiments need", error.name)) from None
        except OSError as error:  # no network is one
            complain(
                f"{error}. MNIST comes from OpenML, or from the folder named by ATOMSIEVE_DATA; --quick needs neither. "
                f"What was finished is kept in {folder / 'cache'}."
            )
            raise typer.Exit(NOT_WRITTEN) from None


def run_experiments(chosen: list[str], folder: Path, *, quick: bool) -> None:
    """Run experiments with a progress bar for each, and say where the report is."""
    from rich.progress import (  # noqa: PLC0415 -- slow to import
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    from atomsieve.paper.report import tally  # noqa: PLC0415 -- slow to import
    from atomsieve.paper.runner import reproduce as run  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("[dim]{task.fields[text]}"), console=err()) as bars:
        report = run(chosen, folder, quick=quick, progress=lambda name: shown(bars, name))
    console = out()
    console.print(tally(report.verdicts), markup=False)
    console.print(f"The report is {folder / 'report.html'} (and report.md).", markup=False)


def choose(names: list[str]) -> list[str]:
    """Return the chosen experiments, in the order of the report."""
    from atomsieve.tables.errors import closest  # noqa: PLC0415

    unknown = [name for name in names if name not in (*NAMES, "all")]
    if unknown:
        raise RefusedError(f"There is no experiment {unknown[0]!r}. {closest(unknown[0], (*NAMES, 'all'))}")
    return [name for name in NAMES if name in names or "all" in names]


def shown(bars: "Progress", name: str) -> "Report":
    """Return a function that moves the progress bar of an experiment."""
    task = bars.add_task(name, total=None, text="")

    def move(done: int, total: int, text: str) -> None:
        bars.update(task, completed=done, total=total, text=text)

    return move
