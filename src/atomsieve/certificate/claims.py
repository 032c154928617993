"""A certificate: all claims about the optimum that follow from one point."""

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.certificate import classes, told
from atomsieve.certificate.dependence import dependence, in_all_classes, linked_columns
from atomsieve.certificate.exclusion import as_point, excludes
from atomsieve.certificate.family import Family
from atomsieve.certificate.features import about, feature_table
from atomsieve.certificate.file import content_of, describe, groups_of, is_mapped, read
from atomsieve.certificate.identity import Identity
from atomsieve.certificate.inverse import Dependency
from atomsieve.certificate.limited import Values, within
from atomsieve.certificate.predictions import Predictions, predictions, unknown
from atomsieve.certificate.proof import Proof, feasible, prove
from atomsieve.certificate.ranges import Ranges, Sum, alive_blocks, ranges
from atomsieve.certificate.samples import removable
from atomsieve.certificate.settled import on_face
from atomsieve.certificate.statement import Statement, about_entries
from atomsieve.display.coefficients import Coefficients, verdict_words
from atomsieve.display.sums import written_sum
from atomsieve.gauges.facts import Facts
from atomsieve.gauges.found import Combination
from atomsieve.gauges.signs import admissible
from atomsieve.intake.files import write_text
from atomsieve.intake.names import pandas_for
from atomsieve.numerics.enclosures import Enclosure, Uncertain, quiet
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.threads import one_thread
from atomsieve.problem import Problem
from atomsieve.problem.span import UnsettledError
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DROPPED_ROUNDS = 5
"""How often the weight on coefficients that are proven zero is dropped, and the new point is proven again."""

