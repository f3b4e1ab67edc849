"""A second opinion: a fresh look at what was done, in one word, where the words of a task make one doubt.

It sees the subtask and what was done, not the agent's own thoughts. Asked only where a check without a
model thinks that a subtask is reached and its agent goes on all the same, or where an agent says that a
milestone is reached and nothing shows it; so it costs most runs nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.agents.agent import Agent, ask
from plait.events import Noted
from plait.journal import Journal
from plait.models.protocol import Grammar, Message, Request
from plait.reflection.crew import Crew
from plait.reflection.doubts import ALL_ACTED_ON, REACHED
from plait.reflection.trajectory import Step, SubtaskRun, one_line

ROLE = "second opinion"
MAX_TOKENS = 256
"""A grammar ends the reply after its one word; where none is taken, a model may think first."""
YES_OR_NO = ("yes", "no")
SHOWN_CHARACTERS = 300
"""Of the result of each effect."""
SHOWN_STEPS = 8
"""The latest, for a milestone."""


def wanted(problems: Sequence[str]) -> bool:
    """Whether what speaks against a call is that the subtask seems reached."""
    return any(problem.startswith(REACHED) or problem.endswith(ALL_ACTED_ON) for problem in problems)


async def reached(journal: Journal, crew: Crew, run: SubtaskRun) -> bool:
    """Return whether a subtask is done, in the opinion of one who sees only what was done.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    done = [step for step in run.steps if step.effect and step.ok]
    prompt = crew.prompts.second_opinion(run.subtask.goal, _lines(done))
    return await _yes(journal, crew, prompt, "second-opinion")


async def holds(journal: Journal, crew: Crew, run: SubtaskRun, claim: str) -> bool:
    """Return whether the milestone of a subtask holds, or there is nothing that it applies to.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    lines = _lines(run.steps[-SHOWN_STEPS:]) or ["nothing"]
    prompt = crew.prompts.milestone(run.subtask, lines, one_line(claim)[:SHOWN_CHARACTERS])
    return await _yes(journal, crew, prompt, "milestone")


async def which_way(
    journal: Journal, crew: Crew, run: SubtaskRun, ways: Sequence[str], name: str
) -> int | None:
    """Return which condition holds after what was done, from 1; 0: none; None where no number comes back.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    prompt = crew.prompts.fork(run.subtask.goal, _lines(run.steps[-SHOWN_STEPS:]) or ["nothing"], ways)
    numbers = [str(number) for number in range(len(ways) + 1)]
    answer = await _answer(journal, crew, prompt, name, numbers)
    return int(answer) if answer else None


async def _yes(journal: Journal, crew: Crew, prompt: str, name: str) -> bool:
    return await _answer(journal, crew, prompt, name, YES_OR_NO) == "yes"


async def _answer(journal: Journal, crew: Crew, prompt: str, name: str, words: Sequence[str]) -> str:
    """Return the one of some words that the reply is, or its last line; empty where it was cut or is none."""
    request = Request(
        messages=[Message(role="user", content=prompt)],
        form=one_of(words),
        settings=replace(crew.tool.settings, temperature=0.0, max_tokens=MAX_TOKENS),
    )
    reply = await ask(journal, _judge(crew.tool), request, name)
    lines = reply.text.lower().split("\n")
    said = [word for line in lines if (word := re.sub(r"^\W+|\W+$", "", line))]
    if not said or said[-1] not in words or reply.finish == "length":
        journal.emit(Noted(text=f"the {ROLE} gave no answer that can be used: it counts as none"))
        return ""
    return said[-1]


def one_of(words: Sequence[str]) -> Grammar:
    """Return the form of a reply that is one of some words."""
    ways = " | ".join(f'"{word}"' for word in words)
    return Grammar(gbnf=f"root ::= {ways}\n")


def _lines(steps: Sequence[Step]) -> list[str]:
    return [f"{step.call} -> {one_line(step.observation)[:SHOWN_CHARACTERS]}" for step in steps]


def _judge(agent: Agent) -> Agent:
    return replace(agent, role=ROLE)
