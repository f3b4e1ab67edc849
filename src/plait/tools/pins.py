"""Pins the descriptions of tools that a server of others sends: a changed one needs a new yes.

What a server says about its tools goes into prompts, so a description that changes after the user
looked at it is a way to slip in instructions. Knows nothing of servers or protocols.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from plait.errors import UserError
from plait.tools.tool import Tool

AskChanged = Callable[[Tool], Awaitable[bool]]
"""Asks the user whether a tool that changed or is new on a known server is fine."""


def fingerprint(tool: Tool) -> str:
    """Return a hash of everything about a tool that a model sees or that decides on its approval."""
    seen = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "effect": tool.effect,
    }
    spelled = json.dumps(seen, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(spelled.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Pins:
    """The fingerprints of all tools that the user has come to know, by server."""

    file: Path
    ask: AskChanged | None = None
    accept: bool = False
    """Take every change over without asking."""
    write: bool = True
    """Whether to keep what was seen; without it the pins stay as they are."""

    async def check(self, server: str, tools: Sequence[Tool]) -> None:
        """Compare a server's tools with what was pinned, and pin them if all are fine.

        A server that was never seen is pinned as it is.

        Args:
            server: Identity of the server: what is started or connected to, without secrets.
            tools: The tools it offers now.

        Raises:
            UserError: a tool is new or changed and nobody accepts it, or the pins cannot be kept.
        """
        pinned = self._read()
        known = pinned.get(server)
        now = {tool.name: fingerprint(tool) for tool in tools}
        if known is not None and not self.accept:
            for tool in tools:
                if known.get(tool.name) != now[tool.name]:
                    await self._accept(tool, is_new=tool.name not in known)
        if known != now and self.write:
            self._write({**pinned, server: now})

    async def _accept(self, tool: Tool, *, is_new: bool) -> None:
        if self.ask is not None and await self.ask(tool):
            return
        change = (
            "is new on a server that was known without it"
            if is_new
            else "has changed since it was first used"
        )
        raise UserError(
            f"tool {tool.name!r} of {tool.source!r} {change}; look at it and accept it with:"
            f" plait tools list {tool.source} --accept"
        )

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise UserError(f"{self.file}: cannot be read ({exc}); delete it to pin all tools anew") from exc
        if not isinstance(found, dict) or not all(
            isinstance(v, dict) for v in cast("dict[str, object]", found).values()
        ):
            raise UserError(f"{self.file}: is no list of pinned tools; delete it to pin all tools anew")
        return cast("dict[str, dict[str, str]]", found)

    def _write(self, pinned: dict[str, dict[str, str]]) -> None:
        """Replace the file whole, so that no reader ever sees half of it."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=self.file.name)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(pinned, stream, indent=1, sort_keys=True)
            Path(name).replace(self.file)
        except OSError as exc:
            raise UserError(f"{self.file}: cannot be written: {exc.strerror or exc}") from exc
