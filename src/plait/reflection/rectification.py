"""A rectification: how a plan goes on after one of its leaves failed (ICE, section 3.1).

    split            add before       add after        delete 2, 3      give up
    1. a part        1. what first    1. another way
    2. the rest

Split: the leaf becomes parts. Add before: something else is done first, then the leaf is tried again. Add
after: another way takes its place. Delete: leaves that are yet to do are dropped. Knows nothing of models.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from plait.agents.remarks import remarked_grammar
from plait.errors import ReplyError
from plait.reflection.plan import NUMBER, Subtask, copied_goals, plan_line, read_plan

RectifyingOperation: TypeAlias = Literal["split", "add", "delete", "give_up"]

GIVE_UP, DELETE, SPLIT, ADD_BEFORE, ADD_AFTER = "give up", "delete", "split", "add before", "add after"
FEWEST_PARTS, MOST_PARTS = 2, 4
MOST_DELETED = 4
MAXIMUM_DEPTH = 3
"""Levels of leaves below the task; the plan's own are the first."""

_WORD = re.compile(
    r"[\W_]*(give[ _]up|delete|split|add[ _]before|add[ _]after)\b(?P<rest>.*)$", re.IGNORECASE
)
_ID = re.compile(r"\d+[a-z]*(?:-\d+[a-z]*)*")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What may be done about a failed leaf."""

    leaf: Subtask
    more: int
    """Leaves that may be added."""
    deletable: Sequence[str]
    """Ids of leaves that are yet to do and wait for it; itself too, where it changed nothing."""

    @property
    def words(self) -> list[str]:
        """The operations that fit and add leaves."""
        splits = self.more >= FEWEST_PARTS and self.leaf.id.count("-") + 1 < MAXIMUM_DEPTH
        offered = {SPLIT: splits, ADD_BEFORE: self.more >= 2, ADD_AFTER: self.more >= 1}
        return [word for word, fits in offered.items() if fits]

    @property
    def ways(self) -> list[str]:
        """What may be written first, but to give up."""
        return [*self.words, *([DELETE] if self.deletable else [])]


@dataclass(frozen=True, kw_only=True)
class Rectification:
    """What is done about a failed leaf."""

    operation: RectifyingOperation
    subtasks: Sequence[Subtask] = ()
    """What takes its place, in plan order; they depend on one another alone."""
    deleted: Sequence[str] = ()

    def as_text(self) -> str:
        """Return it in lines, for the log; equal for equal rectifications."""
        head = " ".join([self.operation.replace("_", " "), ", ".join(self.deleted)]).strip()
        lines = [f"{subtask.id}. {subtask.goal}" for subtask in self.subtasks]
        return "\n".join([head, *lines])


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a rectification is checked against."""

    task: str
    goals: Sequence[str]
    """Of the leaves that are in the plan, the failed one among them."""
    kept: Sequence[str]
    """Ids of those leaves; what is not deleted must still say what the task says."""
    given_up: Sequence[str]
    """Goals of the leaves that failed before, for which it stands."""
    tried: Collection[str]
    """Rectifications that were made in this run, as keys."""


def key_of(leaf: Subtask, way: Rectification) -> str:
    """Return what is equal for the same rectification of the same goal, in whatever round."""
    goals = [subtask.goal.lower() for subtask in way.subtasks]
    return "\n".join([leaf.goal.lower(), way.operation, *way.deleted, *goals])


def rectification_grammar(offer: Offer, *, brackets: bool, remarks: bool) -> str:
    """Return the GBNF of a rectification: one of the operations that fit, and what it needs.

    Args:
        offer: What may be done.
        brackets: Whether a goal may hold `(`, as for plans.
        remarks: Whether a critique and a score must follow.
    """
    ways = [f'"{GIVE_UP}"']
    most = min(MOST_PARTS, offer.more)
    for word in offer.words:
        more = rf' ("\n" line){{{FEWEST_PARTS - 1},{most - 1}}}' if word == SPLIT else ""
        ways.append(rf'"{word}\n" line{more}')
    rules = [f"line ::= {plan_line(brackets=brackets)}"] if offer.words else []
    if offer.deletable:
        ids = " | ".join(f'"{id}"' for id in offer.deletable)
        ways.append(f'"{DELETE} " id (", " id){{0,{MOST_DELETED - 1}}}')
        rules.append(f"id ::= {ids}")
    return remarked_grammar(f"({' | '.join(ways)})", rules, remarks=remarks)


