"""Teams that write small programs with a model that is a function of the prompt, and what a run left behind.

Replies follow from the request alone, never from the order of requests, so that runs of any timing and
runs that were cut short can be served. A test replaces `Voices` methods to make agents behave otherwise.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.gate import GateSettings
from plait.journal import Journal, JSONObject
from plait.models.budget import Budget, Limits
from plait.models.protocol import Request, Settings
from plait.models.scripted import FunctionModel, prompt
from plait.teams.chain import Chain, Domain, Phase
from plait.teams.ensemble import SEEDS_PER_TEAM, Ensemble, TeamsProgress
from plait.teams.orchestra import run_teams
from plait.teams.settings import TeamSettings
from plait.teams.solution import Rating, Solution

REMARKS = "\n# critique: As asked.\n# score: 9"
TASK = "Write a game."
SEED = 7

DESIGN = Phase(
    name="design",
    instructor="chief",
    assistant="designer",
    prompt="Task: {{task}}\nDesign it.",
    criteria="It is short.",
    writes="design",
    optional=True,
)
CODING = Phase(
    name="coding",
    instructor="chief",
    assistant="programmer",
    prompt="Task: {{task}}\nDesign: {{design}}\nProgram it.",
    criteria="It runs.",
    writes="code",
    reply="files",
    key=True,
)
COMPLETION = Phase(
    name="completion",
    instructor="chief",
    assistant="programmer",
    prompt="Task: {{task}}\nCode:\n{{code}}\nComplete it.",
    criteria="Nothing is missing.",
    writes="code",
    reply="changes",
    key=True,
    optional=True,
)
TEST = Phase(
    name="test",
    instructor="tester",
    assistant="programmer",
    prompt="Task: {{task}}\nCode:\n{{code}}\nFindings:\n{{findings}}\nMend it.",
    criteria="It runs.",
    writes="code",
    reply="changes",
    inspects=True,
)
MANUAL = Phase(
    name="manual",
    instructor="chief",
    assistant="writer",
    prompt="Code:\n{{code}}\nTask: {{task}}\nWrite its manual.",
    criteria="It is clear.",
    writes="manual",
    rounds=1,
)


class Marks:
    """A quality that reads its figure from the content: `quality 7`, and `broken` as a finding."""

    def __init__(self) -> None:
        self.rated: list[str] = []

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        async def look(args: JSONObject) -> Any:
            self.rated.append(solution.digest)
            text = str(args["text"])
            found = re.findall(r"quality (\d+)", text)
            return [max(map(float, found), default=0.0), text.count("broken")]

        quality, broken = cast("list[float]", await journal.call("look", look, {"text": solution.shown()}))
        return Rating(quality=quality, findings=["something is broken"] if broken else [])


def files(**contents: str) -> str:
    """Write files as a reply has them; `main` stands for main.py."""
    return "\n".join(f"```python {name}.py\n{text}\n```" for name, text in contents.items())


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request is about, as its prompt and its seed show."""

    team: int
    """0 for the aggregate agent."""
    text: str
    attempt: int


class Voices:
    """What each agent says; agreeable, and each team writes something of its own."""

    quality: Mapping[int, int] = {}
    """Of the code of each team; else ten times its number."""

    def design(self, asked: Asked) -> str:
        return f"A plan of team {asked.team}."

    def coding(self, asked: Asked) -> str:
        quality = self.quality.get(asked.team, 10 * asked.team)
        return files(main=f"print('team {asked.team}')  # quality {quality}", rules=f"rules = {asked.team}")

    def completion(self, asked: Asked) -> str:
        return files(extra=f"extra = {asked.team}")

    def test(self, asked: Asked) -> str:
        return files(main=f"print('mended by {asked.team}')  # quality 90")

    def manual(self, asked: Asked) -> str:
        return f"Run main.py. Written by team {asked.team}."

    def instructor(self, asked: Asked) -> str:
        return "AGREED"

    def analysis(self, asked: Asked) -> str:
        count = len(re.findall(r"^# Solution \d+$", asked.text, re.MULTILINE))
        return "\n".join(f"Solution {n}\n+ strong {n}\n- weak {n}" for n in range(1, count + 1))

    def merge(self, asked: Asked) -> str:
        quality = max(map(int, re.findall(r"quality (\d+)", asked.text)), default=0)
        merged = files(main=f"print('merged')  # quality {quality + 1}", rules="rules = 'merged'")
        return f"{merged}\n# changes: took the best of all"

    def __call__(self, request: Request) -> Any:
        text = prompt(request)
        asked = Asked(team=team_of(request), text=text, attempt=attempt_of(request))
        said = getattr(self, part_of(text))(asked)
        return f"{said}{REMARKS}" if isinstance(said, str) else said


