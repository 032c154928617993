"""The report of a fit: what was found as plain values, and a web page of it that is one file."""

from atomsieve.report.findings import Findings
from atomsieve.report.page import write_report

__all__ = ["Findings", "write_report"]
