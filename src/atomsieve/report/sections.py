"""The sections of a report as HTML; each is empty where the model has nothing of the kind."""

import math
import shlex
from collections import defaultdict
from collections.abc import Sequence

from atomsieve.display.coefficients import BY_WEIGHT, NONZERO, UNDECIDED, ZERO
from atomsieve.display.numbers import count, interval, number
from atomsieve.display.reading import RULES
from atomsieve.display.sums import written_sum
from atomsieve.estimators.quality import remarks
from atomsieve.report.charts import choice_chart, path_chart
from atomsieve.report.findings import Facts, Findings
from atomsieve.report.markup import Html, join, tag
from atomsieve.report.proofs import GroupFacts, ProofFacts, Relation, Total
from atomsieve.report.words import Tally, headline, listed, paragraphs

SAYS = (
    "A feature called zero has coefficient 0 in every solution of the problem that is stated below.",
    "A feature called non-zero has a coefficient other than 0, and the optimal one lies in the interval shown.",
    "Both hold in spite of rounding, and a program that shares no code with this one can check them.",
)
SILENT = ("Nothing: for a model of this kind no proof is known, and its coefficients are as good as the solver's gap.",)
SAYS_NOT = (
    "That a feature is relevant or a cause, or would be chosen on other data or at another strength.",
    "How coefficients vary from sample to sample: intervals enclose this optimum, they are no confidence intervals.",
    "That the data, the units or the model are right.",
)


COMMAND = "verify"
"""The fact about the data that is a command: how to check the certificate."""


def section(key: str, title: str, *children: Html) -> Html:
    """Return a section with its heading; nothing where there is nothing to show."""
    return tag("section", tag("h2", title), *children, id=key) if any(children) else Html("")


def finding(findings: Findings) -> Html:
    """Return the finding in words, its counts, and what a certificate says and does not say."""
    tally = Tally.of(findings)
    tiles = [
        ("non-zero", tally.nonzero, "proven non-zero"),
        ("zero", tally.zero, "proven zero"),
        ("undecided", tally.undecided, "undecided"),
        ("unpenalised", tally.unpenalised, "not penalised"),
    ]
    shown = [tile for tile in tiles if tile[1] or tile[0] not in ("unpenalised",)]
    return join(
        tag("h1", headline(findings)),
        tag("div", *(_tile(*tile) for tile in shown), class_="tiles"),
        _share([(key, number_of) for key, number_of, _ in shown]),
        *(tag("p", text) for text in paragraphs(findings)),
        tag(
            "div",
            tag("div", tag("h3", "What the certificate says"), _bullets(SAYS if findings.silence is None else SILENT)),
            tag("div", tag("h3", "What it does not say"), _bullets(SAYS_NOT)),
            class_="columns",
        ),
    )


def _tile(key: str, value: int, words: str) -> Html:
    return tag("div", tag("strong", f"{value:,}"), tag("span", words), class_=f"tile v-{key}")


def _share(parts: Sequence[tuple[str, int]]) -> Html:
    """Return a bar that shows how features are divided among the verdicts."""
    bars = [tag("i", class_=f"v-{key}", style=f"flex-grow:{value}") for key, value in parts if value]
    return tag("div", *bars, class_="share", aria_hidden="true")


def _bullets(lines: Sequence[str]) -> Html:
    return tag("ul", *(tag("li", line) for line in lines))


def coefficients(findings: Findings) -> Html:
    """Return the place of the table, and the intercepts above it."""
    unit = (
        "per standard deviation (SD) of its feature" if findings.scales is not None else "in the units of its feature"
    )
    held = (
        ", with the interval that is proven to hold the optimal one. An interval too narrow to see is a line. Point at "
        "a number for all its digits"
    )
    note = f"Bars show each coefficient {unit}{held if findings.silence is None else ''}."
    return section("coefficients", "Coefficients", tag("p", note, class_="note"), intercepts(findings), TABLE)


def intercepts(findings: Findings) -> Html:
    """Return the intercepts with their intervals, in a sentence."""
    told = []
    for output in findings.outputs:
        entry = output.intercept
        if entry is not None:
            known = entry.lower is not None and entry.upper is not None
            value = (
                interval(entry.lower or 0.0, entry.upper or 0.0)
                if known
                else f"{number(entry.coefficient)} (not proven)"
            )
            told.append(value if output.label is None else f"{output.label}: {value}")
    return tag("p", f"Intercept: {'; '.join(told)}.", class_="note") if told else Html("")


