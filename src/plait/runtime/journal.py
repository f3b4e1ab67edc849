"""The journal of a run that records: `plait.journal.Journal` over a recorder.

Knows nothing of how steps are stored or answered; `recorder` holds these rules. `RunJournal` is the
root of a run and adds what the caller of a run needs: watch it, end it, give it back.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from plait.events import Event, Record, RunResumed
from plait.journal import JSON, Journal, JSONObject, StepKind
from plait.runtime.recorder import Decision, Recorder

Args = TypeVar("Args")
Result = TypeVar("Result")

ROOT = "run"


class BranchJournal:
    """The journal of one place in the tree of a run."""

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
        self._path = path

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
        return await self._recorder.call(self._below(name), fn, args, kind)

    def recalled(self, name: str) -> bool:
        return self._below(name) in self._recorder.recalled

    async def branch(self, name: str, fn: Callable[[Journal, Args], Awaitable[Result]], args: Args) -> Result:
        return await fn(BranchJournal(self._recorder, self._below(name)), args)

    def emit(self, event: Event) -> None:
        self._recorder.emit(self._path, event)

    def _below(self, name: str) -> str:
        check_name(name)
        return f"{self._path}/{name}"


def check_name(name: str) -> None:
    """Refuse names that would make two places one.

    Raises:
        ValueError: the name is empty or has a `!`, which begins the number of an event.
    """
    if not name or "!" in name:
        raise ValueError(f"{name!r} cannot name a step or a branch: it is empty or has a '!'")


class Owner(Protocol):
    """Who holds a run for its journal: ends it, and takes it back."""

    async def finish(self, recorder: Recorder, status: str, result: Mapping[str, Any]) -> None: ...

    async def withdraw(self) -> None: ...

    async def release(self) -> None: ...


class RunJournal(BranchJournal):
    """The root of a run."""

    def __init__(self, recorder: Recorder, owner: Owner, *, seconds: float) -> None:
        super().__init__(recorder, ROOT)
        self._owner = owner
        self.seconds = seconds
        """Seconds that earlier processes worked on this run."""

    @property
    def run_id(self) -> str:
        return self._recorder.run_id

    @property
    def epoch(self) -> int:
        """How many processes have taken the run up, this one among them."""
        return self._recorder.epoch

    @property
    def task(self) -> str:
        return self._recorder.history.task

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the run, with those that a resume changed."""
        return self._recorder.history.options

    def observe(self, callback: Callable[[Record], None]) -> None:
        """Call `callback` for each new record, on the event loop's thread, as it is queued."""
        self._recorder.observers.append(callback)

    async def take_up(self, options: Mapping[str, Any], decision: Decision | None) -> None:
        """Record that this process took the run up, and what the user changed or decided."""
        recorder = self._recorder
        recorder.history.options.update(options)
        await recorder.add(RunResumed(epoch=recorder.epoch, options=options))
        if decision is not None:
            await recorder.decide(decision)

    async def flush(self) -> None:
        """Wait until everything so far is on disk.

        Raises:
            LogError: it cannot be written.
        """
        await self._recorder.flush()

    async def finish(self, status: str, result: Mapping[str, Any]) -> None:
        """Record how the run ended, fully synced, and give the run back.

        Raises:
            LogError: it cannot be written.
        """
        await self._owner.finish(self._recorder, status, result)
        await self.close()

    async def withdraw(self) -> None:
        """Leave a run that was taken up again as it was before, unless a step was recorded since.

        Raises:
            LogError: it cannot be written.
        """
        await self._owner.withdraw()

    async def close(self) -> None:
        """Write what is queued and give the run back unfinished; safe to call twice.

        Raises:
            LogError: something cannot be written.
        """
        try:
            await self._recorder.flush()
        finally:
            await self._owner.release()
