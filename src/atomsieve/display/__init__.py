"""Pictures, in scikit-learn's convention: `from_...` draws and returns a display, with `plot`, `ax_` and `figure_`."""

from atomsieve.display.certificate import CertificateDisplay
from atomsieve.display.cross_validation import CVDisplay
from atomsieve.display.path import PathDisplay
from atomsieve.display.prediction import PredictionDisplay
from atomsieve.display.stability import StabilityDisplay

__all__ = ["CVDisplay", "CertificateDisplay", "PathDisplay", "PredictionDisplay", "StabilityDisplay"]
