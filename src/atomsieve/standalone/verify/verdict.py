"""The verdict, and why a certificate is refused."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verification:
    """The verdict, the first claim that does not follow, how many claims were checked, and in which arithmetic."""

    valid: bool
    reason: str
    checked: int
    method: str
    known: bool = True
    """Whether this checker has formulas for the problem; if not, nothing is said for or against the certificate."""

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        refuted = "The certificate is NOT valid" if self.known else "The certificate cannot be checked here"
        verdict = "The certificate is valid" if self.valid else refuted
        return f"{verdict}: {self.reason} ({self.checked} claims checked, {self.method})"


class Refused(Exception):
    """Raised if a claim does not follow, with the reason."""


class Unknown(Refused):
    """Raised where this checker has no formulas for a piece of the problem."""
