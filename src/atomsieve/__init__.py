"""Sparse models with proofs: which coefficients are zero and which are not, in spite of rounding.

Minimise `F(A x + B b) + phi(kappa_P(x))`: a smooth loss, a gauge over atoms, a convex penalty shape.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atomsieve.certificate import Certificate
    from atomsieve.certificate.verify import verify
    from atomsieve.design import Completion, Parquet
    from atomsieve.display import CertificateDisplay, CVDisplay, PathDisplay, PredictionDisplay, StabilityDisplay
    from atomsieve.estimators import (
        CertifiedElasticNet,
        CertifiedElasticNetCV,
        CertifiedLasso,
        CertifiedLassoCV,
        CertifiedLogisticRegression,
        CertifiedLogisticRegressionCV,
        CertifiedSelector,
        ChangePoints,
        CriticalFraction,
        FeatureCount,
        GaugeClassifier,
        GaugeClassifierCV,
        GaugeRegressor,
        GaugeRegressorCV,
        GridEndWarning,
        LowRankImputer,
        StabilitySelector,
        StrengthRule,
        UnprovenWarning,
        save_model,
    )
    from atomsieve.gauges import (
        L1,
        L2,
        OSCAR,
        OWL,
        SLOPE,
        Atoms,
        BasePolytope,
        Birkhoff,
        Coverage,
        Group,
        Image,
        KSparse,
        KSupport,
        LatentGroup,
        LInf,
        LovaszNorm,
        NonNegative,
        Nuclear,
        Oracle,
        PathsInDAG,
        Permutahedron,
        Positive,
        Product,
        PSDTrace,
        Scaled,
        Shifted,
        Simplex,
        SpanningTrees,
        SparseGroup,
        TotalVariation,
        TrendFilter,
        Union,
    )
    from atomsieve.losses import Huber, Logistic, Multinomial, Poisson, Squared, SquaredHinge
    from atomsieve.methods import GCG, Away, Corrective, Pairwise
    from atomsieve.methods.steps import LineSearch, OpenLoop, ShortStep
    from atomsieve.penalties import Ball, Linear, LinearSquare, LogBarrier, Power, Square
    from atomsieve.problem import Point, Problem
    from atomsieve.run.cover import Cover
    from atomsieve.run.path import Path, path
    from atomsieve.run.result import Result
    from atomsieve.run.solve import solve
    from atomsieve.run.status import Status
    from atomsieve.run.trace import Progress, Trace
    from atomsieve.screening import Rule
    from atomsieve.standalone.predict import SavedModel, load_model

__version__ = "0.1.0"

__all__ = [
    "GCG",
    "L1",
    "L2",
    "OSCAR",
    "OWL",
    "SLOPE",
    "Atoms",
    "Away",
    "Ball",
    "BasePolytope",
    "Birkhoff",
    "CVDisplay",
    "Certificate",
    "CertificateDisplay",
    "CertifiedElasticNet",
    "CertifiedElasticNetCV",
    "CertifiedLasso",
    "CertifiedLassoCV",
    "CertifiedLogisticRegression",
    "CertifiedLogisticRegressionCV",
    "CertifiedSelector",
    "ChangePoints",
    "Completion",
    "Corrective",
    "Cover",
    "Coverage",
    "CriticalFraction",
    "FeatureCount",
    "GaugeClassifier",
    "GaugeClassifierCV",
    "GaugeRegressor",
    "GaugeRegressorCV",
    "GridEndWarning",
    "Group",
    "Huber",
    "Image",
    "KSparse",
    "KSupport",
    "LInf",
    "LatentGroup",
    "LineSearch",
    "Linear",
    "LinearSquare",
    "LogBarrier",
    "Logistic",
    "LovaszNorm",
    "LowRankImputer",
    "Multinomial",
    "NonNegative",
    "Nuclear",
    "OpenLoop",
    "Oracle",
    "PSDTrace",
    "Pairwise",
    "Parquet",
    "Path",
    "PathDisplay",
    "PathsInDAG",
    "Permutahedron",
    "Point",
    "Poisson",
    "Positive",
    "Power",
    "PredictionDisplay",
    "Printer",
    "Problem",
    "Product",
    "Progress",
    "Result",
    "Rule",
    "SavedModel",
    "Scaled",
    "Shifted",
    "ShortStep",
    "Simplex",
    "SpanningTrees",
    "SparseGroup",
    "Square",
    "Squared",
    "SquaredHinge",
    "StabilityDisplay",
    "StabilitySelector",
    "Status",
    "StrengthRule",
    "TotalVariation",
    "Trace",
    "TrendFilter",
    "Union",
    "UnprovenWarning",
    "load_model",
    "path",
    "save_model",
    "solve",
    "verify",
]


_HOMES = {
    "certificate": "Certificate",
    "certificate.verify": "verify",
    "design": "Completion Parquet",
    "display": "CVDisplay CertificateDisplay PathDisplay PredictionDisplay StabilityDisplay",
    "gauges": (
        "L1 L2 OSCAR OWL SLOPE Atoms BasePolytope Birkhoff Coverage Group Image KSparse KSupport LatentGroup LInf "
        "LovaszNorm NonNegative Nuclear Oracle PathsInDAG Permutahedron Positive Product PSDTrace Scaled Shifted "
        "Simplex SpanningTrees SparseGroup TotalVariation TrendFilter Union"
    ),
    "losses": "Huber Logistic Multinomial Poisson Squared SquaredHinge",
    "methods": "GCG Away Corrective Pairwise",
    "methods.steps": "LineSearch OpenLoop ShortStep",
    "penalties": "Ball Linear LinearSquare LogBarrier Power Square",
    "problem": "Point Problem",
    "run.cover": "Cover",
    "run.path": "Path path",
    "run.progress": "Printer",
    "run.result": "Result",
    "run.solve": "solve",
    "run.status": "Status",
    "run.trace": "Progress Trace",
    "screening": "Rule",
    "standalone.predict": "SavedModel load_model",
}
"""Where a name comes from; all others are estimators."""


def __getattr__(name: str) -> Any:
    """Import what is asked for, on first use: the command line starts at once, and scikit-learn waits for a fit."""
    if name not in __all__:
        raise AttributeError(f"module 'atomsieve' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names.split()), "estimators")
    found = globals()[name] = getattr(import_module(f"atomsieve.{home}"), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
