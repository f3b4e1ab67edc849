"""Grammars in GBNF, llama.cpp's notation: a JSON schema becomes the Python literals that fit it.

Knows nothing of tools or prompts. Every repetition is bounded, so that no reply can run away, and the
spacing is the one of `literals.format_literal`, so that a model wastes no choice on it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from plait.models.literals import format_literal
from plait.models.schema import Schema, alternatives, properties_of, resolve, types_of

MAX_ITEMS = 20
"""Longest list, and most entries of a dict whose keys are free."""
MAX_DEPTH = 5
"""Nesting at which a value can only be a scalar; deeper schemas are checked after the reply."""
MAX_KEY = 40
"""Characters of a free key."""

_ESCAPES = str.maketrans(
    {
        **{chr(number): f"\\x{number:02X}" for number in range(ord(" "))},
        **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"},
    }
)
_CHARACTER = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\nt]'
_INTEGER = '"-"? ("0" | [1-9] [0-9]{0,15})'
_NATURAL = '"0" | [1-9] [0-9]{0,15}'
_NUMBER = '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,12})?'


def quote(text: str) -> str:
    """Write text as a GBNF terminal."""
    return f'"{text.translate(_ESCAPES)}"'


def rule_name(text: str) -> str:
    """Turn text into a name that GBNF takes for a rule."""
    return re.sub(r"[^a-zA-Z0-9]+", "-", text).strip("-").lower() or "rule"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The named rules of one grammar; a body that is there already keeps its name."""

    max_string: int
    """Longest string, in characters, where the schema sets no lower limit."""
    bodies: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, name: str, body: str) -> str:
        """Add a rule and return the name under which it stands."""
        name = rule_name(name)
        unique, count = name, 1
        while self.bodies.get(unique, body) != body:
            count += 1
            unique = f"{name}-{count}"
        self.bodies[unique] = body
        return unique

    def text(self, root: str) -> str:
        """Return the whole grammar, beginning at the rule's body `root`."""
        lines = [f"root ::= {root}", *(f"{name} ::= {body}" for name, body in self.bodies.items())]
        return "\n".join(lines) + "\n"


def value(rules: Rules, schema: Any, root: Schema, depth: int = 0) -> str:
    """Return an expression for the literals that fit a schema, adding the rules it needs."""
    resolved = resolve(schema, root)
    if "const" in resolved:
        return quote(format_literal(resolved["const"]))
    if "enum" in resolved:
        # Not a set: the order of its texts differs from process to process, and so would the prompt.
        members = dict.fromkeys(quote(format_literal(item)) for item in resolved["enum"])
        return rules.add("choice", " | ".join(members))
    options = alternatives(resolved) if depth < MAX_DEPTH else ()
    if options:
        expressions = dict.fromkeys(value(rules, option, root, depth + 1) for option in options)
        return rules.add("either", " | ".join(expressions))
    types = types_of(resolved)
    expressions = [_typed(rules, name, resolved, root, depth) for name in types]
    if not expressions:
        return _anything(rules, depth)
    return (
        expressions[0]
        if len(expressions) == 1
        else rules.add("either", " | ".join(dict.fromkeys(expressions)))
    )


def sequence(rules: Rules, name: str, items: Sequence[tuple[str, bool]]) -> str:
    """Return an expression for items in order, joined by ", ", each (expression, required) at most once."""
    tails = [""] * (len(items) + 1)
    for index in range(len(items) - 1, 0, -1):
        expression, required = items[index]
        step = f'", " {expression}' if required else f'(", " {expression})?'
        tails[index] = rules.add(f"{name}-rest-{index}", f"{step} {tails[index + 1]}".strip())
    heads: list[str] = []
    for index, (expression, required) in enumerate(items):
        heads.append(f"{expression} {tails[index + 1]}".strip())
        if required:
            return rules.add(name, " | ".join(heads))
    return f"({rules.add(name, ' | '.join(heads))})?" if heads else '""'


def string(rules: Rules, schema: Schema) -> str:
    """Return an expression for a double-quoted string within the schema's length."""
    longest = min(int(schema.get("maxLength", rules.max_string)), rules.max_string)
    shortest = min(int(schema.get("minLength", 0)), longest)
    rules.add("character", _CHARACTER)
    return rules.add(f"string-{shortest}-{longest}", f'"\\"" character{{{shortest},{longest}}} "\\""')


def _typed(rules: Rules, name: str, schema: Schema, root: Schema, depth: int) -> str:
    match name:
        case "string":
            return string(rules, schema)
        case "integer":
            natural = schema.get("minimum", -1) >= 0
            return rules.add("natural", _NATURAL) if natural else rules.add("integer", _INTEGER)
        case "number":
            return rules.add("number", _NUMBER)
        case "boolean":
            return rules.add("boolean", '"True" | "False"')
        case "null":
            return '"None"'
        case "array" if depth < MAX_DEPTH:
            return _array(rules, schema, root, depth)
        case "object" if depth < MAX_DEPTH:
            return _object(rules, schema, root, depth)
        case _:
            return '"[]"' if name == "array" else '"{}"'


def _array(rules: Rules, schema: Schema, root: Schema, depth: int) -> str:
    item = value(rules, schema.get("items"), root, depth + 1)
    return rules.add(
        "list", _repeated("[", item, "]", schema.get("minItems", 0), schema.get("maxItems", MAX_ITEMS))
    )


def _repeated(opening: str, item: str, closing: str, fewest: int, most: int) -> str:
    most = min(most, MAX_ITEMS)
    fewest = min(fewest, most)
    if most == 0:
        return quote(opening + closing)
    inner = f'{item} (", " {item}){{{max(fewest - 1, 0)},{most - 1}}}'
    return f"{quote(opening)} {inner if fewest else f'({inner})?'} {quote(closing)}"


def _object(rules: Rules, schema: Schema, root: Schema, depth: int) -> str:
    properties = properties_of(schema)
    if not properties:
        extra = schema.get("additionalProperties")
        item = value(rules, extra if isinstance(extra, Mapping) else {}, root, depth + 1)
        key = string(rules, {"minLength": 1, "maxLength": MAX_KEY})
        pair = rules.add("pair", f'{key} ": " {item}')
        return rules.add("dict", _repeated("{", pair, "}", 0, MAX_ITEMS))
    required = cast("Sequence[str]", schema.get("required", ()))
    items: list[tuple[str, bool]] = []
    for name, item_schema in properties.items():
        item = value(rules, item_schema, root, depth + 1)
        items.append((f"{quote(format_literal(name) + ': ')} {item}", name in required))
    return rules.add("dict", f'"{{" {sequence(rules, "entries", items)} "}}"')


def _anything(rules: Rules, depth: int) -> str:
    scalars = [
        string(rules, {}),
        rules.add("number", _NUMBER),
        rules.add("boolean", '"True" | "False"'),
        '"None"',
    ]
    scalar = rules.add("scalar", " | ".join(scalars))
    if depth >= MAX_DEPTH - 2:
        return scalar
    return rules.add("any", f"{scalar} | {_repeated('[', scalar, ']', 0, MAX_ITEMS)}")
