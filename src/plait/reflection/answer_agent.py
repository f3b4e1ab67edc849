"""The answer agent: writes the answer from the whole trajectory (MIRROR, section 3.3).

A weak answer is not revised in place; it closes the round. Knows nothing of rounds.
"""

from dataclasses import replace
from typing import Any

from plait.agents.gate import Feedback, Judged, Passed, Role, next_attempt, through_gate
from plait.agents.remarks import PROSE, lines_grammar, remarks_grammar, split_remarks
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.protocol import Grammar, Reply, Request, Typed
from plait.models.typed import bounded, parse_typed, split_reflection, with_reflection
from plait.reflection import claims
from plait.reflection.crew import Crew
from plait.reflection.trajectory import Trajectory

ANSWER_LINES = 8


def answer_line(*, numbers: bool) -> str:
    """Return the GBNF of one line of an answer.

    Args:
        numbers: Whether it may hold numbers such as #12, for tasks that have some: elsewhere small models
            write their score so.
    """
    number = ' | "#" [0-9]' if numbers else ""
    return rf"[^\x00-\x20#<\x7F] ({PROSE}{number}){{0,300}}"


async def write_answer(journal: Journal, crew: Crew, trajectory: Trajectory) -> Passed[Any]:
    """Return the answer of a round with its score.

    Raises:
        ReplyError: no try gave an answer of the asked form.
    """
    gate = crew.settings.answer
    form = _form(crew, trajectory)
    specs = await crew.candidates(journal, crew.task)

    def request(feedback: Feedback | None) -> Request:
        prompt = crew.prompts.answer(crew.told_task, trajectory, feedback, gate.enabled)
        return crew.answer.request(crew.messages(specs, prompt), form, next_attempt(feedback))

    def wrong(answer: str) -> list[str]:
        return claims.problems(crew.task, answer, trajectory, crew.executor.tools)

    async def read(reply: Reply) -> Judged[Any]:
        if isinstance(form, Typed):
            return _read_typed(reply, form, gated=gate.enabled)
        remarked = split_remarks(reply.text)
        if not remarked.body:
            raise ReplyError("the answer is empty")
        return Judged(
            output=remarked.body,
            shown=remarked.body,
            critique=remarked.critique,
            score=remarked.score,
            problems=wrong(remarked.body) if gate.enabled else (),
        )

    return await through_gate(journal, Role(agent=crew.answer, gate=gate, request=request, read=read))


async def judge_answer(journal: Journal, crew: Crew, trajectory: Trajectory, answer: str) -> Judged[str]:
    """Return the answer agent's critique and score of an answer that is written already.

    Raises:
        ReplyError: no try gave a score.
    """
    specs = await crew.candidates(journal, crew.task)
    prompt = crew.prompts.answer_judge(crew.told_task, trajectory, answer)
    form = Grammar(gbnf=remarks_grammar())
    # What is judged stays as it is: only a reply that cannot be read is asked for again.
    gate = replace(crew.settings.answer, enabled=False)

    def request(feedback: Feedback | None) -> Request:
        return crew.answer.request(crew.messages(specs, prompt), form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[str]:
        remarked = split_remarks(reply.text)
        if remarked.score is None:
            raise ReplyError("there is no score: write a line `# score:` with a number from 0 to 10")
        return Judged(output=answer, shown=answer, critique=remarked.critique, score=remarked.score)

    role = Role(agent=crew.answer, gate=gate, request=request, read=read)
    return (await through_gate(journal, role)).judged


def _form(crew: Crew, trajectory: Trajectory) -> Grammar | Typed:
    """Return lines for a text, JSON under a schema for an answer of a type."""
    gated = crew.settings.answer.enabled
    if crew.returns is None:
        told = [crew.task, *(step.observation for run in trajectory.runs.values() for step in run.steps)]
        line = answer_line(numbers=any("#" in text for text in told))
        return Grammar(gbnf=lines_grammar(line, ANSWER_LINES, remarks=gated))
    output = {"type": "object", "properties": {"answer": crew.returns}, "required": ["answer"]}
    return Typed(schema=bounded(with_reflection(output) if gated else output), name="answer")


def _read_typed(reply: Reply, form: Typed, *, gated: bool) -> Judged[Any]:
    value = parse_typed(reply.text, form.schema)
    if not gated:
        return Judged(output=value["answer"], shown=value["answer"])
    reflected = split_reflection(value)
    answer = reflected.output["answer"]
    return Judged(output=answer, shown=answer, critique=reflected.critique, score=reflected.score)
