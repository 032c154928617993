"""HTML that is safe by construction: what is not marked as HTML is text, and text is escaped."""

import json
from html import escape
from typing import Any


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """Return an element; children that are not `Html` are escaped, attributes that are None are left out.

    An underscore at the end of the name of an attribute is dropped, others become hyphens.

    >>> tag("p", "a < b ", tag("b", "&"), class_="note")
    '<p class="note">a &lt; b <b>&amp;</b></p>'
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    words = "".join(f' {key}="{escape(value)}"' for key, value in given.items())
    return Html(f"<{name}{words}>{join(*children)}</{name}>")


def join(*children: str, by: str = "") -> Html:
    """Return HTML made of several parts; those that are not `Html` are escaped."""
    return Html(by.join(child if isinstance(child, Html) else escape(child) for child in children))


def embedded(value: Any) -> Html:
    """Return plain data as JSON that can stand within a script element, whatever text they hold.

    >>> "</script>" in embedded(["</script>"])
    False
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return Html(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
