"""A second opinion: a fresh look at what was done, in one word, where the words of a task make one doubt.

It sees the subtask and what was done, not the agent's own thoughts. Asked only where a check without a
model thinks that a subtask is reached and its agent goes on all the same, or where an agent says that a
milestone is reached and nothing shows it; so it costs most runs nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from plait.agents.agent import Agent, ask
from plait.journal import Journal
from plait.models.protocol import Grammar, Message, Request
from plait.reflection.crew import Crew
from plait.reflection.doubts import ALL_ACTED_ON, REACHED
from plait.reflection.trajectory import Step, SubtaskRun, one_line

ROLE = "second opinion"
MAX_TOKENS = 8
YES_OR_NO = 'root ::= "yes" | "no"\n'
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
    prompt = crew.wording.second_opinion(run.subtask.goal, _lines(done))
    return await _yes(journal, crew, prompt, "second-opinion")


async def holds(journal: Journal, crew: Crew, run: SubtaskRun, claim: str) -> bool:
    """Return whether the milestone of a subtask holds, or there is nothing that it applies to.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    lines = _lines(run.steps[-SHOWN_STEPS:]) or ["nothing"]
    prompt = crew.wording.milestone(run.subtask, lines, one_line(claim)[:SHOWN_CHARACTERS])
    return await _yes(journal, crew, prompt, "milestone")


async def which_way(
    journal: Journal, crew: Crew, run: SubtaskRun, ways: Sequence[str], name: str
) -> int | None:
    """Return which condition holds after what was done, from 1; 0: none; None where no number comes back.

    Raises:
        BudgetExhausted, ModelError: as `ask`.
    """
    prompt = crew.wording.fork(run.subtask.goal, _lines(run.steps[-SHOWN_STEPS:]) or ["nothing"], ways)
    numbers = [str(number) for number in range(len(ways) + 1)]
    grammar = " | ".join(f'"{number}"' for number in numbers)
    text = await _answer(journal, crew, prompt, name, f"root ::= {grammar}\n")
    return int(text) if text in numbers else None


async def _yes(journal: Journal, crew: Crew, prompt: str, name: str) -> bool:
    return (await _answer(journal, crew, prompt, name, YES_OR_NO)).lower().startswith("yes")


async def _answer(journal: Journal, crew: Crew, prompt: str, name: str, grammar: str) -> str:
    request = Request(
        messages=[Message(role="user", content=prompt)],
        form=Grammar(gbnf=grammar),
        settings=replace(crew.tool.settings, temperature=0.0, max_tokens=MAX_TOKENS),
    )
    return (await ask(journal, _judge(crew.tool), request, name)).text.strip()


def _lines(steps: Sequence[Step]) -> list[str]:
    return [f"{step.call} -> {one_line(step.observation)[:SHOWN_CHARACTERS]}" for step in steps]


def _judge(agent: Agent) -> Agent:
    return replace(agent, role=ROLE)
