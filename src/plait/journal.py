"""The seam between the strands and everything that remembers: the journal.

A strand sees only this file. It works alike whether a step is run, answered from a record, done on
another machine or replayed offline; who charges budgets may ask. Paths come from the structure of the
program, never from timing, so that the same program meets its own records again in whatever order its
branches run.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, TypeVar

from plait.events import Event

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
JSONObject: TypeAlias = Mapping[str, JSON]
StepKind = Literal["model", "tool", "effect", "value"]
"""What a step is: a model call, a tool that reads, a tool that changes the world, anything else."""

Args = TypeVar("Args")
Result = TypeVar("Result")


class Journal(Protocol):
    """One place in the tree of a run; `path` names it, for instance `run/round-1/subtask-2`."""

    @property
    def path(self) -> str: ...

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        """Return the recorded result of step `path/name`, or run `fn(args)`, record and return it.

        The result is on record before it is returned. An exception from `fn` is not recorded: the
        step is still to be done. A step of kind `effect` is recorded as intended, fully synced,
        before `fn` runs.

        Raises:
            NeedsDecision: an effect was intended but has no result, or the recorded arguments
                differ in a run that has effects.
            LogError: the record cannot be read or written.
        """
        ...

    def recalled(self, name: str) -> bool:
        """Whether step `path/name` was done by an earlier process, and is answered from its record.

        Not a model call that an equal one answered for: nobody made it.
        """
        ...

    async def branch(
        self, name: str, fn: "Callable[[Journal, Args], Awaitable[Result]]", args: Args
    ) -> Result:
        """Run `fn` with a journal of its own at `path/name`; it may run elsewhere."""
        ...

    def emit(self, event: Event) -> None:
        """Add an event at this place. The same event in the same order is kept once on resume."""
        ...
