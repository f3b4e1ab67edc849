"""The planner at a leaf that failed: how the plan goes on (ICE, section 3.1, plan rectification).

One call where its reply passes. It sees the plan, the leaf's trajectory and what earlier tasks say of the
leaf's goal and of the goal above it. Knows nothing of how leaves are worked on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plait.agents.gate import Feedback, Judged, Role, next_attempt, through_gate
from plait.agents.remarks import split_remarks
from plait.errors import ReplyError
from plait.events import Noted, PlanRectified
from plait.journal import Journal
from plait.models.protocol import Grammar, Reply, Request
from plait.reflection.crew import Crew
from plait.reflection.crew_prompts import FailureText
from plait.reflection.guide import Advice
from plait.reflection.plan import MILESTONE
from plait.reflection.plan_tree import Leaf, PlanTree
from plait.reflection.rectification import (
    GIVE_UP,
    Offer,
    Rectification,
    Standing,
    hard_problems,
    key_of,
    read_rectification,
    rectification_grammar,
    soft_problems,
)
from plait.reflection.references import advice_for, copied_values, joined, references_text

REVISIONS = 1
"""Of a rectification at most; a third reply is seldom better, and giving up is a way too."""


@dataclass(frozen=True, kw_only=True)
class LeafFailure:
    """A leaf that failed, in the plan as it may be seen from there."""

    leaf: Leaf
    offer: Offer
    standing: Standing
    changed: Sequence[str]
    """Calls by which it changed the world, or may have."""


def failure_of(tree: PlanTree, leaf: Leaf, task: str, tried: Sequence[str]) -> LeafFailure:
    """Return what a rectification of a leaf starts from.

    Args:
        tree: The plan.
        leaf: That failed.
        task: Of the run.
        tried: Keys of the rectifications that were made in this run.
    """
    kept = tree.plan_for(leaf).subtasks
    standing = Standing(
        task=task,
        goals=[subtask.goal for subtask in kept],
        kept=[subtask.id for subtask in kept],
        given_up=[origin.run.subtask.goal for origin in leaf.origins],
        tried=tried,
    )
    changed = [step.call for step in leaf.run.steps if step.effect and (step.ok or step.unknown)]
    return LeafFailure(leaf=leaf, offer=tree.offer(leaf), standing=standing, changed=changed)


async def rectify(journal: Journal, crew: Crew, plan: Sequence[str], failure: LeafFailure) -> Rectification:
    """Return how the plan goes on; where no reply can be used, the leaf is given up.

    Args:
        journal: The place of the rectification.
        crew: The agents.
        plan: Its lines, with how they stand.
        failure: The leaf that failed.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    try:
        way = await _asked(journal, crew, plan, failure)
    except ReplyError as error:
        journal.emit(Noted(text=f"{error.message}; subtask {failure.leaf.run.subtask.id} is given up"))
        way = Rectification(operation="give_up")
    journal.emit(
        PlanRectified(
            subtask=failure.leaf.run.subtask.id,
            operation=way.operation,
            subtasks=[subtask.as_json() for subtask in way.subtasks],
            deleted=list(way.deleted),
        )
    )
    return way


async def _asked(journal: Journal, crew: Crew, plan: Sequence[str], failure: LeafFailure) -> Rectification:
    """Return what the planner says.

    Raises:
        ReplyError: no reply can be used.
    """
    leaf, offer, task = failure.leaf.run.subtask, failure.offer, crew.task
    advice = await _advice(journal, crew, failure.leaf)
    gate = replace(crew.settings.planner, revisions=min(REVISIONS, crew.settings.planner.revisions))
    form = Grammar(gbnf=rectification_grammar(offer, brackets="(" in task + leaf.goal, remarks=gate.enabled))
    specs = await crew.candidates(journal, task)
    text = FailureText(
        task=task,
        plan=plan,
        run=failure.leaf.run,
        ways=[*offer.ways, GIVE_UP],
        changed=failure.changed,
        references=references_text(advice),
    )

    def request(feedback: Feedback | None) -> Request:
        prompt = crew.prompts.rectifier(text, feedback, gate.enabled)
        return crew.planner.request(crew.messages(specs, prompt), form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[Rectification]:
        return _judged(crew, failure, advice, reply)

    passed = await through_gate(journal, Role(agent=crew.planner, gate=gate, request=request, read=read))
    return passed.judged.output


async def _advice(journal: Journal, crew: Crew, leaf: Leaf) -> Advice:
    """Return what is known of the goal that failed, and of the goal above it (ICE, section 3.1)."""
    above = next((o.run.subtask.goal for o in leaf.origins if o.operation == "split"), crew.task)
    own = await advice_for(journal, crew.guide, leaf.run.subtask.goal, "advice")
    if above == leaf.run.subtask.goal:
        return own
    return joined([own, await advice_for(journal, crew.guide, above, "advice-above")])


def _judged(crew: Crew, failure: LeafFailure, advice: Advice, reply: Reply) -> Judged[Rectification]:
    """Read a rectification; without the planner's gate what is not plainly wrong passes."""
    remarked = split_remarks(reply.text)
    offer, standing = failure.offer, failure.standing
    milestones = MILESTONE.strip() not in crew.task
    way = read_rectification(remarked.body, offer, milestones=milestones, tools=crew.executor.tools)
    problems = hard_problems(way, offer, standing)
    fatal = bool(problems)
    if crew.settings.planner.enabled:
        soft, useless = soft_problems(way, offer, standing, crew.prompts.rectifier_text())
        copied = copied_values([subtask.goal for subtask in way.subtasks], advice, crew.task)
        problems += [*soft, *(f"{goal!r} is of another task" for goal in copied)]
        fatal = fatal or useless or bool(copied)
    return Judged(
        output=way,
        shown=way.as_text(),
        critique=remarked.critique,
        score=remarked.score,
        problems=problems,
        fatal=fatal,
    )


def remember(tried: list[str], leaf: Leaf, way: Rectification) -> None:
    """Note a rectification, so that it is not made again."""
    if way.operation != "give_up":
        tried.append(key_of(leaf.run.subtask, way))
