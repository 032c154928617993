"""Why a run ended, each reason a sentence."""

from enum import Enum


class Status(Enum):
    """How a run ended; the value is the sentence to show."""

    CONVERGED = "The duality gap reached the tolerance."
    DECIDED = "The certificate decides every coefficient."
    UNDECIDED = (
        "No smaller gap can be had in double precision, and the certificate leaves coefficients undecided: its reason "
        "says why (a tie, or columns of X that depend on each other)."
    )
    MAX_ITER = "The iteration limit was reached before the tolerance; raise max_iter or tol."
    NO_PROGRESS = (
        "The iteration limit was reached with an objective above that at x = 0: open-loop steps wander far before they "
        "settle when the penalty is weak. Use LineSearch() or ShortStep() as the step, or another method."
    )
    TIME_LIMIT = "The time limit was reached before the tolerance; raise time_limit or tol."
    STALLED = (
        "The gap is down to rounding error and cannot fall further in double precision; raise tol, or rescale X and y."
    )
    EXHAUSTED = (
        "No step lowers the gap any further: rounding hides what is left, most often because columns of X are nearly "
        "dependent or far out of scale with each other. Raise tol, or rescale and thin out X."
    )
    DIVERGED = (
        "The iterates grew beyond all bounds: open-loop steps may do so when the penalty grows more slowly than a "
        "square (Power with p < 2) or is very weak. Use LineSearch() or ShortStep() as the step, or a larger strength."
    )
    STOPPED = "A callback asked to stop."
    INTERRUPTED = "Interrupted from the keyboard; this is the best point so far."

    def __str__(self) -> str:
        return self.value
