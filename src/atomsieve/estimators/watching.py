"""Who is told of a fit as it goes on: a printer (`verbose`), and scikit-learn's callbacks where it has them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar, cast

from atomsieve.run.progress import Printer
from atomsieve.run.result import Result

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as managed
except ImportError:  # pragma: no cover -- before scikit-learn 1.9
    from atomsieve.intake.callbacks import CallbackSupportMixin
    from atomsieve.intake.callbacks import with_callbacks as managed

__all__ = ["CallbackSupportMixin", "Watch", "printer_of", "with_callbacks"]

BETWEEN = 1.0
"""Seconds between two lines about the candidates of one fold."""


Fit = TypeVar("Fit", bound=Callable[..., Any])


def with_callbacks(method: Fit) -> Fit:
    """Return a method `fit` after which callbacks are torn down, whatever happens."""
    return cast("Fit", managed(method))


def printer_of(model: Any) -> Printer | None:
    """Return the printer that the parameter `verbose` of an estimator asks for."""
    return Printer() if model.verbose else None


@dataclass(frozen=True, eq=False)
class Watch:
    """Who watches a fit of several parts: the folds of a cross-validation, then all samples."""

    model: Any
    printer: Printer | None
    context: Any
    """scikit-learn's context of the fit; None where no callback is set."""

    @classmethod
    def of(cls, model: Any, parts: int = 0) -> "Watch":
        """Return who watches the fit of an estimator, and let them know that it begins."""
        context = None
        if getattr(model, "_skl_callbacks", None) or hasattr(model, "_parent_callback_ctx"):
            context = model._init_callback_context(max_subtasks=parts, sequential_subtasks=False)
            context.call_on_fit_task_begin(estimator=model)
        return cls(model, printer_of(model), context)

    def end(self) -> None:
        """Let callbacks know that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model)

    def say(self, text: str) -> None:
        """Print a line about the fit."""
        if self.printer is not None:
            self.printer.say(f"[{type(self.model).__name__}] {text}")

    def part(self, rows: Iterator[Sequence[Result]], name: str, number: int, total: int) -> Iterator[Sequence[Result]]:
        """Yield the solutions of one part, candidate by candidate, and tell of them on the way.

        What callbacks answer is not asked for: a fit that ends early would compare fewer candidates.
        """
        begun, last, done = perf_counter(), perf_counter(), 0
        context = self._begin(self.context, task_name=name, task_id=number, max_subtasks=total)
        for done in range(1, total + 1):
            candidate = self._begin(context, task_name="candidate")
            row = next(rows, None)
            if row is None:
                done -= 1  # noqa: PLW2901 -- time is up
                break
            self._end(candidate)
            yield row
            if perf_counter() > last + BETWEEN:
                last = perf_counter()
                self.say(f"{name}: {done} of {total} candidates, {last - begun:.1f} s")
        self._end(context)
        self.say(f"{name}: {done} of {total} candidates, {perf_counter() - begun:.2f} s, done")

    def _begin(self, context: Any, **task: Any) -> Any:
        """Return the context of a task within another one, which begins now; None where nobody is to be told."""
        if context is None:
            return None
        within = context.subcontext(**task)
        within.call_on_fit_task_begin(estimator=self.model)
        return within

    def _end(self, context: Any) -> None:
        if context is not None:
            context.call_on_fit_task_end(estimator=self.model)
