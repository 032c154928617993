"""The fully corrective method: exact solves on a working set, few passes over the data."""

from atomsieve.methods.corrective.method import Corrective

__all__ = ["Corrective"]