NO_DATA = (
    "{} needs the data, and a certificate from a file or of a model holds none: make it from the data, with "
    "solve(problem).certificate()."
)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What is certain about every solution of one problem, in spite of rounding.

    It is about the exact problem whose data are the given floats, and about its optimum. It says nothing about the
    relevance of a feature or about other data. Masks have one truth value per block (a coefficient for L1, a group for
    Group), or per coefficient where the gauge derives facts about single ones (`facts`).
    """

    zero: Mask
    """Blocks that are zero in every solution."""

    nonzero: Mask
    """Blocks that are not zero in any solution."""

    lower: Array
    """Lower bounds of the coefficients (lifted for Image and Atoms); -inf where no bound is known."""

    upper: Array
    """Upper bounds of the coefficients; inf where no bound is known."""

    primal: float
    """An upper bound of the optimal value."""

    dual: float
    """A lower bound of the optimal value."""

    gap: float
    """An upper bound of how far the objective at the certified point is above the optimal value."""

    x: Array
    """The point of the certificate: its coefficients are 0 where they are proven zero."""

    free: Array
    """The free coefficients of the point: intercept, `free`, unpenalised columns, in that order; not exact."""

    free_lower: Array
    """Lower bounds of the best free coefficients."""

    free_upper: Array
    """Upper bounds of the best free coefficients."""

    at_lower: Mask
    """Blocks that are at their lower limit in every solution, for problems with limits."""

    at_upper: Mask
    """Blocks that are at their upper limit in every solution. One whose limits are equal is in both."""

    margin: float
    """The smallest relative distance from a wrong decision, over all decided blocks."""

    valid: bool
    """Whether anything could be proven. If not, no block is decided."""

    reason: str
    """Why nothing could be proven, or why something is undecided."""

    dependencies: list[Dependency]
    """Columns that are combinations of others, exactly or nearly: their coefficients are not determined one by one."""

    sums: list[Sum]
    """Sums of such coefficients that are determined: for twins, that of both. Free coefficients are -1, -2, ..."""

    statement: dict[str, Any]
    """The problem in words and numbers: pieces with their parameters, sizes."""

    names: dict[str, tuple[str, ...] | None]
    """The names of `features` and `blocks`; None where there are none."""

    family: dict[str, Any] | None
    """The errors of the data and the range of strengths for which all claims hold; None for the stated problem alone.
    """

    facts: Facts | None
    """What is proven of coefficients one by one for gauges that have no blocks of their own: signs, clusters of equal
    absolute values, saturated coefficients, order (OWL, KSupport, KSparse, LInf). None for other gauges."""

    rank: int | None
    """A number that the rank of no solution exceeds, for gauges of matrices (Nuclear, PSDTrace); None where none is
    known."""

    identity: Identity
    """What tells the data at the time of the proof from all others."""

    proof: Proof | None = None
    """The proof, with the data; None where nothing is proven, and in a certificate that was read from a file."""

    @classmethod
    def of(
        cls, proof: Proof, zero: Mask, nonzero: Mask, found: Ranges, values: Values, facts: Facts | None = None
    ) -> Self:
        """Return the certificate of a proof."""
        away, around, dependencies, sums = found
        statement = proof.statement
        problem = statement.problem
        x = proof.x
        with quiet():
            lower, upper = np.zeros(x.shape), np.zeros(x.shape)
            left = np.nonzero(~statement.by_entry(zero).reshape(x.shape))
            lower[left] = np.nextafter(x[left] - away[left], -np.inf)
            upper[left] = np.nextafter(x[left] + away[left], np.inf)
            if proof.box is not None:
                lower[left] = np.maximum(lower[left], proof.box.lower[left])
                upper[left] = np.minimum(upper[left], proof.box.upper[left])
                away = np.maximum(upper - x, x - lower)
            if facts is not None:
                lower, upper = facts.clipped(lower, upper)
            lower = admissible(lower.ravel(), statement.signs).reshape(x.shape)
            if statement.limits is not None:
                lower, upper = within(statement.limits, values, lower, upper)
            primal = float((Enclosure.exact(proof.objective.high) / statement.total).high)
            least = Enclosure.exact(proof.objective.low) - Enclosure.exact(proof.gap)
            dual = float((least / statement.total).low)
            gap = float((Enclosure.exact(proof.gap) / statement.total).high)
            if statement.plain and facts is None:  # a coefficient is not zero if its interval excludes 0
                held = np.flatnonzero(nonzero)
                nonzero[held] = (lower.ravel()[held] > 0) | (upper.ravel()[held] < 0)
            b = proof.free
            free_lower, free_upper = np.nextafter(b - around, -np.inf), np.nextafter(b + around, np.inf)
        own = problem.core.unpenalised()
        if len(own):
            lower[own], upper[own] = free_lower[-len(own) :], free_upper[-len(own) :]
        alive = ~zero & statement.eligible
        return cls(
            zero=zero,
            nonzero=nonzero,
            lower=lower.reshape(problem.lifted.form),
            upper=upper.reshape(problem.lifted.form),
            primal=primal,
            dual=dual,
            gap=gap,
            x=x.reshape(problem.lifted.form),
            free=b,
            free_lower=free_lower,
            free_upper=free_upper,
            at_lower=values.at_lower,
            at_upper=values.at_upper,
            margin=_margin(proof, zero, nonzero, away),
            valid=True,
            reason=_why(proof, alive & ~values.at_limit, nonzero, found),
            dependencies=dependencies,
            sums=sums,
            statement=describe(problem, len(zero)),
            names={"features": problem.data.names, "blocks": problem.gauge.names()},
            family=None if statement.family is None else statement.family.told,
            facts=facts,
            rank=proof.rank,
            identity=Identity.of(problem, statement.fingerprint),
            proof=proof,
        )

    @classmethod
    def nothing(cls, problem: Problem, x: Array, reason: str, family: Family | None = None) -> Self:
        """Return a certificate that decides nothing."""
        facts = Facts.none(x.size) if about_entries(problem, family) else None
        blocks, unknown = len(problem.eligible) if facts is None else x.size, np.full(problem.lifted.form, np.inf)
        b = np.zeros(0) if problem.span is None else problem.span.coefficients(problem.span.origin)
        return cls(
            zero=np.zeros(blocks, dtype=bool),
            nonzero=np.zeros(blocks, dtype=bool),
            lower=-unknown,
            upper=unknown,
            primal=np.inf,
            dual=-np.inf,
            gap=np.inf,
            x=x.reshape(problem.lifted.form),
            free=b,
            free_lower=np.full(b.shape, -np.inf),
            free_upper=np.full(b.shape, np.inf),
            at_lower=np.zeros(blocks, dtype=bool),
            at_upper=np.zeros(blocks, dtype=bool),
            margin=0.0,
            valid=False,
            reason=reason,
            dependencies=[],
            sums=[],
            statement=describe(problem, blocks),
            names={"features": problem.data.names, "blocks": problem.gauge.names()},
            family=None if family is None else family.told,
            facts=facts,
            rank=None,
            identity=Identity.of(problem),
        )

    @property
    def digest(self) -> str:
        """A digest of the data (X, y, weights, free columns, offset) at the time of the proof, to recognise them.

        It is made when it is first asked for, and so by `save`. If X has changed by then, that is a ValueError.
        """
        return self.identity.digest

    @property
    def undecided(self) -> Mask:
        """Penalised blocks about which nothing is certain."""
        unknown = ~self.zero & ~self.nonzero
        unknown[self.statement["unpenalised"]] = False
        return unknown

    def excludes(self, atom: Any) -> bool:
        """Return whether an atom is proven to be in no solution: no weight in any optimal decomposition.

        False means that this is not proven. An atom is any point of P, an array in the shape of `x` with a gauge of at
        most 1 (for Image and Atoms, of the preimage). For Oracle it is what the oracle returns; that it lies in P is
        your word, for nothing but the oracle knows. Every gauge has this, also one whose atoms form no blocks.

        >>> import numpy as np
        >>> from atomsieve import Linear, LInf, Problem, solve
        >>> problem = Problem(np.eye(2), [3.0, 2.5], gauge=LInf(), penalty=Linear(0.5))
        >>> certificate = solve(problem, tol=1e-12).certificate()
        >>> certificate.excludes([1.0, 1.0]), certificate.excludes([1.0, -1.0])
        (False, True)
        """
        if self.proof is None:
            if self.valid:
                raise ValueError(NO_DATA.format("excludes(atom)"))
            return False
        return excludes(self.proof, self.zero, as_point(self.proof.statement.problem, atom))

    def predict(self, X: Any, *, free: Any = None, offset: Any = None) -> Predictions:
        """Return a proven interval for the prediction of the optimal model at each row of a new X.

        Predictions are `X x + B b` and the offset: for Logistic the log-odds, for Poisson the logarithm of the rate. In
        a family, the intervals hold for the optimal models of all its problems. The rows of X themselves are exact. An
        interval is infinite where the data do not determine the prediction. New rows of the columns passed as `free`
        to the problem are passed as `free`.

        >>> import numpy as np
        >>> from atomsieve import Linear, Problem, solve
        >>> problem = Problem(np.eye(3), [3.0, 0.5, 2.0], penalty=Linear(1 / 3))
        >>> predictions = solve(problem, tol=1e-12).certificate().predict([[1.0, 1.0, 1.0]])
        >>> bool(predictions.lower[0] <= 3.0 <= predictions.upper[0])
        True
        """
        if self.proof is None:
            if self.valid:
                raise ValueError(NO_DATA.format("predict(X)"))
            return unknown(X)
        return predictions(self.proof, (self.zero, self.facts), X, free, offset)

    def without_each_sample(self) -> Mask:
        """Return which samples could be left out, one at a time, without any change in what is proven.

        True for a sample means: whatever part of its weight it loses, all coefficients that are proven zero stay zero,
        and all others keep their signs. The strength stays what it is beside the mean of the losses that are left, as
        in a fit without this sample. False means that this is not proven. There is one truth value for each sample
        with a weight. It takes a few products in all, and no solution; it is for Linear, gauges of coordinates (L1)
        and losses of one output.

        >>> import numpy as np
        >>> from atomsieve import Linear, Problem, solve
        >>> X, y = np.vstack([np.eye(2)] * 4), [2.0, 0.1] * 4
        >>> certificate = solve(Problem(X, y, penalty=Linear(0.25)), tol=1e-12).certificate()
        >>> certificate.without_each_sample().all()
        np.True_
        """
        if self.proof is None:
            if self.valid:
                raise ValueError(NO_DATA.format("without_each_sample()"))
            return np.zeros(self.statement["samples"], dtype=bool)
        return removable(self.proof, self.zero)

    def without_data(self) -> Self:
        """Return the certificate as a file holds it: all claims, and no reference to the data."""
        return replace(self, proof=None, identity=self.identity.alone())

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"proof": None, "identity": self.identity.alone()}

    @property
    def dependent_sets(self) -> list[list[str]]:
        """Features whose columns are linearly dependent, one list of names for each set of them.

        Unpenalised columns that are no features (the intercept, `free`) are not named. Without names features are x0,
        x1 and so on; for a matrix x the number of the output follows.
        """
        numbers = about(self).get("output")
        outputs = [""] * self.x.size if numbers is None else [f" of output {number}" for number in numbers]
        called = [name + output for name, output in zip(told.called(self), outputs, strict=True)]
        return [[called[j] for j in linked if j >= 0] for linked in linked_columns(self.dependencies)]

    def __str__(self) -> str:
        return str(told.summary(self))

    def __repr__(self) -> str:
        return f"Certificate({told.sentence(self)})"

    def _repr_html_(self) -> str:
        return told.summary(self)._repr_html_()

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per coefficient: feature, output, group if it has a name, bounds, verdict.

        The verdict is "zero", "non-zero", "in a non-zero group", "undecided" or "unpenalised"; with limits "at its
        lower limit", "at its upper limit" or "fixed by its limits" as well.
        """
        frame: pd.DataFrame = pandas_for("Certificate.to_frame()").DataFrame(told.table(self))
        return frame

    def coefficients(self) -> list[Coefficients]:
        """Return the coefficients with what is proven about them, once for each output."""
        return told.coefficients(self)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the coefficients with their proven intervals (needs matplotlib).

        Options are those of `CertificateDisplay.from_certificate`.
        """
        from atomsieve.display import CertificateDisplay  # noqa: PLC0415 -- optional

        return CertificateDisplay.from_certificate(self, ax=ax, **options).ax_

    def group_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per group: its name, its number of coefficients, its verdict.

        The verdict is "zero", "non-zero" or "undecided". For gauges whose blocks have no names this is a ValueError.
        """
        names = self.names["blocks"]
        if names is None:
            raise ValueError("Certificate.group_frame() needs groups with names: gauge=Group(groups).")
        sizes = np.bincount(groups_of(self.statement), minlength=len(names))
        table = {"group": names, "coefficients": sizes, "verdict": verdict_words(*self.of_groups())}
        frame: pd.DataFrame = pandas_for("Certificate.group_frame()").DataFrame(table)
        return frame

    def of_groups(self) -> tuple[Mask, Mask]:
        """Return which groups are zero in every solution and which are not, also where verdicts are about coefficients.

        A group is not zero if one of its coefficients is not.
        """
        if self.facts is None:
            return self.zero, self.nonzero
        labels = groups_of(self.statement)
        return np.bincount(labels, ~self.zero) == 0, np.bincount(labels, self.nonzero) > 0

    def feature_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per entry of x: feature, output, bounds, verdict.

        For an `Image`, `LatentGroup` or `Union` all other tables are about the preimage, and this one about x itself. A
        coefficient is zero if all of the preimage that it is made of is. For other gauges it is that of `to_frame`.
        """
        mapped = is_mapped(self.statement["gauge"])
        table = feature_table(self) if mapped else told.table(self)
        frame: pd.DataFrame = pandas_for("Certificate.feature_frame()").DataFrame(table)
        return frame

    def sums_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per sum of coefficients that is determined although they are not.

        They belong to columns that depend on each other, exactly or nearly (`dependent_sets`). "needed" says whether
        every solution has at least one of these coefficients; sums with free coefficients do not tell.
        """
        called = told.called(self)
        free = ["intercept"] * int(self.statement["intercept"]) + [f"free {k}" for k in range(len(self.free))]
        table: dict[str, list[Any]] = {"sum": [], "lower": [], "upper": [], "needed": []}
        for total in self.sums:
            named = [called[j] if j >= 0 else free[-1 - j] for j in total.index.tolist()]
            row = (written_sum(zip(total.times.tolist(), named, strict=True)), total.lower, total.upper, total.needed)
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
        frame: pd.DataFrame = pandas_for("Certificate.sums_frame()").DataFrame(table)
        return frame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as readable JSON with exact floats; an interrupted write leaves no partial file.

        The path may be a symbolic link (its target is written), a device or a pipe (such as /dev/stdout).
        """
        try:
            text = json.dumps(self.content(), indent=1, allow_nan=False)
        except TypeError as error:
            raise ValueError(f"A certificate whose pieces hold more than numbers has no file: {error}.") from error
        write_text(path, text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a certificate without checking it; use `verify` for that."""
        return cls(**read(path))

    def content(self) -> dict[str, Any]:
        """Return the content of the file as plain data."""
        return content_of(self)


