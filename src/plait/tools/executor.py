"""Executes the calls of one run: checks, approval, time-outs, recording, and nothing twice.

Knows nothing of agents or models: whatever goes wrong in a tool comes back as an observation. Effects
run one at a time; reads run side by side, and equal reads are made once as long as nothing changed.
"""

import asyncio
import difflib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict, cast

from plait.errors import LogError, ToolError
from plait.events import ApprovalDecided
from plait.journal import JSON, Journal, JSONObject
from plait.tools.approval import ApprovalPolicy, Decider, Ruling
from plait.tools.arguments import ArgumentCheck, argument_check, canonical
from plait.tools.rendering import render
from plait.tools.tool import Effect, OutcomeUnknown, Tool

UNKNOWN_RESULT = "It was done before the run was interrupted; its result is not known."
IN_DOUBT = "it may or may not have taken effect: look before you try again"
GRACE_SECONDS = 5.0
"""For an effect under way when the run is cancelled to end and be recorded, instead of being in doubt."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What an agent is told about a call."""

    text: str
    ok: bool
    """Whether the tool did what it was called for."""
    cut: bool = False
    """Whether the result was longer than the tool's limit; the text says how much is missing."""
    effect: Effect = "reads"
    """What the called tool does; a call that was not run is told from `ok`."""
    unknown: bool = False
    """Whether an effect gave no answer, so that it may have been done: the call must not be repeated."""


class _Recorded(TypedDict):
    """The recorded result of a call."""

    ok: bool
    text: str
    cut: bool
    shared: bool
    """Whether an equal read of another step was used."""
    unknown: NotRequired[bool]
    """Written only of an effect that may or may not have been done."""
    refused: NotRequired[Decider]
    """Written only of a call that was not made, because it was forbidden when its turn came."""


class Executor:
    """Executes calls of a fixed set of tools under a policy, for one run."""

    def __init__(self, tools: Sequence[Tool], policy: ApprovalPolicy) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.policy = policy
        self.effects_done = 0
        """Effects of this run, those of earlier processes included once they are met again."""
        self._checks: dict[str, ArgumentCheck] = {}
        self._one_effect = asyncio.Lock()
        self._reads: dict[str, asyncio.Future[_Recorded | None]] = {}
        self._effect_at_large = False

    def problem(self, tool_name: str, arguments: Mapping[str, Any]) -> str | None:
        """Say in one line, for a model, why a call cannot be made; None when it can."""
        tool = self.tools.get(tool_name)
        if tool is None:
            near = difflib.get_close_matches(tool_name, self.tools, n=3) or list(self.tools)[:10]
            return f"there is no tool {tool_name!r}; did you mean: {', '.join(near)}?"
        if tool_name not in self._checks:
            self._checks[tool_name] = argument_check(tool)
        return self._checks[tool_name](arguments)

    async def execute(
        self, journal: Journal, name: str, tool_name: str, arguments: Mapping[str, Any]
    ) -> Observation:
        """Make one call as step `name` of `journal`, or answer from its record.

        A call with an effect is decided in a step `name-approval` of its own, so that a resumed run does
        not ask again; what was denied since then is not done, unless its result is on record.

        Raises:
            NeedsDecision: an effect is in doubt or nobody can approve it.
            LogError: the record cannot be read or written.
        """
        if problem := self.problem(tool_name, arguments):
            return Observation(text=problem, ok=False)
        tool = self.tools[tool_name]
        if tool.effect == "reads":
            return await self._recorded(journal, name, tool, arguments, "effect")
        async with self._one_effect:
            return await self._guarded(journal, name, tool, arguments)

    async def _guarded(
        self, journal: Journal, name: str, tool: Tool, arguments: Mapping[str, Any]
    ) -> Observation:
        ruling = await self._decide(journal, f"{name}-approval", tool, arguments)
        if not ruling.allowed:
            refused = _refused(ruling, tool, arguments)
            return Observation(text=refused["text"], ok=refused["ok"], effect=tool.effect)
        return await self._recorded(journal, name, tool, arguments, ruling.by)

    async def _decide(self, journal: Journal, name: str, tool: Tool, arguments: Mapping[str, Any]) -> Ruling:
        path = f"{journal.path}/{name}"

        async def decide(_: JSONObject) -> JSON:
            return asdict(
                await self.policy.decide(tool, arguments, effects_so_far=self.effects_done, path=path)
            )

        recorded = await journal.call(name, decide, {"tool": tool.name, "arguments": arguments})
        try:
            ruling = Ruling(**cast("dict[str, Any]", recorded))
        except TypeError as exc:
            raise _unreadable(path, recorded) from exc
        event = ApprovalDecided(tool=tool.name, arguments=arguments, allowed=ruling.allowed, by=ruling.by)
        journal.emit(event)
        return ruling

    async def _recorded(
        self, journal: Journal, name: str, tool: Tool, arguments: Mapping[str, Any], allowed_by: Decider
    ) -> Observation:
        async def run(_: JSONObject) -> JSON:
            refusal = self.policy.refusal(tool, allowed_by=allowed_by, effects_so_far=self.effects_done)
            if refusal is not None:
                return cast("JSON", _refused(refusal, tool, arguments))
            if tool.effect == "reads":
                return cast("JSON", await self._shared(tool, arguments))
            return cast("JSON", await self._effect(tool, arguments))

        kind = "tool" if tool.effect == "reads" else "effect"
        args: JSONObject = {"tool": tool.name, "arguments": arguments}
        call = journal.call(name, run, args, kind=kind)
        result = await (call if tool.effect == "reads" else _to_its_end(call))
        if result is None:
            # The user settled an effect in doubt as done: there is no result on record.
            self.effects_done += 1
            return Observation(text=UNKNOWN_RESULT, ok=True, effect=tool.effect)
        if not (isinstance(result, Mapping) and result.keys() >= _Recorded.__required_keys__):
            raise _unreadable(f"{journal.path}/{name}", result)
        recorded = cast("_Recorded", result)
        if by := recorded.get("refused"):
            journal.emit(ApprovalDecided(tool=tool.name, arguments=arguments, allowed=False, by=by))
        elif tool.effect != "reads":
            self.effects_done += 1
        return Observation(
            text=recorded["text"],
            ok=recorded["ok"],
            cut=recorded["cut"],
            effect=tool.effect,
            unknown=recorded.get("unknown", False),
        )

    async def _effect(self, tool: Tool, arguments: Mapping[str, Any]) -> _Recorded:
        # Forgotten before and after: a read that overlaps the effect may have seen either world.
        self._reads = {}
        try:
            return await self._run(tool, arguments)
        finally:
            self._reads = {}

    async def _shared(self, tool: Tool, arguments: Mapping[str, Any]) -> _Recorded:
        """Run a read, or share the result of an equal one that no effect came after."""
        key = canonical(tool.name, arguments)
        while (running := self._reads.get(key)) is not None and not self._effect_at_large:
            outcome = await asyncio.shield(running)
            if outcome is not None:
                return {**outcome, "shared": True}
        reads = self._reads
        mine: asyncio.Future[_Recorded | None] = asyncio.get_running_loop().create_future()
        reads[key] = mine
        outcome = None
        try:
            outcome = await self._run(tool, arguments)
            return outcome
        finally:
            # Those who wait share a failure too; those who come later try for themselves.
            if outcome is None or not outcome["ok"]:
                reads.pop(key, None)
            mine.set_result(outcome)

    async def _run(self, tool: Tool, arguments: Mapping[str, Any]) -> _Recorded:
        """Run the tool; whatever goes wrong in it becomes the result."""
        limit = asyncio.timeout(tool.timeout_seconds)
        try:
            async with limit:
                result = await _uncancelled(tool, arguments)
            return _result(_rendered(result, tool), tool, ok=True)
        except Exception as exc:
            if limit.expired():
                text = f"{tool.name} gave no result within {tool.timeout_seconds:g} seconds"
                return self._unanswered(text, tool)
            if isinstance(exc, OutcomeUnknown):
                return self._unanswered(exc.message, tool)
            if isinstance(exc, ToolError):
                return _result(exc.message, tool, ok=False)
            text = f"{tool.name}: {type(exc).__name__}: {' '.join(str(exc).split())}"
            # A tool's own wait for an answer is over: as little is known as at the end of ours.
            return (
                self._unanswered(text, tool)
                if isinstance(exc, TimeoutError)
                else _result(text, tool, ok=False)
            )

    def _unanswered(self, text: str, tool: Tool) -> _Recorded:
        """Return the result of a call that gave no answer; an effect may have been done all the same."""
        if tool.effect == "reads":
            return _result(text, tool, ok=False)
        # It may still be at work, so from here on no read may answer for another.
        self._effect_at_large = True
        return {**_result(f"{text}; {IN_DOUBT}", tool, ok=False), "unknown": True}


