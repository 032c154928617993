"""The colours of all pictures, by their role.

Each role has a colour of its own, so that a picture written as SVG can be restyled by replacing colours (`DARK`).
The colours of series follow Okabe and Ito: people with any of the common kinds of colour blindness can tell them apart.
"""

INK = "#1f2328"
"""Text, axes, and what is in front."""

MUTED = "#66707a"
"""Text and marks of second rank."""

FAINT = "#bcc4cc"
"""Lines in the background."""

GRID = "#e7eaed"
"""Lines to read values from."""

PAPER = "#fefefe"
"""What is drawn on, and the inside of hollow marks."""

ACCENT = "#0072b2"
"""What a picture is about."""

SECOND = "#d55e00"
"""What is set against it."""

DOUBT = "#e69f00"
"""What is undecided."""

SERIES = (ACCENT, SECOND, "#009e73", "#cc79a7", "#56b4e9", "#a6761d", "#7570b3")
"""Lines that belong to names."""

DARK = {
    INK: "#e6edf3",
    MUTED: "#9aa6b2",
    FAINT: "#4c555f",
    GRID: "#2b3138",
    PAPER: "#15191e",
    ACCENT: "#58b0e8",
    SECOND: "#ff8f4a",
    DOUBT: "#f2c14e",
    "#009e73": "#3fcf9f",
    "#cc79a7": "#e6a3c8",
    "#56b4e9": "#9cd6ff",
    "#a6761d": "#d9ab57",
    "#7570b3": "#b0abf0",
}
"""What each colour becomes on a dark page."""
