"""The command line: `atomsieve reproduce` runs the paper's experiments and writes the report."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import atomsieve
from atomsieve.paper import NAMES
from atomsieve.paper.experiment import Progress as Report
from atomsieve.paper.report import tally
from atomsieve.paper.runner import reproduce as run_experiments

console = Console()
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Sparse models with proofs, and the experiments that show what they are worth.",
)

INTERRUPTED = 130
"""Exit status of a command that was stopped by Ctrl-C."""


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        console.print(f"atomsieve {atomsieve.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Sparse models with proofs, and the experiments that show what they are worth."""
    del version


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar=f"{'|'.join(NAMES)}|all", help="What to run; everything if nothing is named."),
    ] = None,
    out: Annotated[
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
    chosen = choose(names or ["all"])
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        out.mkdir(parents=True, exist_ok=True)
        with Progress(*columns, TextColumn("[dim]{task.fields[text]}"), console=console) as bars:
            report = run_experiments(chosen, out, quick=quick, progress=lambda name: shown(bars, name))
    except KeyboardInterrupt:
        console.print(
            f"Interrupted. What was finished is kept in {out / 'cache'}; the same command goes on from there."
        )
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:  # no network is one
        console.print(
            f"Stopped: {error}. MNIST comes from OpenML, or from the folder named by ATOMSIEVE_DATA; --quick needs "
            f"neither. What was finished is kept in {out / 'cache'}.",
            soft_wrap=True,
        )
        raise typer.Exit(1) from None
    console.print(tally(report.verdicts))
    console.print(f"The report is {out / 'report.html'} (and report.md).", soft_wrap=True)


def choose(names: list[str]) -> list[str]:
    """Return the chosen experiments, in the order of the report."""
    unknown = [name for name in names if name not in (*NAMES, "all")]
    if unknown:
        raise typer.BadParameter(f"There is no experiment {unknown[0]!r}; there are {', '.join(NAMES)} and all.")
    return [name for name in NAMES if name in names or "all" in names]


def shown(bars: Progress, name: str) -> Report:
    """Return a function that moves the progress bar of an experiment."""
    task = bars.add_task(name, total=None, text="")

    def move(done: int, total: int, text: str) -> None:
        bars.update(task, completed=done, total=total, text=text)

    return move