def _margin(proof: Proof, zero: Mask, nonzero: Mask, away: Array) -> float:
    """Return the smallest relative distance from a wrong decision."""
    statement = proof.statement
    with quiet():
        sizes, moved = _norms(statement, proof.x, away, np.flatnonzero(nonzero))
        held = (1 - moved / sizes)[sizes > 0]
        if statement.decides:  # the scores of sets of entries decide, which are too many to list
            return float(np.min(held, initial=1.0, where=held > 0))
        highest = np.max(proof.unscaled_scores[1], where=zero & statement.eligible, initial=-np.inf)
        above = proof.from_above(np.array([highest]))
        slope = float(statement.total.mid) * statement.problem.penalty.slope(0.0)
        best = proof.sigma * proof.shrink if statement.limits is None else proof.least_slope
        slack = 1 - above / max(best, slope, 1e-300)
        return float(np.min(np.concatenate([slack, held]), initial=1.0))


def _norms(statement: Statement, x: Array, away: Array, units: Index) -> tuple[Array, Array]:
    """Return bounds of the norm of some units of x, and of its distance, over the entries whose distance is known."""
    if statement.plain or statement.decides:
        known, sizes = away.ravel()[units], np.abs(x.ravel()[units])
        return np.where(np.isfinite(known), sizes, 0.0), np.where(np.isfinite(known), known, 0.0)
    finite = np.isfinite(away)
    least = statement.least_norms(np.where(finite, np.abs(x), 0.0))
    return least[units], statement.block_norms(np.where(finite, away, 0.0))[units]


