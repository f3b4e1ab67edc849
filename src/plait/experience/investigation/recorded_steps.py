"""The tool calls of a subtask from the records of a run (ICE, section 2: the trajectory of a leaf).

Knows nothing of plans or of databases: it reads the published events only.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from plait.events import ApprovalDecided, Gated, Record, StepRecorded
from plait.experience.investigation.tree import Step
from plait.models.callform import format_call
from plait.tools.executor import UNKNOWN_RESULT

END = "done("
"""How a choice begins that ends a subtask, where others begin with the name of a tool."""

_PLACE = re.compile(r"(?:^|/)round-(\d+)(?:/subtask-([^/!]+)(?:/step-(\d+))?)?(?=[/!]|$)")


class StepPlace(NamedTuple):
    """Where in a run a record belongs; 0 and empty where it belongs to none."""

    round: int = 0
    subtask: str = ""
    step: int = 0


class _Made(NamedTuple):
    """A call on record, and when it was written."""

    sequence: int
    step: Step

    @property
    def call(self) -> str:
        """As the gate shows it."""
        return format_call(self.step.tool, self.step.arguments)


def place_of(path: str) -> StepPlace:
    """Read where a path belongs."""
    found = _PLACE.search(path)
    if found is None:
        return StepPlace()
    round_, subtask, step = found.groups()
    return StepPlace(round=int(round_), subtask=subtask or "", step=int(step or 0))


def trajectory(records: Sequence[Record]) -> list[Step]:
    """Return the tool calls of a subtask in order (ICE, section 2: the trajectory of a leaf).

    Ordered by the number of the step and not by time, as a call of an earlier step may have been made anew.
    """
    places: dict[int, list[Record]] = {}
    for record in records:
        places.setdefault(place_of(record.path).step, []).append(record)
    steps: list[Step] = []
    ended = 0
    for _, group in sorted(places.items()):
        # What lies after the end and was made before it is of another way, which was gone before.
        made = [each for each in _calls(group) if each.sequence > ended and not _overtaken(each, group)]
        steps += [each.step for each in made]
        decision = _decision(group)
        if decision is not None and not made and _ends(decision[1], group):
            ended = decision[0].sequence
    return steps


def _ends(choice: Gated, group: Sequence[Record]) -> bool:
    if choice.verdict == "failed":
        return True
    # Logs of older versions do not tell which try was forced through.
    tries = (record.event for record in group if isinstance(record.event, Gated))
    taken = choice.taken if choice.verdict == "forced" else choice.attempt
    return any(each.attempt == taken and str(each.output).startswith(END) for each in tries)


def _decision(group: Sequence[Record]) -> tuple[Record, Gated] | None:
    """Return the try that let a step's choice through; tries after it are of another way."""
    gates = [(record, record.event) for record in group if isinstance(record.event, Gated)]
    gates.sort(key=lambda gate: gate[1].attempt)
    return next((gate for gate in gates if gate[1].verdict != "revised"), None)


def _overtaken(made: _Made, group: Sequence[Record]) -> bool:
    """Whether a call is of a way that was gone before: since it was made, something else was chosen."""
    decision = _decision(group)
    if decision is None or decision[0].sequence < made.sequence:
        return False
    tries = (record.event for record in group if isinstance(record.event, Gated))
    # A choice that was forced through may be that of any try.
    return all(each.output != made.call for each in tries if each.attempt <= decision[1].attempt)


def _calls(group: Sequence[Record]) -> list[_Made]:
    """Return the calls on record, and those that were never made because they were not allowed."""
    made: list[_Made] = []
    refused: dict[str, _Made] = {}
    for record in group:
        event = record.event
        if isinstance(event, StepRecorded) and event.step in ("tool", "effect") and "tool" in event.args:
            made.append(_Made(record.sequence, _step(event)))
        elif isinstance(event, ApprovalDecided) and not event.allowed:
            # Only effects are asked about; a read that is denied has its refusal for a result.
            step = Step(
                tool=event.tool,
                arguments=event.arguments,
                observation=f"not done: refused by {event.by}",
                ok=False,
                effect=True,
            )
            each = _Made(record.sequence, step)
            refused[each.call] = each
    told = {each.call for each in made}
    made += [each for call, each in refused.items() if call not in told]
    return sorted(made, key=lambda each: each.sequence)


def _step(event: StepRecorded) -> Step:
    tool = str(event.args["tool"])
    effect = event.step == "effect"
    arguments: Mapping[str, Any] = event.args.get("arguments", {})
    if event.result is None:
        # The user settled an effect in doubt as done; what it returned is lost.
        return Step(
            tool=tool, arguments=arguments, observation=UNKNOWN_RESULT, ok=True, effect=effect, whole=False
        )
    result = cast("Mapping[str, Any]", event.result)
    return Step(
        tool=tool,
        arguments=arguments,
        observation=str(result.get("text", "")),
        # A rehearsed effect is ok for its agent, but was not done.
        ok=bool(result.get("ok")) and not result.get("refused"),
        effect=effect,
        whole=not result.get("cut"),
    )
