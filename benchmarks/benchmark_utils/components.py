"""The parts of this benchmark as benchopt loads them: one way to find datasets, solvers and the objective."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchopt.benchmark import Benchmark
from benchopt.utils.dynamic_modules import _load_class_from_module, skip_import_ctx
from benchopt.utils.parametrized_name_mixin import product_param

HERE = Path(__file__).resolve().parents[1]


@cache
def benchmark() -> Benchmark:
    """Return this benchmark."""
    return Benchmark(HERE)


@dataclass(frozen=True)
class Component:
    """A dataset or a solver with its parameters; only its own file is imported."""

    file: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def instance(self) -> Any:
        """Return the object that benchopt would work with."""
        benchmark()
        kind = "Dataset" if self.file.startswith("datasets") else "Solver"
        found = _load_class_from_module(HERE, HERE / self.file, kind)
        found.is_installed(raise_on_not_installed=True)
        return found.get_instance(**self.parameters)

    def __str__(self) -> str:
        values = ",".join(str(value) for value in self.parameters.values())
        name = Path(self.file).stem.replace("scikit_learn", "scikit-learn")
        return f"{name}[{values}]" if values else name


def components(folder: str) -> list[Component]:
    """Return every dataset or solver with each of its parameter settings; nothing is imported."""
    found = []
    with skip_import_ctx():
        for path in sorted((HERE / folder).glob("*.py")):
            settings = _load_class_from_module(HERE, path, folder.removesuffix("s").capitalize()).parameters
            found += [Component(f"{folder}/{path.name}", chosen) for chosen in product_param(settings)]
    return found


def objective(task: str, reg: float | str) -> Any:
    """Return the objective of one problem."""
    return benchmark().get_benchmark_objective().get_instance(task=task, reg=reg)
