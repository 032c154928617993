"""SHA-256 with a state that can be pickled: it goes from one process to the next, and the data stay where they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.core import _core

BLOCK = 64
"""Bytes of a block."""

START = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], dtype=np.uint32
)
"""The first 32 bits of the fractional parts of the square roots of the first eight primes."""


@dataclass(frozen=True)
class Sha256:
    """What a digest knows of the bytes so far: eight words for whole blocks, the bytes after these, and their count.

    >>> Sha256().after([b"ab", b"c"]).hexdigest()[:8]
    'ba7816bf'
    """

    words: bytes = START.tobytes()
    rest: bytes = b""
    count: int = 0

    def after(self, parts: Iterable[Any]) -> "Sha256":
        """Return the state after more bytes, in contiguous parts."""
        words, rest, count = np.frombuffer(self.words, dtype=np.int32).copy(), self.rest, self.count
        for part in parts:
            more = np.frombuffer(part, dtype=np.uint8)
            count += len(more)
            if rest:
                missing = min(BLOCK - len(rest), len(more))
                rest, more = rest + more[:missing].tobytes(), more[missing:]
                if len(rest) < BLOCK:
                    continue
                _core.sha256(np.frombuffer(rest, dtype=np.uint8), words)
            whole = len(more) - len(more) % BLOCK
            _core.sha256(more[:whole], words)
            rest = more[whole:].tobytes()
        return Sha256(words.tobytes(), rest, count)

    def hexdigest(self) -> str:
        """Return the digest of all bytes so far."""
        padding = b"\x80" + bytes((BLOCK - 9 - self.count) % BLOCK) + (8 * self.count).to_bytes(8, "big")
        words = np.frombuffer(self.after([padding]).words, dtype=np.uint32)
        return words.astype(">u4").tobytes().hex()
