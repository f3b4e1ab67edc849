"""The call form: one tool call in Python syntax, then a critique and a score as comments.

    calendar.search_events(query="fatima", time_min="2023-12-04 00:00:00")
    # critique: fits the subtask, the day is right
    # score: 9

Small models write this far better than JSON. Replies are read back, also those of endpoints that take
no grammar.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plait.errors import ReplyError
from plait.models.callspec import CallSpec, identifiers, signature
from plait.models.literals import find_close, format_literal, read_arguments
from plait.models.schema import coerce, first_problem, properties_of, resolve, types_of

_CANDIDATE = re.compile(r"(?<![\w.-])(?P<name>[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*)[ \t]*\(")
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:[-*>] |\d+\. )?`{0,3}(?:\w+ *= *)?(?:await )?$")
_THOUGHT = re.compile(r"^[ \t#*]*thought[ \t*]*:[ \t*]*(.*)$", re.IGNORECASE | re.MULTILINE)
_CRITIQUE = re.compile(r"^[ \t#*]*critique[ \t*]*:[ \t*]*(.*)$", re.IGNORECASE | re.MULTILINE)
_SCORE = re.compile(r"^[ \t#*]*score[ \t*]*:[ \t*]*(\d+(?:\.\d+)?)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call whose arguments fit the tool's schema."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ParsedReply:
    """A reply in the call form."""

    call: Call
    thought: str = ""
    """Why this call, in the agent's words; empty where the reply has none."""
    critique: str = ""
    """Empty where the reply has none."""
    score: float | None = None
    """0-10, or None where the reply has none in that range."""


def format_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Write a call as a model does, its arguments in the order they were given."""
    known = identifiers(list(arguments))
    return f"{name}({', '.join(f'{key}={format_literal(arguments[given])}' for key, given in known.items())})"


def parse_call(text: str, specs: Sequence[CallSpec]) -> ParsedReply:
    """Read a reply in the call form.

    Code fences, prose around the call, positional arguments and values of a near type are taken.

    Raises:
        ReplyError: no call, an unknown tool, or arguments that do not fit; written for the model.
    """
    spec, start, end = _find_call(text, specs)
    arguments = _arguments(spec, read_arguments(text[start + 1 : end]))
    rest = text[end + 1 :]
    thought = _THOUGHT.search(text)
    critique = _CRITIQUE.search(rest) or _CRITIQUE.search(text)
    return ParsedReply(
        call=Call(name=spec.name, arguments=arguments),
        thought=thought[1].strip() if thought else "",
        critique=critique[1].strip() if critique else "",
        score=_score(rest) if _SCORE.search(rest) else _score(text),
    )


def check_arguments(spec: CallSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Mend arguments gently and check them against the tool's schema.

    Raises:
        ReplyError: an unknown, missing or ill-typed parameter.
    """
    names = list(properties_of(spec.parameters))
    for name in arguments:
        if name not in names and not spec.parameters.get("additionalProperties"):
            allowed = f"Allowed: {', '.join(identifiers(names))}." if names else "It takes none."
            raise ReplyError(f"{spec.name} has no parameter {name!r}. {allowed}")
    mended = cast(
        "dict[str, Any]", coerce(dict(arguments), {**spec.parameters, "type": "object"}, spec.parameters)
    )
    missing = [name for name in spec.parameters.get("required", ()) if name not in mended]
    if missing:
        raise ReplyError(
            f"{spec.name} needs {', '.join(missing)}. Form: {signature(spec).partition('  # ')[0]}"
        )
    problem = first_problem(mended, spec.parameters)
    if problem:
        raise ReplyError(f"Wrong argument of {spec.name}: {problem}")
    return mended


def _find_call(text: str, specs: Sequence[CallSpec]) -> tuple[CallSpec, int, int]:
    """Return the tool called and where its parentheses open and close."""
    found = list(_CANDIDATE.finditer(text))
    # A call that begins its line is meant; one inside a sentence may only be talked about.
    found.sort(key=lambda match: _LINE_START.search(text[: match.start()]) is None)
    for match in found:
        spec = _spec_named(match["name"], specs)
        if spec is None:
            continue
        close = find_close(text, match.end() - 1)
        if close < 0:
            raise ReplyError(
                f"The call of {spec.name} is not closed. Write it whole, on one line, and shorter."
            )
        return spec, match.end() - 1, close
    if found:
        raise ReplyError(_unknown_tool(found[0]["name"], specs))
    example = f", for instance: {_head(specs[0])}" if specs else ""
    raise ReplyError(f"There is no tool call. Reply with one call{example}")


def _spec_named(name: str, specs: Sequence[CallSpec]) -> CallSpec | None:
    for spec in specs:
        if spec.name == name:
            return spec
    near = [spec for spec in specs if spec.name.endswith(f".{name}") or name.endswith(f".{spec.name}")]
    return near[0] if len(near) == 1 else None


def _unknown_tool(name: str, specs: Sequence[CallSpec]) -> str:
    names = [spec.name for spec in specs]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:5]
    return f"There is no tool {name!r}. Nearest: {', '.join(near)}."


def _head(spec: CallSpec) -> str:
    return signature(spec).partition("  # ")[0]


def _arguments(spec: CallSpec, given: Sequence[tuple[str | None, Any]]) -> dict[str, Any]:
    known = identifiers(list(properties_of(spec.parameters)))
    arguments: dict[str, Any] = {}
    for name, value in _named(spec, given, list(known.values())):
        parameter = known.get(name, name)
        if parameter in arguments:
            raise ReplyError(f"{spec.name} was given {parameter!r} twice. Give each parameter once.")
        arguments[parameter] = value
    return check_arguments(spec, arguments)


def _named(
    spec: CallSpec, given: Sequence[tuple[str | None, Any]], names: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Give positional arguments their names, by the order of the schema."""
    if len(given) == 1 and given[0][0] is None and _is_all_arguments(spec, given[0][1], names):
        yield from given[0][1].items()
        return
    for position, (name, value) in enumerate(given):
        if name is not None:
            yield name, value
        elif position < len(names):
            yield names[position], value
        else:
            raise ReplyError(
                f"{spec.name} takes {len(names)} arguments at most: {', '.join(names) or 'none'}."
            )


def _is_all_arguments(spec: CallSpec, value: Any, names: Sequence[str]) -> bool:
    """Tell whether a single dict holds the named arguments, as models used to JSON write them."""
    if not isinstance(value, dict):
        return False
    if not names:
        return True
    types = types_of(resolve(properties_of(spec.parameters)[names[0]], spec.parameters))
    return bool(types) and "object" not in types


def _score(text: str) -> float | None:
    found = _SCORE.search(text)
    score = float(found[1]) if found else None
    return score if score is not None and 0 <= score <= 10 else None
