"""From a file and data to a verdict."""

from typing import Any

from flint import ctx

from .checker import Checker
from .class_face import ClassFace
from .classes import Classes
from .data import Data
from .face import Face
from .facts import Facts
from .family import Family
from .gauges import Gauge, gauge_of
from .joined import Joined, JoinedFacts
from .losses import Loss
from .paired import Paired, PairedFacts
from .reading import read
from .sizes import check_silence, check_sizes
from .verdict import Refused, Unknown, Verification

PRECISION = 128
"""Bits."""


def verify(
    certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, free: Any = None, offset: Any = None
) -> Verification:
    """Check a certificate (a file, or the object that `Result.certificate()` returns) against the data."""
    bits, ctx.prec = ctx.prec, PRECISION
    checker: Checker | None = None
    try:
        content = read(certificate)
        data = Data(X, y, sample_weight, free, offset, content["problem"]["loss"])
        data.check_digest(content["data"]["sha256"], content["problem"])
        gauge = gauge_of(content["problem"]["gauge"], data, content["problem"]["form"])
        check_sizes(content, data, gauge)
        Loss(content["problem"]["loss"]).check_targets(data.y)
        family = None if content["family"] is None else Family(content, data, gauge)
        if family is not None and "limits" in content["problem"]:
            raise Unknown("families of problems with limits are not known to this checker")
        if not content["claims"]["valid"]:
            check_silence(content)
            return Verification(True, "it claims nothing.", 0, _method(None))
        if family is not None:
            face = Face if data.labels is None else ClassFace
            checker = face(content, data, gauge, family)
        else:
            paired, balls = _kinds(content, data, gauge)
            checker = _first_look(paired, content, data, gauge) or balls(content, data, gauge)
        if not isinstance(checker, Paired):
            checker.check()
    except Refused as refusal:
        checked, known = 0 if checker is None else checker.checked, not isinstance(refusal, Unknown)
        return Verification(False, str(refusal), checked, _method(checker), known)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        sentence = f"the file or the data are malformed: {type(error).__name__} ({str(error)[:200]})"
        return Verification(False, sentence, 0, _method(checker))
    finally:
        ctx.prec = bits
    members = "" if family is None else family.words()
    return Verification(True, f"every claim follows from the data{members}.", checker.checked, _method(checker))


def _kinds(content: dict[str, Any], data: Data, gauge: Gauge) -> tuple[type[Paired] | None, type[Checker]]:
    """Return what checks a certificate in pairs of doubles, if anything does, and in balls."""
    beside = gauge.matrix is not None or gauge.listed or "limits" in content["problem"]
    if "ridge" in content["problem"] and beside and data.labels is None:
        return None, JoinedFacts if "facts" in content["claims"] else Joined
    if "atoms" in content["point"]:  # the point is a sum, which is no double
        return None, Facts if "facts" in content["claims"] else Checker
    if "facts" in content["claims"]:
        return PairedFacts, Facts
    return (None, Classes) if data.labels is not None else (Paired, Checker)


def _first_look(kind: type[Paired] | None, content: dict[str, Any], data: Data, gauge: Gauge) -> Paired | None:
    """Return a checker in pairs of doubles to which every claim follows; None if balls must decide."""
    if kind is None:
        return None
    checker = kind(content, data, gauge)
    try:
        checker.check()
    except Unknown:
        raise
    except (Refused, ArithmeticError):
        return None
    return checker


def _method(checker: Checker | None) -> str:
    if checker is None:
        return "nothing computed"
    return "ball arithmetic and bounded doubles"
