"""Whether a pipeline may run by itself: all that its goal says must be in its calls, with nothing to judge.

A pipeline is learned from one trajectory. What that does not settle (which row, whether a condition held,
a value that happened not to matter) would be settled anew, and wrongly, for another goal; such a pipeline
is not kept. Knows nothing of memories.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plait.experience.consolidation.goal_words import GoalWords
from plait.experience.consolidation.origins import parameter
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import Composed, Constant, Pipeline, parts_of, results_of
from plait.experience.pipelines.results import answer_shape, first_of, rows_of
from plait.experience.pipelines.walk import NO_CHOICE, Finished, NextCall, Walk
from plait.experience.words.goals import key_of, masked
from plait.experience.words.vocabulary import FUNCTION, LEMMAS, OBJECTS, QUESTIONS, STATE, UNITS, words
from plait.journal import JSON
from plait.models.schema import is_identifier
from plait.tools.arguments import canonical

FILTERS = words("""
    except excluding without that which who whose where longer shorter more less fewer over under overdue
    unread only if unless when whenever while until till provided given depending otherwise should but
    not other either or instead already still than least most next upcoming future past soonest earliest
    latest last previous recent all any every each both rest remaining""")
"""Words by which a goal chooses among things; that choice was an agent's, and stands in no call."""
ENDS = words("next soonest earliest latest last recent first")
EVERY = words("all any every each")
TIMELY = words("next upcoming future past previous today")
ASKING = QUESTIONS | words("tell list report show count say summarise summarize describe explain")
"""Words by which a goal wants an answer besides what is done."""
PLACES = words("backlog inbox outbox spam trash archive drafts status")
"""Objects that may say which of others are meant: the tasks in the backlog."""
_FREE = words("due s before after between up back")
FREE = FUNCTION | (OBJECTS - PLACES) | FILTERS | ENDS | EVERY | TIMELY | _FREE
"""Words that choose nothing, and those that choose and are looked at one by one."""
_DUE = re.compile(r"\bdue (?:on|by)\b")
_CLAUSE_END = r"\s*[.;?!]?\s*$|\s*[.;?!]\s"
_NEXT_CLAUSE = r",?\s+(?:and|then)\s+(?:(?:then|also|please)\s+)*(?P<next>\w+)"
POINTING = words("""
    it its itself them they their theirs he him his she her hers those these this found above
    previous same result results selected identified matching relevant""")
"""Words by which a part of a plan points at what another part found."""
NO_LIMITS: Mapping[str, int] = {}
SURE_ROWS = ("only", "first")
"""Rows that a result shows also where its tool returns no more than so many."""


def why_not(
    pipeline: Pipeline,
    steps: Sequence[Step],
    parameters: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, int] = NO_LIMITS,
    chosen: Mapping[str, int] = NO_CHOICE,
) -> str:
    """Return why a pipeline learned from `steps` must not run by itself; empty where it may.

    Args:
        pipeline: Of the whole trajectory.
        steps: The trajectory.
        parameters: JSON schema of each tool's parameters.
        limits: Rows that a tool's result has at most, where that is known.
        chosen: The way at each fork, as `Walk.next` takes it.
    """
    made = needed(steps)
    values = {slot.name: slot.example for slot in pipeline.slots}
    walk = Walk(pipeline=pipeline, values=values, parameters=parameters, limits=limits)
    if not isinstance(walk.next(made, chosen), Finished):
        return "it does not make the calls that it was learned from"
    if missing := uncovered(pipeline):
        return f"{missing[0]!r} goes into no call"
    if any(node.effect for node in pipeline.calls):
        return _doubt_of_effect(pipeline, _by_node(walk, made, chosen), parameters)
    return ""


def _by_node(walk: Walk, made: Sequence[Step], chosen: Mapping[str, int]) -> dict[str, Step]:
    """Return the first step of each node that a walk came to."""
    steps: dict[str, Step] = {}
    for number, step in enumerate(made):
        if isinstance(move := walk.next(made[:number], chosen), NextCall):
            steps.setdefault(move.node, step)
    return steps


