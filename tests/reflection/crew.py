"""A crew whose three agents answer from scripts, and a small world with reads and effects to act on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.agent import Agent
from plait.errors import ToolError
from plait.events import SubtaskFinished
from plait.models.budget import Budget, Limits
from plait.models.protocol import Message, Settings
from plait.models.scripted import Answer, ScriptedModel, ScriptStep, prompt
from plait.reflection.act import act
from plait.reflection.crew import Crew
from plait.reflection.crew_prompts import CrewPrompts
from plait.reflection.plan import read_plan
from plait.reflection.rounds import Progress, solve_in_rounds
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Effects, SubtaskRun, Trajectory
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.functions import from_function, tool
from plait.tools.tool import Tool
from plait.verdict import Check

DEFAULT = ReflectionSettings()
AS_PLANNED = ReflectionSettings().without(["rectification"])
"""For tests in which a subtask fails and the plan is not their matter."""
TASK = "Return the loans of dana and omar, then mira, lena and nobody."
DANA, OMAR, MIRA = "77000417", "77000398", "77000555"

Script = Sequence[Answer | ScriptStep]


def plan(*lines: str, score: float | None = 10, critique: str = "whole") -> str:
    """A planner's reply."""
    return _remarked("\n".join(lines), score, critique)


def call(text: str, score: float | None = 10, critique: str = "fits") -> str:
    """A tool agent's reply."""
    return _remarked(f"# thought: on with it\n{text}", score, critique)


def answer(text: str, score: float | None = 10, critique: str = "clear") -> str:
    """An answer agent's reply."""
    return _remarked(text, score, critique)


def _remarked(body: str, score: float | None, critique: str) -> str:
    return body if score is None else f"{body}\n# critique: {critique}\n# score: {score:g}"


def search(who: str, **remarks: Any) -> str:
    """The choice of a read; fails for lena, finds nothing for nobody."""
    return call(f'search_loans(who="{who}")', **remarks)


def give_back(loan: str, **remarks: Any) -> str:
    """The choice of an effect."""
    return call(f'return_loan(loan_id="{loan}")', **remarks)


def done(result: str = "it is done", **remarks: Any) -> str:
    """The choice to end the subtask."""
    return call(f'done(result="{result}")', **remarks)


def at(subtask: int | str, reply: Answer) -> ScriptStep:
    """A reply for the tool agent at work on one subtask, among several at once."""
    return ScriptStep(reply, when=_mark(str(subtask)))


def _mark(subtask: str) -> str:
    return f"[at work on subtask {subtask}]"


class Library:
    """A world of loans; `calls` says what was really run, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.counts = False
        """Whether a search says how many calls there were before."""
        self.loans: Mapping[str, str] = {"dana": DANA, "omar": OMAR, "mira": MIRA}

    def tools(self) -> list[Tool]:
        @tool(effect="reads")
        async def search_loans(who: str) -> str:
            """Find the loans of a reader."""
            self.calls.append(f"search {who}")
            if who == "lena":
                raise ToolError("the card of lena is blocked")
            found = f"loan_id {self.loans[who]} of {who}" if who in self.loans else "[]"
            return f"{found}, asked {len(self.calls)} times" if self.counts else found

        @tool(effect="changes")
        async def return_loan(loan_id: str) -> str:
            """Return a loan."""
            self.calls.append(f"return {loan_id}")
            return "Returned."

        return [from_function(function, source="library") for function in (search_loans, return_loan)]


class MarkedPrompts(CrewPrompts):
    """The prompts, with a mark that tells a script which subtask is worked on."""

    def tool(self, *args: Any, **kwargs: Any) -> list[Message]:
        now = next(each for each in (*args, *kwargs.values()) if isinstance(each, SubtaskRun))
        *chat, last = super().tool(*args, **kwargs)
        return [*chat, Message(role="user", content=f"{last.content}\n{_mark(now.subtask.id)}")]


class Stage:
    """A crew over three scripts, with its journal; everything can be looked at afterwards."""

    def __init__(
        self,
        *,
        planner: Script = (),
        tool: Script = (),
        answer: Script = (),
        settings: ReflectionSettings = DEFAULT,
        tools: Sequence[Tool] | None = None,
        task: str = TASK,
        returns: Mapping[str, Any] | None = None,
        check: Check | None = None,
        prompts: Path | None = None,
    ) -> None:
        self.library = Library()
        tools = self.library.tools() if tools is None else tools
        self.memory = Memory()
        self.journal = MemoryJournal(self.memory)
        self.progress = Progress()
        self.models = {
            role: ScriptedModel(list(script), name=role)
            for role, script in (("planner", planner), ("tool", tool), ("answer", answer))
        }
        budget = Budget(Limits())

        def agent(role: str) -> Agent:
            seeded = Settings(seed=0)
            model = self.models[role]
            return Agent(role=role, strand="reflection", model=model, budget=budget, settings=seeded)

        self.crew = Crew(
            task=task,
            notes="",
            tools=tools,
            executor=Executor(tools, ApprovalPolicy(yes=True)),
            planner=agent("planner"),
            tool=agent("tool"),
            answer=agent("answer"),
            settings=settings,
            prompts=MarkedPrompts(prompts),
            returns=returns,
            check=check,
        )

    def prompts(self, role: str) -> list[str]:
        """Return all that one role was shown, request by request."""
        return [prompt(request) for request in self.models[role].requests]

    @property
    def calls(self) -> list[str]:
        """The calls that were really run."""
        return self.library.calls

    @property
    def endings(self) -> dict[str, str]:
        """How the subtasks ended, the last round counting."""
        return {event.id: event.status for event in self.memory.of(SubtaskFinished)}

    async def solve(self) -> Progress:
        """Work in rounds until the task ends; every scripted reply must have been used."""
        await solve_in_rounds(self.journal, self.crew, self.progress)
        self.assert_done()
        return self.progress

    async def act(self, *lines: str, effects: Effects | None = None) -> Trajectory:
        """Work through one plan; every scripted reply must have been used."""
        trajectory = Trajectory.of(read_plan("\n".join(lines)))
        await act(self.journal, self.crew, trajectory, Effects() if effects is None else effects)
        self.assert_done()
        return trajectory

    def assert_done(self) -> None:
        """Raise if a scripted reply is unused or a request was unexpected."""
        for model in self.models.values():
            model.assert_done()
