"""Any set of atoms, given by a function that finds the best one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atomsieve.gauges.base import Gauge
from atomsieve.gauges.calculus.made import Made
from atomsieve.gauges.listed import Listed
from atomsieve.intake.arguments import shown
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Oracle(Made):
    """Gauge of any set P, given by its oracle: `lmo(z)` returns the point of P that has the best score at z.

    An atom is an array in the shape of x; a pair (places, values) or a sparse vector, for atoms with few entries; or an
    object of yours with a method `entries()` that returns one of these when it is asked. `result.active` has the atoms
    that x is made of.

    `bound(z, err)` is an upper bound of `sigma(z') = max over P of p . z'` for all z' with `|z' - z| <= err`, rounding
    included. With it certificates have a proven interval for the optimal value, and `excludes(atom)`; atoms must lie in
    P exactly then, so shrink them by a few ulps if they are rounded. Without it nothing is proven: what an oracle finds
    is a lower bound of sigma.

    `more(z, count)` returns other good atoms, if your oracle knows them. Otherwise it is asked again, at a z that is
    moved a little.

    The gauge of x itself is never needed: the sum of the weights takes its place.

    >>> import numpy as np
    >>> def lmo(z):  # the l1 ball
    ...     j = np.abs(z).argmax()
    ...     return [j], [np.sign(z[j])]
    >>> Oracle(lmo).support(np.array([1.0, -3.0, 2.0]))
    3.0
    """

    lmo: Callable[[Array], Any]  # type: ignore[assignment]  # users say what others compute
    bound: Callable[[Array, Array], float] | None = None
    more: Callable[[Array, int], Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.lmo):
            raise TypeError(f"Oracle: lmo must be a function of z that returns an atom, got {shown(self.lmo)}.")
        for name, form in (("bound", "(z, err)"), ("more", "(z, count)")):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise TypeError(f"Oracle: {name} must be a function {name}{form}, or None, got {shown(given)}.")

    def made(self, count: int) -> Gauge:
        return Listed(self)

    def features(self, rows: int) -> int:
        return rows

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return self

    def _show(self, name: str) -> str:
        function = getattr(self, name)
        return getattr(function, "__name__", repr(function))

    def stated(self) -> dict[str, Any]:
        """Return the names of the functions: a file cannot hold them."""
        return {name: named(getattr(self, name)) for name in ("lmo", "bound")}


def named(function: Any) -> str | None:
    """Return the name of a function; None for None."""
    if function is None:
        return None
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '?')}.{name}"
