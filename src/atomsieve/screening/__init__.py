"""Screening: find blocks of atoms that are in no optimal decomposition."""

from atomsieve.screening.rules import Rule, built_in, rules_for
from atomsieve.screening.sieve import Sieve

__all__ = ["Rule", "Sieve", "built_in", "rules_for"]
