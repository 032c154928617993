"""What the coefficients of a problem are called in sentences."""

import math

from atomsieve.intake.names import entries, numbered_copies
from atomsieve.problem import Problem


def called(problem: Problem, entry: int) -> str:
    """Return the name of an entry of the lifted coefficients: the name of its feature, or its number.

    -1, -2 and so on are the unpenalised columns: the intercept, those passed as `free`, features of weight 0.
    """
    if entry < 0:
        return _called_free(problem, -1 - entry)
    if problem.gauge.mapped:
        return _called_copy(problem, entry)
    if problem.data.names is None:
        return str(entry)
    about = entries(problem.data.names, problem.lifted.form)
    output = f" of output {about['output'][entry]}" if "output" in about else ""
    return repr(about["feature"][entry]) + output


def called_feature(problem: Problem, row: int) -> str:
    """Return the name of a row of the lifted coefficients: the name of its feature, or its number."""
    return str(row) if problem.data.names is None or problem.gauge.mapped else repr(problem.data.names[row])


def _called_copy(problem: Problem, entry: int) -> str:
    """Return the name of an entry of a preimage: a feature in its group, or a number."""
    names, lifted = problem.data.names, problem.lifted
    copies, groups = problem.gauge.copies(lifted.form[0]), problem.gauge.names()
    if copies is None:
        return str(entry)
    row, output = divmod(entry, math.prod(lifted.form[1:]))
    name = str(copies[row]) if names is None else repr(names[copies[row]])
    which = f" of output {output}" if len(lifted.form) > 1 else ""
    part = f"part {numbered_copies(copies)[row]}" if groups is None else repr(groups[lifted.labels[entry]])
    return f"{name}{which} in {part}"


def _called_free(problem: Problem, place: int) -> str:
    """Return the name of an unpenalised column."""
    data = problem.data
    per = math.prod(data.outputs)
    constants = per * int(data.intercept)
    given = per * data.free.shape[1]
    if place < constants:
        return f"the intercept of output {place}" if data.outputs else "the intercept"
    if place < constants + given:
        return f"column {(place - constants) // per} of `free`"
    return called(problem, int(problem.unpenalised[place - constants - given]))
