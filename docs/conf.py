"""Sphinx configuration."""

import os
import warnings

import matplotlib as mpl

import atomsieve

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
mpl.use("agg")
warnings.filterwarnings("error", category=UserWarning, module="__main__")  # an example that warns is no example

project = "atomsieve"
copyright = "2026, the atomsieve developers"
version = release = atomsieve.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.json"]
default_role = "literal"  # `phi(s)` in a docstring is code
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_preserve_defaults = True
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "subsection_order": ["../examples/data", "../examples/proofs", "../examples/inside"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 3600,
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
    "first_notebook_cell": "%matplotlib inline",
    "show_memory": False,
    "write_computation_times": False,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("atomsieve",),
}

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "atomsieve"
html_static_path = ["_static"]
html_css_files = ["atomsieve.css"]
html_show_sourcelink = False
html_copy_source = False
ELSEWHERE = ("scikit_learn", "glmnet", "celer", "skglm", "adelie", "frankwolfe")
WIDE = ("benchmarks", "certificates", *(f"coming/{name}" for name in ELSEWHERE))  # tables, and code side by side
html_sidebars = {page: [] for page in ("index", *WIDE)}
html_theme_options = {
    "logo": {"text": "atomsieve"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in WIDE}},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
