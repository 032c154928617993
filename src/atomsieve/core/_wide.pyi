"""The core as it is built for vectors of four numbers (AVX2 and FMA): the same functions."""

from typing import Any

def __getattr__(name: str) -> Any: ...
