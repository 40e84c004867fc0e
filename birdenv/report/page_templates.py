"""The templates of pages, which share the head of `templates/head.html`."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return the templates of a package and those of this one. They escape everything that they show."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("birdenv.report")]),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
    )
