"""The paper's experiments and what goes beyond them, each in one file, on the public interface of the library."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atomsieve.paper.experiment import Experiment

NAMES: tuple[str, ...] = (
    "fig1",
    "fig2",
    "fig3",
    "fig4",
    "beyond",
    "errata",
    "lemmas",
    "stability",
)
"""The experiments in the order of the report: a module of this package each, with an object `experiment` in it."""


def load(name: str) -> "Experiment":
    """Return an experiment by its name."""
    if name not in NAMES:
        raise ValueError(f"There is no experiment {name!r}; there are {', '.join(NAMES)}.")
    found: Experiment = import_module(f"atomsieve.paper.{name}").experiment
    return found
