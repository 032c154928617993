"""What to say where an optional package is missing."""

PROJECTS = {"flint": "python-flint", "markdown_it": "markdown-it-py"}
"""What a module is called where it is installed from, if not by its own name."""


def install(what: str, module: str | None) -> str:
    """Return the sentence on a package that is missing; `what` ends in the verb.

    >>> install("Pictures need", "matplotlib.pyplot")
    "Pictures need matplotlib: pip install matplotlib (or all extras, in a clone: pip install '.[all]')."
    """
    top = (module or "another package").partition(".")[0]
    project = PROJECTS.get(top, top)
    return f"{what} {project}: pip install {project} (or all extras, in a clone: pip install '.[all]')."
