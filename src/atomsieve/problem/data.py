"""The data of a problem, checked once; an error message names the argument and the remedy."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomsieve.design import Design, design_of_data
from atomsieve.intake.arguments import as_floats, as_numbers, beside, in_doubles, library_of, require_read, unframed
from atomsieve.losses import Loss
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import is_foreign
from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False)
class Data:
    """X, y, weights, unpenalised columns, offset and names, after checking.

    Samples of weight 0 are left out, whatever their values are.
    """

    design: Design
    """The design of X."""

    y: Samples
    """Targets in the form that the loss needs: one per sample, or one for each of K outputs."""

    weights: Array
    """Weights that sum to 1."""

    stated_weights: Array
    """The weights as given, before they are divided by their sum; 1 for every sample by default."""

    free: Array
    """The columns passed as `free`."""

    intercept: bool
    """Whether a constant is added to the predictions."""

    offset: Samples | None
    """A fixed term that is added to the predictions; None means no offset."""

    names: tuple[str, ...] | None
    """The names of the features, if they have names."""

    outputs: tuple[int, ...]
    """Trailing shape of the predictions: (K,) if there are K outputs per sample, otherwise empty."""

    lost_weight: bool
    """Whether some positive weights round to 0; their samples are left out although the statement includes them."""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        loss: Loss,
        *,
        sample_weight: Any = None,
        intercept: bool = False,
        free: Any = None,
        offset: Any = None,
        names: Any = None,
    ) -> Self:
        """Check what a user passed."""
        if not isinstance(intercept, (bool, np.bool_)):
            raise TypeError(f"intercept must be True or False, got {intercept!r}. Pass columns of your own as `free`.")
        require_read(X)
        frame, X = X, unframed(X)
        design = design_of_data(X)
        n, d = design.shape
        y, sample_weight, free, offset = (beside(value, X) for value in (y, sample_weight, free, offset))
        weights = check_weights(sample_weight, n)
        columns = check_free(free, n)
        targets = check_y(y, n)
        shift = check_offset(offset, n)
        stated = np.ones(n) if sample_weight is None else np.array(as_floats(sample_weight, "sample_weight"))
        counted = weights > 0
        lost = False
        if not counted.all():
            lost = bool((stated[~counted] > 0).any())
            design = design.samples(counted)
            weights = weights[counted]
            stated = stated[counted]
            columns = columns[counted]
            targets = targets[counted]
            shift = None if shift is None or not shift[counted].any() else shift[counted]
        targets = check_targets(targets, loss, intercept=bool(intercept))
        classes = loss.outputs(targets)
        outputs = targets.shape[1:] if classes is None else (classes,)
        if outputs and is_foreign(X):
            raise ValueError(
                f"X is a {library_of(X)} {type(X).__name__}, and problems of several outputs or classes take NumPy "
                "arrays and SciPy matrices. Pass such arrays, or fit the outputs one by one."
            )
        if shift is not None and shift.shape[1:] != outputs:
            wanted = (n, *outputs)
            hint = " Pass np.ravel(offset)." if shift.shape[1:] == (1,) and not outputs else ""
            got = (n, *shift.shape[1:])
            raise ValueError(f"offset must have shape {wanted}, like the predictions, got {got}.{hint}")
        known = check_names(names, frame, d)
        return cls(design, targets, weights, stated, columns, bool(intercept), shift, known, outputs, lost)

    def with_ridge(self, ridges: Array, curved: float) -> "Data":
        """Return the data with a sample for each feature that has a ridge, of target 0, by which it counts (`Ridged`).

        The constant is 0 there, and so are the other free columns: it becomes one of these.
        """
        n = self.design.shape[0]
        given = np.hstack([np.ones((n, int(self.intercept))), self.free])

        def joined(numbers: Any) -> Any:
            return np.concatenate([numbers, np.zeros((len(ridges), *numbers.shape[1:]))])

        return replace(
            self,
            y=joined(self.y),
            weights=np.append(self.weights, ridges / curved),
            stated_weights=np.append(self.stated_weights, math.fsum(self.stated_weights) * ridges / curved),
            free=joined(given),
            intercept=False,
            offset=None if self.offset is None else joined(self.offset),
        )

    @property
    def hosted(self) -> Self:
        """The same data for proofs, which read X by rows where it is elsewhere."""
        return self._on_the_host if hasattr(self.design, "hosted") else self

    @cached_property
    def _on_the_host(self) -> Self:
        own: Any = self.design
        return replace(self, design=own.hosted)

    @property
    def tasks(self) -> int:
        """The number of outputs with their own targets; 1 if y is a vector."""
        return self.y.shape[1] if self.y.ndim == 2 else 1


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return weights that sum to 1."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers that are not negative.")
    largest = weights.max()
    if largest == 0:
        raise ValueError("sample_weight is zero for every sample; at least one must be positive.")
    scaled = weights / largest  # the sum of huge weights could overflow
    return np.asarray(scaled / scaled.sum())


def check_y(y: Any, n: int) -> NDArray[Any]:
    """Return the targets as an array of n numbers, or n x K."""
    targets = as_numbers(y, "y")
    targets = as_floats(targets, "y") if targets.dtype.itemsize > 8 else targets
    if targets.shape[:1] != (n,) or targets.ndim > 2 or targets.shape[1:] in ((0,), (1,)):
        hint = " Pass np.ravel(y)." if targets.shape == (n, 1) else ""
        raise ValueError(
            f"y must have shape ({n},), one target per row of X, or ({n}, K) for K outputs, got {targets.shape}.{hint}"
        )
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN or infinite values. Remove those samples first.")
    return targets


def check_targets(y: NDArray[Any], loss: Loss, *, intercept: bool) -> Samples:
    """Return a copy of the targets; refuse targets that do not suit the loss."""
    if y.ndim == 2 and loss.targets == "classes":
        raise ValueError(
            f"y must have shape ({len(y)},), one class per row of X, got {y.shape}: {type(loss).__name__} makes an "
            "output of each class itself."
        )
    loss.check_targets(y.ravel())
    if intercept:
        for column in y.T if y.ndim == 2 else [y]:
            loss.check_intercept(column)
    return y.astype(np.int64) if loss.targets == "classes" else np.array(in_doubles(y, "y"))


def check_free(free: Any, n: int) -> Array:
    """Return a copy of the free columns as an n x k array; k = 0 if there are none."""
    if free is None:
        return np.zeros((n, 0))
    given = np.array(as_floats(free, "free"))
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != n:
        raise ValueError(f"free must have shape ({n}, k), one row per row of X, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("free contains NaN or infinite values.")
    return given


def check_offset(offset: Any, n: int) -> Array | None:
    """Return a copy of the offset; None if it is None or 0 everywhere."""
    if offset is None:
        return None
    shift = np.array(as_floats(offset, "offset"))
    if shift.shape[:1] != (n,):
        raise ValueError(f"offset must have one row per row of X, {n} in all, got shape {shift.shape}.")
    if not np.isfinite(shift).all():
        raise ValueError("offset contains NaN or infinite values. Leave those samples out (no exposure, no count).")
    return shift if shift.any() else None


def check_names(names: Any, X: Any, count: int) -> tuple[str, ...] | None:
    """Return the names of the features: those given, or those of the columns of a data frame, or None."""
    if names is None:
        columns = [] if getattr(X, "columns", None) is None else list(X.columns)
        named = len(columns) == count and all(isinstance(name, str) for name in columns)
        return tuple(columns) if named and len(set(columns)) == count else None
    if isinstance(names, str):
        raise TypeError(f"names must be a list of {count} names, one per column of X, got one text, {names[:20]!r}.")
    known = tuple(str(name) for name in names)
    if len(known) != count:
        raise ValueError(f"names must give one name per column of X, {count} in all, got {len(known)}.")
    if len(set(known)) < count:
        twice = next(name for name in known if known.count(name) > 1)
        raise ValueError(f"names must differ, and {twice!r} is there twice.")
    return known