def quality(findings: Findings) -> Html:
    """Return how good the predictions are, on the training data and by cross-validation."""
    if not findings.quality:
        return Html("")
    chosen = findings.choice is not None
    head = ["measure", "training data", *(["cross-validation"] if chosen else [])]
    body = [[q.name, q.told(q.training), *([q.told(q.held_out)] if chosen else [])] for q in findings.quality]
    notes = [tag("p", text, class_="note") for text in remarks(findings.quality)]
    return section("quality", "How good the predictions are", grid(head, body), *notes)


def every_feature(findings: Findings) -> Html:
    """Return the place of the map."""
    total = count(len(findings.names), "feature")
    note = f"All {total} in the order of the columns, one cell each. Point at a cell for its name; click to find it."
    return section("map", "Verdict on every feature", tag("p", note, class_="note"), tag("div", id="strips"))


def path(findings: Findings) -> Html:
    """Return the path of the coefficients with what is proven along it."""
    if findings.path is None:
        return Html("")
    note = "Each coefficient along the path of models, from the sparsest to the largest; both strengths are marked."
    supports = findings.path.supports
    if supports:
        where = f"{count(len(supports), 'strength')} up to the largest that a rule chooses"
        unsure = any(support.undecided for support in supports)
        rest = "undecided ones are stacked on top" if unsure else "none is undecided there"
        note += f" Below, the number of features that are proven to carry weight, at {where}; {rest}."
    return section("path", "Path of models", tag("p", note, class_="note"), path_chart(findings))


def choice(findings: Findings) -> Html:
    """Return the curve of the cross-validation, and both choices in a table."""
    told = findings.choice
    if told is None:
        return Html("")
    body = [
        (
            name,
            number(told.strengths[k], 5),
            _score(told.mean[k], told.error[k]),
            f"{told.counts[k]:,}",
            RULES[name].words,
        )
        for name, k in (("min", told.least), ("1se", told.sparse))
    ]
    table = grid(("rule", told.label, told.score, "features", "which is"), body, marked=told.rule)
    return section("choice", "Choice of the strength", choice_chart(findings), table)


def _score(mean: float | None, error: float | None) -> str:
    return "unknown" if mean is None or error is None else f"{number(mean)} ± {number(error, 2)}"


MEMBERS, GROUPS = 12, 200
"""How many features of a group are named, and how many groups are shown."""


def groups(findings: Findings) -> Html:
    """Return the groups and the verdict on each."""
    if findings.groups is None:
        return Html("")
    several = findings.groups[0].label is not None
    weighed = zip(findings.groups, group_weights(findings, findings.groups), strict=True)
    ranked = sorted(weighed, key=lambda pair: (ORDER.index(pair[0].verdict), -pair[1]))
    body = [([str(group.label)] if several else []) + _group(findings, group, by) for group, by in ranked[:GROUPS]]
    head = (["class"] if several else []) + ["group", "verdict", "length", "weight", "features", "members"]
    left = len(ranked) - GROUPS
    more = tag("p", f"{left:,} more groups are not shown.", class_="note") if left > 0 else Html("")
    note = f"The length of a group is the norm of its coefficients; its weight is that of their weights, {BY_WEIGHT}."
    return section("groups", "Groups", tag("p", note, class_="note"), grid(head, body), more)


ORDER = (NONZERO, UNDECIDED, ZERO)


def group_weights(findings: Findings, groups: Sequence[GroupFacts]) -> list[float]:
    """Return how much each group contributes: the Euclidean norm of the weights of its coefficients."""
    squares: dict[tuple[str | None, int], float] = defaultdict(float)
    for output in findings.outputs:
        for entry in output.entries:
            squares[None if groups[0].label is None else output.label, entry.feature] += findings.weight(entry) ** 2
    return [math.sqrt(sum(squares[group.label, j] for j in group.features)) for group in groups]


def _group(findings: Findings, group: GroupFacts, weight: float) -> list[str]:
    """Return the row of a group."""
    members = [findings.names[j] for j in group.features[:MEMBERS]]
    more = [f"{len(group.features) - MEMBERS:,} more"] if len(group.features) > MEMBERS else []
    verdict = tag("span", group.verdict, class_=f"chip v-{group.verdict}")
    lengths = [number(group.length), number(weight, 3)]
    return [group.name, verdict, *lengths, f"{len(group.features):,}", ", ".join(members + more)]


def dependent(findings: Findings) -> Html:
    """Return the columns that depend on one another, as far as certificates speak of them."""
    if not findings.relations:
        return Html("")
    note = (
        "These columns are combinations of others, exactly or nearly. The data do not tell their coefficients apart; "
        "what they predict together is determined, and so are these sums of coefficients."
    )
    lines = [tag("li", _equation(relation)) for relation in findings.relations[:GROUPS]]
    sums = [tag("li", _determined(total)) for total in findings.sums[:GROUPS]]
    return section(
        "dependent",
        "Dependent features",
        tag("p", note, class_="note"),
        tag("ul", *lines, class_="equations"),
        *([tag("ul", *sums, class_="equations")] if sums else []),
    )


