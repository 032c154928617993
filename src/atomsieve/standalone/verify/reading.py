"""Read a file strictly: its text, its seal, and its form by the table in `table.py`."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NoReturn

from .forms import check_form, shown
from .table import FILE
from .verdict import Refused

VERSION = 4
"""Of the format of the file."""

WITH_FACTS = 5
"""Of files with facts about single coefficients."""

DEPTH = 64
"""How deeply lists and objects may be nested."""

DIGITS = 20
"""Digits that a whole number may have."""

ROOM = 1000
"""A matrix may have so many columns in addition to one for each of its entries and each entry of the data."""


def read(certificate: Any) -> dict[str, Any]:
    """Check the form and the seal of a certificate, and return its content."""
    content = parse(_text(certificate))
    if not isinstance(content, dict) or content.get("format") != "atomsieve certificate":
        raise Refused("this is no atomsieve certificate")
    version = content.get("version")
    if type(version) is not int or version not in (VERSION, WITH_FACTS):
        raise Refused(f"version {shown(version)} of the format is not known")
    told = {key: value for key, value in content.items() if key != "seal"}
    seal = hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    if seal != content.get("seal"):
        raise Refused("the seal does not fit: the file was changed after it was written")
    check_form(content, FILE, "")
    if ("facts" in content["claims"]) != (version == WITH_FACTS):
        raise Refused(f"version {version} of the format does not go with facts, or with none")
    return content


def _text(certificate: Any) -> str:
    """Return the text of a file, or the text that an object would write."""
    if hasattr(certificate, "content"):
        return json.dumps(certificate.content(), allow_nan=False)
    try:
        return Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"the file cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"the file is truncated or no JSON: {error}") from error


def parse(text: str) -> Any:
    """Read JSON strictly: no duplicate keys, no NaN, no huge whole numbers, no deep nesting."""
    depth = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"(?:[^"\\]+|\\.)*"?', "", text, flags=re.DOTALL)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH:
            raise Refused(f"the file is malformed: it is nested deeper than {DEPTH} levels")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_int=_small, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise Refused(f"the file is truncated or no JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in content if keys.count(key) > 1) if len(keys) < ROOM else "a key"
        raise Refused(f"the file is malformed: {shown(twice)} is there twice")
    return content


def _small(digits: str) -> int:
    if len(digits) > DIGITS:
        raise Refused(f"the file is malformed: a whole number has more than {DIGITS} digits")
    return int(digits)


def _no_number(word: str) -> NoReturn:
    raise Refused(f"the file is malformed: {word} is no number")
