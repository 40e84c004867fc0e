"""Templates of pages: those of a package, in the frame that all pages have."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape


def page_templates(package: str) -> Environment:
    """Return the templates of a package, which may extend `page.html`; they escape all that they show."""
    loaders = [PackageLoader(package), PackageLoader("birdenv.report")]
    return Environment(
        loader=ChoiceLoader(loaders), autoescape=select_autoescape(default=True), trim_blocks=True
    )
