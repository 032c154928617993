"""The table of the file: every key, and what its value must be."""

from typing import Any

from .forms import (
    BOUND,
    CLASSES,
    COUNT,
    ERROR,
    EXPONENT,
    INDICES,
    NON_NEGATIVE,
    NULL,
    NUMBER,
    POSITIVE,
    PRICE,
    SIGN,
    TEXT,
    TRUTH,
    WHOLE,
    Kinds,
    Optional,
    OrNull,
    shown,
)
from .verdict import Unknown

LOSS = Kinds(
    "loss",
    {
        "Squared": {},
        "Huber": {"delta": POSITIVE},
        "SquaredHinge": {},
        "Logistic": {},
        "Poisson": {},
        "Multinomial": {"classes": OrNull(CLASSES)},
    },
)

PENALTY = Kinds(
    "penalty",
    {
        "Linear": {"strength": POSITIVE},
        "Square": {"strength": POSITIVE},
        "LinearSquare": {"strength": POSITIVE, "square": POSITIVE},
        "Power": {"strength": POSITIVE, "p": EXPONENT},
        "Ball": {"radius": POSITIVE},
        "LogBarrier": {"radius": POSITIVE, "sharpness": POSITIVE},
    },
)


def _prices_form(value: Any) -> Any:
    """Return the form of weights: null, one for each row of x, or one for each entry."""
    nested = isinstance(value, list) and value and isinstance(value[0], list)
    return OrNull([[PRICE]] if nested else [PRICE])


def _function_form(value: Any) -> Any:
    """Return the form of a function of sets; those of users have a name, and nothing is known of them."""
    if isinstance(value, str):
        raise Unknown(f"the function {shown(value)} of sets is not known to this checker")
    return Kinds("function", {"Coverage": {"sets": [[COUNT]], "weights": [POSITIVE]}})


ATOMS = [{"places": [WHOLE], "weight": POSITIVE}]

PLACES = {"shape": [COUNT], "row": [COUNT], "column": [COUNT], "value": [NUMBER]}

STEPS = {"steps": COUNT, "root": COUNT, "fixed": [COUNT]}

TREE = {"tree": [COUNT]}

BLOCKS: dict[str, dict[str, Any]] = {
    "L1": {"weights": _prices_form, "positive": OrNull([TRUTH])},
    "NonNegative": {"weights": _prices_form},
    "Simplex": {"weights": NULL},
    "Group": {"groups": OrNull([COUNT]), "weights": OrNull([POSITIVE])},
    "Parts": {"groups": [COUNT], "weights": OrNull([POSITIVE]), "positive": OrNull([TRUTH])},
    "L2": {},
    "LInf": {},
    "OWL": {"weights": [NUMBER]},
    "GraphJumps": {
        "weights": [NUMBER],
        "chords": [[COUNT]],
        "chord_weights": [POSITIVE],
        "flow": [NUMBER],
        "toward": {"index": INDICES, "value": [NUMBER]},
    },
    "KSupport": {"k": COUNT},
    "KSparse": {"k": COUNT},
    "PathsInDAG": {"edges": [[COUNT]], "source": COUNT, "target": COUNT},
    "Birkhoff": {"m": COUNT},
    "SpanningTrees": {"edges": [[COUNT]]},
    "Permutahedron": {"weights": [NUMBER]},
    "Nuclear": {},
    "PSDTrace": {},
    "BasePolytope": {"function": _function_form},
    "LovaszNorm": {"function": _function_form},
    "SparseGroup": {"groups": OrNull([COUNT]), "balance": POSITIVE, "weights": OrNull([POSITIVE])},
}


def _matrix_form(value: Any) -> Any:
    """Return the form of a matrix: places and values of non-zero entries, steps of a signal or a tree, or rows."""
    if isinstance(value, dict):
        return STEPS if "steps" in value else TREE if "tree" in value else PLACES
    return [[NUMBER]]


def _gauge_form(_: Any) -> Kinds:
    """Return the form of a gauge; it may contain another gauge."""
    made: dict[str, dict[str, Any]] = {
        "Scaled": {"gauge": _gauge_form, "radius": POSITIVE},
        "Orthant": {"gauge": _gauge_form},
        "Image": {"gauge": _gauge_form, "matrix": _matrix_form},
        "Atoms": {"gauge": {"type": NON_NEGATIVE, "weights": NULL}, "matrix": _matrix_form},
    }
    return Kinds("gauge", BLOCKS | made)


def _ridge_form(value: Any) -> Any:
    """Return the form of a ridge: one number for all blocks, or one for each coefficient."""
    return [POSITIVE] if isinstance(value, list) else POSITIVE


def _errors_form(value: Any) -> Any:
    """Return the form of errors: one for all entries, one for each column or sample, or one for each entry."""
    nested = isinstance(value, list) and value and isinstance(value[0], list)
    return [[ERROR]] if nested else [ERROR] if isinstance(value, list) else ERROR


FILE: dict[str, Any] = {
    "format": TEXT,
    "version": COUNT,
    "problem": {
        "loss": LOSS,
        "gauge": _gauge_form,
        "penalty": PENALTY,
        "ridge": Optional(_ridge_form),
        "limits": Optional({"lower": [BOUND], "upper": [BOUND]}),
        "intercept": TRUTH,
        "free": COUNT,
        "weighted": TRUTH,
        "unpenalised": INDICES,
        "offset": TRUTH,
        "samples": COUNT,
        "outputs": COUNT,
        "form": [COUNT],
        "shape": [COUNT],
        "blocks": COUNT,
    },
    "data": {"sha256": TEXT},
    "family": OrNull(
        {
            "x_error": OrNull({"relative": TRUTH, "zeros": TRUTH, "values": _errors_form}),
            "y_error": OrNull({"relative": TRUTH, "values": _errors_form}),
            "strengths": OrNull([POSITIVE]),
            "slopes": Optional([POSITIVE]),
        }
    ),
    "names": {"features": OrNull([TEXT]), "blocks": OrNull([TEXT]), "outputs": Optional([TEXT])},
    "versions": {"numpy": TEXT, "scipy": TEXT},
    "assumptions": [TEXT],
    "point": {"x": {"index": INDICES, "value": [NUMBER]}, "atoms": Optional(ATOMS), "free": [NUMBER]},
    "remarks": {"reason": TEXT, "margin": BOUND},
    "claims": {
        "valid": TRUTH,
        "value": {"lower": BOUND, "upper": BOUND},
        "gap": BOUND,
        "nonzero": INDICES,
        "undecided": INDICES,
        "at_lower": Optional(INDICES),
        "at_upper": Optional(INDICES),
        "dependencies": [{"column": WHOLE, "of": [WHOLE], "times": [NUMBER]}],
        "sums": [{"index": [WHOLE], "times": [NUMBER], "lower": BOUND, "upper": BOUND}],
        "intervals": {"index": INDICES, "lower": [BOUND], "upper": [BOUND]},
        "free": {"lower": [BOUND], "upper": [BOUND]},
        "rank": Optional(COUNT),
        "subspaces": Optional({"left": [[NUMBER]], "right": [[NUMBER]], "sine": NUMBER}),
        "facts": Optional(
            {
                "signs": {"index": INDICES, "value": [SIGN]},
                "clusters": [INDICES],
                "saturated": INDICES,
                "order": [INDICES],
                "tight": Optional([INDICES]),
            }
        ),
    },
    "seal": TEXT,
}
"""The form of a file: every key, and what its value must be."""
