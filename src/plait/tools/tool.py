"""A tool: a name, a schema, an effect and something to run.

Knows nothing of where a tool comes from (functions, MCP, OpenAPI), of approval or of the log.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from plait.errors import ToolError

Effect = Literal["reads", "changes"]
"""Whether a call only reads, or changes the world. Unknown counts as `changes`."""

DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_OBSERVATION_CHARACTERS = 4_000


class OutcomeUnknown(ToolError):
    """A call was sent and no answer came: what it was to change may or may not be changed."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One thing an agent can do."""

    name: str
    """As the model writes it: identifiers joined by dots, for instance `calendar.search_events`."""
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object; its properties in the order the model sees them."""
    effect: Effect
    run: Callable[[Mapping[str, Any]], Awaitable[Any]]
    """Called with validated arguments; returns text or a JSON value. Raises ToolError, and
    OutcomeUnknown where the call may have taken effect all the same."""
    source: str
    """Where it comes from, as the user named it."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    observation_characters: int = DEFAULT_OBSERVATION_CHARACTERS
    most_rows: int | None = None
    """Rows that a result has at most, so that one with as many may not be all; 0: it is always all; None:
    not known."""
