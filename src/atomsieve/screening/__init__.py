"""Screening: find blocks of atoms that are in no optimal decomposition."""

from atomsieve.screening.rules import Rule, rules_for
from atomsieve.screening.sieve import Sieve

__all__ = ["Rule", "Sieve", "rules_for"]
