"""Records of experience as rows of their table, and back.

Knows nothing of databases: what goes out is text and numbers that any of them takes, and what comes in may
be damaged or edited by hand, so that all of it is checked.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict, cast

from plait.errors import LogError
from plait.experience.record import Experience, ExperienceKind, ExperienceStatus
from plait.journal import JSONObject
from plait.runtime.codec import digest, dumps
from plait.runtime.shapes import first_misfit
from plait.runtime.vectors import pack, unpack

SHOWN_CHARACTERS = 80


class ExperienceRow(TypedDict):
    """A record as its table holds it, without its vector."""

    id: str
    memory: str
    kind: ExperienceKind
    domain: str
    goal: str
    key: str
    tools: str
    content: str
    status: ExperienceStatus
    run_id: str
    model: str
    source: str
    created: float
    uses: int
    successes: int
    failures: int
    failures_in_a_row: int
    last_used: float
    approved: int
    """Nought or one."""


FIELDS = tuple(ExperienceRow.__annotations__)
Row: TypeAlias = Mapping[str, Any]
"""A row of the table, by the names of its columns."""
_TEXTS = ("id", "memory", "domain", "goal", "key", "run_id", "model", "source")


def storable(text: str) -> str:
    """Return a text as any database takes it: no halves of pairs, no zero bytes."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def as_kept(record: Experience) -> Experience:
    """Return a record as it will be read again.

    Raises:
        TypeError, ValueError: its content is not JSON.
        UserError: its vector has no direction.
    """
    texts: dict[str, Any] = {name: storable(getattr(record, name)) for name in _TEXTS}
    return replace(
        record,
        **texts,
        tools=tuple(storable(tool) for tool in record.tools),
        content=json.loads(dumps(record.content)),
        vector=unpack(pack(record.vector)) if record.vector else (),
    )


def identity(record: Experience) -> str:
    """Return what is equal of records of which one is kept: in whatever order they call their tools."""
    tools = sorted(set(record.tools))
    return digest(dumps([record.memory, record.kind, record.domain, record.key, tools]))


def to_row(record: Experience) -> dict[str, Any]:
    """Write a record as `as_kept` returned it, without its vector."""
    row: dict[str, Any] = {name: getattr(record, name) for name in FIELDS}
    row["approved"] = int(record.approved)
    return {**row, "tools": dumps(list(record.tools)), "content": dumps(record.content)}


def to_experience(row: Row) -> Experience:
    """Read a row as a record, with its vector where the row has one.

    Raises:
        LogError: something in it cannot be read.
    """
    values: dict[str, Any] = {name: row[name] for name in FIELDS}
    if misfit := first_misfit(ExperienceRow, values):
        raise _unreadable(row, misfit)
    values["tools"], values["content"] = read_tools(row["tools"]), _read_content(row["content"])
    values["vector"] = _read_vector(row.get("vector"))
    values["approved"] = bool(row["approved"])
    for name in ("tools", "content", "vector"):
        if values[name] is None:
            raise _unreadable(row, name)
    return Experience(**values)


def read_tools(text: object) -> Sequence[str] | None:
    """Read the names of tools as a row holds them; None where they are damaged."""
    read = _read_json(text)
    if not isinstance(read, list):
        return None
    names = tuple(name for name in cast("list[object]", read) if isinstance(name, str))
    return names if len(names) == len(cast("list[object]", read)) else None


def _read_content(text: str) -> JSONObject | None:
    read = _read_json(text)
    return cast("JSONObject", read) if isinstance(read, dict) else None


def _read_json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _read_vector(data: object) -> Sequence[float] | None:
    if data is None:
        return ()
    try:
        return unpack(data) if isinstance(data, bytes) else None
    except ValueError:
        return None


def _unreadable(row: Row, name: str) -> LogError:
    found = repr(row[name])[:SHOWN_CHARACTERS]
    return LogError(f"experience {row['id']!r} cannot be read, as its {name} is {found}: remove it")
