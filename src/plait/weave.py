"""The weave: the one place where the strands meet, and where one task is run.

Knows nothing of databases, terminals or how models and tools are found: all that comes in a
`Workshop`. Read it to know what a run does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.agents.agent import Agent
from plait.errors import BudgetExhausted, UserError
from plait.events import BudgetReached
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel, Settings
from plait.reflection.crew import Crew
from plait.reflection.rounds import Progress, solve_in_rounds
from plait.reflection.settings import ReflectionSettings
from plait.reflection.tool_agent import DONE
from plait.reflection.wording import Wording
from plait.task import Status, Task
from plait.tools.executor import Executor
from plait.tools.tool import Tool
from plait.verdict import Check

FILE_CHARACTERS = 20_000
"""Of each input file at most this much goes into the prompt, and the prompt says what is missing."""


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Everything a run works with."""

    model: LanguageModel
    tools: Sequence[Tool]
    notes: str
    executor: Executor
    budget: Budget
    reflection: ReflectionSettings
    embedder: Embedder | None = None
    """Chooses candidates where there are many tools; without it all are offered."""
    settings: Settings = Settings()
    prompts: Path | None = None
    """Folder with the user's own prompts."""
    check: Check | None = None
    """The user's own oracle."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended, as far as the strands know."""

    status: Status
    message: str
    progress: Progress


async def run_task(journal: Journal, task: Task, workshop: Workshop) -> Outcome:
    """Run one tool task: plan, act, answer, in rounds; end in good order when the budget is used up.

    Raises:
        NeedsDecision: the user must decide about an effect.
        ModelError: the model cannot be reached; the run can be resumed.
    """
    progress = Progress()
    crew = _crew(task, workshop)
    try:
        await solve_in_rounds(journal, crew, progress)
    except BudgetExhausted as error:
        journal.emit(BudgetReached(limit=error.limit, message=error.message))
        return Outcome(status="budget_exhausted", message=error.message, progress=progress)
    if progress.passed:
        return Outcome(status="succeeded", message="", progress=progress)
    return Outcome(status="failed", message=_why(progress), progress=progress)


def _crew(task: Task, workshop: Workshop) -> Crew:
    if any(tool.name == DONE.name for tool in workshop.tools):
        raise UserError(f"a tool is called {DONE.name!r}, which is how an agent ends a subtask: rename it")

    def agent(role: str) -> Agent:
        return Agent(
            role=role,
            strand="reflection",
            model=workshop.model,
            budget=workshop.budget,
            settings=workshop.settings,
        )

    return Crew(
        task=task.text,
        notes=workshop.notes,
        tools=workshop.tools,
        embedder=workshop.embedder,
        executor=workshop.executor,
        planner=agent("planner"),
        tool=agent("tool"),
        answer=agent("answer"),
        settings=workshop.reflection,
        wording=Wording(workshop.prompts),
        returns=task.returns,
        check=workshop.check,
    )


def task_text(text: str, files: Sequence[Path]) -> str:
    """Return a task with its input files, each delimited as data and cut at a stated size.

    Raises:
        UserError: a file cannot be read.
    """
    blocks = [text.strip()]
    for file in files:
        try:
            content = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UserError(f"input file {str(file)!r} cannot be read: {error.strerror}") from error
        left = len(content) - FILE_CHARACTERS
        cut = f"\n[cut: {left} more characters]" if left > 0 else ""
        blocks.append(f'<file name="{file.name}">\n{content[:FILE_CHARACTERS]}{cut}\n</file>')
    return "\n\n".join(blocks)


def _why(progress: Progress) -> str:
    trajectory = progress.trajectory
    if trajectory is None:
        return f"no usable plan in {progress.rounds} rounds"
    for run in trajectory.runs.values():
        if run.status == "failed":
            return f"subtask {run.subtask.id} failed: {run.result}"
    weakness = f": {progress.weakness}" if progress.weakness else ""
    return f"no answer passed in {progress.rounds} rounds{weakness}"
