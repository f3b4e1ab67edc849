"""What a goal says in the slots of a pipeline: worked out where words say it, else asked in one call.

Beyond the paper, whose agent fills in the parameters of every call (ICE, section 3.2). Knows nothing of
where the pipeline came from or of how it is walked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Role, next_attempt, through_gate
from plait.agents.prompting import fill, load
from plait.experience.goals import aligned, masked
from plait.experience.pipeline import Pipeline, Slot
from plait.journal import Journal
from plait.models.callform import CallSpec, call_grammar, format_call, parse_call
from plait.models.protocol import Form, Grammar, Message, Reply, Request

PACKAGE = "plait.experience"
READ = "read"
"""Name of the call in which a model says what the slots hold."""
MOST_VALUE = 200

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

DateOf = Callable[[str], date | None]
"""Works a date out from its words, such as `December 13`; None where it cannot."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Whose slots are filled, and from what."""

    pipeline: Pipeline
    goal: str
    """The goal at hand."""
    told: str
    """The goal as agents are told it, with facts such as its dates worked out."""
    date_of: DateOf


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The agent that reads slots, and its gate."""

    agent: Agent
    gate: GateSettings
    prompts: Path | None = None
    """Folder with the user's own prompts."""


async def slot_values(journal: Journal, reader: Reader, reading: Reading) -> dict[str, str]:
    """Return a value for every slot; costs no model call where words alone say it.

    Raises:
        ReplyError: the model gave no value that can be used.
        BudgetExhausted, ModelError: as `ask`.
    """
    values = worked_out(reading)
    missing = [slot for slot in reading.pipeline.slots if slot.name not in values]
    if missing:
        values |= await _asked(journal, reader, reading, missing)
    return values


def worked_out(reading: Reading) -> dict[str, str]:
    """Return the slots whose values follow from words alone."""
    pipeline, goal = reading.pipeline, reading.goal
    words = aligned(pipeline.purpose, goal)
    if words is None:
        return {}
    spans = [span.text for span in masked(pipeline.purpose).spans]
    values: dict[str, str] = {}
    for slot in pipeline.slots:
        said = words.get(slot.said)
        if said is None and not any(slot.said in span or span in slot.said for span in spans):
            said = slot.said  # No value but a word of the template, which both goals share.
        if said is not None and (value := _value(slot, said, reading.date_of)) is not None:
            values[slot.name] = value
    return values


def _value(slot: Slot, said: str, date_of: DateOf) -> str | None:
    """Return what a slot holds where the goal says `said`; None where that must be understood."""
    if slot.literal:
        return said.lower() if slot.example.islower() else said
    same = said.casefold() == slot.said.casefold()
    if same and not _DATE.search(slot.example):
        return slot.example
    now = date_of(said)
    # The same words may name another day than then: `tomorrow`.
    before = now if same else date_of(slot.said)
    if before is None or now is None or before.isoformat() not in slot.example:
        return None
    return slot.example.replace(before.isoformat(), now.isoformat())


async def _asked(
    journal: Journal, reader: Reader, reading: Reading, missing: Sequence[Slot]
) -> dict[str, str]:
    """Ask for the values of some slots in one call, through the gate."""
    spec = _spec(missing)
    gated = reader.gate.enabled
    form: Form = Grammar(gbnf=call_grammar([spec], critique=gated, score=gated, max_string=MOST_VALUE))
    prompt = fill(
        load(PACKAGE, "slots", reader.prompts),
        before=reading.pipeline.purpose,
        call=format_call(READ, {slot.name: slot.example for slot in missing}),
        task=reading.told,
        remarks="\n" + load(PACKAGE, "slots_remarks", reader.prompts) if gated else "",
    )

    def request(feedback: Feedback | None) -> Request:
        wrong = "" if feedback is None else "\n\nNot accepted: " + "; ".join(feedback.problems)
        messages = [Message(role="user", content=prompt + wrong)]
        return reader.agent.request(messages, form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[dict[str, str]]:
        parsed = parse_call(reply.text, [spec])
        values = {name: str(value) for name, value in parsed.call.arguments.items()}
        problems = [why for slot in missing if (why := problem(slot, values[slot.name], reading))]
        return Judged(
            output=values,
            shown=values,
            critique=parsed.critique,
            score=parsed.score,
            problems=problems,
            fatal=bool(problems),
        )

    role = Role(agent=reader.agent, gate=reader.gate, request=request, read=read)
    return (await through_gate(journal, role)).judged.output


def problem(slot: Slot, value: str, reading: Reading) -> str:
    """Return why a value cannot be what the goal says in a slot; empty where it can."""
    if slot.literal:
        return "" if _holds(reading.goal, value) else f"{slot.name}: {value!r} does not stand in the task"
    if _shape(value) != _shape(slot.example):
        return f"{slot.name}: {value!r} is not written like {slot.example!r}"
    if value == slot.example and not _holds(reading.goal, slot.said):
        return f"{slot.name}: {value!r} is of the earlier task"
    return ""


def _holds(goal: str, value: str) -> bool:
    return (
        bool(value.strip())
        and re.search(rf"(?<!\w){re.escape(value.strip())}(?!\w)", goal, re.IGNORECASE) is not None
    )


def _shape(value: str) -> str:
    """Return how a value is written: which of its characters are digits and letters."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "0", value))


def _spec(slots: Sequence[Slot]) -> CallSpec:
    properties: Mapping[str, Any] = {slot.name: {"type": "string", "maxLength": MOST_VALUE} for slot in slots}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return CallSpec(name=READ, description="Say what the task says.", parameters=parameters)
