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


@cache
def load(package: str, name: str, overrides: Path | None = None) -> str:
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
                return own.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"prompt {str(own)!r} cannot be read: {error}") from error
    return resources.files(package).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def fill(text: str, **values: str) -> str:
    """Put `values` into their places.

    Raises:
        UserError: a place has no value or a value has no place.
    """
    places = set(_PLACE.findall(text))
    if places != set(values):
        missing, unused = sorted(places - set(values)), sorted(set(values) - places)
        raise UserError(f"prompt does not fit its values: unknown places {missing}, unused values {unused}")
    return _PLACE.sub(lambda match: values[match[1]], text)
