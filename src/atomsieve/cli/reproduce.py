"""`atomsieve reproduce`: the experiments of the paper, and their report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atomsieve.cli.said import INTERRUPTED, REFUSED, RefusedError, complain, err, in_sentences, out

if TYPE_CHECKING:
    from rich.progress import Progress

    from atomsieve.paper.experiment import Progress as Report

NAMES = ("fig1", "fig2", "fig3", "fig4", "errata", "beyond")


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
