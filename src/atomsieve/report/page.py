"""The report as one web page: template, style, script and findings put together; it fetches nothing."""

import os
from importlib.resources import files
from string import Template

from atomsieve.display.palette import DARK
from atomsieve.intake.files import write_text
from atomsieve.report import sections
from atomsieve.report.charts import colour_rules
from atomsieve.report.findings import Findings
from atomsieve.report.markup import Html, embedded, join, tag
from atomsieve.report.payload import payload

SECTIONS = (
    ("coefficients", "Coefficients", sections.coefficients),
    ("quality", "Quality", sections.quality),
    ("map", "All features", sections.every_feature),
    ("path", "Path", sections.path),
    ("choice", "Strength", sections.choice),
    ("groups", "Groups", sections.groups),
    ("dependent", "Dependent features", sections.dependent),
    ("background", "Data and model", sections.background),
    ("verify", "Verify", sections.verification),
)

SCRIPTS = ("page-data.js", "page-table.js", "page-map.js")


def write_report(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write the findings as one HTML file that needs nothing else, all of it or nothing."""
    write_text(path, page(findings))


def page(findings: Findings) -> str:
    """Return the report as a web page."""
    shown = [(key, title, draw(findings)) for key, title, draw in SECTIONS]
    parts = [(key, title, body) for key, title, body in shown if body]
    links = [tag("a", title, href=f"#{key}") for key, title, _ in parts]
    return Template(text_of("page.html")).substitute(
        title=join(f"{findings.target}: report"),
        target=join(findings.target),
        contents=join(*links),
        finding=sections.finding(findings),
        sections=Html("\n".join(body for _, _, body in parts)),
        versions=join(f"atomsieve {dict(findings.versions).get('atomsieve', '')}"),
        style=Template(text_of("page.css")).substitute(
            light=colour_rules({role: role for role in DARK}), dark=colour_rules(DARK)
        ),
        script="\n".join(map(text_of, SCRIPTS)),
        data=embedded(payload(findings)),
    )


def text_of(name: str) -> str:
    """Return the text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
