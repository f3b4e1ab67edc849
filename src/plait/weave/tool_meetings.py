"""Meetings of a tool task: the plans of several teams become one, and so do their answers (Croto, section 4).

Where what reflection makes is given to the meetings of teams, and taken back. Knows nothing of rounds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plait.agents.gate import Judged
from plait.errors import ReplyError
from plait.events import Noted
from plait.experience.words.vocabulary import FUNCTION
from plait.journal import Journal
from plait.reflection.answer_agent import ANSWER_LINES, judge_answer
from plait.reflection.crew import Crew
from plait.reflection.plan import MAXIMUM_SUBTASKS, Plan, written
from plait.reflection.planner import merged_plan
from plait.reflection.trajectory import Trajectory
from plait.teams.chain import Chain, Domain, Phase
from plait.teams.ensemble import Ensemble
from plait.teams.meeting import Meeting
from plait.teams.places import tell
from plait.teams.ratings import Contender, Ratings
from plait.teams.solution import Quality, Rating, Solution

MOST_SCORE = 10.0


def _phase(name: str, agent: str, *, writes: str = "", key: bool = True, most_lines: int = 0) -> Phase:
    """Return a phase in which agents of reflection work, and no two of them talk."""
    return Phase(
        name=name,
        instructor="",
        assistant=agent,
        prompt="",
        criteria="",
        writes=writes or name,
        rounds=1,
        key=key,
        most_lines=most_lines,
        # A plan or an answer is a few lines, and an agent that must find three faults repeats itself.
        most_points=1,
        max_tokens=512,
    )


PLAN = _phase("plan", "planner", most_lines=MAXIMUM_SUBTASKS)
ACT = _phase("act", "tool", writes="actions", key=False)
ANSWER = _phase("answer", "answer")
CHAIN = Chain(phases=(PLAN, ACT, ANSWER))
AGGREGATOR_TEXT = (
    "You bring together what several teams wrote on the same task: their plans, or their answers. You keep"
    " what is right in any of them, and add nothing that none of them has."
)
_WORD = re.compile(r"\w+")
_ECHO = re.compile(
    r"strengths and weaknesses|what checks found|^\W*(?:solution \d|changes:|critique:)", re.I | re.M
)
"""What a small model that merges answers takes over from its prompt."""
_TELLING = 4
"""Letters from which a word may say what is to be done."""


def tool_domain(quality: Quality) -> Domain:
    """Return the domain of tool tasks, whose solutions are rated by `quality`."""
    return Domain(
        name="tools", chain=CHAIN, roles={}, aggregator=AGGREGATOR_TEXT, product="answer", quality=quality
    )


async def meet_on_plans(
    journal: Journal, ensemble: Ensemble, crew: Crew, plans: Mapping[str, Judged[Plan]]
) -> Judged[Plan]:
    """Make one plan of several.

    Rated without a model: how much of what the task says is in the plan. A merged plan that cannot be read
    rates lowest, and without elitism gives way to the first team's.

    Args:
        journal: The place of the round.
        ensemble: What meetings work with; its quality is that of plans.
        crew: The agents.
        plans: Of the teams, by their names, in the order of the teams; one alone stands as it is.

    Raises:
        BudgetExhausted, ModelError: as `Meeting.hold`.
    """
    entries = {team: _plan_entry(crew, team, judged) for team, judged in plans.items()}
    entry = await _met(journal, ensemble, PLAN, entries)
    if (own := _whose(entry, entries)) is not None:
        return plans[own]
    try:
        plan, _ = merged_plan(crew, _lines(entry.solution))
    except ReplyError as error:
        first = next(iter(plans))
        told = Noted(text=f"the merged plan is of no use ({error.message}); that of {first} stands")
        await tell(journal, PLAN.name, told)
        return plans[first]
    critique = "; ".join(entry.points.weaknesses)
    return Judged(output=plan, shown=plan.as_json(), critique=critique)


async def meet_on_answers(
    journal: Journal,
    ensemble: Ensemble,
    crew: Crew,
    trajectory: Trajectory,
    answers: Mapping[str, Judged[Any]],
) -> Judged[Any]:
    """Make one answer of several; of typed ones the one that most teams gave, then the best scored.

    A merged answer goes through the answer agent's gate, which scores it.

    Args:
        journal: The place of the round.
        ensemble: What meetings work with.
        crew: The agents.
        trajectory: What was done.
        answers: Of the teams, by their names, in the order of the teams; one alone stands as it is.

    Raises:
        BudgetExhausted, ModelError: as `Meeting.hold`.
    """
    if crew.returns is not None:
        return _most_given(list(answers.values()))
    entries = {team: _answer_entry(team, judged) for team, judged in answers.items()}
    domain = tool_domain(_AnswerQuality(crew, trajectory))
    entry = await _met(journal, replace(ensemble, domain=domain), ANSWER, entries)
    if entry.rating is None:  # Its judge gave no score: what was judged stands.
        entry = max(entries.values(), key=lambda each: each.quality or 0.0)
    if (own := _whose(entry, entries)) is not None:
        return answers[own]
    text, rating = entry.solution.text, entry.rating or Rating(quality=0.0)
    score = rating.quality * MOST_SCORE if crew.settings.answer.enabled else None
    return Judged(output=text, shown=text, critique="; ".join(rating.findings), score=score)


async def _met(
    journal: Journal, ensemble: Ensemble, phase: Phase, entries: Mapping[str, Contender]
) -> Contender:
    """Hold a meeting, and return what came of it with its rating."""
    if len(entries) == 1:
        return next(iter(entries.values()))
    heard = ensemble.pulse.heard(journal)
    ratings = Ratings(heard, ensemble)
    entry = await Meeting(heard, ensemble, ratings, phase).hold([*entries], [*entries.values()])
    [rated], told = await ratings.rated([entry])
    await tell(heard, phase.name, *told)
    return rated


def _whose(entry: Contender, entries: Mapping[str, Contender]) -> str | None:
    """Return the first team that brought what came of a meeting, or None where it was merged."""
    same = (team for team, each in entries.items() if each.solution.digest == entry.solution.digest)
    return next(same, None)


@dataclass(frozen=True)
class PlanQuality:
    """How much of the task a plan has: the share of the task's telling words and numbers; 0 to 1."""

    crew: Crew

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        try:
            plan, problems = merged_plan(self.crew, _lines(solution))
        except ReplyError as error:
            return Rating(quality=0.0, findings=[error.message])
        there = _words(" ".join(subtask.goal for subtask in plan.subtasks))
        wanted = _words(self.crew.task)
        missing = [word for word in wanted if word not in there]
        kept = 1.0 - len(missing) / len(wanted) if wanted else 1.0
        findings = [*problems, *([f"it lacks: {', '.join(missing)}"] if missing else [])]
        return Rating(quality=round(kept, 4), findings=findings)


