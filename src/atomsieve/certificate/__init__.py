"""Certificates: which coefficients are zero, proven in spite of rounding."""

from atomsieve.certificate.certified import certify, nothing
from atomsieve.certificate.claims import Certificate

__all__ = ["Certificate", "certify", "nothing"]
