"""A run as a story: rounds, subtasks, steps and tries, as values that every view of a run reads.

Knows nothing of records, terminals or databases; `telling.tell` makes a story from records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.cli.experience_words import ExperienceEvent
from plait.events import (
    ActionsAgreed,
    ApprovalDecided,
    BudgetReached,
    DecisionMade,
    FeedbackGiven,
    Gated,
    LoopBroken,
    MemoryCleared,
    MemoryWritten,
    ModelRetried,
    Noted,
    PlanRectified,
    RoundFinished,
    StepDiverged,
)
from plait.runtime.teams_story import Meeting, TeamsStory
from plait.task import Usage

RUNNING = "running"
INTERRUPTED = "interrupted"

Happening: TypeAlias = Noted | ModelRetried | StepDiverged | BudgetReached | DecisionMade | ExperienceEvent
"""What is told beside the plan."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in a run something happened, as far as its path says."""

    team: int = 0
    round: int = 0
    subtask: str = ""
    step: int = 0
    part: str = ""
    """`plan`, `answer`, `check`, of a subtask `rectify`, or empty."""
    attempt: int = 0

    @property
    def label(self) -> str:
        """A short name: `step 2.3` is step 3 of subtask 2."""
        team = f"team {self.team} " if self.team else ""
        if self.step:
            return f"{team}step {self.subtask}.{self.step}" if self.subtask else f"{team}step {self.step}"
        return (team + (f"subtask {self.subtask}" if self.subtask else self.part)).strip()


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One recorded model call."""

    path: str
    role: str
    prompt: str
    """Id of its last prompt part."""
    text: str
    finish: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Try:
    """One reply of an agent, with what its gate said."""

    attempt: int
    model: ModelCall | None
    gate: Gated | None


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One call of a tool."""

    path: str
    tool: str
    arguments: Mapping[str, Any]
    effect: bool
    ok: bool
    text: str
    """The observation."""
    cut: bool
    seconds: float
    assumed: bool = False
    """The user said that it was done; its result is not known."""
    pending: bool = False
    """An effect that was begun and has no result on record (yet)."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One choice of the tool agent and the call it led to."""

    number: int
    tries: Sequence[Try]
    use: ToolUse | None
    approval: ApprovalDecided | None

    @property
    def chosen(self) -> str:
        """The call that left the gate, as the agent wrote it; empty while there is none."""
        gates = [attempt.gate for attempt in self.tries if attempt.gate]
        if not gates or gates[-1].verdict not in ("passed", "forced", "closed"):
            return ""
        best = gates[-1]
        if best.verdict == "forced":
            taken = (gate for gate in gates if gate.attempt == best.taken)
            # Logs of older versions do not tell which one was taken.
            best = next(taken, max((gate for gate in gates if gate.output), key=_rank, default=best))
        return best.output if isinstance(best.output, str) else ""

    @property
    def score(self) -> float | None:
        """The last score at the gate."""
        return next((attempt.gate.score for attempt in reversed(self.tries) if attempt.gate), None)


def _rank(gate: Gated) -> tuple[int, float, int]:
    return -len(gate.problems), gate.score or 0.0, -gate.attempt


@dataclass(frozen=True, kw_only=True)
class Subtask:
    """A leaf of the plan and what was done for it."""

    id: str
    goal: str
    milestone: str
    depends_on: Sequence[str]
    status: str
    """todo, doing, succeeded, failed, split or skipped."""
    result: str
    steps: Sequence[Step]
    memory: Sequence[MemoryWritten | MemoryCleared]
    loop: LoopBroken | None
    rectifying: Sequence[Try]
    """What the planner replied after it failed."""
    rectified: PlanRectified | None
    since: float
    """When something last happened in it."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of plan, act, answer; number 0 holds what happened outside any round."""

    team: int
    number: int
    planning: Sequence[Try]
    subtasks: Sequence[Subtask]
    answering: Sequence[Try]
    meetings: Sequence[Meeting]
    """Of several teams, on their plans and on their answers."""
    agreed: ActionsAgreed | None
    """What several teams agreed to do."""
    check: Mapping[str, Any] | None
    """The verdict of the user's own check: `right`, `output`."""
    finished: RoundFinished | None
    since: float


@dataclass(frozen=True, kw_only=True)
class Story:
    """A whole run, as far as it is on record."""

    run_id: str
    task: str
    options: Mapping[str, Any]
    version: str
    forked_from: str
    status: str
    """As the run ended, or running, or interrupted."""
    result: Mapping[str, Any] | None
    rounds: Sequence[Round]
    """Of a tool task."""
    teams: TeamsStory | None
    """Where teams made something."""
    calls: Sequence[ModelCall]
    """Every model call, in order."""
    memory: Sequence[MemoryWritten | MemoryCleared]
    """Long-term memory."""
    happenings: Sequence[tuple[Place, Happening]]
    retrying: ModelRetried | None
    """What happened last, where that was a model call that is to be tried again."""
    feedback: FeedbackGiven | None
    usage: Usage
    usage_by_role: Mapping[str, Usage]
    usage_by_team: Mapping[str, Usage]
    """By the number of the team; what no team did stands under "-"."""
    resumes: int
    reused: Usage
    """What was on record when the last process began: of earlier processes, or copied by a fork."""
    started: float
    taken_up: float
    """When the last process took the run up, or began it."""
    since: float
    """When something last happened."""

    @property
    def plan(self) -> Sequence[Subtask]:
        """The last plan, with states."""
        return next((round.subtasks for round in reversed(self.rounds) if round.subtasks), ())

    @property
    def answer(self) -> Any:
        """The answer: of the run, else of the last round that has one."""
        if self.result is not None and self.result.get("answer") not in (None, ""):
            return self.result["answer"]
        finished = [round.finished for round in self.rounds if round.finished]
        return next((end.answer for end in reversed(finished) if end.answer), "")

    @property
    def uses(self) -> Sequence[ToolUse]:
        """Every call of a tool."""
        subtasks = (subtask for round in self.rounds for subtask in round.subtasks)
        return [step.use for subtask in subtasks for step in subtask.steps if step.use]
