"""How a run's steps are answered, done and recorded: the rules of resume.

Knows nothing of databases or threads: rows go to a `Sink`. A step on record answers for equal
arguments; one that a fork copied, whichever model is asked. With other arguments it is done anew,
unless the run had effects that may rest on it. An effect is on disk as intended before it is done, and
never repeated while its result is unknown.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal, Protocol

from plait.errors import LogError, NeedsDecision
from plait.events import DecisionMade, EffectIntended, Event, PromptPart, Record, StepDiverged, StepRecorded
from plait.journal import JSON, JSONObject, StepKind
from plait.runtime.codec import dumps, encode
from plait.runtime.history import (
    DIVERGED,
    INTENDED,
    PASSING_KINDS,
    RUN_KINDS,
    History,
    Intent,
    RecordedStep,
    comparable_event,
)
from plait.runtime.step_arguments import describe, stored_arguments
from plait.runtime.store import RecordRow, RunEnd, to_record

Decision = Literal["retry", "assume-done"]


class Sink(Protocol):
    """Where rows go; it keeps their order."""

    @property
    def failure(self) -> BaseException | None:
        """Why rows could not be written; after that none are."""
        ...

    def put(
        self,
        rows: list[RecordRow],
        *,
        durable: bool = False,
        lazy: bool = False,
        ends: RunEnd | None = None,
    ) -> "asyncio.Future[None]":
        """Queue rows, and note in the same transaction how the run ended.

        The future is done when they are on disk, or holds a LogError.
        """
        ...


class Recorder:
    """All steps and events of one run in one process."""

    def __init__(self, run_id: str, epoch: int, history: History, sink: Sink) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.history = history
        self.observers: list[Callable[[Record], None]] = []
        self.recalled: set[str] = set()
        """Paths of the steps that an earlier process did and that are answered from its records."""
        self._sink = sink
        self._called: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._last: asyncio.Future[None] | None = None
        # Effects of this process never rest on a recorded step that it has not asked for yet.
        self._had_effects = history.has_effects

    async def call(
        self,
        path: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        kind: StepKind,
    ) -> JSON:
        """Answer a step from its record, or do and record it. See `plait.journal.Journal.call`."""
        if path in self._called:
            raise RuntimeError(f"step {path!r} was called twice in one run: give each step a name of its own")
        self._called.add(path)
        try:
            stored, args_hash, parts = stored_arguments(path, args, kind)
            step = await self._on_record(path, args, stored, args_hash, kind)
            if step is not None:
                if not step.shared:
                    self.recalled.add(path)
                return step.result
            if kind == "effect":
                await self._intend(path, stored, args_hash)
            started = time.monotonic()
            result, shared_with = await self.history.sharing.once(path, kind, stored, lambda: fn(args))
            seconds = time.monotonic() - started
        except BaseException:
            self._called.discard(path)
            raise
        event = StepRecorded(
            step=kind,
            args=stored,
            args_hash=args_hash,
            result=self._as_json(path, result),
            seconds=round(seconds, 6),
            shared_with=shared_with,
        )
        await self._record(path, event, parts)
        return event.result

    def emit(self, place: str, event: Event) -> None:
        """Add an event, unless it is on record at this place already.

        Raises:
            LogError: an earlier record could not be written.
        """
        self._check()
        if event.kind in RUN_KINDS or event.kind in PASSING_KINDS:
            counter = f"{place}!{event.kind}"
            if event.kind in PASSING_KINDS and self._met_again(counter, event):
                return
            number = self.history.counts.get(counter, 0)
            self.history.counts[counter] = number + 1
            self._put([self._row(f"{counter}!{number}", event)], lazy=True)
            return
        number = self._numbers.get(place, 0)
        self._numbers[place] = number + 1
        self._put_once(f"{place}!{number}", event)

    async def add(self, event: Event, *, ends: RunEnd | None = None) -> None:
        """Add an event of the run itself, fully synced."""
        self._check()
        counter = f"run!{event.kind}"
        number = self.history.counts.get(counter, 0)
        self.history.counts[counter] = number + 1
        await self._put([self._row(f"{counter}!{number}", event)], durable=True, ends=ends)

    async def decide(self, decision: Decision) -> None:
        """Record what the user decided about every effect in doubt."""
        for path in self.history.in_doubt():
            await self.add(DecisionMade(at=path, decision=decision))
            self.history.intents[path] = replace(self.history.intents[path], decision=decision)

    async def flush(self) -> None:
        """Wait until all that was added is on disk.

        Raises:
            LogError: some of it cannot be written.
        """
        if self._last is not None and not self._last.done():
            await asyncio.shield(self._put([]))  # Hurries what is lazy.
        self._check()

    def _as_json(self, path: str, result: JSON) -> Any:
        """Return a result as it will be read back, so that a first run sees what a resumed one sees."""
        try:
            return json.loads(dumps(result))
        except (TypeError, ValueError, RecursionError) as exc:
            raise LogError(f"step {path!r}: its result is not JSON ({exc}); it is not recorded") from exc

    async def _on_record(
        self, path: str, asked: JSONObject, args: JSONObject, args_hash: str, kind: StepKind
    ) -> RecordedStep | None:
        """Find the answer on record, or settle that the step is to be done."""
        self._check()
        step = self.history.steps.get(path)
        intent = self.history.intents.get(path)
        if intent is not None:
            return await self._settle(path, intent, args, args_hash)
        if step is None or step.args_hash == args_hash or self.history.copies.answer(path, asked):
            return step
        if self._had_effects or kind == "effect":
            raise self._changed(path)
        event = StepDiverged(recorded_hash=step.args_hash, asked_hash=args_hash)
        self._put_once(f"{path}{DIVERGED}", event)
        return None

    def _changed(self, path: str) -> NeedsDecision:
        return NeedsDecision(
            f"step {path!r} is on record with another prompt or other arguments, and effects of this run may"
            f" rest on it: undo the change, or take a new run from there with"
            f" `plait fork {self.run_id} --from {path}`",
            path=path,
        )

    async def _settle(
        self, path: str, intent: Intent, args: JSONObject, args_hash: str
    ) -> RecordedStep | None:
        """Treat an effect that was intended and whose result is not known."""
        if intent.args_hash != args_hash:
            raise self._changed(path)
        if intent.decision == "retry":
            return None
        if intent.decision != "assume-done":
            raise NeedsDecision(
                f"effect in doubt at {path!r}: {describe(intent.args)} was begun and its result is lost; look"
                f" whether it was done, then `plait resume {self.run_id} --retry` or `--assume-done`",
                path=path,
            )
        event = StepRecorded(
            step="effect", args=args, args_hash=args_hash, result=None, seconds=0.0, assumed=True
        )
        await self._record(path, event, [])
        return RecordedStep(args_hash=args_hash, result=None, assumed=True)

    async def _intend(self, path: str, args: JSONObject, args_hash: str) -> None:
        event = EffectIntended(args=args, args_hash=args_hash)
        self.history.intents[path] = Intent(args_hash=args_hash, args=args)
        await self._put([self._row(f"{path}{INTENDED}", event)], durable=True)

    async def _record(self, path: str, event: StepRecorded, parts: list[PromptPart]) -> None:
        rows: list[RecordRow] = []
        for part in parts:
            if part.id not in self.history.parts:
                self.history.parts.add(part.id)
                rows.append(self._row(f"prompt/{part.id}", part))
        rows.append(self._row(path, event))
        await self._put(rows, durable=event.step == "effect")
        self.history.intents.pop(path, None)
        self.history.steps.pop(path, None)

    def _met_again(self, counter: str, event: Event) -> bool:
        """Whether a passing event is on record and was not met by this process before."""
        recorded = self.history.passing.get(counter)
        if not recorded:
            return False
        data = json.loads(encode(event))
        if data not in recorded:
            return False
        recorded.remove(data)
        return True

    def _put_once(self, path: str, event: Event) -> None:
        recorded = self.history.emitted.pop(path, None)
        if recorded is None or recorded != comparable_event(event):
            self._put([self._row(path, event)], lazy=True)

    def _row(self, path: str, event: Event) -> RecordRow:
        try:
            data = encode(event)
        except (TypeError, ValueError, RecursionError) as exc:
            raise LogError(f"the event {event.kind!r} at {path!r} is not JSON ({exc})") from exc
        self.history.sequence += 1
        return RecordRow(
            run_id=self.run_id,
            sequence=self.history.sequence,
            path=path,
            revision=self.history.place(path),
            epoch=self.epoch,
            at=time.time(),
            kind=event.kind,
            data=data,
        )

    def _put(
        self,
        rows: list[RecordRow],
        *,
        durable: bool = False,
        lazy: bool = False,
        ends: RunEnd | None = None,
    ) -> "asyncio.Future[None]":
        self._last = self._sink.put(rows, durable=durable, lazy=lazy, ends=ends)
        for observer in self.observers:
            for row in rows:
                observer(to_record(row))
        return self._last

    def _check(self) -> None:
        """Stop a run whose log has a hole: nothing may be recorded after what was lost."""
        if self._sink.failure is not None:
            raise self._sink.failure
