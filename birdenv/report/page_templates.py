"""The loader of page templates."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return the templates of a package. They escape everything that they insert."""
    return Environment(
        loader=PackageLoader(package), autoescape=select_autoescape(default=True), trim_blocks=True
    )
