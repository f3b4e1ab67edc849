"""The call form: one tool call in Python syntax, then a critique and a score as comments.

    calendar.search_events(query="fatima", time_min="2023-12-04 00:00:00")
    # critique: fits the subtask, the day is right
    # score: 9

Small models write this far better than JSON. Knows nothing of how a tool runs: it renders signatures
for prompts, the grammar that holds a model to the offered calls, and reads replies back, also those of
endpoints that take no grammar.
"""

import difflib
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plait.errors import ReplyError
from plait.models import gbnf
from plait.models.literals import find_close, format_literal, read_arguments
from plait.models.schema import Schema, alternatives, coerce, first_problem, properties_of, resolve, types_of

MAX_STRING = 400
"""Characters of a string argument under the grammar, unless the caller says otherwise."""
MAX_IDENTIFIER = 64
"""Characters of an identifier, unless its schema says otherwise."""
MAX_THOUGHT = 160
"""Characters of a thought under the grammar."""
MAX_CRITIQUE = 200
"""Characters of a critique under the grammar."""

_TYPE_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_CANDIDATE = re.compile(r"(?<![\w.-])(?P<name>[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*)[ \t]*\(")
_IDENTIFIER = re.compile(r"(?:^|_)id$", re.IGNORECASE)
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:[-*>] |\d+\. )?`{0,3}(?:\w+ *= *)?(?:await )?$")
_THOUGHT = re.compile(r"^[ \t#*]*thought[ \t*]*:[ \t*]*(.*)$", re.IGNORECASE | re.MULTILINE)
_CRITIQUE = re.compile(r"^[ \t#*]*critique[ \t*]*:[ \t*]*(.*)$", re.IGNORECASE | re.MULTILINE)
_SCORE = re.compile(r"^[ \t#*]*score[ \t*]*:[ \t*]*(\d+(?:\.\d+)?)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CallSpec:
    """What a model may know of a tool."""

    name: str
    """Identifiers joined by dots."""
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object; its properties in the order the model sees them."""


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


def identifiers(names: Sequence[str]) -> dict[str, str]:
    """Map Python identifiers, as the model writes them, to parameter names, in order and one to one."""
    known: dict[str, str] = {}
    for name in names:
        identifier = unique = _identifier(name)
        while unique in known:
            unique += "_"
        known[unique or identifier] = name
    return known


def signature(spec: CallSpec, *, details: bool = False) -> str:
    """Render a tool as one line for a prompt: `name(a: str, b: int = 5)  # description`.

    With `details`, the descriptions of its parameters follow, one line each.
    """
    required = cast("Sequence[str]", spec.parameters.get("required", ()))
    parameters: list[str] = []
    notes: list[str] = []
    for identifier, name in identifiers(list(properties_of(spec.parameters))).items():
        schema = properties_of(spec.parameters)[name]
        default = (
            ""
            if name in required
            else f" = {format_literal(resolve(schema, spec.parameters).get('default'))}"
        )
        parameters.append(f"{identifier}: {type_name(schema, spec.parameters)}{default}")
        note = _one_line(str(resolve(schema, spec.parameters).get("description", "")))
        notes.extend([f"    # {identifier}: {note}"] if note else [])
    line = f"{spec.name}({', '.join(parameters)})"
    description = _one_line(spec.description)
    lines = [f"{line}  # {description}" if description else line, *(notes if details else [])]
    return "\n".join(lines)


def type_name(schema: Any, root: Schema) -> str:
    """Write a schema as a Python annotation: `list[str]`, `Literal["a", "b"]`, `int | None`."""
    return _type_name(schema, root, depth=0)


def call_grammar(
    specs: Sequence[CallSpec],
    *,
    critique: bool,
    score: bool,
    thought: bool = False,
    max_string: int = MAX_STRING,
) -> str:
    """Return the GBNF grammar of exactly one call of one of the tools.

    Arguments are keywords in schema order, required ones always there, values of the schema's types.
    With `thought` a comment line with the reason must lead; with `critique` and `score` the comment
    lines must follow, in that order.
    """
    rules = gbnf.Rules(max_string=max_string)
    calls = [_call_rule(rules, spec) for spec in specs]
    root = rules.add("call", " | ".join(calls))
    if thought:
        root = f'"# thought: " {rules.add("thought", _line(MAX_THOUGHT))} "\\n" {root}'
    if critique:
        root += ' "\\n# critique: " ' + rules.add("critique", _line(MAX_CRITIQUE))
    if score:
        root += ' "\\n# score: " ' + rules.add("score", '"10" | [0-9]')
    return rules.text(root)


def format_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Write a call in the one canonical way, so that equal calls are equal texts."""
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


def _line(longest: int) -> str:
    return f"[^\\x00-\\x1F\\x7F]{{1,{longest}}}"


def _identifier(name: str) -> str:
    identifier = re.sub(r"\W", "_", name) or "_"
    if identifier[0].isdigit():
        identifier = f"_{identifier}"
    return f"{identifier}_" if keyword.iskeyword(identifier) else identifier


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _type_name(schema: Any, root: Schema, *, depth: int) -> str:
    resolved = resolve(schema, root)
    if depth > gbnf.MAX_DEPTH:
        return "Any"
    if "enum" in resolved or "const" in resolved:
        members = resolved.get("enum", [resolved.get("const")])
        return f"Literal[{', '.join(format_literal(member) for member in members)}]"
    options = alternatives(resolved)
    if options:
        return " | ".join(dict.fromkeys(_type_name(option, root, depth=depth + 1) for option in options))
    names = [_one_type(name, resolved, root, depth) for name in types_of(resolved)]
    return " | ".join(names) or "Any"


def _one_type(name: str, schema: Schema, root: Schema, depth: int) -> str:
    if name == "array":
        return f"list[{_type_name(schema.get('items'), root, depth=depth + 1)}]"
    if name == "object":
        entries = properties_of(schema).items()
        shown = (f"{format_literal(key)}: {_type_name(item, root, depth=depth + 1)}" for key, item in entries)
        return "{" + ", ".join(shown) + "}" if entries else "dict"
    return _TYPE_NAMES.get(name, "Any")


def _call_rule(rules: gbnf.Rules, spec: CallSpec) -> str:
    required = cast("Sequence[str]", spec.parameters.get("required", ()))
    items: list[tuple[str, bool]] = []
    for identifier, name in identifiers(list(properties_of(spec.parameters))).items():
        schema = properties_of(spec.parameters)[name]
        if _IDENTIFIER.search(name) and schema.get("type") == "string":
            # Small models run away in zeros.
            schema = {"maxLength": MAX_IDENTIFIER, **schema}
        expression = gbnf.value(rules, schema, spec.parameters)
        items.append((f"{gbnf.quote(identifier + '=')} {expression}", name in required))
    arguments = gbnf.sequence(rules, f"args-{spec.name}", items)
    return rules.add(f"call-{spec.name}", f'{gbnf.quote(spec.name + "(")} {arguments} ")"')


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
