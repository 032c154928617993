"""The summary of a fitted estimator: what was fitted, what chose its strength, and what is proven about it."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from atomsieve.certificate.told import fact_sentences
from atomsieve.display.bars import Bar, svg_bars, text_bars
from atomsieve.display.numbers import column, count, number
from atomsieve.display.reading import RULES, shown_scores
from atomsieve.display.sections import MOST, coefficient_section, coefficient_table, order_note
from atomsieve.display.table import Column, Section, Summary
from atomsieve.estimators.quality import quality_of, remarks
from atomsieve.estimators.source import GONE
from atomsieve.estimators.strengths import StrengthRule
from atomsieve.gauges import L1
from atomsieve.intake.arguments import is_number
from atomsieve.intake.names import feature_names
from atomsieve.piece import Piece


def summary_of(model: Any) -> Summary:
    """Return the summary of a fitted estimator."""
    parts = model._coefficients()
    proof = model._proof
    sections = [choice_section(model)] if hasattr(model, "cv_scores_") else []
    sections += quality_section(model)
    sections += [coefficient_section(part, ruled="proven zero" if proof else "zero") for part in parts]
    closing = [order_note(parts)] if any(len(part.shown) for part in parts) else []
    if proof is None:
        closing.append(GONE)
    elif proof.silence is not None:
        closing.append(proof.silence[0].upper() + proof.silence[1:])
    else:
        closing += dict.fromkeys(c.reason for c in proof.certificates if c.undecided.any())
        closing += [fact for c in proof.certificates for fact in fact_sentences(c)]
    table = coefficient_table(parts, proven=proof is not None)
    return Summary(list(heading(model)), [*sections, Section(notes=closing)], table)


def selector_summary(selector: Any) -> Summary:
    """Return how many features a selector keeps, above the summary of its model."""
    kept, inner = selector.get_support(), summary_of(selector.estimator_)
    first = f"{type(selector).__name__}: {int(kept.sum()):,} of {count(len(kept), 'feature')} kept"
    return Summary([first, *inner.heading], inner.sections, inner.table)


def stability_summary(selector: Any) -> Summary:
    """Return how often the features that a selector keeps are selected, above the summary of its model."""
    whole = selector_summary(selector)
    names = feature_names(getattr(selector, "feature_names_in_", None), len(selector.probabilities_))
    order = np.argsort(-selector.probabilities_, kind="stable")
    kept = order[selector.get_support()[order]][:MOST]
    likely = selector.probabilities_[kept]
    bars = [Bar(float(part), float(part), float(part)) for part in likely]
    columns = [
        Column("feature", [names[j] for j in kept]),
        Column("selected on", [f"{100 * part:.0f}% of halves" for part in likely], right=True),
        Column("", text_bars(bars), html=svg_bars(bars)),
    ]
    bound = selector.expected_false_
    left = int(selector.get_support().sum()) - len(kept)
    notes = [f"  and {left:,} more: support_report()"] if left else []
    if np.isfinite(bound):
        notes.append(
            f"At most {number(bound, 2)} of them are expected to be noise, if noise features are exchangeable."
        )
    return Summary(whole.heading, [Section(columns, notes=notes), *whole.sections], whole.table)


def heading(model: Any) -> Iterator[str]:
    """Yield the sentences above the tables."""
    task, y = model._solved, model._source.y
    samples = "" if y is None else f"{count(len(y), 'sample')} × "
    gauge = "" if task.gauge == L1() else f", {words(task.gauge)}"
    size = samples + count(model.n_features_in_, "feature")
    yield f"{type(model).__name__}: {size}, {loss_words(task.targets.loss)}{gauge}"
    yield strength_words(model)
    used = int(np.count_nonzero(np.atleast_2d(model.coef_).any(axis=0)))
    inside = f"{count(used, 'feature')} in the model"
    constants = np.atleast_1d(model.intercept_)
    if task.intercept:
        inside += f", {'intercept' if len(constants) == 1 else 'intercepts'} {', '.join(map(number, constants[:6]))}"
        inside += ", ..." if len(constants) > 6 else ""
    yield inside + ("." if model.status_.name == "CONVERGED" else f". {model.status_}")


def strength_words(model: Any) -> str:
    """Return the strength of the penalty, and what chose it."""
    if hasattr(model, "cv_scores_"):
        choice = model._choice
        value = number(float(choice.candidates.values[choice.index]))
        folds = count(choice.scores.shape[1], "fold")
        return (
            f"{choice.candidates.grid.label} = {value}{beside(model)}, chosen on {folds}: {RULES[choice.rule].words}."
        )
    for name in ("alpha", "C"):
        given: Any = getattr(model, name, None)
        if is_number(given):
            return f"{name} = {number(float(given))}{beside(model)}."
    penalties = model.penalty_ if isinstance(model.penalty_, list) else [model.penalty_]
    told = ", ".join(map(words, penalties[:6])) + (", ..." if len(penalties) > 6 else "") + beside(model)
    rule = model._solved.strength
    return f"penalty {told}, chosen by {words(rule)}." if isinstance(rule, StrengthRule) else f"penalty {told}."


def beside(model: Any) -> str:
    """Return the parameters of an elastic net, where there is one."""
    ratio, ridge = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 1.0)), getattr(model, "ridge", 0.0)
    told = f", l1_ratio = {number(float(ratio))}" if is_number(ratio) and ratio != 1 else ""
    return told + (f", ridge = {number(float(ridge))}" if is_number(ridge) and ridge != 0 else "")


def choice_section(model: Any) -> Section:
    """Return the table of the two strengths that cross-validation may choose, side by side."""
    choice = model._choice
    sign, score = shown_scores(model)
    title, _, meaning = score.partition(" (")
    index = [int(model.index_min_), int(model.index_1se_)]
    counts = model.cv_results_["n_features"]
    values = choice.candidates.values[index]
    chosen = ["← this model" if k == choice.index else "" for k in index]
    columns = [
        Column("", ["min", "1se"]),
        Column(choice.candidates.grid.label, column(values), right=True),
        Column(title, column(sign * model.cv_mean_[index]), right=True),
        Column("standard error", column(model.cv_standard_error_[index], 3), right=True),
        Column("features", [f"{n:,}" for n in counts[index]], right=True),
        Column("", chosen if index[0] != index[1] else ["← this model", "the same"]),
    ]
    told = [f"{title.capitalize()}: {meaning[:-1]}."] if meaning else []
    return Section(columns, notes=told + ([] if model._grid_end is None else [model._grid_end]))


def quality_section(model: Any) -> list[Section]:
    """Return the table of how good the predictions are; nothing where that is not known."""
    qualities = quality_of(model)
    if not qualities:
        return []
    columns = [
        Column("", [quality.name for quality in qualities]),
        Column("training data", [quality.told(quality.training) for quality in qualities], right=True),
    ]
    if hasattr(model, "cv_quality_"):
        columns.append(
            Column("cross-validation", [quality.told(quality.held_out) for quality in qualities], right=True)
        )
    return [Section(columns, notes=remarks(qualities))]


def loss_words(loss: Any) -> str:
    """Return the name of a loss in words.

    >>> from atomsieve import Huber, SquaredHinge
    >>> loss_words(SquaredHinge()), loss_words(Huber(1.5))
    ('squared hinge loss', 'huber loss (delta 1.5)')
    """
    name = " ".join(re.findall(r"[A-Z][a-z0-9]*", type(loss).__name__)).lower()
    numbers = {key: value for key, value in loss.get_params(deep=False).items() if isinstance(value, float)}
    told = ", ".join(f"{key} {number(value)}" for key, value in numbers.items())
    return f"{name} loss" + (f" ({told})" if told else "")


def words(piece: Piece) -> str:
    """Return a piece as short text, its numbers with few digits.

    >>> from atomsieve import CriticalFraction, Square
    >>> words(Square(0.123456)), words(CriticalFraction(0.1))
    ('Square(0.1235)', 'CriticalFraction(0.1)')
    """
    values = piece.get_params(deep=False).values()
    if not all(isinstance(value, (int, float, Piece)) for value in values):
        return repr(piece)
    shown = [number(value) for value in values if isinstance(value, (int, float))]
    shown += [repr(value) for value in values if isinstance(value, Piece) and repr(value) != "Linear(strength=1.0)"]
    return f"{type(piece).__name__}({', '.join(shown)})"
