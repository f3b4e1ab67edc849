"""Teams on tool tasks over scripts: who is asked is told by the seed that each team draws by."""

from collections.abc import Callable
from typing import Any

from tests.reflection.crew import DANA, Library, done, give_back, search
from tests.support.memory_journal import Memory, MemoryJournal

from plait.models.budget import Budget, Limits
from plait.models.protocol import Request, Settings
from plait.models.scripted import Answer, ScriptedModel, ScriptStep, prompt
from plait.reflection.settings import ReflectionSettings
from plait.task import Task
from plait.teams.ensemble import SEEDS_PER_TEAM
from plait.teams.settings import TeamSettings
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.tool import Tool
from plait.weave import run_task
from plait.weave.workshop import Outcome, Workshop

TASK = "Return the loan of dana, and tell me."
EITHER = "Return the loan of dana or that of omar, and tell me."
ANALYSIS = (
    "Solution 1\n+ It names dana.\n- It is long.\nSolution 2\n+ It is short.\n- It lacks dana.\n"
    "# critique: fair\n# score: 9"
)
PLAN = "1. Return the loan of dana"
IS_DONE = ScriptStep("yes", when="Is everything that was asked done?")
GOOD = [search("dana"), give_back(DANA), done()]


def is_merging(request: Request) -> bool:
    return "Several teams worked on this task" in prompt(request)


def of_team(number: int) -> Callable[[Request], bool]:
    def fits(request: Request) -> bool:
        judges = is_merging(request) or "You judge an answer" in prompt(request)
        return not judges and (request.settings.seed or 0) // SEEDS_PER_TEAM == number - 1

    return fits


def team(number: int, *replies: Answer) -> list[ScriptStep]:
    return [ScriptStep(reply, when=of_team(number)) for reply in replies]


def merging(*replies: Answer) -> list[ScriptStep]:
    return [ScriptStep(reply, when=is_merging) for reply in replies]


def judging(*replies: Answer) -> list[ScriptStep]:
    return [ScriptStep(reply, when="You judge an answer") for reply in replies]


class Run:
    """One run of several teams over one script."""

    def __init__(
        self,
        script: list[ScriptStep],
        *,
        teams: TeamSettings | int = 2,
        tools: list[Tool] | None = None,
        **given: Any,
    ) -> None:
        self.library = Library()
        self.memory = Memory()
        self.model = ScriptedModel(script)
        tools = tools or self.library.tools()
        policy = given.pop("policy", ApprovalPolicy(yes=True))
        options: dict[str, Any] = {
            "reflection": ReflectionSettings(rounds=1),
            "settings": Settings(seed=0),
            "budget": Budget(given.pop("limits", Limits())),
        }
        self.workshop = Workshop(
            model=self.model,
            tools=tools,
            notes="The library is open.",
            executor=Executor(tools, policy),
            teams=TeamSettings(teams=teams) if isinstance(teams, int) else teams,
            **{**options, **given},
        )

    async def outcome(self, task: str = TASK, returns: Any = None) -> Outcome:
        outcome = await run_task(MemoryJournal(self.memory), Task(text=task, returns=returns), self.workshop)
        self.model.assert_done()
        return outcome

    def of(self, kind: type[Any]) -> list[Any]:
        return self.memory.of(kind)
