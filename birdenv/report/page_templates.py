"""Load the templates of pages. All pages share the head in `templates/head.html`."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return an autoescaping environment for the templates of a package and those of `birdenv.report`."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("birdenv.report")]),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
    )
