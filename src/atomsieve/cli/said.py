"""What commands say, where, and with which exit status."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

NOT_PROVEN, REFUSED, NOT_WRITTEN, INTERRUPTED = 1, 2, 3, 130

STATUSES = (
    "Exit status: 0 done; 1 nothing is proven, or a certificate is not valid; 2 a mistake in the command or the data; "
    "3 files could not be written; 130 interrupted."
)


class RefusedError(Exception):
    """What was asked for cannot be done; the message is a sentence with the remedy."""


class NotWrittenError(Exception):
    """Files could not be written; the message says which and why."""


def out() -> Any:
    """Return the console for answers."""
    from rich.console import Console  # noqa: PLC0415 -- slow to import

    return Console(highlight=False, soft_wrap=True)


def err() -> Any:
    """Return the console for errors, notes and progress."""
    from rich.console import Console  # noqa: PLC0415 -- slow to import

    return Console(stderr=True, highlight=False, soft_wrap=True)


def complain(sentence: str) -> None:
    """Write an error."""
    from rich.text import Text  # noqa: PLC0415 -- slow to import

    err().print(Text.assemble(("Error: ", "bold red"), sentence))


OPTIONS = {
    "more: to_frame()": "more: coefficients.csv",
    "time_limit or tol": "--time-limit",
    "shape=Linear()": "--penalty linear",
    "try a smaller ratio": "try --fraction 0.0005, or a weaker --strength",
    "try a smaller eps": "try --fraction 0.0005, or a weaker --strength",
}
"""Parameters of estimators, and what stands for them on the command line."""


def in_options(text: str) -> str:
    """Return what estimators say of their parameters, in options of the command."""
    for words, option in OPTIONS.items():
        text = text.replace(words, option)
    return text


def print_json(content: dict[str, Any]) -> None:
    """Write one JSON object, and nothing else."""
    typer.echo(json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False))


@contextmanager
def in_sentences(kept: str = "Nothing was written.") -> Iterator[None]:
    """End a command with a sentence and an exit status where something is wrong; `kept` is for Ctrl-C."""
    from atomsieve.tables.errors import TableError  # noqa: PLC0415 -- NumPy

    try:
        yield
    except (RefusedError, TableError) as error:
        complain(str(error))
        raise typer.Exit(REFUSED) from None
    except NotWrittenError as error:
        complain(str(error))
        raise typer.Exit(NOT_WRITTEN) from None
    except MemoryError:
        complain("There is not enough memory for these data. Leave columns out by --exclude, or take fewer rows.")
        raise typer.Exit(REFUSED) from None
    except PermissionError as error:
        complain(f"{error.filename} may not be read: {error.strerror}.")
        raise typer.Exit(REFUSED) from None
    except KeyboardInterrupt:
        err().print(f"Interrupted. {kept}")
        raise typer.Exit(INTERRUPTED) from None
