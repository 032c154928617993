"""Certificates: which coefficients are zero, proven in spite of rounding."""

from atomsieve.certificate.claims import Certificate, certify

__all__ = ["Certificate", "certify"]
