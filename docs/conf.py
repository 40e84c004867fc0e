"""Settings of the documentation site (`make docs`)."""

from __future__ import annotations

import importlib

from sphinx.application import Sphinx

from birdenv.version import __version__

project = "birdenv"
author = "the birdenv developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["_build"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # console blocks hold pieces of JSON and the like

html_theme = "furo"
html_title = f"birdenv {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_exclude = ".linenos, .gp, .go"  # a copied console block has commands only

add_module_names = False
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
default_role = "code"
napoleon_use_ivar = True

# their names are loaded at first use
for door in ("birdenv", "birdenv.envs", "birdenv.users"):
    module = importlib.import_module(door)
    vars(module).update({name: getattr(module, name) for name in module.__all__})


def _link_within_the_site(app: Sphinx, name: str, source: list[str]) -> None:
    """Lead links to files at the top of the repository, which GitHub shows, to their pages of the site."""
    for file, page in (("CHANGELOG", "changelog"), ("CONTRIBUTING", "contributing"), ("README", "index")):
        source[0] = source[0].replace(f"(../{file}.md", f"({page}.md")


def _show_examples(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Show the indented examples of a module's docstring as code."""
    if what == "module":
        for i in reversed(range(1, len(lines))):
            if lines[i].startswith("    ") and not lines[i - 1]:
                lines[i:i] = ["::", ""]


def _list_settings(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """List the described fields of settings, as attributes of their class."""
    if what == "class":
        fields = getattr(obj, "model_fields", {})
        described = [f":ivar {field}: {of.description}" for field, of in fields.items() if of.description]
        lines += ["", *described] if described else []


def setup(app: Sphinx) -> None:
    app.connect("source-read", _link_within_the_site)
    app.connect("autodoc-process-docstring", _show_examples)
    app.connect("autodoc-process-docstring", _list_settings)
