"""A certificate: all claims about the optimum that follow from one point."""

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.certificate import told
from atomsieve.certificate.exclusion import as_point, excludes
from atomsieve.certificate.features import feature_table
from atomsieve.certificate.file import content_of, groups_of, is_mapped, read
from atomsieve.certificate.identity import Identity
from atomsieve.certificate.inverse import Dependency
from atomsieve.certificate.left_out import removable
from atomsieve.certificate.predictions import Predictions, predictions, unknown
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.ranges import Sum
from atomsieve.display.coefficients import Coefficients
from atomsieve.gauges.facts import Facts
from atomsieve.gauges.leading import Subspaces
from atomsieve.intake.files import write_text
from atomsieve.intake.names import pandas_for
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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
    """The names of `features` and `blocks`; None where there are none. Estimators add those of `outputs`, by class."""

    family: dict[str, Any] | None
    """The errors of the data and the range of strengths for which all claims hold; None for the stated problem alone.
    """

    facts: Facts | None
    """What is proven of coefficients one by one for gauges that have no blocks of their own: signs, clusters of equal
    absolute values, saturated coefficients, order (OWL, KSupport, KSparse, LInf). None for other gauges."""

    atoms: list[dict[str, Any]] | None
    """The atoms that the point is made of, with their weights, where the gauge names its atoms (paths, permutations,
    trees, sets): `places` are those of the atom, as whole numbers. None for other gauges."""

    rank: int | None
    """A number that the rank of no solution exceeds, for gauges of matrices (Nuclear, PSDTrace); None where none is
    known."""

    subspaces: Subspaces | None
    """Subspaces of that dimension near which the columns and the rows of every solution lie, and the sine of the angle
    that none of their vectors exceeds; None where none is known."""

    identity: Identity
    """What tells the data at the time of the proof from all others."""

    proof: Proof | None = None
    """The proof, with the data; None where nothing is proven, and in a certificate that was read from a file."""

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
        with a weight. It takes a few products in all, and no solution; it is for Linear, gauges of coordinates (L1),
        losses of one output and several classes.

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
        return told.dependent_sets(self)

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
        return _framed("Certificate.to_frame()", told.table(self))

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
        return _framed("Certificate.group_frame()", told.group_table(self))

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
        return _framed("Certificate.feature_frame()", feature_table(self) if mapped else told.table(self))

    def sums_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per sum of coefficients that is determined although they are not.

        They belong to columns that depend on each other, exactly or nearly (`dependent_sets`). "needed" says whether
        every solution has at least one of these coefficients; sums with free coefficients do not tell.
        """
        return _framed("Certificate.sums_frame()", told.sums_table(self))

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


def _framed(needed_by: str, table: dict[str, Any]) -> "pd.DataFrame":
    """Return a table as a data frame; without pandas raise an error that says what needs it."""
    frame: pd.DataFrame = pandas_for(needed_by).DataFrame(table)
    return frame