def part_of(text: str) -> str:
    """Return which agent a prompt is for."""
    words = {
        "Compare the solutions": "analysis",
        "Now write one solution": "merge",
        "reply AGREED": "instructor",
        "Design it.": "design",
        "Program it.": "coding",
        "Complete it.": "completion",
        "Mend it.": "test",
        "Write its manual.": "manual",
    }
    return next(part for words, part in words.items() if words in text)


def team_of(request: Request) -> int:
    """Return the team whose seed a request has."""
    assert request.settings.seed is not None
    if part_of(prompt(request)) in ("analysis", "merge"):
        return 0
    return (request.settings.seed - SEED) // SEEDS_PER_TEAM + 1


def attempt_of(request: Request) -> int:
    """Return which try of a gate a request is."""
    assert request.settings.seed is not None
    return (request.settings.seed - SEED) % SEEDS_PER_TEAM + 1


class Troupe:
    """An ensemble with a journal in memory; everything can be looked at afterwards."""

    def __init__(
        self,
        *phases: Phase,
        voices: Any = None,
        quality: Marks | None = None,
        memory: Memory | None = None,
        calls: int = 10_000,
        gate: GateSettings | None = None,
        product: str = "code",
        takes_grammar: bool = True,
        **settings: Any,
    ) -> None:
        self.memory = memory or Memory()
        self.quality = quality or Marks()
        self.model = FunctionModel(voices or Voices(), takes_grammar=takes_grammar)
        self.progress = TeamsProgress()
        chosen = phases or (DESIGN, CODING, COMPLETION, TEST, MANUAL)
        domain = Domain(
            name="tiny",
            chain=Chain(phases=chosen),
            roles={role: f"You are the {role} here." for role in ("chief", "programmer", "writer")},
            aggregator="You are the one who merges.",
            product=product,
            quality=self.quality,
        )
        self.ensemble = Ensemble(
            task=TASK,
            domain=domain,
            settings=TeamSettings(**{"teams": 2, **settings}),
            gate=gate or GateSettings(threshold=8.0),
            model=self.model,
            budget=Budget(Limits(calls=calls)),
            sampling=Settings(temperature=0.2, seed=SEED),
        )

    @staticmethod
    def with_budget(ensemble: Ensemble, budget: Budget) -> Ensemble:
        """Return an ensemble with another budget."""
        return replace(ensemble, budget=budget)

    async def play(self, journal: Journal | None = None) -> TeamsProgress:
        """Run all teams to the end."""
        await run_teams(journal or MemoryJournal(self.memory), self.ensemble, self.progress)
        return self.progress

    def prompts(self, part: str) -> list[str]:
        """Return all that one kind of agent was shown, in the order of the requests."""
        return [text for request in self.model.requests if part_of(text := prompt(request)) == part]

    def events(self, kind: type[Any]) -> list[Any]:
        """Return the events of one type, in order."""
        return self.memory.of(kind)

    @property
    def parts(self) -> list[str]:
        """Which agents were asked, in the order of the requests."""
        return [part_of(prompt(request)) for request in self.model.requests]


def model_steps(memory: Memory) -> list[str]:
    """Return the paths of all recorded model calls, sorted."""
    return sorted(path for path, kind in memory.kinds.items() if kind == "model")


def phases(*chosen: Phase, **changes: Any) -> Sequence[Phase]:
    """Return phases with fields replaced in all of them."""
    return [replace(phase, **changes) for phase in chosen]
