"""The path of solutions as a picture: each coefficient against the strength of the penalty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from atomsieve.display.canvas import Display, canvas, counts_on_top, logarithmic, mark_places, names_at_end
from atomsieve.display.coefficients import NO_SCALES, weights_of
from atomsieve.display.palette import FAINT, MUTED, SERIES
from atomsieve.display.reading import QUANTITIES, column_scales, quantity_of, row_of
from atomsieve.intake.names import feature_names
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELLED = 10
"""Number of lines with a name and a colour where there are many."""

FEW = 14
"""Up to so many lines all of them have a name."""

DASHES = ("-", (0, (4, 1.5)))
"""Lines of the first round of colours, and of the second."""


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Coefficients along a path, from the sparsest model on the left to the largest on the right.

    The features with the largest weight at the marked strength (at the end, where none is marked) have a colour, and
    their name at the end of their line. The weight is that of `summary()`: absolute coefficient × standard
    deviation of the feature where that is known, whatever is drawn. Make one by `from_estimator` or `from_path`;
    `plot` draws it.

    Parameters
    ----------
    strengths : array of shape (m,)
        The strengths, as users know them, sparsest model first.
    coefs : array of shape (m, d)
        The coefficients at each strength.
    names : list of d names
        The names of the features.
    label : str
        What the strengths are called.
    marks : dict of name and position, optional
        Strengths to mark, such as `{"1se": 40, "min": 62}`; the last of them decides who is labelled.
    deviance : array of shape (m,), optional
        The part of the deviance that each model explains.
    quantity : str
        What the coefficients are.
    scales : array of shape (d,), optional
        The standard deviations of the features, for the weights; left out where `coefs` are per standard deviation.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    lines_
        The lines that have a name, by that name.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import PathDisplay, Problem, path
    >>> shown = PathDisplay.from_path(path(Problem(np.eye(3), [3.0, 2.0, 0.1]), n=3), x="norm")
    >>> shown.counts, shown.ax_.get_xlabel()
    (array([0, 2, 3]), 'sum of |coefficient|')
    """

    strengths: Array
    coefs: Array
    names: Sequence[str]
    label: str = "slope of the penalty"
    marks: Mapping[str, int] = field(default_factory=dict)
    deviance: Array | None = None
    quantity: str = QUANTITIES["unit"]
    scales: Array | None = None
    lines_: dict[str, Any] = field(init=False, repr=False)

    @property
    def counts(self) -> Index:
        """The number of features at each strength."""
        return np.asarray(np.count_nonzero(self.coefs, axis=1))

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        per: Literal["unit", "sd"] = "unit",
        target: Any = None,
        x: Literal["strength", "norm", "deviance"] = "strength",
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw a `Path`.

        Parameters
        ----------
        path : Path
            What `path` returned.
        per : "unit" or "sd"
            Whether coefficients are shown as they are, or times the standard deviation of their feature: what a feature
            of any unit contributes.
        target : int, optional
            With several outputs, the one that is shown; by default the length of the coefficients of a feature over all
            of them.
        x, ax, **options
            As for `plot`.
        """
        coefs = path.coefs.reshape(len(path.slopes), path.coefs.shape[1], -1).swapaxes(1, 2)
        quantity = _quantity(coefs, None if target is None else f"output {target}", per)
        flat = row_of(coefs, range(coefs.shape[1]), target)
        names = feature_names(path.problem.data.names, flat.shape[1])
        scales = column_scales(path.problem.data, np.flatnonzero(flat.any(axis=0)))
        shown = cls(path.slopes, flat, names, deviance=path.deviance_explained, quantity=quantity, scales=scales)
        return shown._in(per).plot(ax, x=x, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        per: Literal["unit", "sd"] = "unit",
        target: Any = None,
        x: Literal["strength", "norm", "deviance"] = "strength",
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the path of a fitted estimator.

        Parameters
        ----------
        estimator : estimator of this package
            If it chose its strength by cross-validation, its own path is shown with both strengths marked. Otherwise
            the path is followed now, and the strength of the fit is marked.
        X, y : the data of the fit, optional
            Needed only if they no longer exist where they were at the fit: for `per="sd"`, for `x="deviance"`, and to
            follow a path.
        per : "unit" or "sd"
            Whether coefficients are shown as they are, or times the standard deviation of their feature.
        target : optional
            The class (by its label) or output (by its number) that is shown; by default, where there are several, the
            length of the coefficients of a feature over all of them.
        x, ax, **options
            As for `plot`.
        """
        found = estimator._path(X, y)
        flat = row_of(found.coefs, estimator._outputs, target)
        shown = cls(
            found.strengths,
            flat,
            estimator._names,
            label=found.label,
            marks=found.marks,
            deviance=estimator._deviance(found, X, y) if x == "deviance" else None,
            quantity=_quantity(found.coefs, None if target is None else f"{estimator._kind} {target}", per),
            scales=estimator._scales(X),
        )
        return shown._in(per).plot(ax, x=x, **options)

    def _in(self, per: str) -> Self:
        """Return the display with coefficients as they are, or times the standard deviation of their feature."""
        if per != "sd":
            return self
        if self.scales is None:
            raise ValueError(f"{NO_SCALES} Or pass X and y.")
        return replace(self, coefs=self.coefs * self.scales, scales=None)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        x: Literal["strength", "norm", "deviance"] = "strength",
        labels: int = LABELLED,
    ) -> Self:
        """Draw the path (needs matplotlib).

        Parameters
        ----------
        ax : axes, optional
            Where to draw; on new axes by default.
        x : "strength", "norm" or "deviance"
            What is along the x-axis: the strength, the sum of the absolute coefficients, or the part of the deviance
            that the model explains.
        labels : int
            How many lines have a name and a colour, where there are more than a few.
        """
        places, label = self._places(x)
        ax = canvas(ax)
        first, last = float(places[0]), float(places[-1])
        if x == "strength":
            logarithmic(ax, first, last)
        else:
            ax.set_xlim(first, last if last > first else first + 1.0)
        ax.set_ylim(*_limits(self.coefs))
        ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        named = self._largest(labels)
        self._draw_rest(ax, places, named)
        colours = self._draw_named(ax, places, named)
        mark_places(ax, {name: float(places[k]) for name, k in self.marks.items()}, places, self.coefs[:, named])
        counts_on_top(ax, places, self.counts)
        names_at_end(ax, self.coefs[-1, named], [self.names[j] for j in named], colours)
        ax.set_xlabel(label)
        ax.set_ylabel(self.quantity)
        return self._on(ax)

    def _places(self, x: str) -> tuple[Array, str]:
        """Return where the models stand along the x-axis, and what that is called."""
        if x == "strength":
            return self.strengths, f"{self.label} (more features to the right)"
        if x == "norm":
            return np.abs(self.coefs).sum(axis=1), f"sum of |{self.quantity}|"
        if x != "deviance":
            raise ValueError(f'x must be "strength", "norm" or "deviance", got {x!r}.')
        if self.deviance is None:
            raise ValueError('x="deviance" needs the deviance of each model: say x="deviance" in from_estimator, too.')
        return self.deviance, "part of the deviance that is explained"

    def _largest(self, labels: int) -> Index:
        """Return the features that get a name: all, if they are few, or those of the largest weight."""
        used = np.flatnonzero(self.coefs.any(axis=0))
        if len(used) <= max(FEW, labels):
            weights = weights_of(self.coefs, self.scales)[:, used].max(axis=0)
            return np.asarray(used[np.argsort(-weights, kind="stable")])
        decisive = self.coefs[max(self.marks.values(), default=-1)]
        weights = weights_of(decisive if decisive.any() else self.coefs[-1], self.scales)
        largest = np.argsort(-weights, kind="stable")[:labels]
        return np.asarray(largest[weights[largest] > 0])

    def _draw_rest(self, ax: "Axes", places: Array, named: Index) -> None:
        """Draw the lines without a name, each from where it leaves zero: there may be thousands."""
        from matplotlib.collections import LineCollection  # noqa: PLC0415 -- optional

        rest = np.setdiff1d(np.flatnonzero(self.coefs.any(axis=0)), named)
        lines = []
        for j in rest:
            begin = self._entry(j)
            lines.append(np.column_stack([places[begin:], self.coefs[begin:, j]]))
        alpha = float(np.clip(30 / max(len(rest), 1), 0.25, 0.9))
        ax.add_collection(LineCollection(lines, colors=FAINT, linewidths=0.7, alpha=alpha, zorder=1))

    def _entry(self, j: int) -> int:
        """Return the last place at which a feature has not yet entered."""
        return max(int(np.flatnonzero(self.coefs[:, j])[0]) - 1, 0)

    def _draw_named(self, ax: "Axes", places: Array, named: Index) -> list[str]:
        """Draw the lines with a name; dashes tell lines of the same colour apart. Return the colours."""
        colours = [SERIES[k % len(SERIES)] for k in range(len(named))]
        styles = [DASHES[min(k // len(SERIES), 1)] for k in range(len(named))]
        mark = "o" if len(places) == 1 else None
        self.lines_ = {}
        for j, colour, style in zip(named, colours, styles, strict=True):
            begin = self._entry(j)
            look: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": 1.6, "marker": mark}
            (line,) = ax.plot(places[begin:], self.coefs[begin:, j], zorder=3, **look)
            self.lines_[self.names[j]] = line
        return colours


def _limits(coefs: Array) -> tuple[float, float]:
    """Return limits of the y-axis that leave some room."""
    low, high = min(float(coefs.min()), 0.0), max(float(coefs.max()), 0.0)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _quantity(coefs: Array, output: str | None, per: str) -> str:
    """Return what is drawn, and of which output."""
    plain = quantity_of(per)
    if coefs.shape[1] == 1:
        return plain
    if output is not None:
        return f"{plain}, {output}"
    return f"length of the {plain.replace('coefficient', 'coefficients')} over all outputs"