def _why(proof: Proof, alive: Mask, nonzero: Mask, found: Ranges) -> str:
    """Return why blocks that are alive are not proven non-zero."""
    away, _, dependencies, sums = found
    if not (alive & ~nonzero).any():
        return "Every block is decided."
    problem = proof.statement.problem
    sets = [linked for linked in linked_columns(dependencies) if linked[-1] >= 0]  # the others are all unpenalised
    if sets and problem.shrinkage is None:
        return dependence(sets, problem.called, sums)
    if not proof.curvatures[0].any() and problem.shrinkage is None:
        return "No lower bound of the curvature of the loss is known at any sample, so that nothing is proven non-zero."
    everywhere = classes.undetermined(proof, alive).tolist() if problem.outputs else []
    if everywhere:
        return in_all_classes([problem.called_feature(j) for j in everywhere])
    if not np.isfinite(away[proof.x != 0]).all():
        return "The columns that are left are linearly dependent, or nearly: their coefficients are not determined."
    return _too_far(proof)


def _too_far(proof: Proof) -> str:
    """Return why a distance is too large to decide more."""
    if proof.statement.family is not None:
        return "Others change within the family, or too nearly so; a smaller tolerance may decide more."
    relative = proof.gap / max(float(proof.objective.high), EPS)
    return (
        f"The gap is proven to be below {relative:.1e} of the objective; a smaller tolerance may decide more, unless "
        "scores are tied."
    )