def read_rectification(
    text: str, offer: Offer, *, milestones: bool = True, tools: Collection[str] = ()
) -> Rectification:
    """Read what the planner wrote about a failed leaf.

    New leaves get ids from the failed one's: `2-1` is the first part of 2, `2a` was added beside it.

    Raises:
        ReplyError: it is none of the operations that fit, or its lines cannot be read.
    """
    head, _, rest = text.strip().partition("\n")
    found = _WORD.match(head)
    word = found[1].lower().replace("_", " ") if found else ""
    fitting = [*offer.ways, GIVE_UP]
    if found is None or word not in fitting:
        raise ReplyError(f"the first line must be one of: {', '.join(fitting)}")
    if word == GIVE_UP:
        return Rectification(operation="give_up")
    if word == DELETE:
        return Rectification(operation="delete", deleted=_deleted(found["rest"], offer))
    parts = read_plan(rest, milestones=milestones, tools=tools).subtasks
    if word == SPLIT and len(parts) == 2 and parts[1].goal.casefold() == offer.leaf.goal.casefold():
        word, parts = ADD_BEFORE, parts[:1]  # Something, and then the whole again: small models call it so.
    if word == SPLIT:
        parts = _without(offer.leaf.goal, parts)
        if not FEWEST_PARTS <= len(parts) <= min(MOST_PARTS, offer.more):
            raise ReplyError(f"a split has {FEWEST_PARTS} to {min(MOST_PARTS, offer.more)} lines")
        named = {part.id: f"{offer.leaf.id}-{n}" for n, part in enumerate(parts, start=1)}
        return Rectification(operation="split", subtasks=_renamed(parts, named))
    if len(parts) != 1:
        raise ReplyError(f"{word!r} takes one line")
    first = Subtask(id=f"{offer.leaf.id}a", goal=parts[0].goal, milestone=parts[0].milestone)
    if word == ADD_AFTER:
        return Rectification(operation="add", subtasks=(first,))
    again = replace(offer.leaf, id=f"{offer.leaf.id}b", depends_on=(first.id,))
    return Rectification(operation="add", subtasks=(first, again))


def hard_problems(way: Rectification, offer: Offer, standing: Standing) -> list[str]:
    """Return why a rectification is never made, with its gate or without."""
    if key_of(offer.leaf, way) in standing.tried:
        return ["this very thing was tried already: find another one, or give up"]
    known = {goal.lower() for goal in (*standing.goals, *standing.given_up)}
    again = offer.leaf.id + "b"
    said = [s.goal for s in way.subtasks if s.id != again and s.goal.lower() in known]
    problems = [f"the plan has this line already: {goal}" for goal in said]
    if way.operation == "delete":
        pairs = zip(standing.kept, standing.goals, strict=True)
        left = " ".join(goal for id, goal in pairs if id not in way.deleted)
        lost = [n for n in dict.fromkeys(NUMBER.findall(standing.task)) if n not in left]
        problems += [] if left else ["nothing of the plan would be left"]
        problems += [f"the plan would lose these numbers of the task: {', '.join(lost)}"] if lost else []
    return problems


def soft_problems(
    way: Rectification, offer: Offer, standing: Standing, prompt: str
) -> tuple[list[str], bool]:
    """Return what is wrong with a rectification, and whether it is of no use.

    Args:
        way: What the planner wrote.
        offer: What may be done.
        standing: The plan as it is.
        prompt: The prompt with nothing filled in, for what was copied from its example.
    """
    copied = copied_goals([s.goal for s in way.subtasks], prompt, standing.task)
    problems = [f"{goal!r} is from the example, not from the task" for goal in copied]
    if way.operation == "split":
        goals = " ".join(subtask.goal for subtask in way.subtasks)
        lost = [n for n in dict.fromkeys(NUMBER.findall(offer.leaf.goal)) if n not in goals]
        problems += [f"the parts lost these numbers: {', '.join(lost)}"] if lost else []
    return problems, bool(copied)


def _deleted(text: str, offer: Offer) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(_ID.findall(text.lower())))
    if not ids or not set(ids).issubset(offer.deletable):
        raise ReplyError(f"of the lines only these can be deleted: {', '.join(offer.deletable)}")
    return ids[:MOST_DELETED]


def _without(goal: str, parts: Sequence[Subtask]) -> Sequence[Subtask]:
    """Return parts without the whole that stands among them, where enough of them are left."""
    left = [part for part in parts if part.goal.casefold() != goal.casefold()]
    if len(left) < FEWEST_PARTS:
        return parts
    ids = {part.id for part in left}
    return [replace(part, depends_on=tuple(id for id in part.depends_on if id in ids)) for part in left]


def _renamed(parts: Sequence[Subtask], names: dict[str, str]) -> tuple[Subtask, ...]:
    return tuple(
        replace(part, id=names[part.id], depends_on=tuple(names[other] for other in part.depends_on))
        for part in parts
    )
