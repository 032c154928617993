"""Small calls of proofs and searches with one array spoilt: an exception or an answer, nothing written elsewhere."""

import numpy as np
import pytest
from core_fuzz import MANGLED, REFUSED, mangle

from atomsieve import Linear, Logistic, Problem, Squared, core, solve
from atomsieve.core import sight, told

CORE = core._core
NAMES = ("see", "conjugates", "reach", "dual_sum", "stiffness", "product", "rounded", "form", "sight", "told")


def noted(taken, name):
    """Return a call of the core that takes down its first arguments."""
    call = getattr(CORE, name)

    def note(*given):
        taken.setdefault(name, tuple(np.copy(v) if isinstance(v, np.ndarray) else v for v in given))
        return call(*given)

    return note


@pytest.fixture(scope="module")
def calls():
    """The arguments of one true call of each, taken down while certificates and places of a search are made."""
    taken = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            patch.setattr(CORE, name, noted(taken, name))
        rng = np.random.default_rng(0)
        X = rng.standard_normal((30, 8)) + 3.0
        for loss in (Squared(), Logistic()):
            y = np.sign(X[:, 0] - 3.0 + 0.3 * rng.standard_normal(30))
            problem = Problem(X, y, loss=loss, penalty=Linear(0.05), intercept=True)
            assert solve(problem, tol=1e-6).certificate().valid
        Logistic().bounds.conjugates(np.full(30, 0.2), np.full(30, 0.3), -y)
        y, weights, basis, u = np.sign(X[:, 1] - 3.0), np.full(30, 1 / 30), np.ones(30), X[:, 0].copy()
        sight((1, 1.0), y, weights, u, np.empty(30), np.empty(30))
        told((1, 1.0), (y, weights, basis), u, np.zeros(1), X[:, 2].copy(), np.ones(1))
    return taken


@pytest.mark.parametrize("how", MANGLED)
@pytest.mark.parametrize("name", NAMES)
def test_one_array_is_spoilt(name, how, calls):
    """Wherever an array is written, what lies around it stays as it was."""
    given, rng, call = calls[name], np.random.default_rng(0), getattr(CORE, name)
    places = [place for place, part in enumerate(given) if isinstance(part, np.ndarray)]
    assert places
    for place in places:
        around = [np.full(part.size + 16, 0.5) for part in given if isinstance(part, np.ndarray)]
        whole = list(given)
        for wide, k in zip(around, places, strict=True):
            wide[8:-8] = given[k].ravel()
            whole[k] = wide[8:-8]
        with np.errstate(invalid="ignore", over="ignore"):
            whole[place] = mangle(rng, how, whole[place], False)
        try:
            call(*whole)
        except REFUSED:
            continue
        for wide in around:
            assert (wide[:8] == 0.5).all()
            assert (wide[-8:] == 0.5).all()