def _equation(relation: Relation) -> str:
    """Return a dependency as people write it.

    >>> from atomsieve.report.proofs import Term
    >>> _equation(Relation(None, "c", (Term(1.0, "a"), Term(-2.0, "b"))))
    'c = a − 2 × b'
    """
    where = "" if relation.label is None else f" ({relation.label})"
    return f"{relation.column} = {written_sum((term.times, term.name) for term in relation.terms)}{where}"


def _determined(total: Total) -> str:
    """Return what is known of a sum of coefficients.

    >>> from atomsieve.report.proofs import Term
    >>> _determined(Total(None, (Term(1.0, "a"), Term(1.0, "b")), 0.5, 0.75, True))
    'coefficients of a + b: 0.62, known to within 0.13; every solution needs one of them'
    """
    where = "" if total.label is None else f" ({total.label})"
    needed = "; every solution needs one of them" if total.needed else ""
    names = written_sum((term.times, term.name) for term in total.terms)
    return f"coefficients of {names}{where}: {interval(total.lower, total.upper)}{needed}"


def background(findings: Findings) -> Html:
    """Return data, model, settings and versions."""
    model = findings.model
    fitted = [
        ("estimator", model.estimator),
        ("loss", model.loss),
        ("gauge", model.gauge),
        ("penalty", model.penalty),
        *([("classes", listed(model.classes))] if model.classes else []),
        ("features", "brought to one scale by the fit" if model.standardized else "as they are"),
        ("solver", model.status + ("" if model.gap is None else f" Gap: {number(model.gap, 2)}.")),
    ]
    data = tuple(fact for fact in findings.data if fact[0] != COMMAND)
    parts = [("Data", data), ("Model", tuple(fitted)), ("Settings", findings.settings)]
    shown = [_facts(title, facts) for title, facts in [*parts, ("Versions", findings.versions)] if facts]
    return section("background", "Data, model and settings", tag("div", *shown, class_="facts"))


def _facts(title: str, facts: Facts) -> Html:
    pairs = [join(tag("dt", key), tag("dd", value)) for key, value in facts]
    return tag("div", tag("h3", title), tag("dl", *pairs))


def verification(findings: Findings) -> Html:
    """Return how to check the certificate, and the digest of the data that it is about."""
    data = dict(findings.data)
    first = "certificate-1.json" if len(findings.proofs) > 1 else "certificate.json"
    command = data.get(COMMAND, f"atomsieve verify {first} {shlex.quote(data.get('file', 'DATA'))}")
    commands = f"{command}\npython verify {first} X.npy y.npy"
    words = (
        "The checker derives every claim anew from the data, bounds its own rounding, and shares no code with the "
        "program that made it: verify is one folder in the folder standalone of the package, which needs NumPy and "
        "python-flint. Where the model was fitted, or with the table as numbers in two files:"
    )
    digests = [(proof.label or "certificate", _claims(proof), tag("code", proof.digest)) for proof in findings.proofs]
    return section(
        "verify",
        "How to verify this",
        tag("p", words),
        tag("pre", commands),
        grid(("of", "claims", "SHA-256 of the data"), digests),
    )


def _claims(proof: ProofFacts) -> str:
    return f"{proof.zero:,} zero, {proof.nonzero:,} non-zero, {proof.undecided:,} undecided"


def grid(head: Sequence[str], body: Sequence[Sequence[str]], marked: str | None = None) -> Html:
    """Return a small table; the row that begins with the marked word stands out."""
    top = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in head)))
    rows = [_line(head, row, "marked" if row[0] == marked else None) for row in body]
    return tag("div", tag("table", top, tag("tbody", *rows), class_="grid"), class_="scroll")


def _line(head: Sequence[str], row: Sequence[str], style: str | None) -> Html:
    """Return a row of a table; on a phone every cell is shown with the title of its column."""
    cells = [tag("td", tag("span", cell), data_label=label) for cell, label in zip(row, head, strict=True)]
    return tag("tr", *cells, class_=style)


TABLE = Html("""
<div class="controls">
<input type="search" id="search" placeholder="Search features" aria-label="Search features by name">
<span id="filters" role="group" aria-label="Show verdicts"></span>
</div>
<div class="scroll"><table id="table"><thead></thead><tbody></tbody></table></div>
<p class="note more"><span id="shown" aria-live="polite"></span>
<button type="button" id="more" hidden>Show more</button></p>
<noscript><p class="note">The table and the map need JavaScript; numbers are also in findings.json.</p></noscript>
""")
