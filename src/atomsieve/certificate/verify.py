"""The function `verify`: it imports the independent checker, which needs python-flint, only when it is called."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from atomsieve.design import Completion
from atomsieve.intake.extras import install

if TYPE_CHECKING:
    from atomsieve.standalone.verify import Verification


def verify(
    certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, free: Any = None, offset: Any = None
) -> "Verification":
    """Check a certificate or its file against the data.

    A folder that shares no code with the solver derives every claim again from the data: in balls (python-flint) where
    a claim is close, in doubles with bounds of their rounding elsewhere.

    >>> import numpy as np
    >>> from atomsieve import Problem, solve, verify
    >>> X, y = np.eye(3), [3.0, 0.2, 0.1]
    >>> verify(solve(Problem(X, y)).certificate(), X, y).valid
    True
    """
    try:
        checker = import_module("atomsieve.standalone.verify")
    except ImportError as error:
        raise ImportError(install("verify computes in ball arithmetic, which needs", "flint")) from error
    X = X.tocsr() if isinstance(X, Completion) else X
    given = {"sample_weight": sample_weight, "free": free, "offset": offset}
    verdict: Verification = checker.verify(certificate, X, y, **given)
    return verdict
