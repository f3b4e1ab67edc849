"""Plait from Python: solve a task, watch it as a stream, take a run up again; each typed by its answer.

Knows nothing of how a run works: it turns keyword arguments into options, and an answer into an
instance of the asked type. The synchronous twins are for code without an event loop.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from os import fspath
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from plait.errors import UserError
from plait.events import Record
from plait.models.typed import schema_of
from plait.outfit.hands import Hands, ToolSource
from plait.outfit.settings import in_force, options_with
from plait.runner import resume as resume_run
from plait.runner import start
from plait.runtime.answer_schema import schema_of_answer
from plait.runtime.log import Decision
from plait.runtime.options import NOTED, Options, check_lists
from plait.runtime.team_options import LENT
from plait.solve_options import Approve, ResumeOptions, SolveOptions
from plait.task import Result
from plait.teams.chain import Domain
from plait.tools.tool import Tool

if TYPE_CHECKING:
    # Its default spares every function its overloads; Python has it from 3.13, and only checkers use it.
    from typing_extensions import TypeVar as VariableWithDefault

    T = VariableWithDefault("T", default=str)
else:
    T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Solved(Result, Generic[T]):
    """How a run ended, with an answer of a type."""

    answer: T | None
    """None where the run came to no answer; `message` says why."""


async def solve(
    task: str,
    *,
    tools: Sequence[ToolSource] = (),
    returns: type[T] | None = None,
    **options: Unpack[SolveOptions],
) -> Solved[T]:
    """Solve a task with tools, or make something with teams, and return how that ended.

    Args:
        task: What is to be done, in your words.
        tools: Functions, tools, or sources as `--tools` takes them.
        returns: Type of the answer: a pydantic model, a dataclass or any type pydantic knows. Without
            it the answer is text.
        **options: See `SolveOptions`; what is not given has the default of `plait run`.

    Raises:
        UserError: the task, an option or a tool cannot be used.
        ModelError: the model cannot be reached; take the run up with `resume`.
        LogError: the run cannot be recorded.
    """
    settings = options.pop("settings", None)
    said, hands = _sorted(tools, options)
    if returns is not None:
        said["returns"] = schema_of_answer(schema_of(returns))
    begun = options_with(said, in_force(settings) if settings is not None else None)
    return _typed(await start(task, begun.options, hands, notes=begun.told), returns)


def solve_sync(
    task: str,
    *,
    tools: Sequence[ToolSource] = (),
    returns: type[T] | None = None,
    **options: Unpack[SolveOptions],
) -> Solved[T]:
    """Do what `solve` does, in code without an event loop."""
    return _run("solve", lambda: solve(task, tools=tools, returns=returns, **options))


async def resume(
    run_id: str,
    *,
    tools: Sequence[ToolSource] = (),
    returns: type[T] | None = None,
    decision: Decision | None = None,
    **options: Unpack[ResumeOptions],
) -> Solved[T]:
    """Take a run up where it stopped; what is on record is not done or paid for again.

    Args:
        run_id: Id of the run, or its beginning.
        tools: Functions and tools of the run, again; named sources are on record.
        returns: Type of the answer, again.
        decision: What to do about an effect whose result a crash lost: `retry` or `assume-done`.
        **options: What changes, for instance a higher limit; see `ResumeOptions`.

    Raises:
        UserError: there is no such run, it is live, or it cannot go on with these options or tools.
        ModelError, LogError: as `solve`.
    """
    named = [source for source in tools if isinstance(source, str)]
    if named:
        raise UserError(f"the sources of a run are on record: leave out {', '.join(named)}")
    changes, hands = _sorted(tools, options)
    if hands.domain is None and "domain" in changes:
        raise UserError(f"the domain of a run is on record: leave out {changes['domain']!r}")
    for name in ("tools", "domain"):
        changes.pop(name, None)
    return _typed(await resume_run(run_id, hands, changes=changes, decision=decision), returns)


def resume_sync(
    run_id: str,
    *,
    tools: Sequence[ToolSource] = (),
    returns: type[T] | None = None,
    decision: Decision | None = None,
    **options: Unpack[ResumeOptions],
) -> Solved[T]:
    """Do what `resume` does, in code without an event loop."""
    return _run("resume", lambda: resume(run_id, tools=tools, returns=returns, decision=decision, **options))


class Stream(Generic[T]):
    """A run as a stream of its records, to be iterated over once.

    The run begins with the iteration. Whoever may leave the loop early does so inside `async with`, whose
    end cancels the run in good order.
    """

    def __init__(self, go: Callable[[Callable[[Record], None]], Coroutine[Any, Any, Solved[T]]]) -> None:
        self._go = go
        self._result: Solved[T] | None = None
        self._records: AsyncGenerator[Record] | None = None

    async def __aenter__(self) -> "Stream[T]":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._records is not None:
            await self._records.aclose()

    @property
    def result(self) -> Solved[T]:
        """How the run ended.

        Raises:
            RuntimeError: it has not ended yet.
        """
        if self._result is None:
            raise RuntimeError("the run has not ended: iterate over the stream to its end first")
        return self._result

    def __aiter__(self) -> AsyncGenerator[Record]:
        if self._records is not None:
            raise RuntimeError("the stream was iterated over before: make another for another run")
        self._records = self._run()
        return self._records

    async def _run(self) -> AsyncGenerator[Record]:
        queue: asyncio.Queue[Record | None] = asyncio.Queue()
        run = asyncio.ensure_future(self._go(queue.put_nowait))
        run.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (record := await queue.get()) is not None:
                yield record
            self._result = await run
        finally:
            if not run.done():
                run.cancel()
                with suppress(asyncio.CancelledError):
                    await run


def stream(
    task: str,
    *,
    tools: Sequence[ToolSource] = (),
    returns: type[T] | None = None,
    **options: Unpack[SolveOptions],
) -> Stream[T]:
    """Solve a task and yield every record of the run; then `Stream.result` is there.

    Takes what `solve` takes, and raises what it raises from the iteration.
    """
    theirs = options.get("on_event")

    def go(put: Callable[[Record], None]) -> Coroutine[Any, Any, Solved[T]]:
        def on_event(record: Record) -> None:
            put(record)
            if theirs is not None:
                theirs(record)

        watched: SolveOptions = {**options, "on_event": on_event}
        return solve(task, tools=tools, returns=returns, **watched)

    return Stream(go)


def _sorted(tools: Sequence[ToolSource], given: Mapping[str, Any]) -> tuple[dict[str, Any], Hands]:
    """Part what is recorded (options) from what is lent (functions, callbacks, open things).

    Raises:
        UserError: there is no option of that name, or a single value stands where a list is asked for.
    """
    check_lists({**given, "tools": tools})
    rest = dict(given)
    model, domain = rest.pop("model", None), rest.pop("domain", None)
    hands = Hands(
        tools=[source for source in tools if not isinstance(source, str)],
        model=None if isinstance(model, str) else model,
        on_event=rest.pop("on_event", None),
        approve=_asked(rest.pop("approve", None)),
        domain=domain if isinstance(domain, Domain) else None,
        embedder=rest.pop("embedder", None),
        log=rest.pop("log", None),
    )
    known = {field.name for field in fields(Options)} - {"returns", "tools", *NOTED}
    if unknown := sorted(set(rest) - known):
        raise UserError(f"there is no option {', '.join(map(repr, unknown))}")
    if isinstance(model, str):
        rest["model"] = model
    if domain is not None:
        rest["domain"] = f"{LENT}{domain.name}" if isinstance(domain, Domain) else fspath(domain)
    if "files" in rest:
        rest["files"] = [fspath(file) for file in rest["files"]]
    if named := tuple(source for source in tools if isinstance(source, str)):
        rest["tools"] = named
    return rest, hands


def _asked(approve: Approve | None) -> Callable[[Tool, Mapping[str, Any]], Awaitable[bool]] | None:
    if approve is None:
        return None

    async def ask(tool: Tool, arguments: Mapping[str, Any]) -> bool:
        said = approve(tool, arguments)
        return await said if inspect.isawaitable(said) else said

    return ask


def _typed(result: Result, returns: Any) -> Solved[Any]:
    """Return the result with its answer as an instance of `returns`."""
    values = {field.name: getattr(result, field.name) for field in fields(Result)}
    solved: Solved[Any] = Solved(**values)
    if returns is None or result.answer is None:
        return solved
    from pydantic import TypeAdapter, ValidationError

    try:
        return replace(solved, answer=TypeAdapter[Any](returns).validate_python(result.answer))
    except ValidationError as error:
        # It fits the schema, but the type asks for more than a schema can say.
        reason = " ".join(str(error.errors()[0]["msg"]).split())
        return replace(solved, status="failed", answer=None, message=f"the answer does not fit: {reason}")


def _run(name: str, make: Callable[[], Coroutine[Any, Any, Solved[T]]]) -> Solved[T]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    raise UserError(f"{name}_sync cannot run inside an event loop: use `await plait.{name}(...)`")
