"""A desk with notes, for tests of baselines: tools that read and write, and runs that end at any request."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from plait.agents.agent import Agent
from plait.bench.baselines.react import ReactTask
from plait.errors import ModelError, ToolError
from plait.journal import Journal
from plait.models.budget import Budget, Limits
from plait.models.protocol import LanguageModel, Settings
from plait.models.scripted import ScriptedModel
from plait.runtime.log import RunLog
from plait.runtime.replay import Replay
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.functions import from_function, tool
from plait.tools.tool import OutcomeUnknown

TASK = "Note the bread and the milk"
LOST = "answers get lost"
REFUSED = "never written"
Loop = Callable[[Journal, ReactTask], Awaitable[str]]


@dataclass
class Desk:
    """What the tools wrote and how often they looked."""

    notes: list[str] = field(default_factory=list[str])
    looks: int = 0

    def tools(self) -> Sequence[Callable[..., Any]]:
        """Return the tools of the desk."""

        @tool(effect="changes")
        def add_note(text: str, color: str = "white") -> str:
            """Write a note."""
            if text == REFUSED:
                raise ToolError("there is no ink")
            self.notes.append(text)
            if text == LOST:
                raise OutcomeUnknown("add_note gave no answer")
            return f"{color} note {len(self.notes)} is written"

        @tool(effect="reads")
        def read_notes() -> str:
            """Read the notes."""
            self.looks += 1
            return ", ".join(self.notes) or "there are no notes"

        return [add_note, read_notes]


def add(text: str) -> str:
    """Return the reply that writes a note."""
    return f'# thought: I write it.\nadd_note(text="{text}")'


def done(result: str) -> str:
    """Return the reply that ends an episode."""
    return f'# thought: That is it.\ndone(result="{result}")'


READ = "# thought: I look.\nread_notes()"


def work(model: LanguageModel, desk: Desk, limits: Limits | None = None) -> ReactTask:
    """Return a task at the desk."""
    tools = [from_function(function, source="tests") for function in desk.tools()]
    return ReactTask(
        task=TASK,
        notes="",
        tools=tools,
        executor=Executor(tools, ApprovalPolicy(yes=True)),
        agent=Agent(
            role="baseline",
            strand="baseline",
            model=model,
            budget=Budget(limits or Limits()),
            settings=Settings(seed=0),
        ),
    )


async def killed_and_resumed(loop: Loop, script: Sequence[str], kill_at: int) -> tuple[str, Desk]:
    """Run a script whose model dies at request `kill_at`, from 0; resume, replay, and return what came out.

    The resumed run is given only the replies that the first one did not get.
    """
    log = RunLog.open("sqlite://")
    desk = Desk()
    async with ScriptedModel([*script[:kill_at], ModelError("killed")]) as model:
        first = await log.start("r1", TASK, {})
        with pytest.raises(ModelError, match="killed"):
            await loop(first, work(model, desk))
        await first.close()
    async with ScriptedModel(script[kill_at:]) as model:
        second = await log.resume("r1")
        answer = await loop(second, work(model, desk))
        await second.close()
    untouched = Desk()
    async with ScriptedModel([]) as model:
        assert await loop(Replay(log.records("r1")), work(model, untouched)) == answer
    assert untouched == Desk()
    await log.close()
    return answer, desk
