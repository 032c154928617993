"""Which coefficients no gap decides: twins, of which every solution needs one."""

import numpy as np

from atomsieve.certificate.claims import Certificate
from atomsieve.certificate.inverse import Dependency, is_sum
from atomsieve.certificate.statement import Statement
from atomsieve.typing import Mask


def tied(certificate: Certificate) -> Mask:
    """Return the blocks of twins at equal prices, if every solution needs one of both.

    A column is a twin of another if it is that or its opposite, exactly, and perhaps a combination of free columns.
    Theta is orthogonal to these. So the scores of twins are equal, and weight can move between them at no cost.
    """
    found = np.zeros(len(certificate.zero), dtype=bool)
    proof = certificate.proof
    if proof is None or not certificate.sums:
        return found
    statement = proof.statement
    if not (statement.single and statement.signs is True and statement.limits is None):
        return found
    prices = statement.prices.mid
    needed = {frozenset(total.index.tolist()) for total in certificate.sums if total.needed}
    for dependency in certificate.dependencies:
        others = dependency.of[dependency.of >= 0].tolist()
        pair = [dependency.column, *others]
        if len(pair) == 2 and frozenset(pair) in needed and _is_twin(statement, dependency):
            found[pair] = prices[pair[0]] == prices[pair[1]]
    return found


def _is_twin(statement: Statement, dependency: Dependency) -> bool:
    """Return whether a column is another one or its opposite, and a combination of free columns, exactly."""
    order = np.argsort(dependency.of >= 0, kind="stable")  # free columns first
    of, times = dependency.of[order], dependency.times[order]
    columns = statement.exact_columns(-1 - of[:-1], np.array([of[-1], dependency.column]))
    exact = not columns.rad.any() and is_sum(columns.mid[:, -1], columns.mid[:, :-1], times)
    return bool(exact and abs(times[-1]) == 1)
