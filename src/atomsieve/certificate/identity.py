"""Which data a certificate is about: a fingerprint tells it here, a digest tells it to everybody else.

A digest (SHA-256) of all data takes longer than many solves, so it is made when somebody asks for it: for a file, a
pickle, a report. The fingerprint takes one read. It is made with the proof and compared when the digest is made, so
that a digest is that of the data of the proof, or there is none.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from atomsieve.design.base import bounded
from atomsieve.design.chunked import ChunkedDesign
from atomsieve.design.distributed import WorkerRows
from atomsieve.design.operator import OperatorDesign
from atomsieve.design.shelf import ChangedError
from atomsieve.numerics.digest import Sha256
from atomsieve.numerics.exact import fingerprint
from atomsieve.problem import Problem
from atomsieve.problem.data import Data

_DIGESTS: "WeakKeyDictionary[Data, dict[bytes, str]]" = WeakKeyDictionary()
"""The digests of data that were asked for, by fingerprint: all certificates of the same data share one."""


@dataclass(frozen=True, eq=False)
class Identity:
    """The data of a proof and their fingerprint at the time; or their digest alone."""

    known: str | None
    data: Data | None = None
    fingerprint: bytes = b""

    @classmethod
    def of(cls, problem: Problem, fingerprint: bytes | None = None) -> "Identity":
        """Return the identity of the data of a problem, with their fingerprint at the time of a proof, or now.

        Operators have no entries that could tell them apart: their digest is empty, and nothing is proven of them.
        """
        if isinstance(problem.data.design, OperatorDesign):
            return cls("")
        return cls(None, problem.data, fingerprint_of(problem.data) if fingerprint is None else fingerprint)

    @property
    def digest(self) -> str:
        """The digest of the data at the time of the proof; ValueError if they have changed since."""
        if self.known is not None:
            return self.known
        assert self.data is not None  # noqa: S101
        digests = _DIGESTS.setdefault(self.data, {})
        if self.fingerprint not in digests:
            digest = digest_of(self.data)
            if self._has_changed():
                raise ValueError(
                    "X has changed since the proof, and what the certificate is about is not there any more. Save a "
                    "certificate (or ask for its digest) before X is changed, or make it anew."
                )
            digests[self.fingerprint] = digest
        return digests[self.fingerprint]

    def _has_changed(self) -> bool:
        """Return whether the data are no longer those of the proof."""
        assert self.data is not None  # noqa: S101
        try:
            return fingerprint_of(self.data) != self.fingerprint
        except ChangedError:
            return True

    def alone(self) -> "Identity":
        """Return the identity without the data."""
        return Identity(self.digest)


def digest_of(data: Data) -> str:
    """Return the SHA-256 of data: shape, non-zero entries of X, y, weights, free columns, and any offset."""
    design = bounded(data.design)
    if isinstance(design, ChunkedDesign) and isinstance(design.chunks, WorkerRows):
        begun = Sha256().after([f"{design.shape}".encode()])
        return design.chunks.digest_after(begun).after(_beside(data)).hexdigest()
    digest = hashlib.sha256()
    for part in chain(design.rows_as_bytes(), _beside(data)):
        digest.update(part)
    return digest.hexdigest()


def _beside(data: Data) -> Iterator[memoryview]:
    """Yield what there is beside X."""
    parts = [data.y, data.stated_weights, data.free]
    for part in parts if data.offset is None else [*parts, data.offset]:
        yield np.ascontiguousarray(part, dtype="<f8").reshape(-1).data


def fingerprint_of(data: Data) -> bytes:
    """Return the fingerprint of X; a problem has its own copies of everything else."""
    return fingerprint(bounded(data.design).parts())
