"""Sphinx configuration."""

import atomsieve

project = "atomsieve"
copyright = "2026, the atomsieve developers"
version = release = atomsieve.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
myst_enable_extensions = ["dollarmath"]
html_theme = "furo"
html_title = "atomsieve"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
exclude_patterns = ["_build"]
nitpicky = False