@dataclass(frozen=True)
class _AnswerQuality:
    """The answer agent's own score of an answer, as a share of the highest; all are equal without a gate."""

    crew: Crew
    trajectory: Trajectory

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        lines = [line for line in solution.text.splitlines() if line.strip()]
        if len(lines) > ANSWER_LINES or _ECHO.search(solution.text):
            return Rating(quality=0.0, findings=["it speaks of solutions instead of answering"])
        if not self.crew.settings.answer.enabled:
            return Rating(quality=1.0)
        judged = await judge_answer(journal, self.crew, self.trajectory, solution.text)
        return _rating(judged)


def _rating(judged: Judged[Any]) -> Rating:
    findings = [judged.critique] if judged.critique else []
    return Rating(quality=(judged.score or 0.0) / MOST_SCORE, findings=findings)


def _plan_entry(crew: Crew, team: str, judged: Judged[Plan]) -> Contender:
    """Return a team's plan; the task itself, where no try of its planner gave one, is worth least."""
    solution = Solution(product=PLAN.writes, text=_listed(judged.output), by=team)
    made_none = crew.settings.planner.enabled and judged.score is None
    return Contender(solution=solution, rating=Rating(quality=0.0) if made_none else None)


def _answer_entry(team: str, judged: Judged[Any]) -> Contender:
    solution = Solution(product=ANSWER.writes, text=str(judged.output), by=team)
    return Contender(solution=solution, rating=None if judged.score is None else _rating(judged))


def _most_given(answers: Sequence[Judged[Any]]) -> Judged[Any]:
    def weight(judged: Judged[Any]) -> tuple[int, float]:
        return sum(other.output == judged.output for other in answers), judged.score or 0.0

    return max(answers, key=weight)  # Of equals the first team's.


def _listed(plan: Plan) -> str:
    return "\n".join(f"- {line}" for line in written(plan))


def _lines(solution: Solution) -> list[str]:
    lines = (line.strip().removeprefix("- ").strip() for line in solution.text.splitlines())
    return [line for line in lines if line]


def _words(text: str) -> list[str]:
    """Return what may tell tasks apart: longer words, and whatever has a digit, each once."""
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return [
        word
        for word in words
        if word not in FUNCTION and (len(word) >= _TELLING or any(letter.isdigit() for letter in word))
    ]
