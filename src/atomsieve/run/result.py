"""What a run found."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atomsieve.display.coefficients import ZERO, Coefficients
from atomsieve.display.numbers import count, number
from atomsieve.display.sections import coefficient_section
from atomsieve.display.table import Summary
from atomsieve.gauges import Atom
from atomsieve.intake.names import entries, pandas_for
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.places import support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point, Problem
from atomsieve.run.status import Status
from atomsieve.run.trace import Trace
from atomsieve.screening import Rule
from atomsieve.screening.sieve import standing
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from atomsieve.certificate import Certificate


class Active(NamedTuple):
    """Points of P that carry weight, one per block, and their weights; x is their weighted sum.

    For `Oracle` these are atoms that it found, and `given` has them as it returned them.
    """

    atoms: list[Atom]
    weights: Array

    @property
    def given(self) -> list[Any]:
        """The atoms as an oracle returned them; atoms of other gauges as they are."""
        return [getattr(atom, "given", atom) for atom in self.atoms]

    @property
    def blocks(self) -> list[int]:
        """The block of each atom."""
        return [atom.block for atom in self.atoms]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The best point of a run (least gap), why the run ended, and which blocks of atoms were not ruled out."""

    problem: Problem
    """The problem that was solved."""

    kept: Array | None
    """What is left of the coefficients of the point after screening; None if that is all of them."""

    point: Point
    """The point itself, with its dual point."""

    screened: Mask | Rule
    """Which blocks are not ruled out, or the rule that says so when it is asked (see `alive`)."""

    status: Status
    """Why the run ended; printing it gives a sentence."""

    n_iter: int
    """Number of steps taken."""

    time: float
    """Seconds."""

    passes: float
    """Number of products with A or A' that the run took. A product with some of the columns counts as that fraction.
    Gram matrices of a working set do not count. The first look and the norms of the
    columns, which a problem computes once, are not counted either."""

    trace: Trace
    """What happened in each iteration, if the run was called with `trace=True`."""

    known: "Certificate | None" = None
    """The certificate, if the run has already made one."""

    @property
    def lifted(self) -> Array:
        """Coefficients in lifted coordinates: x itself, or the preimage for Image and Atoms."""
        return self.point.state.x if self.kept is None else self.kept

    @cached_property
    def x(self) -> Array:
        """Coefficients, unpenalised coordinates included; with several classes these have the sum 0 over them."""
        lifted = self.lifted.copy()
        lifted[self.problem.core.unpenalised()] = self.problem.free_coefficients(self.point.state)[2]
        return self.problem.lower(lifted)

    @property
    def intercept(self) -> Array | float:
        """The constant added to predictions, 0 without intercept; for Multinomial one number per class, of sum 0."""
        constant = self.problem.free_coefficients(self.point.state)[0].sum(axis=0)
        return constant if self.problem.data.outputs else float(constant)

    @property
    def free(self) -> Array:
        """Coefficients of the columns passed as `free`; for Multinomial those with the sum 0 over the classes."""
        return self.problem.free_coefficients(self.point.state)[1]

    @property
    def objective(self) -> float:
        """Objective value, an upper bound of the optimum."""
        return self.point.objective

    @property
    def dual(self) -> float:
        """Dual value, a lower bound of the optimum."""
        return self.point.dual

    @property
    def gap(self) -> float:
        """Duality gap, an upper bound of the objective's error."""
        return self.point.gap

    @property
    def converged(self) -> bool:
        """Whether the gap reached the tolerance and, with `until="decided"`, every coefficient is decided."""
        return self.status in (Status.CONVERGED, Status.DECIDED)

    @cached_property
    def alive(self) -> Mask:
        """One truth value per block: False where the block is zero in every solution, by a safe rule in floating point.

        A block that carries weight counts as alive.
        """
        return self.screened if isinstance(self.screened, np.ndarray) else standing(self.screened, self.point)

    @cached_property
    def zero(self) -> Mask:
        """Coefficients that are zero in every solution, a truth value for each entry of x."""
        problem = self.problem
        chosen = self.alive[problem.core.labels(problem.shape)]
        return ~problem.gauge.touched(chosen.reshape(problem.lifted.form))

    @cached_property
    def active(self) -> Active:
        """Penalised blocks that carry weight."""
        listed = self.point.state.parts
        if listed is not None:
            return Active(list(listed.atoms), listed.weights)
        sizes = self.problem.core.sizes(self.lifted)
        parts = [self.problem.core.part(self.lifted, int(block)) for block in support_of(sizes)]
        return Active([atom for atom, _ in parts], np.array([weight for _, weight in parts]))

    @cached_property
    def _certificate(self) -> "Certificate":
        if self.known is not None:
            return self.known
        from atomsieve.certificate import certify  # noqa: PLC0415 -- a seventh of the time of a first fit

        state = self.point.state
        return certify(self.problem, self.lifted, state.coordinates, parts=state.parts)

    def certificate(
        self,
        *,
        x_error: Any = None,
        y_error: Any = None,
        relative: bool = False,
        decimals: int | None = None,
        strengths: tuple[float, float] | None = None,
    ) -> "Certificate":
        """Return what is certain about the optimum in spite of rounding. The proof uses x and the data only.

        With errors of the data every claim holds for all X and y within them, all entries at once, in any direction:
        "whatever the digits behind the third one are, these features are in the model". So it does for all `strengths`
        of the penalty between two numbers. The point stays the same, and only its distance from the optimum grows: a
        solution with a small tolerance (1e-12) leaves most room.

        Parameters
        ----------
        x_error : float or array of shape (d,) or (n, d), optional
            Bounds of the errors of X: of all entries, of each column, or of each entry. Entries of a sparse matrix that
            are not stored are exact.
        y_error : float or array of shape (n,), optional
            Bounds of the errors of y, for losses of the difference to the target (Squared, Huber).
        relative : bool, default False
            Whether the errors are parts of the absolute values of the entries.
        decimals : int, optional
            The number of decimal places to which X, and y for such losses, were rounded.
        strengths : (float, float), optional
            A range of the strength of the penalty (of the radius, for LogBarrier; Ball has none); it encloses that of
            the problem. The point of the certificate is the solution in the middle of the range. With errors, the
            claims hold for all pairs of both.

        >>> import numpy as np
        >>> from atomsieve import Linear, Problem, solve
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((50, 8)).round(3)
        >>> y = (X @ [1.5, -2.0, 0, 0, 0, 0, 0, 0]).round(3)
        >>> solve(Problem(X, y, penalty=Linear(0.2)), tol=1e-12).certificate(decimals=3).nonzero.tolist()
        [True, True, False, False, False, False, False, False]
        """
        if x_error is None and y_error is None and decimals is None and strengths is None:
            return self._certificate
        from atomsieve.certificate import certify  # noqa: PLC0415
        from atomsieve.certificate.family import Family  # noqa: PLC0415

        family = Family.of(self.problem, x_error, y_error, strengths, decimals, relative=relative)
        if family.middle is not None:
            middle = self._at_strength(family.middle)
            family = replace(family, problem=middle.problem.hosted)
            state = middle.point.state
            return certify(middle.problem, middle.lifted, state.coordinates, family, state.parts)
        state = self.point.state
        return certify(self.problem, self.lifted, state.coordinates, family, state.parts)

    def _at_strength(self, strength: float) -> "Result":
        """Return the solution for another strength, as exact as this one."""
        from atomsieve.run.solve import solve  # noqa: PLC0415 -- it returns results itself

        problem = self.problem.at_penalty(self.problem.penalty.at(strength))
        baseline = self.problem.baseline
        found = solve(problem, tol=max(self.gap / baseline, EPS) if baseline > 0 else EPS, start=self)
        if found.status is Status.INTERRUPTED:  # Ctrl-C ends the certificate, not only the run before it
            raise KeyboardInterrupt
        return found

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per entry of x: feature, output, coefficient, whether it is ruled out."""
        told = {"coefficient": self.x.ravel(), "zero": self.zero.ravel()}
        about = entries(self.problem.data.names, self.x.shape)
        frame: pd.DataFrame = pandas_for("Result.to_frame()").DataFrame(about | told)
        return frame

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the coefficients with their proven intervals; options as for `CertificateDisplay.from_certificate`."""
        return self.certificate().plot(ax, **options)

    def __repr__(self) -> str:
        used, ruled_out = self._rows(self.x != 0).sum(), self._rows(self.zero, all_of=True).sum()
        return (
            f"Result({self.status.name}: objective {self.objective:.6g}, gap {number(self.gap, 2)}, "
            f"{count(self.n_iter, 'iteration')}, {used:,} of {count(len(self.x), 'feature')} in the model, "
            f"{ruled_out:,} ruled out)"
        )

    def __str__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()

    def _rows(self, mask: Mask, *, all_of: bool = False) -> Mask:
        """Return which features have a property, in any or in all of their entries."""
        rows = mask.reshape(len(mask), -1)
        return np.asarray(rows.all(axis=1) if all_of else rows.any(axis=1))

    def _summary(self) -> Summary:
        """Return the coefficients that are not ruled out, largest first."""
        about = entries(self.problem.data.names, self.x.shape)
        per = max(about["output"]) + 1 if "output" in about else 1
        x, zero = self.x.reshape(-1, per), self.zero.reshape(-1, per)
        unknown, groups = np.full(len(x), np.inf), self._groups()
        parts = [
            Coefficients(
                about["feature"][k::per],
                x[:, k],
                -unknown,
                unknown,
                np.where(zero[:, k], ZERO, ""),
                groups=None if groups is None else groups[k::per],
                output=None if per == 1 else f"output {k}",
            )
            for k in range(per)
        ]
        return Summary([repr(self), str(self.status)], [coefficient_section(p, ruled="ruled out") for p in parts])

    def _groups(self) -> list[str] | None:
        """Return the name of the group of each entry of x; None if groups have no names."""
        problem, blocks = self.problem, self.problem.gauge.names()
        if blocks is None or problem.gauge.mapped:
            return None
        return [blocks[label] for label in problem.core.labels(problem.shape).ravel()]
