"""What is on record of one run, arranged for the questions a journal asks.

Knows nothing of databases or of running anything. A history is read once when a process takes a run
up; what the process adds is noted as far as later questions need it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from plait.errors import LogError
from plait.events import Event
from plait.runtime.codec import encode
from plait.runtime.copies import Copies
from plait.runtime.sharing import Sharing
from plait.runtime.store import RecordRow, to_record

RUN_KINDS = frozenset(
    {"run_started", "run_resumed", "run_finished", "feedback_given", "decision_made", "texts_embedded"}
)
"""Events of the run itself, and what it consumed besides its steps; each is always added."""

PASSING_KINDS = frozenset({"model_retried", "budget_reached", "approval_decided"})
"""Events that may be missing when the same program runs again, as what caused them is over. They are
numbered apart, so that the numbers of other events do not shift."""

INTENDED = "!intended"
DIVERGED = "!diverged"


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedStep:
    """A step that is done."""

    args_hash: str
    result: Any
    assumed: bool
    shared: bool = False
    """An equal call's result is this one's too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """An effect that was about to be done."""

    args_hash: str
    args: Any
    decision: str = ""
    """What the user decided about it since, or empty."""


@dataclass(kw_only=True, slots=True)
class History:
    """The records of one run by their paths, of each path the last."""

    steps: dict[str, RecordedStep] = field(default_factory=dict[str, RecordedStep])
    intents: dict[str, Intent] = field(default_factory=dict[str, Intent])
    """Effects without a result."""
    emitted: dict[str, Any] = field(default_factory=dict[str, Any])
    """Path of an emitted event -> its kind and data, for comparison."""
    passing: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    """Place and kind -> events that may come again."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """Place and kind -> how many passing events there are."""
    revisions: dict[str, int] = field(default_factory=dict[str, int])
    parts: set[str] = field(default_factory=set[str])
    copies: Copies = field(default_factory=Copies)
    """What a fork has from another run."""
    sharing: Sharing = field(default_factory=Sharing)
    """Replies that answer for equal requests."""
    sequence: int = 0
    has_effects: bool = False
    task: str = ""
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def place(self, path: str) -> int:
        """Return the next revision of a path and count it as used."""
        revision = self.revisions.get(path, -1) + 1
        self.revisions[path] = revision
        return revision

    def in_doubt(self) -> list[str]:
        """List the effects that were intended, have no result and are not decided."""
        return [path for path, intent in self.intents.items() if not intent.decision]


def read_history(rows: Iterable[RecordRow]) -> History:
    """Arrange the rows of a run, which come in their order.

    Raises:
        LogError: a row cannot be read.
    """
    history = History()
    for row in rows:
        history.sequence = row["sequence"]
        history.revisions[row["path"]] = max(row["revision"], history.revisions.get(row["path"], 0))
        try:
            _add(history, row["path"], row["kind"], json.loads(row["data"]))
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise LogError(
                f"run {row['run_id']!r}: record {row['path']!r} ({row['kind']}) cannot be read"
            ) from exc
        if row["kind"] == "run_started" or history.copies.is_fork:
            history.copies.note(to_record(row))
    return history


def _add(history: History, path: str, kind: str, data: Any) -> None:
    if kind == "step_recorded":
        history.steps[path] = RecordedStep(
            args_hash=data["args_hash"],
            result=data["result"],
            assumed=data.get("assumed", False),
            shared=bool(data.get("shared_with")),
        )
        history.sharing.note(path, data["step"], data["args"], data["result"])
        history.intents.pop(path, None)
        history.has_effects = history.has_effects or data["step"] == "effect"
    elif kind == "effect_intended":
        history.intents[path.removesuffix(INTENDED)] = Intent(args_hash=data["args_hash"], args=data["args"])
        history.has_effects = True
    elif kind == "prompt_part":
        history.parts.add(data["id"])
    elif kind in RUN_KINDS:
        counter = path.rsplit("!", 1)[0]
        history.counts[counter] = history.counts.get(counter, 0) + 1
        _add_run_event(history, kind, data)
    elif kind in PASSING_KINDS:
        counter = path.rsplit("!", 1)[0]
        history.counts[counter] = history.counts.get(counter, 0) + 1
        history.passing.setdefault(counter, []).append(data)
    else:
        history.emitted[path] = comparable(kind, data)


def _add_run_event(history: History, kind: str, data: Any) -> None:
    if kind == "run_started":
        history.task = data["task"]
        history.options = dict(data["options"])
    elif kind == "run_resumed":
        history.options.update(data["options"])
    elif kind == "decision_made" and (intent := history.intents.get(data["at"])):
        history.intents[data["at"]] = Intent(
            args_hash=intent.args_hash, args=intent.args, decision=data["decision"]
        )


def comparable(kind: str, data: Any) -> tuple[str, Any]:
    """Return what must be equal for two events to be the same: all but times."""
    values = cast("dict[str, Any]", data)
    return kind, {name: value for name, value in values.items() if not name.endswith("seconds")}


def comparable_event(event: Event) -> tuple[str, Any]:
    """Return the same for an event that is not on record."""
    return comparable(event.kind, json.loads(encode(event)))
