"""Screening: which blocks of atoms can be in no optimal decomposition."""

from atomsieve.screening.rules import RULES, Rule
from atomsieve.screening.sieve import Sieve

__all__ = ["RULES", "Rule", "Sieve"]
