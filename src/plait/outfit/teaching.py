"""What a finished run teaches, as records for a memory (ICE, section 3: Investigate and Consolidate).

Needs no model: pipelines and lessons are built straight from what happened. A run that succeeded teaches
what is used from then on; one that failed teaches lessons, and what its parts did well provisionally. Knows
nothing of how records are kept or used.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from plait.events import Record
from plait.experience.consolidation.as_it_was import as_it_was
from plait.experience.consolidation.caution import needed, rests_on_others, taken_from, why_not, with_answers
from plait.experience.consolidation.compile import Success, compile_success, tainted
from plait.experience.consolidation.failures import lessons_of
from plait.experience.consolidation.workflow import workflows
from plait.experience.exploitation.references import MOST_GOAL
from plait.experience.investigation.investigate import investigate, rounds_of
from plait.experience.investigation.tree import Goal
from plait.experience.pipelines.pipeline import Pipeline
from plait.experience.pipelines.results import rows_of
from plait.experience.pipelines.soundness import problems_of
from plait.experience.record import Experience, ExperienceStatus
from plait.experience.situation import AS_IT_WAS, exact_key, situation_of
from plait.experience.words.copies import copied
from plait.experience.words.goals import asks_for_change, key_of
from plait.outfit.ended_run import EndedRun
from plait.outfit.teaching_teams import taught_by_teams
from plait.reflection.dates import dates_by
from plait.runtime.team_options import PAPER

LEARNED_FROM = "learned_from"
"""Where a pipeline that needs two successes says which runs it was learned from, each with its day."""
MOST_PARTS = 8
"""Parts of a failed run whose pipelines are kept."""


def taught_by(run: EndedRun, records: Sequence[Record], *, served: Collection[str] = ()) -> list[Experience]:
    """Return what a run teaches.

    Args:
        run: That ended.
        records: All that is on record of it.
        served: Keys of the goals that a pipeline of the memory reached, which is there already.
    """
    if len(run.task) > MOST_GOAL or run.options.dry_run:
        return []
    if run.domain is not None:
        return taught_by_teams(run, run.domain, records)
    root = investigate(records)
    if root is None:
        return []
    if run.succeeded:
        root = replace(root, status="succeeded")  # Its end is not on record yet.
        taught = list(_workflows(run, root, "active"))
        if key_of(root.text) not in served:
            taught += _whole(run, root, rounds_of(records))
        taught += _parts(run, root, "active", served)
    else:
        root = replace(root, status="failed")
        taught = [*_workflows(run, root, "provisional"), *_parts(run, root, "provisional", served)]
    return [*taught, *_lessons(run, records)]


def _workflows(run: EndedRun, root: Goal, status: ExperienceStatus) -> Iterator[Experience]:
    steps = [step for leaf in root.leaves() for step in leaf.steps]
    if asks_for_change(root.text) and not any(step.effect and step.ok for step in steps):
        return  # There was nothing to do this time, or it was not done: no way to do it.
    seen = [step.observation for step in steps]
    for workflow in workflows(_without_vain_searches(root)):
        names = list(dict.fromkeys(name for step in workflow.steps for name in step.tools))
        texts = [workflow.goal, *(text for step in workflow.steps for text in (step.goal, step.milestone))]
        own = "quarantined" if copied(texts, root.text, seen) else status
        yield run.record("workflow", workflow.goal, workflow.as_json(), tools=names, status=own)


def _without_vain_searches(goal: Goal) -> Goal:
    """Return a goal without the reads that found nothing: who plans like this need not know their tools."""
    return replace(
        goal,
        steps=tuple(step for step in goal.steps if step.effect or rows_of(step.observation)),
        subgoals=tuple(_without_vain_searches(subgoal) for subgoal in goal.subgoals),
    )


def _whole(run: EndedRun, root: Goal, rounds: int) -> Iterator[Experience]:
    """Yield the pipeline of the whole goal: in use where it may run by itself, else waiting for another.

    What stands in input files is no part of the goal, and may have decided what was called.
    """
    # What a goal that was not reached so changed in the world is no step of a leaf that succeeded.
    if not root.astray() and not run.options.files:
        found = _compiled(run, root.text, worked_out(root))
        if found is None:
            return
        if found.doubt:
            today = dates_by(run.notes)("today")
            day = today.isoformat() if today else ""
            record = pipeline_record(run, root, root.text, found.pipeline, "provisional")
            yield replace(record, content={**record.content, LEARNED_FROM: {run.run_id: day}})
            if record.status != "quarantined" and day:
                yield from _as_it_was(run, root, rounds)
        else:
            yield pipeline_record(run, root, root.text, found.pipeline, "active")


def _as_it_was(run: EndedRun, root: Goal, rounds: int) -> Iterator[Experience]:
    """Yield the very calls of a run that no rule could be told from, for the same goal in the same situation.

    The paper has no such records.
    """
    if run.options.preset == PAPER or rounds != 1:
        return
    effects = {tool.name for tool in run.tools if tool.effect == "changes"}
    pipeline = as_it_was(root, effects)
    if pipeline is None or problems_of(pipeline, run.parameters):
        return
    situation = situation_of(run.notes, run.options.of_agents())
    record = run.record_of(pipeline, root.text, more={AS_IT_WAS: situation})
    yield replace(record, key=exact_key(root.text))


def worked_out(root: Goal) -> list[Goal]:
    """Return the leaves whose calls reached a goal."""
    return [leaf for leaf in root.leaves() if leaf.status == "succeeded" and leaf.steps]


def _parts(
    run: EndedRun, root: Goal, status: ExperienceStatus, served: Collection[str]
) -> Iterator[Experience]:
    """Yield the pipelines of a goal's parts that say all by themselves, each once."""
    if run.options.files:
        return
    leaves = {key_of(leaf.text): leaf for leaf in worked_out(root)}
    if status == "active":  # The goal itself has a pipeline of its own.
        leaves.pop(key_of(root.text), None)
    for leaf in [leaf for key, leaf in leaves.items() if key not in served][:MOST_PARTS]:
        found = None if rests_on_others(leaf.text) else _compiled(run, leaf.text, [leaf])
        if found is not None and not found.doubt and not taken_from(found.pipeline, root.text):
            yield pipeline_record(run, root, leaf.text, found.pipeline, status)


