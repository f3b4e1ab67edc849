"""Everything a run works with, and its task, from its options.

Knows nothing of databases or of how a run ends.
"""

from pathlib import Path

from plait.experience.record import Memory
from plait.experience.situation import situation_of
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget
from plait.models.embeddings import Embedder, local_embedder
from plait.models.protocol import LanguageModel, Settings
from plait.runtime.options import Options
from plait.task import Task
from plait.tools.approval import ApprovalPolicy, AskUser
from plait.tools.executor import Executor
from plait.tools.sources import Toolset
from plait.verdict import Check, Verdict, command_check
from plait.weave.workshop import Making, Workshop, task_text


def workshop_of(
    options: Options,
    toolset: Toolset,
    *,
    model: LanguageModel,
    budget: Budget,
    embedder: Embedder | None = None,
    ask: AskUser | None = None,
    making: Making | None = None,
    memory: Memory | None = None,
) -> Workshop:
    """Return everything a run works with, as its options say.

    Raises:
        UserError: the folder with the user's own prompts is gone.
    """
    return Workshop(
        model=model,
        tools=toolset.tools,
        notes=toolset.notes,
        executor=Executor(toolset.tools, _policy(options, ask)),
        budget=budget,
        reflection=options.reflection(),
        embedder=embedder or local_embedder(),
        settings=Settings(temperature=options.temperature, seed=options.seed),
        prompts=options.prompts_folder(),
        check=_check(options, budget) if options.check else None,
        making=making,
        teams=options.team_settings(options.without),
        gate=options.phase_gate(options.without),
        memory=memory if options.experience else None,
        memory_name=options.memory,
        situation=situation_of(toolset.notes, options.of_agents()),
        recalls=options.recalled(),
    )


def _policy(options: Options, ask: AskUser | None) -> ApprovalPolicy:
    """Return which effects are done, and who is asked."""
    return ApprovalPolicy(
        yes=options.yes,
        allow=options.allow,
        deny=options.deny,
        max_effects=options.max_effects,
        dry_run=options.dry_run,
        ask=ask,
    )


def _check(options: Options, budget: Budget) -> Check:
    check = command_check(options.check, Path(options.check_folder or Path.cwd()))

    async def in_time(answer: str) -> Verdict:
        async with budget.in_time():
            return await check(answer)

    return in_time


async def read_task(journal: Journal, text: str, options: Options) -> Task:
    """Return the task with its input files as they were when the run began."""
    files = [Path(file) for file in options.files]

    async def read(_: JSONObject) -> JSON:
        return task_text(text, files)

    whole = await journal.call("task", read, {"task": text, "files": list(options.files)})
    return Task(text=str(whole), returns=options.returns)
