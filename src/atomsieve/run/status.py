"""Why a run ended, in one sentence for each reason."""

from enum import Enum


class Status(Enum):
    """Why a run ended; the value is the sentence to show."""

    CONVERGED = "The duality gap reached the tolerance."
    DECIDED = "The certificate decides every coefficient."
    UNDECIDED = (
        "The gap reached the tolerance, but the certificate leaves coefficients undecided, and no smaller gap that "
        "double precision allows would change that: its reason says why (a tie, or columns that depend on each other)."
    )
    UNPROVEN = (
        "The gap reached the tolerance, but nothing can be proven about this problem, whatever the gap: the reason of "
        "the certificate says why."
    )
    MAX_ITER = "The iteration limit was reached before the tolerance; raise max_iter or tol."
    NO_PROGRESS = (
        "The iteration limit was reached with an objective above that at x = 0: open-loop steps wander far before they "
        "settle when the penalty is weak. Use LineSearch() or ShortStep() as the step, or another method."
    )
    TIME_LIMIT = "The time limit was reached before the tolerance; raise time_limit or tol."
    STALLED = (
        "The gap is down to rounding error, which exceeds the tolerance: double precision tells no more. Raise tol, or "
        "centre and rescale X and y."
    )
    EXHAUSTED = (
        "No step lowers the gap any further: rounding hides what is left, most often because columns of X are nearly "
        "dependent or far out of scale with each other. Raise tol, or rescale and thin out X."
    )
    NO_HEADWAY = (
        "Many steps in a row brought no smaller gap, although rounding would allow one. Go on from here with "
        "solve(problem, start=result), raise tol, or use another method."
    )
    DIVERGED = (
        "The iterates left the range in which the objective can be computed; the best point before that is kept. "
        "Open-loop steps may do so when the penalty grows more slowly than a square (Power with p < 2) or very weak: "
        "use LineSearch() or ShortStep() as the step, or a larger strength. Otherwise centre and rescale X."
    )
    STOPPED = "A callback asked to stop."
    INTERRUPTED = "Interrupted from the keyboard; this is the best point so far."

    def __str__(self) -> str:
        return self.value