@one_thread()
def certify(
    problem: Problem, x: Array, coordinates: Array, family: Family | None = None, parts: Combination | None = None
) -> Certificate:
    """Return the certificate at lifted coefficients x; `coordinates` are the first guess of those of B b.

    Where the gauge of x is not known, `parts` are the atoms that it is made of.
    """
    with quiet():  # far out everything may overflow, and is then bounded by inf or not at all
        return _certified(problem, x, coordinates, family, parts)


def _certified(
    problem: Problem, x: Array, coordinates: Array, family: Family | None, parts: Combination | None
) -> Certificate:

    def proven(x: Array) -> Proof:
        proof = prove(statement, *feasible(statement, x, coordinates))
        return proof if family is None else on_face(proof, family)

    try:
        statement = Statement.of(problem)
        if parts is not None and x.any():
            statement = statement.made_of(parts)
            x = (statement.parts or parts).sum(problem.shape)
        proof = proven(x)
        x, zero = proof.x, proof.zero()
        for _ in range(DROPPED_ROUNDS):
            settled = _settled(proof, zero)
            if settled is x or np.array_equal(settled, x):
                break
            proof = proven(settled)
            x, zero = proof.x, proof.zero()
        else:
            zero[np.unique(statement.units[np.flatnonzero(x.ravel())])] = False
    except Uncertain as reason:
        return Certificate.nothing(problem, _numbers(x), str(reason), family)
    except UnsettledError:
        far = "the point is so far out that its best free coefficients were not found"
        return Certificate.nothing(problem, _numbers(x), far, family)
    alive = ~zero & statement.eligible
    values = Values.of(proof, zero)
    facts = None if proof.facts is None else replace(proof.facts, zero=zero).held_by(x.ravel())
    found = ranges(proof, alive & ~values.at_limit, facts)
    nonzero, units = np.zeros(len(alive), dtype=bool), np.flatnonzero(alive)
    least, most = _norms(statement, x, found.away, units)
    nonzero[units] = least > most
    if proof.box is not None:
        nonzero |= alive & proof.box.nonzero
    if problem.limits is not None:
        nonzero |= alive & (values.at_limit | (problem.limits.nearest != 0))
    if facts is not None:
        nonzero |= alive & facts.nonzero & alive_blocks(proof, nonzero, facts)[statement.labels]
        facts = facts.settled(zero, nonzero)
    gone = zero | ~statement.eligible
    gone[statement.units[problem.unpenalised]] = False
    return Certificate.of(proof, gone, nonzero, found, values, facts)


def _settled(proof: Proof, zero: Mask) -> Array:
    """Return the point of a proof with all that is proven of every solution: zeros, clusters, and limits."""
    statement, x = proof.statement, proof.x
    if proof.values is not None and statement.limits is not None:
        return proof.values.settle(statement.limits, x)
    if proof.facts is not None:
        return replace(proof.facts, zero=zero).fitted(x.ravel()).reshape(x.shape)
    held = np.flatnonzero(x)
    held = held[statement.by_entry(zero)[held]]
    if not len(held):
        return x
    smaller = x.copy()
    smaller.ravel()[held] = 0.0
    return smaller


def _numbers(x: Array) -> Array:
    """Return x with 0 in place of NaN and inf, which a file cannot hold."""
    return np.where(np.isfinite(x), x, 0.0)
