"""Jinja2 prompt templates, loaded from a package or from a file."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import read_text


class Prompt:
    """A Jinja2 prompt template, rendered in Jinja2's sandbox. Undefined names are errors."""

    def __init__(self, text: str, where: str) -> None:
        """Compile a template.

        Args:
            text: the template.
            where: the origin of the template, for error messages.

        Raises:
            InputError: the text is not a valid template; the message names the origin and the line.
        """
        from jinja2 import StrictUndefined, TemplateSyntaxError
        from jinja2.sandbox import SandboxedEnvironment

        self._where = where
        environment = SandboxedEnvironment(
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
        )
        try:
            self._template = environment.from_string(text)
        except TemplateSyntaxError as error:
            raise InputError(f"{where}: line {error.lineno}: {error.message}") from None

    @classmethod
    def from_file(cls, path: Path) -> Prompt:
        """Read a template from a file.

        Raises:
            InputError: the file cannot be read, or is not a valid template.
        """
        return cls(read_text(path), str(path))

    def render(self, **values: Any) -> str:
        """Render the template with values and return the text.

        Raises:
            InputError: the template uses a name that has no value, or fails.
        """
        from jinja2 import TemplateError

        try:
            return self._template.render(**values).strip()
        except TemplateError as error:
            known = ", ".join(sorted(values))
            raise InputError(f"{self._where}: {error.message}; a prompt can use {known}") from None
        except Exception as error:
            raise InputError(f"{self._where}: {type(error).__name__}: {error}") from None


@cache
def package_prompt(package: str, name: str, form: str = "") -> Prompt:
    """Return the template `prompts/NAME-FORM.j2` in a package, or `prompts/NAME.j2` if that is missing."""
    folder = resources.files(package).joinpath("prompts")
    file = folder.joinpath(f"{name}-{form}.j2")
    if not form or not file.is_file():
        file = folder.joinpath(f"{name}.j2")
    return Prompt(file.read_text(encoding="utf-8"), name)
