"""What a memory made of right trajectories does for other instances of the same templates, without a model.

Each template's first five instances are run from a script (an expert's reads, then the gold calls), so that
what they teach is what right runs teach; the other five are run with that memory. Where a pipeline comes to
its end one call is left, that of the answer agent; where none does, a run would be planned, and is stopped.

python -m benchmarks._gold_memory --data DIR [--train 5] [--out FILE]
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks._experts import EXPERTS, calls_of

from plait.bench.workbench import WorkbenchTask, judge, load_tasks
from plait.errors import ModelError
from plait.events import PipelineEnded
from plait.models.callform import format_call
from plait.models.embeddings import Embedder, HashEmbedder
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, ScriptedModel, UnexpectedRequest, prompt
from plait.outfit.hands import Hands
from plait.paths import runs_folder
from plait.runner import new_run_id, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options

FILES = ("calendar", "email", "project_management")
OFFICE = Options(tools=("plait.tools.office",), yes=True, rounds=1)
REMARKS = "\n# critique: As asked.\n# score: 10"
ANSWER = f"It is done.{REMARKS}"


@dataclass(frozen=True, kw_only=True)
class Use:
    """How a task went that was run with the memory."""

    template: str
    query: str
    walked: bool
    """A pipeline came to its end."""
    left: str
    """Why one was left; empty where none was recalled, too."""
    right: bool
    side_effects: bool


async def teach(log: RunLog, task: WorkbenchTask, embedder: Embedder | None) -> bool:
    """Run a task from a script; return whether its tables are right.

    Args:
        log: Where the run and what it teaches are kept.
        task: The task.
        embedder: Compares goals; None: the local one.
    """
    calls = calls_of(task)
    lines = [f"# thought: Next.\n{format_call(call.tool, call.arguments)}{REMARKS}" for call in calls]
    plan = " ".join(task.query.split())
    replies = [f"1. {plan}{REMARKS}", *lines, f'# thought: Done.\ndone(result="done"){REMARKS}', ANSWER]
    run_id = new_run_id()
    model = ScriptedModel(replies)
    options = OFFICE.changed({"steps": 30, "without": ("gates",)})
    with suppress(UnexpectedRequest):  # An expert's call that no agent would be let through with.
        await start(task.query, options, Hands(model=model, log=log, embedder=embedder), run_id=run_id)
    return judge(runs_folder() / run_id, task.gold).correct


async def use(log: RunLog, task: WorkbenchTask) -> Use:
    """Run a task with what was learned and nothing but an answer agent."""

    def answer(request: Request) -> str:
        if "You are the answer agent" not in prompt(request):
            raise ModelError("no pipeline: this would be planned")
        return ANSWER

    run_id = new_run_id()
    hands = Hands(model=FunctionModel(answer), log=log, embedder=HashEmbedder())
    with suppress(ModelError):
        await start(task.query, OFFICE, hands, run_id=run_id)
    ends = [each.event for each in log.records(run_id) if isinstance(each.event, PipelineEnded)]
    verdict = judge(runs_folder() / run_id, task.gold)
    return Use(
        template=task.template,
        query=task.query,
        walked=bool(ends) and not ends[-1].left,
        left=ends[-1].left if ends else "",
        right=verdict.correct,
        side_effects=verdict.side_effects,
    )


async def run(data: Path, train: int, seed: int) -> list[Use]:
    """Teach and use template by template."""
    tasks = load_tasks([data / f"{name}_queries_and_answers.csv" for name in FILES])
    uses: list[Use] = []
    log = RunLog.open()
    try:
        for template in EXPERTS:
            instances = [task for task in tasks if task.template == template]
            random.Random(seed).shuffle(instances)
            right = [await teach(log, task, HashEmbedder()) for task in instances[:train]]
            found = [await use(log, task) for task in instances[5:]]
            uses += found
            print(_line(template, right, found), flush=True)
    finally:
        await log.close()
    return uses


def _line(template: str, taught: Sequence[bool], uses: Sequence[Use]) -> str:
    walked = [each for each in uses if each.walked]
    right = sum(each.right for each in walked)
    left = {each.left for each in uses if each.left}
    return (
        f"{sum(taught)}/{len(taught)} taught right; {len(walked)}/{len(uses)} walked, {right} right; "
        f"{template[:70]}{f' LEFT {sorted(left)}' if left else ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with WorkBench's task files")
    parser.add_argument("--train", type=int, default=5, help="instances of each template to learn from, 0-5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file of JSON lines, one for each task")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLAIT_HOME"] = home
        uses = asyncio.run(run(arguments.data, arguments.train, arguments.seed))
    walked = [each for each in uses if each.walked]
    print(
        f"{len(walked)} of {len(uses)} by pipeline, {sum(each.right for each in walked)} of them right, "
        f"{sum(each.side_effects for each in uses)} with unwanted side effects"
    )
    if arguments.out:
        arguments.out.write_text("".join(json.dumps(asdict(each)) + "\n" for each in uses), "utf-8")


if __name__ == "__main__":
    main()
