"""The finding in words: sentences that follow from the findings, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from atomsieve.display.coefficients import NONZERO
from atomsieve.display.numbers import count, interval
from atomsieve.display.reading import RULES
from atomsieve.report.findings import Findings
from atomsieve.report.outputs import Output

NAMED = 6
"""How many features a sentence names before it says how many more there are."""

SPOKEN = 8
"""How many outputs have a sentence of their own."""


@dataclass(frozen=True)
class Tally:
    """How many features carry weight in some output, carry none in any, are not penalised, and cannot be decided."""

    nonzero: int
    zero: int
    undecided: int
    unpenalised: int

    @classmethod
    def of(cls, findings: Findings) -> "Tally":
        """Count the features by what is proven of them over all outputs."""
        rows = [output.verdicts for output in findings.outputs]
        letters = [summed(set(column)) for column in zip(*rows, strict=True)]
        return cls(*(letters.count(letter) for letter in "nzuf"))


def summed(letters: set[str]) -> str:
    """Return one verdict on a feature from those on its coefficients."""
    if letters & {"n", "g"}:
        return "n"
    return next(iter(letters)) if len(letters) == 1 else "u"


def headline(findings: Findings) -> str:
    """Return the finding in one sentence."""
    tally, total = Tally.of(findings), len(findings.names)
    if findings.silence is not None:
        used = len({entry.feature for output in findings.outputs for entry in output.entries if entry.coefficient})
        return f"The model of {findings.target} uses {used:,} of {count(total, 'feature')}; nothing is proven of them."
    if tally.zero == total:
        zeros = f"No feature carries weight: all {total:,} are proven to be zero."
        return f"{zeros} The model of {findings.target} is a constant."
    parts = [f"{tally.nonzero:,} of {count(total, 'feature')} {_verb(tally.nonzero)} proven to carry the model"]
    parts[0] += f" of {findings.target}"
    if tally.zero:
        parts.append(f"{tally.zero:,} {_verb(tally.zero)} proven to be zero")
    if tally.undecided:
        parts.append(f"{tally.undecided:,} cannot be decided")
    if tally.unpenalised:
        parts.append(f"{tally.unpenalised:,} {_verb(tally.unpenalised)} not penalised")
    return listed(parts) + "."


def paragraphs(findings: Findings) -> list[str]:
    """Return what was found, one paragraph for each matter."""
    told = [*directions(findings), *group_words(findings), *choice_words(findings), *doubts(findings)]
    return [*told, *fact_words(findings), *value_words(findings)]


def directions(findings: Findings) -> list[str]:
    """Return in which direction features move the predictions, as far as signs are proven."""
    sentences = [direction(findings, output) for output in findings.outputs[:SPOKEN]]
    left = len(findings.outputs) - SPOKEN
    more = [f"The table tells of the {left:,} others."] if left > 0 else []
    return [sentence for sentence in sentences if sentence] + more


def direction(findings: Findings, output: Output) -> str:
    """Return in which direction features move the prediction of one output; nothing where no sign is proven."""
    up, down = proven_signs(findings, output)
    what, pronoun = effect(findings, output)
    raised = f"Larger values of {some(up)} raise {what}" if up else ""
    if not down:
        return raised and raised + "."
    return f"{raised}; those of {some(down)} lower {pronoun}." if up else f"Larger values of {some(down)} lower {what}."


def proven_signs(findings: Findings, output: Output) -> tuple[list[str], list[str]]:
    """Return the features whose coefficients are proven to be positive, and those proven negative, by weight."""
    ranked = sorted(output.entries, key=lambda entry: -findings.weight(entry))
    proven = [entry for entry in ranked if output.verdicts[entry.feature] in "ng"]
    up = [findings.names[entry.feature] for entry in proven if entry.lower is not None and entry.lower > 0]
    return up, [findings.names[entry.feature] for entry in proven if entry.upper is not None and entry.upper < 0]


def effect(findings: Findings, output: Output) -> tuple[str, str]:
    """Return what a coefficient raises or lowers, and the pronoun for it."""
    link, classes = findings.model.link, findings.model.classes
    if classes is not None:
        label = classes[-1] if output.label is None else output.label
        against = f"against {classes[0]}" if output.label is None else "against the rest"
        if link == "logistic":
            return f"the odds of {label} {against}", "them"
        return f"the score of {label}" + (f" {against}" if link == "identity" else ""), "it"
    name = findings.target if output.label is None else f"output {output.label}"
    return (f"the expected {name}" if link == "exp" else f"the predicted {name}"), "it"


def group_words(findings: Findings) -> list[str]:
    """Return which groups are proven to be in the model."""
    if findings.groups is None:
        return []
    held = [group for group in findings.groups if group.verdict == NONZERO]
    names = list(dict.fromkeys(group.name for group in held))
    if not names:
        return []
    word = "group" if len(names) == 1 else "groups"
    return [f"The {word} {some(names)} {_verb(len(names))} proven to carry weight as a whole."]


def choice_words(findings: Findings) -> list[str]:
    """Return how the strength was chosen."""
    choice = findings.choice
    if choice is None:
        return []
    tried, folds = count(len(choice.strengths), "strength"), count(len(choice.folds), "fold")
    end = "" if choice.grid_end is None else f" {choice.grid_end}"
    return [f"Cross-validation compared {tried} on {folds} and took {RULES[choice.rule].words}.{end}"]


def doubts(findings: Findings) -> list[str]:
    """Return what cannot be decided, and why."""
    if findings.silence is not None:
        return [findings.silence[0].upper() + findings.silence[1:]]
    sentences = []
    for proof in findings.proofs:
        if proof.undecided:
            of = "" if proof.label is None else f" of {proof.label}"
            what = count(proof.undecided, proof.blocks)
            sentences.append(f"The certificate{of} leaves {what} undecided. {proof.reason}")
    unsure = sum(output.verdicts.count("u") for output in findings.outputs)
    if unsure and not sentences:
        what = count(unsure, "coefficient")
        sentences.append(f"For {what} the proven interval holds 0: the block is decided, but not its sign.")
    return sentences


def fact_words(findings: Findings) -> list[str]:
    """Return what is proven beside zeros and intervals: clusters, saturated coefficients, and their order."""
    of = {proof.label: "" if proof.label is None else f" ({proof.label})" for proof in findings.proofs}
    return [f"{fact[:-1]}{of[proof.label]}." for proof in findings.proofs for fact in proof.facts]


def value_words(findings: Findings) -> list[str]:
    """Return how close the optimum is enclosed."""
    held = [proof for proof in findings.proofs if proof.lower is not None and proof.upper is not None]
    if len(held) != 1 or held[0].lower is None or held[0].upper is None:
        return []
    return [f"The optimal value of the objective is {interval(held[0].lower, held[0].upper)}."]


def some(names: Sequence[str]) -> str:
    """Return names in a row; where there are many, the first of them and how many more there are.

    >>> some(["age", "bmi"]), some(list("abcdefghij"))
    ('age and bmi', 'a, b, c, d, e, f and 4 more')
    """
    left = len(names) - NAMED
    return listed(names) if left <= 1 else listed([*names[:NAMED], f"{left:,} more"])


def listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence in a row, "and" before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _verb(number: int) -> str:
    return "is" if number == 1 else "are"
