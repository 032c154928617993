"""The command `atomsieve` and its commands."""

from typing import Annotated

import typer

import atomsieve
from atomsieve.cli.demo import demo
from atomsieve.cli.fit import fit
from atomsieve.cli.path import path
from atomsieve.cli.predict import predict
from atomsieve.cli.report import report
from atomsieve.cli.reproduce import reproduce
from atomsieve.cli.said import STATUSES
from atomsieve.cli.verify import verify

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=STATUSES,
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"atomsieve {atomsieve.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Sparse models with proofs: which features matter and which do not, from a data file.

    Start with: atomsieve fit data.csv --target COLUMN. Or look at built-in data: atomsieve demo.
    """
    del version


for command in (fit, path, predict, verify, report, demo, reproduce):
    app.command(epilog=STATUSES)(command)