def needed(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that a pipeline must make again: those that found or did something, each once.

    What was only looked at after the last effect is left out, and a look at one record that told only what an
    earlier step had shown of it.
    """
    ends = [number for number, step in enumerate(steps, 1) if step.effect and step.ok]
    seen: set[tuple[str, str]] = set()
    kept: list[Step] = []
    for step in steps[: ends[-1]] if ends else steps:
        call = canonical(step.tool, step.arguments), step.observation
        if not step.ok or call in seen or (not step.effect and not rows_of(step.observation)):
            continue
        if not step.effect and _tells_again(step, kept):
            continue
        seen.add(call)
        kept.append(step)
    return kept


def _tells_again(look: Step, earlier: Sequence[Step]) -> bool:
    """Whether a look at one record, by its identifier, told only what an earlier row said of that record."""
    which = {str(value) for name, value in look.arguments.items() if is_identifier(name)}
    told = {field for row in rows_of(look.observation) for field in row.items() if field[1]}
    rows = (row for step in earlier if not step.effect for row in rows_of(step.observation))
    return (
        len(which) == 1
        and bool(told)
        and any(told <= row.items() and which <= {*row.values()} for row in rows)
    )


def with_answers(pipeline: Pipeline, made: Sequence[Step]) -> Pipeline:
    """Return a pipeline that knows how its effects were answered when they were done.

    Args:
        pipeline: Without such answers.
        made: The calls that it makes again.
    """
    answers: dict[str, set[str]] = {}
    for step in made:
        answers.setdefault(step.tool, set()).add(answer_shape(step.observation, step.arguments))
    nodes = [
        replace(node, answer=next(iter(answers[node.tool])))
        # A tool that answers in several ways is not held to one.
        if node.effect and len(answers.get(node.tool, ())) == 1
        else node
        for node in pipeline.nodes
    ]
    return replace(pipeline, nodes=nodes)


def rests_on_others(goal: str) -> bool:
    """Whether a part of a plan points at other parts, so that its own words do not say all."""
    return not POINTING.isdisjoint(key_of(goal).split())


def loses_choice(part: str, task: str) -> bool:
    """Whether a part of a plan may have lost what the task says of it: a condition, a day, a word.

    It has not where it stands in the task word for word, as a clause of its own, and the task chooses in no
    other words. An agent sees the task and a pipeline does not.
    """
    lost = set(key_of(task).split()) - set(key_of(part).split())
    if not FILTERS.isdisjoint(lost) or (GoalWords(task).conditional and not GoalWords(part).conditional):
        return True
    said = re.escape(" ".join(part.casefold().split()).rstrip(" .!?;,"))
    clause = rf"(?:^|[.;?!]\s+|\b(?:and|then|also|please)\s+){said}(?:{_CLAUSE_END}|{_NEXT_CLAUSE})"
    found = re.search(clause, " ".join(task.casefold().split()))
    return found is None or (found["next"] is not None and found["next"] not in LEMMAS)


def taken_from(pipeline: Pipeline, task: str) -> list[JSON]:
    """Return the constants of a part's pipeline that the whole task said, and the part did not."""
    task_says, part_says = GoalWords(task), GoalWords(pipeline.purpose)
    return [
        part.value
        for node in pipeline.calls
        for binding in node.arguments.values()
        for part in parts_of(binding)
        if isinstance(part, Constant)
        and isinstance(part.value, str)
        and task_says.standing(part.value)
        and not part_says.standing(part.value)
    ]


def uncovered(pipeline: Pipeline) -> list[str]:
    """Return the values of the goal that stand in no slot, by their place in it."""
    goal = pipeline.purpose
    ranges: list[tuple[int, int]] = []
    spans = masked(goal).spans
    for slot in pipeline.slots:
        if slot.ways:  # All ways need the values that are worked in.
            ranges += [
                (span.start, span.end)
                for place, span in enumerate(spans)
                if all(place in way.spans for way in slot.ways)
            ]
            continue
        at = goal.casefold().find(slot.said.casefold())
        while at >= 0 and slot.said:
            ranges.append((at, at + len(slot.said)))
            at = goal.casefold().find(slot.said.casefold(), at + 1)
    return [
        span.text
        for span in spans
        if not any(start <= span.start and span.end <= end for start, end in ranges)
    ]


def not_told(pipeline: Pipeline) -> str:
    """Return why an effect may rest on more than the calls show, however often it went well; or nothing.

    Every word of the goal must be one that chooses nothing, give the order, or have gone into a call: any
    other one, such as `urgent` or `archived`, may be why just this thing was meant.
    """
    goal = _DUE.sub(" ", key_of(pipeline.purpose))
    if asked := ASKING.intersection(goal.split()):
        return f"{min(asked)!r} in its goal asks for an answer too"
    went_in = " ".join(
        [
            *(
                str(part.value)
                for node in pipeline.calls
                for binding in node.arguments.values()
                for part in parts_of(binding)
                if isinstance(part, Constant)
            ),
            *(slot.said for slot in pipeline.slots),
            *(name for node in pipeline.calls for name in node.arguments),
        ]
    )
    known = set(re.findall(r"\w+", went_in.casefold().replace("_", " ")))
    said = goal.split()
    for before, word in zip(["then", *said], said, strict=False):
        # Elsewhere a verb's form says which are meant: "the archived emails", "my sent mail".
        orders = word in LEMMAS and word not in STATE and before in ("and", "then", "also", "please", "to")
        plain = word in FREE or orders
        if word[:1] != "<" and word.isalnum() and not plain and word not in known and word not in UNITS:
            return f"nothing shows what {word!r} in its goal chose"
    return _doubt_of_days(pipeline, goal)


def _doubt_of_days(pipeline: Pipeline, goal: str) -> str:
    """Return which day that is told from today no word of the goal stands for."""
    for slot in pipeline.slots:
        from_today = [way.how for way in slot.ways if way.how.startswith("today")]
        if from_today and any(how != "today+0" for how in from_today):
            return f"nothing in its goal says which day {slot.name} is"
        if from_today and TIMELY.isdisjoint(goal.split()):
            return f"nothing in its goal says that {slot.name} is today"
    return ""


def chosen_by_agent(pipeline: Pipeline, parameters: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the arguments of effects, with their nodes, that are constants which an agent may have chosen.

    What a tool takes by default or what is empty was no choice, nor was a switch whose name the goal says.
    """
    said = set(key_of(pipeline.purpose).split())
    found: list[tuple[str, str]] = []
    for node in pipeline.calls:
        schema = parameters.get(node.tool, {})
        for name, binding in node.arguments.items():
            if not node.effect or not isinstance(binding, Constant) or binding.value in (None, "", [], {}):
                continue
            known = parameter(schema, name)
            taken = [known[key] for key in ("default", "const") if key in known]
            switched = binding.value is True and said.issuperset(name.lower().split("_"))
            if binding.value not in taken and not switched:
                found.append((name, node.name))
    return found


def _doubt_of_effect(
    pipeline: Pipeline, results: Mapping[str, Step], parameters: Mapping[str, Mapping[str, Any]]
) -> str:
    if doubt := not_told(pipeline):
        return doubt
    if chosen := FILTERS.intersection(key_of(pipeline.purpose).split()):
        return f"{min(chosen)!r} in its goal asks for a choice"
    for name, node_name in chosen_by_agent(pipeline, parameters):
        return f"{name} of {node_name} may have been chosen"
    for node in pipeline.calls:
        for name, binding in node.arguments.items():
            if isinstance(binding, Composed):
                return f"{name} of {node.name} may have been put together otherwise"
            for result in results_of(binding):
                if result.node not in results:
                    continue  # It was not called, on a way that was not gone.
                rows = rows_of(results[result.node].observation)
                if result.row not in SURE_ROWS or first_of(rows) != rows[0]:
                    return f"which row of {result.node} is meant is not sure"
    return ""
