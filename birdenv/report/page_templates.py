"""The templates of all pages, which share the page head in `templates/head.html`."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return an environment for the templates of a package and `birdenv.report`; it escapes every value."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("birdenv.report")]),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
    )
