"""The command `atomsieve`, also as `python -m atomsieve`; its packages are an extra, and missed in one sentence."""

OPTIONAL = {"typer", "rich", "pandas", "matplotlib", "markdown_it"}


def main() -> None:
    """Run the command."""
    try:
        import matplotlib  # noqa: F401, PLC0415 -- needed later, and missed now

        from atomsieve.cli.app import app  # noqa: PLC0415 -- optional
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OPTIONAL:
            raise
        raise SystemExit(f"The command atomsieve needs {error.name}: pip install 'atomsieve[cli]'.") from None
    app()


if __name__ == "__main__":
    main()
