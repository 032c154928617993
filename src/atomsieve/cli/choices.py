"""The words of the command line for losses, gauges, penalties and strengths, and the estimator that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from atomsieve.cli.said import RefusedError

LOSSES = ("auto", "squared", "logistic", "huber", "poisson", "squared-hinge", "multinomial")
OF_CLASSES = ("logistic", "squared-hinge", "multinomial")
GAUGES = ("l1", "nonnegative", "group")
PENALTIES = ("linear", "square", "ball", "power", "log-barrier")
RULES = ("1se", "min")

FOLDS = 5
"""Folds of a cross-validation, if nothing else is asked for."""


@dataclass(frozen=True)
class Wish:
    """What the options ask for."""

    loss: str = "auto"
    gauge: str = "l1"
    penalty: str = "linear"
    strength: float | None = None
    fraction: float | None = None
    features: int | None = None
    folds: int | None = None
    select: str | None = None
    standardize: bool = True
    seed: int = 0
    time_limit: float | None = None
    exponent: float = 1.5
    delta: float = 1.0
    ridge: float = 0.0
    groups: str | None = None
    unpenalized: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_words()
        self._check_numbers()
        for option, given, gauge in (("--unpenalized", self.unpenalized, "l1"), ("--groups", self.groups, "group")):
            if given and self.gauge != gauge:
                raise RefusedError(f"{option} needs --gauge {gauge}, got --gauge {self.gauge}.")
        if (self.lower or self.upper) and self.gauge == "group":
            raise RefusedError("--lower and --upper are limits of single coefficients: take --gauge l1.")

    def _check_words(self) -> None:
        for value, known, option in (
            (self.loss, LOSSES, "--loss"),
            (self.gauge, GAUGES, "--gauge"),
            (self.penalty, PENALTIES, "--penalty"),
            (self.select or "1se", RULES, "--select"),
        ):
            require_word(value, known, option)
        ways = {
            "--strength": self.strength,
            "--fraction": self.fraction,
            "--features": self.features,
            "--cv": self.folds,
        }
        given = [option for option, value in ways.items() if value is not None]
        if len(given) > 1:
            raise RefusedError(f"{given[0]} and {given[1]} both set the strength of the penalty: give one of them.")
        if self.select is not None and given not in ([], ["--cv"]):
            raise RefusedError(f"--select is for cross-validation: leave it out, or leave {given[0]} out.")

    def _check_numbers(self) -> None:
        positive = {"--strength": self.strength, "--fraction": self.fraction, "--time-limit": self.time_limit}
        for option, value in (positive | {"--delta": self.delta}).items():
            if value is not None and not 0 < value < float("inf"):
                raise RefusedError(f"{option} must be a positive number, got {value}.")
        least = (("--features", self.features, 1), ("--cv", self.folds, 2), ("--seed", self.seed, 0))
        for option, value, bound in least:
            if value is not None and value < bound:
                raise RefusedError(f"{option} must be at least {bound}, got {value}.")
        if not 0 <= self.ridge < float("inf"):
            raise RefusedError(f"--ridge must be a number that is not negative, got {self.ridge}.")
        if not 1 < self.exponent < float("inf"):
            raise RefusedError(f"--exponent must be a number above 1, got {self.exponent}.")

    @property
    def options(self) -> list[str]:
        """The options that ask for this."""
        return options_of(self, {"folds": "--cv"})

    @property
    def classes(self) -> bool | None:
        """Whether the target is a label; None lets the target decide."""
        return None if self.loss == "auto" else self.loss in OF_CLASSES

    @property
    def validates(self) -> bool:
        """Whether the strength is chosen by cross-validation."""
        return self.strength is None and self.fraction is None and self.features is None

    def loss_for(self, labels: Sequence[Any] | None) -> str:
        """Return the loss, chosen by the target if need be."""
        if self.loss != "auto":
            return self.loss
        return "squared" if labels is None else "logistic"

    def words(self, labels: Sequence[Any] | None) -> str:
        """Say what is fitted."""
        loss = self.loss_for(labels)
        against = ", each class against the rest" if labels and len(labels) > 2 and loss != "multinomial" else ""
        chosen = ", chosen by the target" if self.loss == "auto" else ""
        gauge = {"l1": "l1 norm", "nonnegative": "coefficients that are not negative", "group": "group norm"}[
            self.gauge
        ]
        gauge += f" and a ridge of {self.ridge:g}" if self.ridge else ""
        gauge += ", within limits" if self.lower or self.upper else ""
        scale = "features standardised" if self.standardize else "features as they are"
        what = f"{loss.replace('-', ' ')} loss{chosen}{against}"
        return f"{what}; {gauge}, {self.penalty} penalty; {scale}; {self.strength_words}."

    @property
    def strength_words(self) -> str:
        """Say how the strength is set."""
        if self.strength is not None:
            return f"strength {self.strength:g}"
        if self.fraction is not None:
            return f"strength {self.fraction:g} of the one at which all coefficients are zero"
        if self.features is not None:
            return f"strength for {self.features} features"
        from atomsieve.display.reading import RULES as WORDS  # noqa: PLC0415 -- NumPy

        folds = f"{self.folds or FOLDS}-fold cross-validation"
        return f"strength chosen by {folds}, {WORDS[self.select or '1se'].words}, shuffled with seed {self.seed}"


def options_of(record: Any, names: Mapping[str, str]) -> list[str]:
    """Return the options for which a record of them stands, without those that have their usual value.

    >>> options_of(Wish(loss="huber", standardize=False, folds=3, unpenalized=("a", "b")), {"folds": "--cv"})
    ['--loss', 'huber', '--cv', '3', '--no-standardize', '--unpenalized', 'a', '--unpenalized', 'b']
    """
    words: list[str] = []
    for entry in fields(record):
        value, name = getattr(record, entry.name), entry.name.replace("_", "-")
        if value == entry.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [names.get(entry.name, f"--{name}"), str(one)]
    return words


def require_word(value: str, known: Sequence[str], option: str) -> None:
    """Refuse a word that is not known, with the closest one that is."""
    from atomsieve.tables.errors import closest  # noqa: PLC0415 -- NumPy

    if value not in known:
        raise RefusedError(f"{option} {value!r} is not known. {closest(value, known)}")


def estimator(wish: Wish, labels: Sequence[Any] | None, gauge: Any, unpenalized: Sequence[int], limits: Any) -> Any:
    """Return the estimator that the options ask for."""
    from sklearn.model_selection import KFold, StratifiedKFold  # noqa: PLC0415 -- slow to import

    from atomsieve import (  # noqa: PLC0415 -- slow to import
        CriticalFraction,
        FeatureCount,
        GaugeClassifier,
        GaugeClassifierCV,
        GaugeRegressor,
        GaugeRegressorCV,
    )

    shape = penalty_of(wish)
    common: dict[str, Any] = {
        "loss": loss_of(wish.loss_for(labels), wish.delta),
        "gauge": gauge,
        "standardize": wish.standardize,
        "unpenalized": list(unpenalized) or None,
        "time_limit": wish.time_limit,
    }
    common |= ({"ridge": wish.ridge} if wish.ridge else {}) | ({} if limits is None else {"limits": limits})
    if wish.validates:
        folds = KFold if labels is None else StratifiedKFold
        splitter = folds(wish.folds or FOLDS, shuffle=True, random_state=wish.seed)
        kind: Any = GaugeRegressorCV if labels is None else GaugeClassifierCV
        return kind(penalty=shape, cv=splitter, selection=wish.select or "1se", **common)
    kind = GaugeRegressor if labels is None else GaugeClassifier
    if wish.strength is not None:
        return kind(penalty=shape.at(wish.strength), **common)
    if wish.fraction is not None:
        return kind(penalty=CriticalFraction(wish.fraction, shape), **common)
    return kind(penalty=FeatureCount(wish.features or 1, shape), **common)


def loss_of(word: str, delta: float) -> Any:
    """Return a loss by its word; delta is for the Huber loss."""
    from atomsieve.losses import Huber, Logistic, Multinomial, Poisson, Squared, SquaredHinge  # noqa: PLC0415

    pieces: dict[str, Any] = {
        "squared": Squared,
        "logistic": Logistic,
        "poisson": Poisson,
        "squared-hinge": SquaredHinge,
        "multinomial": Multinomial,
    }
    return Huber(delta) if word == "huber" else pieces[word]()


def penalty_of(wish: Wish) -> Any:
    """Return a penalty by its word."""
    from atomsieve.penalties import Ball, Linear, LogBarrier, Power, Square  # noqa: PLC0415

    pieces: dict[str, Any] = {"linear": Linear, "square": Square, "ball": Ball, "log-barrier": LogBarrier}
    return Power(1.0, wish.exponent) if wish.penalty == "power" else pieces[wish.penalty]()