class _Compiled(NamedTuple):
    pipeline: Pipeline
    doubt: str
    """Why it may not run by itself after one success; empty where it may."""


def _compiled(run: EndedRun, goal: str, leaves: Sequence[Goal]) -> _Compiled | None:
    """Build the pipeline of a goal that was reached by some leaves; None where there is none to keep."""
    steps = [step for leaf in leaves for step in leaf.steps]
    if len(goal) > MOST_GOAL or any(_kept_from(leaf) for leaf in leaves):
        return None
    success = Success(goal=goal, steps=steps, named=dates_by(run.notes))
    compiled = compile_success(success, tools=run.parameters)
    if compiled is None or problems_of(compiled.pipeline, run.parameters):
        return None
    pipeline = compiled.pipeline
    if asks_for_change(goal) and not any(node.effect for node in pipeline.calls):
        return None  # There was nothing to do this time, or it was not done.
    if doubt := why_not(pipeline, steps, run.parameters, run.limits):
        return _Compiled(pipeline, doubt)
    return _Compiled(with_answers(pipeline, needed(steps)), "")


def pipeline_record(
    run: EndedRun, root: Goal, goal: str, pipeline: Pipeline, status: ExperienceStatus
) -> Experience:
    """Return a pipeline as it is kept; in quarantine where a tool's text got into it."""
    # What another part of the task found may stand in this one, and a plan may repeat what a tool wrote.
    seen = [step for leaf in root.leaves() for step in leaf.steps]
    own = "quarantined" if tainted(root.text, seen, pipeline, tools=run.parameters) else status
    return run.record_of(pipeline, goal, own)


def _kept_from(leaf: Goal) -> bool:
    """Whether an effect that a leaf wanted was not done: what is left of it may look like all there was."""
    wanted = {step.tool for step in leaf.steps if step.effect and not step.ok}
    return not wanted.issubset({step.tool for step in leaf.steps if step.effect and step.ok})


def _lessons(run: EndedRun, records: Sequence[Record]) -> Iterator[Experience]:
    """Yield what failed, of the same tools once: the one that was mended says more.

    It is kept for who plans such a task, and for who works on such a part of one.
    """
    if run.options.preset == PAPER:
        return
    learned = lessons_of(run.task, records, run.parameters)
    for each in {tuple(each.lesson.tools): each for each in reversed(learned)}.values():
        for goal in {key_of(goal): goal for goal in (each.goal[:MOST_GOAL], run.task)}.values():
            yield run.record("lesson", goal, each.lesson.as_json(), tools=each.lesson.tools)
