"""The grammar that holds a model to exactly one call of one of the tools it was offered."""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from plait.models import gbnf
from plait.models.callspec import CallSpec, identifiers, read_spec
from plait.models.schema import is_identifier, properties_of

MAX_STRING = 400
"""Characters of a string argument under the grammar."""
MAX_IDENTIFIER = 64
"""Characters of an identifier, unless its schema says otherwise."""
MAX_THOUGHT = 160
"""Characters of a thought under the grammar."""
MAX_CRITIQUE = 200
"""Characters of a critique under the grammar."""


def call_grammar(specs: Sequence[CallSpec], *, critique: bool, score: bool, thought: bool = False) -> str:
    """Return the GBNF grammar of exactly one call of one of the tools.

    Arguments are keywords in schema order, required ones always there, values of the schema's types.
    With `thought` a comment line with the reason must lead; with `critique` and `score` the comment
    lines must follow, in that order.
    """
    return _grammar(tuple(spec.as_text for spec in specs), (thought, critique, score))


@lru_cache(maxsize=128)
def _grammar(texts: tuple[tuple[str, str, str], ...], comments: tuple[bool, bool, bool]) -> str:
    thought, critique, score = comments
    rules = gbnf.Rules(max_string=MAX_STRING)
    calls = [_call_rule(rules, spec) for spec in map(read_spec, texts)]
    root = rules.add("call", " | ".join(calls))
    if thought:
        root = f'"# thought: " {rules.add("thought", _line(MAX_THOUGHT))} "\\n" {root}'
    if critique:
        root += ' "\\n# critique: " ' + rules.add("critique", _line(MAX_CRITIQUE))
    if score:
        root += ' "\\n# score: " ' + rules.add("score", '"10" | [0-9]')
    return rules.text(root)


def _call_rule(rules: gbnf.Rules, spec: CallSpec) -> str:
    required = cast("Sequence[str]", spec.parameters.get("required", ()))
    items: list[tuple[str, bool]] = []
    for identifier, name in identifiers(list(properties_of(spec.parameters))).items():
        schema = properties_of(spec.parameters)[name]
        if is_identifier(name) and schema.get("type") == "string":
            # Small models run away in zeros.
            schema = {"maxLength": MAX_IDENTIFIER, **schema}
        expression = gbnf.value(rules, schema, spec.parameters)
        items.append((f"{gbnf.quote(identifier + '=')} {expression}", name in required))
    arguments = gbnf.sequence(rules, f"args-{spec.name}", items)
    return rules.add(f"call-{spec.name}", f'{gbnf.quote(spec.name + "(")} {arguments} ")"')


def _line(longest: int) -> str:
    return f"[^\\x00-\\x1F\\x7F]{{1,{longest}}}"
