"""The curves of a report: drawn by the displays of this package, written as SVG in the colours of the page."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np

from atomsieve.display import CVDisplay, PathDisplay
from atomsieve.display.canvas import FONT, canvas, pyplot
from atomsieve.display.palette import ACCENT, DARK, DOUBT, MUTED
from atomsieve.report.findings import Findings
from atomsieve.report.markup import Html, join, tag
from atomsieve.report.walk import Choice, PathFacts
from atomsieve.typing import Array

SHAPES = {"wide": (8.2, 4.8), "narrow": (4.1, 4.4)}
"""Sizes in inches, for a page and for a phone: letters have the same size on both."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "atomsieve",
    "font.family": "sans-serif",
    "figure.dpi": 72.0,
}


def path_chart(findings: Findings) -> Html:
    """Return the path of the coefficients, and below it what is proven along it."""
    choice, path = findings.choice, findings.path
    if choice is None or path is None or not path.lines:
        return Html("")
    names, values, quantity = path_lines(findings, path)
    marks = {"1se": choice.sparse, "min": choice.least}
    strengths = np.array(choice.strengths)

    def draw(figure: Any, shape: str) -> None:
        heights = [3.4, 1] if path.supports else [1]
        axes = figure.subplots(len(heights), squeeze=False, height_ratios=heights, sharex=True)[:, 0]
        shown = PathDisplay(strengths, values, names, choice.label, marks, quantity=quantity)
        shown.plot(axes[0], labels=10 if shape == "wide" else 5)
        counted_as(axes[0], "coefficients" if len(findings.outputs) > 1 else "features")
        name_lines(shown, names)
        if path.supports:
            axes[0].set_xlabel("")
            draw_supports(axes[1], choice, path)

    return both_shapes("path", draw, names)


def counted_as(ax: Any, noun: str) -> None:
    """Say what the counts along the top of a picture are."""
    for top in ax.child_axes:
        top.set_xlabel(noun)


def name_lines(shown: PathDisplay, names: Sequence[str]) -> None:
    """Give every line the address of its name, also those that have no name in the picture."""
    numbers = {name: k for k, name in enumerate(names)}
    for name, line in shown.lines_.items():
        line.set_url(f"#{numbers.pop(name)}")
    for rest in shown.ax_.collections:
        if len(rest.get_paths()) == len(numbers):
            rest.set_urls([f"#{k}" for k in numbers.values()])


def path_lines(findings: Findings, path: PathFacts) -> tuple[list[str], Array, str]:
    """Return names, values and quantity of the lines of a path: per standard deviation where that is known."""
    scales = dict(findings.scales or ())
    values = np.array([line.values for line in path.lines]).T
    values = values * np.array([scales.get(line.feature, 1.0) for line in path.lines])
    names = [line_name(findings, line.feature, line.output) for line in path.lines]
    return names, values, "coefficient × standard deviation" if findings.scales is not None else "coefficient"


def line_name(findings: Findings, feature: int, output: int) -> str:
    """Return the name of a coefficient: of its feature and, where there are several, of its output."""
    name, label = findings.names[feature], findings.outputs[output].label
    return name if label is None else f"{name} ({label})"


def draw_supports(ax: Any, choice: Choice, path: PathFacts) -> None:
    """Draw how many features are proven to be in the model and how many are undecided, along the path."""
    supports = path.supports or ()
    places = np.array(choice.strengths)[[support.place for support in supports]]
    nonzero = np.array([support.nonzero for support in supports])
    undecided = np.array([support.undecided for support in supports])
    canvas(ax)
    ax.fill_between(places, 0, nonzero, color=ACCENT, alpha=0.25, linewidth=0)
    ax.plot(places, nonzero, color=ACCENT, linewidth=1.6, marker="o", markersize=3)
    if undecided.any():
        ax.fill_between(places, nonzero, nonzero + undecided, color=DOUBT, alpha=0.45, linewidth=0)
    for place in {choice.least, choice.sparse}:
        ax.axvline(choice.strengths[place], color=MUTED, linewidth=0.8, linestyle=":")
    ax.set_ylim(0, 1.15 * max(1, int((nonzero + undecided).max())))
    ax.set_ylabel("proven", fontsize=FONT)
    ax.set_xlabel(f"{choice.label} (more features to the right)")


def choice_chart(findings: Findings) -> Html:
    """Return the curve of the cross-validation."""
    choice = findings.choice
    if choice is None:
        return Html("")
    mean, error = (np.array(part, dtype=np.float64) for part in (choice.mean, choice.error))
    scores = np.array(choice.folds, dtype=np.float64).T
    shown = CVDisplay(
        np.array(choice.strengths),
        scores,
        mean,
        error,
        np.array(choice.counts),
        choice.least,
        choice.sparse,
        choice.label,
        choice.score,
    )

    def draw(figure: Any, shape: str) -> None:
        ax: Any = shown.plot(figure.subplots()).ax_
        if shape == "narrow":  # the table below says the same
            ax.get_legend().remove()

    return both_shapes("choice", draw)


def both_shapes(name: str, draw: Callable[[Any, str], Any], names: Sequence[str] = ()) -> Html:
    """Return a picture twice, for a page and for a phone; the style sheet shows one of them."""
    pictures = [tag("div", svg(f"{name}-{shape}", draw, shape, names), class_=f"chart {shape}") for shape in SHAPES]
    return join(*pictures)


def svg(name: str, draw: Callable[[Any, str], Any], shape: str, names: Sequence[str]) -> Html:
    """Return a picture as an SVG element; `name` tells it apart from others on the page, `names` are those of lines."""
    import matplotlib as mpl  # noqa: PLC0415 -- optional
    from matplotlib.figure import Figure  # noqa: PLC0415 -- optional

    pyplot()
    text = StringIO()
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters are drawn by the browser, whose fonts have them
        figure = Figure(figsize=SHAPES[shape], layout="constrained")
        figure.patch.set_alpha(0.0)
        draw(figure, shape)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return titled(dressed(text.getvalue(), name), name, names)


def titled(text: str, name: str, names: Sequence[str]) -> Html:
    """Return a picture whose addresses have become titles, which browsers show where one points."""

    def title(found: re.Match[str]) -> str:
        return f'<g class="line">{tag("title", names[int(found[1])])}'

    return Html(re.sub(rf'<a href="#{name}-(\d+)"[^>]*>', title, text).replace("</a>", "</g>"))


def dressed(text: str, name: str) -> Html:
    """Return a picture of matplotlib as part of a page: own identifiers, colours by role, few decimals, no size.

    Only what is within tags is changed: what is between them are words.
    """
    text = re.sub(
        r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL
    )
    return Html(re.sub(r"\n\s*", "\n", re.sub(r"<[^>]*>", lambda found: _dressed_tag(found[0], name), text)))


def _dressed_tag(text: str, name: str) -> str:
    if text.startswith("<svg"):
        return re.sub(r' (width|height|version|xmlns:xlink|xmlns)="[^"]*"', "", text)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text).replace("xlink:href", "href")
    text = re.sub(r"font: ([^;\"]*?)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), text)
    return re.sub(r"#[0-9a-f]{6}", lambda found: f"var(--c{found[0][1:]})" if found[0] in DARK else found[0], text)


def colour_rules(colours: Mapping[str, str]) -> str:
    """Return the values of the colours of pictures, for a style sheet; `colours` has one for each of the palette."""
    return "".join(f"--c{role[1:]}:{colour};" for role, colour in colours.items())
