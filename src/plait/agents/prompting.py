"""Prompts are Markdown files beside their user; this loads and fills them, strictly.

Knows nothing of agents. A prompt file has `{{name}}` places; `fill` refuses a missing or an unused
value, so that a prompt and its typed function cannot drift apart. A user overrides a prompt by a file
of the same name in the folder given to `load`.
"""

import re
from functools import cache
from importlib import resources
from pathlib import Path

from plait.errors import UserError

_PLACE = re.compile(r"\{\{(\w+)\}\}")


class Prompt(str):
    """The text of a prompt that knows its file, so that what is wrong with it can be said where it is."""

    __slots__ = ("file",)

    file: str
    """As the user knows it; "" for one of Plait's own."""

    def __new__(cls, text: str, *, file: str = "") -> "Prompt":
        """Make a prompt of a text."""
        prompt = super().__new__(cls, text)
        prompt.file = file
        return prompt


def load(package: str, name: str, overrides: Path | None = None) -> Prompt:
    """Return the text of prompt `name` of `package`, or the user's own.

    Args:
        package: Import path of the package whose `prompts` folder holds the file.
        name: File name without `.md`.
        overrides: Folder with the user's own prompts, or None.

    Raises:
        UserError: the user's file cannot be read.
    """
    if overrides is not None:
        own = overrides / f"{name}.md"
        if own.exists():
            try:
                return Prompt(own.read_text(encoding="utf-8").strip(), file=str(own))
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"prompt {str(own)!r} cannot be read: {error}") from error
    return _own(package, name)


@cache
def _own(package: str, name: str) -> Prompt:
    """Return one of Plait's own, which never changes; a user's may, also within one process."""
    file = resources.files(package).joinpath("prompts", f"{name}.md")
    return Prompt(file.read_text(encoding="utf-8").strip())


def fill(text: str, **values: str) -> str:
    """Put `values` into their places.

    Args:
        text: A prompt as `load` returns it, or any text.
        values: By the names of their places.

    Raises:
        UserError: a place has no value or a value has no place.
    """
    places = set(_PLACE.findall(text))
    if places != set(values):
        missing, unused = sorted(places - set(values)), sorted(set(values) - places)
        which = f"prompt {text.file!r}" if isinstance(text, Prompt) and text.file else "prompt"
        places_wanted = ", ".join(f"{{{{{value}}}}}" for value in sorted(values)) or "none"
        raise UserError(
            f"{which} does not fit its values: unknown places {missing}, unused values {unused};"
            f" give it the places {places_wanted}"
        )
    return _PLACE.sub(lambda match: values[match[1]], text)
