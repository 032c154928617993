"""A number and the interval it is proven to lie in as a little bar: in characters, or as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.display.palette import ACCENT, DOUBT, MUTED

WIDTH = 10
"""Characters that the largest number takes up."""

PIXELS = 120
"""Width of a bar in HTML."""


@dataclass(frozen=True)
class Bar:
    """A value with bounds; what lies between 0 and the nearer bound is certain."""

    value: float
    lower: float
    upper: float

    @property
    def known(self) -> bool:
        """Whether both bounds are finite."""
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))

    @property
    def certain(self) -> float:
        """How far the number is certainly away from 0, on the side of the value."""
        near = self.lower if self.value > 0 else -self.upper
        return max(near, 0.0) if self.known else 0.0


def text_bars(bars: Sequence[Bar]) -> list[str]:
    """Return bars on a common scale: full blocks for what is certain, shaded ones for the rest.

    >>> text_bars([Bar(4.0, 3.9, 4.1), Bar(3.0, 1.0, 5.0), Bar(1.0, -np.inf, np.inf)])
    ['██████████', '██░░░░░▒', '░░▒']
    """
    largest = max((abs(bar.value) for bar in bars), default=0.0) or 1.0
    both = any(bar.value < 0 for bar in bars) and any(bar.value > 0 for bar in bars)
    return [_text(bar, largest, both=both) for bar in bars]


def _text(bar: Bar, largest: float, *, both: bool) -> str:
    cells = round(2 * WIDTH * abs(bar.value) / largest) / 2
    solid = min(round(WIDTH * bar.certain / largest), int(cells)) if bar.known else 0
    solid = int(cells) if bar.known and cells - WIDTH * bar.certain / largest < 0.5 else solid
    half = cells > int(cells)
    filled = "█" * solid + "░" * (int(cells) - solid) + ("" if not half else "▌" if solid == int(cells) else "▒")
    if bar.value < 0:
        left = filled.replace("▌", "▐")[::-1]
        return f"{left:>{WIDTH}}│" if both else f"{filled:<{WIDTH}}"
    return " " * WIDTH + "│" + filled if both else filled


def svg_bars(bars: Sequence[Bar]) -> list[str]:
    """Return bars on a common scale as SVG elements: a line from 0, the interval, and a point at the value."""
    ends = [0.0, *(bar.value for bar in bars)]
    ends += [end for bar in bars if bar.known for end in (bar.lower, bar.upper)]
    low, high = min(ends), max(ends)
    room = (high - low) or 1.0
    return [_svg(bar, low, room) for bar in bars]


def _svg(bar: Bar, low: float, room: float) -> str:
    def at(value: float) -> str:
        return f"{5 + (PIXELS - 10) * (value - low) / room:.1f}"

    colour = ACCENT if bar.known else DOUBT
    line = '<line x1="{}" x2="{}" y1="8" y2="8" stroke="{}" stroke-width="{}"{}/>'.format
    interval = line(at(bar.lower), at(bar.upper), colour, 5, ' stroke-linecap="round"') if bar.known else ""
    inside = colour if bar.known else "none"
    return (
        f'<svg width="{PIXELS}" height="16" role="img" style="vertical-align:middle">'
        f'<line x1="{at(0.0)}" x2="{at(0.0)}" y1="0" y2="16" stroke="{MUTED}" stroke-width="1"/>'
        + line(at(0.0), at(bar.value), colour, 2, ' opacity="0.45"')
        + interval
        + f'<circle cx="{at(bar.value)}" cy="8" r="3.2" fill="{inside}" stroke="{colour}" stroke-width="1.4"/></svg>'
    )
