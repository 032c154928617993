"""The command `atomsieve`, also `python -m atomsieve`."""


def main() -> None:
    """Run the command."""
    from atomsieve.cli.app import app  # noqa: PLC0415 -- only the command needs it

    app()


if __name__ == "__main__":
    main()
