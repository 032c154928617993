"""The command `atomsieve`, also `python -m atomsieve`.

The packages it needs are an extra. If one is missing, the command says in one sentence what to install.
"""

from importlib import import_module

OPTIONAL = {"typer", "rich", "pandas", "matplotlib", "markdown_it"}


def main() -> None:
    """Run the command."""
    try:
        import_module("matplotlib")  # the command needs it later: report it missing now
        from atomsieve.cli.app import app  # noqa: PLC0415 -- optional
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OPTIONAL:
            raise
        raise SystemExit(f"The command atomsieve needs {error.name}: pip install 'atomsieve[cli]'.") from None
    app()


if __name__ == "__main__":
    main()
