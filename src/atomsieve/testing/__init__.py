"""Law checkers for losses, penalties, gauges and screening rules: run them on your own pieces before you trust them.

Each checker raises AssertionError with the law that is broken. Solvers, safe rules and proofs rely on these laws.
"""

from atomsieve.testing.gauges import check_gauge
from atomsieve.testing.losses import check_loss
from atomsieve.testing.oracles import check_oracle
from atomsieve.testing.penalties import check_penalty
from atomsieve.testing.rules import check_rule

__all__ = ["check_gauge", "check_loss", "check_oracle", "check_penalty", "check_rule"]
