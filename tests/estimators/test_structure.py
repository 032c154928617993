"""How the estimators are made: parts in slots, no tower of classes."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import atomsieve.estimators as package

MODULES = [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]
CLASSES = {
    found
    for module in MODULES
    for _, found in inspect.getmembers(module, inspect.isclass)
    if found.__module__.startswith(package.__name__)
}


def own_bases(kind):
    return [base for base in kind.__mro__[1:] if base in CLASSES]


@pytest.mark.parametrize("kind", sorted(CLASSES, key=str), ids=lambda kind: kind.__qualname__)
def test_no_class_has_more_than_one_of_ours_between_it_and_the_rest(kind):
    assert all(not own_bases(base) for base in own_bases(kind))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_files_are_short_and_no_method_waits_to_be_overridden(module):
    text = inspect.getsource(module)
    assert text.count("\n") <= 400
    assert "NotImplementedError" not in text
