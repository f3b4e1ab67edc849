"""Run a recorded run again from its records alone: no model, no tool, nothing written.

Knows nothing of databases. The program that made the records runs over a `Replay`; every step must be
on record with equal arguments, and every event must be the one on record. What comes out is then the
same to the byte, or the first difference is named.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from plait.errors import PlaitError
from plait.events import Event, Record, RunResumed, RunStarted, StepRecorded
from plait.journal import JSON, Journal, JSONObject, StepKind
from plait.runtime.copies import Copies
from plait.runtime.history import PASSING_KINDS, RUN_KINDS, comparable_event
from plait.runtime.journal import ROOT, check_name
from plait.runtime.step_arguments import stored_arguments

Args = TypeVar("Args")
Result = TypeVar("Result")


class ReplayMiss(PlaitError):
    """The program asks for something that is not on record, or says something else."""


class Replay:
    """One place in a recorded run; the one made from the records is its root."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._path = ROOT
        self._steps = {
            record.path: record.event for record in records if isinstance(record.event, StepRecorded)
        }
        self._events = {record.path: record.event for record in records}
        self._numbers: dict[str, int] = {}
        self.task = ""
        self.options: Mapping[str, Any] = {}
        """The options of the run, with those that a resume changed."""
        self._copies = Copies()
        for record in records:
            self._note(record.event)
            self._copies.note(record)

    def _note(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.task, self.options = event.task, event.options
        elif isinstance(event, RunResumed):
            self.options = {**self.options, **event.options}

    @property
    def path(self) -> str:
        return self._path

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        """Return the recorded result of a step; `fn` is never run.

        Raises:
            ReplayMiss: the step is not on record, or has other arguments there.
        """
        path = self._below(name)
        step = self._steps.get(path)
        if step is None:
            raise ReplayMiss(
                f"step {path!r} is not on record: the run did not get there, or Plait has changed"
            )
        _, args_hash, _ = stored_arguments(path, args, kind)
        if args_hash != step.args_hash and not self._copies.answer(path, args):
            raise ReplayMiss(f"step {path!r} is on record with another prompt or other arguments")
        return step.result

    def recalled(self, name: str) -> bool:
        """Every step is, unless an equal one answered for it."""
        step = self._steps.get(self._below(name))
        return step is not None and not step.shared_with

    async def branch(self, name: str, fn: Callable[[Journal, Args], Awaitable[Result]], args: Args) -> Result:
        return await fn(self._child(self._below(name)), args)

    def emit(self, event: Event) -> None:
        """Compare an event with the one on record.

        Raises:
            ReplayMiss: it is another one, or there is none.
        """
        if event.kind in RUN_KINDS or event.kind in PASSING_KINDS:
            return
        number = self._numbers.get(self._path, 0)
        self._numbers[self._path] = number + 1
        path = f"{self._path}!{number}"
        recorded = self._events.get(path)
        if recorded is None:
            raise ReplayMiss(f"event {path!r} ({event.kind}) is not on record")
        if comparable_event(recorded) != comparable_event(event):
            raise ReplayMiss(f"event {path!r} ({event.kind}) is not the one on record ({recorded.kind})")

    def _below(self, name: str) -> str:
        check_name(name)
        return f"{self._path}/{name}"

    def _child(self, path: str) -> "Replay":
        child = Replay(())
        child._path = path
        child._steps = self._steps
        child._events = self._events
        child._copies = self._copies
        child._numbers = self._numbers
        return child
