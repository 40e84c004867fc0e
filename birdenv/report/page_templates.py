"""Templates of pages: those of a package."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return the templates of a package; they escape all that they show."""
    return Environment(
        loader=PackageLoader(package), autoescape=select_autoescape(default=True), trim_blocks=True
    )
