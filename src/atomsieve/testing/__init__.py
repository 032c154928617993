"""Law checkers for losses, penalties and gauges: run them on a piece of your own before you trust it.

Each raises AssertionError with the law that is broken. The laws are those that solvers, safe rules and proofs rest on.
"""

from atomsieve.testing.gauges import check_gauge
from atomsieve.testing.losses import check_loss
from atomsieve.testing.penalties import check_penalty

__all__ = ["check_gauge", "check_loss", "check_penalty"]
