"""What the model is told about an office tool, and how a call reaches its function.

Knows nothing of any single tool. The functions stand apart from what is declared of them, because
they answer a missing argument with a message while the model is told that it is required.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.errors import ToolError
from plait.tools.office.tables import Office
from plait.tools.tool import DEFAULT_OBSERVATION_CHARACTERS, Effect, Tool

OfficeAnswer: TypeAlias = (
    "str | dict[str, str] | dict[str, int] | dict[str, float] | list[str] | list[dict[str, str]]"
)
"""What a tool answers: a message, or JSON values."""

SEARCH_LIMIT = 5
"""At most this many results where a search has a limit."""

SOURCE = "plait.tools.office"

_MAX_CHARACTERS = 100_000  # A CSV cell of more than 131,072 characters could not be read again.


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One tool: its function and what the model sees of it."""

    name: str
    description: str
    function: Callable[..., OfficeAnswer]
    """Takes the office, then the arguments by name; every argument is text and optional."""
    parameters: Mapping[str, Mapping[str, Any]]
    required: Sequence[str] = ()
    effect: Effect = "reads"
    observation_characters: int = DEFAULT_OBSERVATION_CHARACTERS
    most_rows: int | None = None

    def call(self, office: Office, arguments: Mapping[str, Any]) -> OfficeAnswer:
        """Run the tool.

        Raises:
            ToolError: an argument that the tool does not have or that is too long, or a table that
                cannot be saved.
            UserError: a table in the folder is damaged.
        """
        unknown = [name for name in arguments if name not in self.parameters]
        if unknown:
            names = ", ".join(self.parameters)
            raise ToolError(f"{self.name} has no parameter {unknown[0]!r}; it takes {names}")
        given = {name: _as_text(value) for name, value in arguments.items() if value is not None}
        for name, value in given.items():
            if len(value) > _MAX_CHARACTERS:
                raise ToolError(f"{self.name}: {name} is longer than {_MAX_CHARACTERS} characters")
        return self.function(office, **given)

    def arguments(self, positional: Sequence[str], named: Mapping[str, str]) -> Mapping[str, str]:
        """Return the arguments of a call in Python by name.

        Raises:
            ToolError: they do not fit the function.
        """
        try:
            bound = inspect.signature(self.function).bind(None, *positional, **named)
        except TypeError as exc:
            raise ToolError(f"{self.name}: {exc}; it takes {', '.join(self.parameters)}") from exc
        return {name: bound.arguments[name] for name in self.parameters if name in bound.arguments}

    def tool(self, office: Office) -> Tool:
        """Return the tool that acts on `office`."""

        # Runs in the event loop on purpose: a call takes a few milliseconds, and in one piece it can
        # neither be cut in two by a cancellation nor meet another change of the same table.
        async def run(arguments: Mapping[str, Any]) -> OfficeAnswer:
            return self.call(office, arguments)

        return Tool(
            name=self.name,
            description=self.description,
            parameters={
                "type": "object",
                "properties": dict(self.parameters),
                "required": list(self.required),
                "additionalProperties": False,
            },
            effect=self.effect,
            run=run,
            source=SOURCE,
            observation_characters=self.observation_characters,
            most_rows=self.most_rows,
        )


def text(description: str) -> Mapping[str, Any]:
    """Describe a parameter that takes any text."""
    return {"type": "string", "description": description}


def choice(description: str, options: Sequence[str]) -> Mapping[str, Any]:
    """Describe a parameter that takes one of `options`."""
    return {"type": "string", "enum": list(options), "description": description}


def contains(cell: str, part: str | None) -> bool:
    """Whether `part` occurs in a cell, in upper or lower case; no part occurs everywhere."""
    return not part or part.lower() in cell.lower()


def one_of(options: Sequence[str]) -> str:
    """Return the options as words for a message."""
    return f"{', '.join(options[:-1])} or {options[-1]}"


def _as_text(value: Any) -> str:
    # A model may write half of a surrogate pair, which no file can hold.
    return str(value).encode("utf-8", "replace").decode("utf-8")
