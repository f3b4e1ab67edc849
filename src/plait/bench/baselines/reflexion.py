"""Reflexion (Shinn et al., 2023, arXiv 2303.11366): ReAct in trials, with words of advice in between.

Section 3 and algorithm 1: an actor (here ReAct) makes a trial, an evaluator judges it, and where it
failed a self-reflection in words goes into an episodic memory, which the actor of the next trial reads.
Tool tasks have no ground truth, so the evaluator is the model itself with the heuristic of section 4.1:
who makes the same call with the same result more than 3 times, or needs more than 30 steps, reflects
without being judged.

Deviations. The paper resets the environment between trials; here effects are real and tables stay as a
trial left them. So the actor is shown what its earlier trials changed, and a call that took effect in one
of them is answered from there instead of being made again. The last trial is not judged, since nothing
could follow from it. Actor, evaluator and self-reflection are one model, which judges and reflects in the
chat of the trial, so that a local engine need not read the trial again.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plait.agents.gate import Judged
from plait.agents.prompting import fill, load
from plait.agents.remarks import lines_grammar
from plait.bench.baselines.react import (
    PACKAGE,
    Ending,
    Episode,
    ReactTask,
    Rules,
    Thought,
    act,
    episode,
    opening,
    readable,
    told,
)
from plait.errors import ReplyError
from plait.events import MemoryWritten, RoundStarted
from plait.journal import Journal
from plait.models.protocol import Grammar, Message
from plait.reflection.second_opinion import YES_OR_NO, one_of
from plait.reflection.trajectory import Step, one_line
from plait.tools.arguments import canonical

TRIALS = 3
MEMORY = 3
"""Reflections kept, the latest ones."""
STEPS = 30
REPEATS = 3
LINES = 4
"""Of a reflection."""
LINE = r"[^\x00-\x20\x7F] [^\x00-\x1F\x7F]{1,239}"
LINE_CHARACTERS = 240
RESULT_CHARACTERS = 200
"""Shown of what a finished call brought."""
DONE_BEFORE = "Not made again: it took effect in an earlier trial, with this result:"
UNSOLVED = "you judged that the task is not solved."
HEURISTIC: Mapping[Ending, str] = {
    "circle": "you made the same call over and over, and the result stayed the same.",
    "steps": f"after {STEPS} steps there was no end.",
}
"""Endings that need no judgement, as what was wrong."""

_VERDICT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)

Changes = Mapping[str, Step]
"""Finished effects of the trials so far, and those in doubt, by their calls."""


async def reflexion(journal: Journal, work: ReactTask, trials: int = TRIALS) -> str:
    """Solve a task in up to `trials` trials and return the answer; empty where the last one gave none.

    Raises:
        ReplyError: no readable call, judgement or reflection in the tries of one reply.
        BudgetExhausted: the budget is used up.
    """
    memory: deque[str] = deque(maxlen=MEMORY)
    changes: dict[str, Step] = {}
    for number in range(1, trials):
        trial = await journal.branch(f"round-{number}", _trial, (work, number, tuple(memory), dict(changes)))
        for step in trial.steps:
            if step.effect and (step.ok or step.unknown):
                changes.setdefault(canonical(step.tool, step.arguments), step)
        failure = await journal.branch(f"round-{number}/evaluate", _evaluate, (work, trial))
        if not failure:
            return trial.result
        lesson = await journal.branch(f"round-{number}/reflect", _reflect, (work, trial, failure))
        memory.append(f"Trial {number}: {lesson}")
        journal.emit(MemoryWritten(memory="long_term", entry=memory[-1]))
    last = await journal.branch(f"round-{trials}", _trial, (work, trials, tuple(memory), changes))
    return last.result


@dataclass(frozen=True, kw_only=True)
class _Once:
    """Makes a call, unless an earlier trial made it."""

    changes: Changes

    async def __call__(self, journal: Journal, given: tuple[ReactTask, Thought]) -> Step:
        thought = given[1]
        before = self.changes.get(canonical(thought.call.name, thought.call.arguments))
        if before is None:
            return await act(journal, given)
        return replace(before, thought=thought.text, observation=f"{DONE_BEFORE} {before.observation}")


async def _trial(journal: Journal, given: tuple[ReactTask, int, Sequence[str], Changes]) -> Episode:
    """Let the actor try, with its reflections before the trial's first turn."""
    work, number, lessons, changes = given
    journal.emit(RoundStarted(round=number))
    prompt = opening(work, told(work))
    if lessons:
        shown = [f"{step.call} -> {_short(step)}" for step in changes.values()]
        memory = fill(
            load(PACKAGE, "reflexion_memory"),
            lessons="\n".join(lessons),
            changes="\n".join(shown) or "none",
        )
        prompt = _asked(prompt, memory)
    rules = Rules(steps=STEPS, repeats=REPEATS, same=_same, act=_Once(changes=changes))
    return await episode(journal, work, prompt, rules)


def _same(one: Step, other: Step) -> bool:
    """Whether two turns did the same with the same result, whatever was thought."""
    return (one.call, one.observation) == (other.call, other.observation)


async def _evaluate(journal: Journal, given: tuple[ReactTask, Episode]) -> str:
    """Return why a trial failed; empty where it did not."""
    work, trial = given
    if failure := HEURISTIC.get(trial.ending):
        return failure

    def read(text: str) -> Judged[bool]:
        found = _VERDICT.search(text)
        if found is None:
            raise ReplyError("there is no judgement: reply yes or no")
        solved = found[1].lower() == "yes"
        return Judged(output=solved, shown=solved)

    chat = _asked(trial.chat, load(PACKAGE, "reflexion_evaluate"))
    evaluator = replace(work.agent, role="evaluator")
    solved = await readable(journal, evaluator, chat, one_of(YES_OR_NO), read)
    return "" if solved else UNSOLVED


async def _reflect(journal: Journal, given: tuple[ReactTask, Episode, str]) -> str:
    """Return what is to be learned from a trial that failed, as one line of bounded length."""
    work, trial, failure = given

    def read(text: str) -> Judged[str]:
        lines = [line.strip()[:LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
        if not lines:
            raise ReplyError("there is no reflection: say what to do otherwise")
        lesson = " ".join(lines[:LINES])
        return Judged(output=lesson, shown=lesson)

    prompt = fill(load(PACKAGE, "reflexion_reflect"), failure=failure, most=str(LINES))
    form = Grammar(gbnf=lines_grammar(LINE, LINES, remarks=False))
    reflector = replace(work.agent, role="self-reflection")
    return await readable(journal, reflector, _asked(trial.chat, prompt), form, read)


def _asked(chat: Sequence[Message], text: str) -> list[Message]:
    """Return a chat whose last message, the user's, asks `text`."""
    last = chat[-1]
    if last.role == "user":
        # Two messages of the user in a row are refused by some models.
        return [*chat[:-1], Message(role="user", content=f"{last.content}\n\n{text}")]
    return [*chat, Message(role="user", content=text)]


def _short(step: Step) -> str:
    return f"<result>{one_line(step.observation)[:RESULT_CHARACTERS]}</result>"
