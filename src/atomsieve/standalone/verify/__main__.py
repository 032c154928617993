"""Run the checker: `python verify certificate.json X y` for the folder, or `python -m verify ...` beside it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any


def package() -> Any:
    """Return this folder as a package, whatever it is called and wherever it lies."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != folder]
    found = spec_from_file_location("verify", folder / "__init__.py", submodule_search_locations=[str(folder)])
    if found is None or found.loader is None:
        raise ImportError(f"{folder} cannot be read as a package")
    module: ModuleType = module_from_spec(found)
    sys.modules["verify"] = module
    found.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(package().main())
