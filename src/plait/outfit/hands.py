"""What a caller lends a run: things of its own process, which no log can hold.

Knows nothing of options.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.events import Record
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel
from plait.runtime.log import RunLog
from plait.teams.chain import Domain
from plait.tools.approval import AskUser
from plait.tools.pins import AskChanged
from plait.tools.tool import Tool

ToolSource: TypeAlias = str | Tool | Callable[..., Any]
"""`pkg.module`, `file.py`, an MCP configuration, an OpenAPI document, or a tool or function itself."""


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What a caller lends a run besides its options; none of it is recorded."""

    tools: Sequence[ToolSource] = ()
    """Tools and functions of this process, besides the sources in the options."""
    model: LanguageModel | None = None
    """Used instead of the model that the options name; the caller closes it."""
    on_event: Callable[[Record], None] | None = None
    approve: AskUser | None = None
    """Asked about every effect that the options say nothing about."""
    approve_change: AskChanged | None = None
    """Asked when the description of a known MCP tool has changed."""
    domain: Domain | None = None
    """What teams work on, instead of the domain that the options name."""
    embedder: Embedder | None = None
    """Compares texts by meaning, instead of the local embedder."""
    log: RunLog | None = None
    """An open log; else one is opened and closed."""


NO_HANDS = Hands()
