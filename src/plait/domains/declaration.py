"""The form of a domain file: what may stand in its TOML, checked when it is read.

Knows nothing of what phases and qualities do, nor of how the parts of a file must fit each other.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, TypeAlias, cast

from plait.errors import UserError
from plait.teams.chain import MOST_ROUNDS, ReplyKind

MOST_TOKENS = 32_768
MOST_LINES = 200
MOST_SCALE = 10
SHOWN_CHARACTERS = 80

_FORBID: Mapping[str, Any] = {"extra": "forbid"}


class Within:
    """The bounds of a number, for pydantic, which is imported only when a file is read."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "ge": self._least, "le": self._most}


class Filled:
    """A text or a list with something in it, for pydantic."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "min_length": 1}


Name: TypeAlias = Annotated[str, Filled()]


@dataclass(frozen=True, kw_only=True)
class CheckDeclared:
    """One entry of `[[quality.checks]]`: exactly one condition, and what to say where it does not hold."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBID

    says: Name
    contains: str | None = None
    matches: str | None = None
    min_words: Annotated[int, Within(0, 1_000_000)] | None = None
    max_words: Annotated[int, Within(0, 1_000_000)] | None = None
    min_lines: Annotated[int, Within(0, 1_000_000)] | None = None


@dataclass(frozen=True, kw_only=True)
class QualityDeclared:
    """The table `[quality]`."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBID

    kind: str | Sequence[str]
    scale: Annotated[int, Within(1, MOST_SCALE)] = 4
    dimensions: Mapping[str, str] = field(default_factory=dict[str, str])
    checks: Sequence[CheckDeclared] = ()

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds, also where there is only one."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind


@dataclass(frozen=True, kw_only=True)
class PhaseDeclared:
    """One entry of `[[phases]]`; see `teams.chain.Phase`."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBID

    name: Name
    instructor: str
    assistant: str
    writes: Name
    criteria: Name
    prompt: str = ""
    prompt_file: str = ""
    reply: ReplyKind = "text"
    rounds: Annotated[int, Within(1, MOST_ROUNDS)] = MOST_ROUNDS
    key: bool = False
    optional: bool = False
    inspects: bool = False
    first_file: str = ""
    most_lines: Annotated[int, Within(0, MOST_LINES)] = 0
    prose: bool = False
    max_tokens: Annotated[int, Within(16, MOST_TOKENS)] = 1024


@dataclass(frozen=True, kw_only=True)
class DomainDeclared:
    """A whole file."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBID

    name: Name
    product: Name
    aggregator: Name
    roles: Mapping[str, str]
    quality: QualityDeclared
    phases: Annotated[Sequence[PhaseDeclared], Filled()]


def read_declaration(text: str, source: str) -> DomainDeclared:
    """Return what the TOML `text` declares.

    Args:
        text: Content of the file.
        source: What errors call the file.

    Raises:
        UserError: it is no TOML, or a field is missing, unknown or of a wrong kind.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        table = tomllib.loads(text)
        # Through JSON, because only there strict reading takes a table for a dataclass.
        whole = json.dumps(table, default=str)
    except RecursionError as error:
        raise UserError(f"domain file {source!r} is no TOML: it is nested too deeply") from error
    except ValueError as error:  # Of TOML, or of a number of more digits than Python reads and writes.
        raise UserError(f"domain file {source!r} is no TOML: {error}") from error
    try:
        return TypeAdapter(DomainDeclared).validate_json(whole, strict=True)
    except ValidationError as error:
        raise UserError(f"domain file {source!r}: {_told(error.errors(), table)}") from error


def _told(problems: Sequence[Any], table: Mapping[str, Any]) -> str:
    """Return the first problem of a file with the table and the field it is in."""
    problem: Mapping[str, Any] = problems[0]
    place = _place(problem["loc"], table)
    match problem["type"]:
        case "missing":
            return f"{place} is missing"
        case "string_too_short" | "too_short":
            return f"{place} is empty"
        case "unexpected_keyword_argument":
            return f"{place} is not known: take it out, or mend its spelling"
        case _:
            said = str(problem["msg"]).removeprefix("Input should be ")
            return f"{place} is {repr(problem['input'])[:SHOWN_CHARACTERS]}, but must be {said}"


def _place(parts: Sequence[str | int], table: Mapping[str, Any]) -> str:
    """Return where a problem is, as the user wrote it: `phases 'coding': rounds`."""
    value: Any = table
    words: list[str] = []
    for part in parts:
        if isinstance(value, dict):
            words.append(str(part))
            value = cast("dict[str, Any]", value).get(str(part))
        elif isinstance(value, list) and isinstance(part, int):
            value = cast("list[Any]", value)[part]
            words[-1] += f" {_entry_name(value) or part + 1}"
        # Anything else is pydantic's own: which of several types it tried.
    return ": ".join(words)


def _entry_name(entry: Any) -> str:
    name = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else None
    return repr(name) if isinstance(name, str) else ""