def _unreadable(path: str, result: object) -> LogError:
    return LogError(f"the result on record of step {path!r} cannot be read: {str(result)[:80]!r}")


async def _to_its_end(effect: Coroutine[Any, Any, JSON]) -> JSON:
    """Return what an effect's step returns; cancelled while it is under way, give it `GRACE_SECONDS`.

    A second cancellation ends it at once.
    """
    work = asyncio.ensure_future(effect)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work], timeout=GRACE_SECONDS)
        raise
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _uncancelled(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Run the tool; a cancellation that nobody asked this task for is a failure of the tool.

    Raises:
        OutcomeUnknown: the tool cancelled itself, or something that it waited for was cancelled.
        asyncio.CancelledError: the run is cancelled, or the tool's time is over.
    """
    try:
        return await tool.run(arguments)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Passed on, it would end the subtask in silence, and those that wait for it would wait for ever.
        raise OutcomeUnknown(f"{tool.name} was cancelled from within and gave no result") from error


def _rendered(result: Any, tool: Tool) -> str:
    try:
        return render(result)
    except ToolError as exc:
        if tool.effect == "reads":
            raise
        # It is done: told as a failure it would be tried again.
        return f"Done, but {exc.message}"


def _result(text: str, tool: Tool, *, ok: bool) -> _Recorded:
    limit = tool.observation_characters
    left_out = len(text) - limit
    if left_out > 0:
        text = f"{text[:limit]}\n[cut: {left_out} of {len(text)} characters left out]"
    return {"ok": ok, "text": text, "cut": left_out > 0, "shared": False}


def _refused(ruling: Ruling, tool: Tool, arguments: Mapping[str, Any]) -> _Recorded:
    """Return the result of a call that is not made."""
    text, ok = f"not done: {ruling.reason}", False
    if ruling.by == "--dry-run":
        call = canonical(tool.name, arguments)
        text, ok = f"dry run: {call} would be done now; nothing was changed", True
    return {"ok": ok, "text": text, "cut": False, "shared": False, "refused": ruling.by}
