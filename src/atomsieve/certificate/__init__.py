"""Certificates: which coefficients are zero, proven in spite of rounding."""

from atomsieve.certificate.certificate import Certificate
from atomsieve.certificate.certify import certify

__all__ = ["Certificate", "certify"]
