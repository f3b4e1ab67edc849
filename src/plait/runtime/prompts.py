"""Prompts as chains of parts, so that a log grows by what is new in a prompt and no more.

Knows nothing of models or databases. A prompt is cut into messages and these, at blank lines, into
chunks; every chunk is a `PromptPart` whose id depends on all parts before it. The id of the last
part stands for the whole prompt, and a prompt that goes on where another stopped shares its parts.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeGuard, cast

from plait.errors import LogError
from plait.events import PromptPart
from plait.runtime.codec import digest

CHUNK_CHARACTERS = 256
"""A chunk is closed at the first blank line after this many characters."""

REMEMBERED_MESSAGES = 64
"""Messages whose parts are kept at hand."""

_BLANK_LINE = re.compile(r"\n\n+")


def is_chat(messages: object) -> TypeGuard[Sequence[dict[str, str]]]:
    """Whether a value is a chat that parts can hold: roles and texts, and nothing else."""
    if not isinstance(messages, list | tuple) or not messages:
        return False
    return all(_is_message(message) for message in cast("Sequence[object]", messages))


def _is_message(message: object) -> bool:
    if not isinstance(message, dict):
        return False
    fields = cast("dict[object, object]", message)
    role, content = fields.get("role"), fields.get("content")
    # An empty role marks a part that continues its message, so no message may have one.
    return len(fields) == 2 and isinstance(role, str) and role != "" and isinstance(content, str)


def parts(chat: Sequence[dict[str, str]]) -> list[PromptPart]:
    """Cut a chat into its parts, first to last."""
    chain: list[PromptPart] = []
    parent = ""
    for message in chat:
        chain += _parts_of(parent, message["role"], message["content"])
        parent = chain[-1].id
    return chain


@lru_cache(maxsize=REMEMBERED_MESSAGES)
def _parts_of(parent: str, role: str, content: str) -> tuple[PromptPart, ...]:
    """Cut one message; agents begin most of their prompts with the same ones."""
    chain: list[PromptPart] = []
    for text in chunks(content):
        identity = digest(f"{parent} {len(role)} {role}{text}")
        chain.append(PromptPart(id=identity, parent=parent, role=role, text=text))
        parent, role = identity, ""
    return tuple(chain)


def chunks(text: str) -> Iterator[str]:
    """Cut text after blank lines into pieces that together are the text, at least one."""
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        if blank.end() - start >= CHUNK_CHARACTERS and blank.end() < len(text):
            yield text[start : blank.end()]
            start = blank.end()
    yield text[start:]


def restore(by_id: dict[str, PromptPart], head: str) -> list[dict[str, str]]:
    """Restore the chat whose last part is `head`, from parts by id.

    Raises:
        LogError: a part is not there.
    """
    chain: list[PromptPart] = []
    identity = head
    while identity:
        part = by_id.get(identity)
        if part is None:
            raise LogError(f"the run log has no prompt part {identity!r}: the prompt cannot be shown")
        chain.append(part)
        identity = part.parent
    chat: list[tuple[str, list[str]]] = []
    for part in reversed(chain):
        if part.role:
            chat.append((part.role, [part.text]))
        else:
            chat[-1][1].append(part.text)
    return [{"role": role, "content": "".join(texts)} for role, texts in chat]
