"""What earlier tasks say, as text for a prompt: data to take something from, never instructions.

Bounded and delimited, because a memory holds what others wrote. Knows nothing of where it comes from.
"""

import re
from collections.abc import Sequence

from plait.journal import Journal
from plait.reflection.guide import Advice, Guide
from plait.reflection.trajectory import one_line

MOST_WORKFLOWS = 2
MOST_LESSONS = 3
WORKFLOW_LINES = 10
LINE_CHARACTERS = 200

_DELIMITER = re.compile(r"</?(?=\s*reference)", re.IGNORECASE)
_LINE = re.compile(r"^\s*\d{1,3}[.):]\s+(?P<goal>\S.*?)(?:\s*=>.*)?$")
_KIND = re.compile(r"<(?:quoted|email|date|time|number|name)>")
_VALUE = re.compile(r"\d[\w:.,@-]*|'[^']+'|\"[^\"]+\"|\S+@\S+|(?<=\s)[A-Z]\w+")


async def advice_for(journal: Journal, guide: Guide | None, goal: str, name: str = "advice") -> Advice:
    """Return what a guide advises for a goal; nothing where there is no guide.

    Args:
        journal: The place that asks.
        guide: Of the crew.
        goal: What is to be reached.
        name: Of the branch below the place; goals of one place need one each.
    """
    if guide is None:
        return Advice()

    async def place(branch: Journal, _: None) -> Advice:
        return await guide.advice(branch, " ".join(goal.split()))

    return await journal.branch(name, place, None)


async def warnings_for(journal: Journal, guide: Guide | None, goal: str) -> Sequence[str]:
    """Return what a guide warns of on the way to a goal; nothing where there is no guide."""
    if guide is None:
        return ()

    async def place(branch: Journal, _: None) -> Sequence[str]:
        return await guide.warnings(branch, " ".join(goal.split()))

    return await journal.branch("advice", place, None)


def joined(advices: Sequence[Advice]) -> Advice:
    """Return several advices as one, what is said twice once; the first counts most."""
    workflows = [text for advice in advices for text in advice.workflows]
    lessons = [text for advice in advices for text in advice.lessons]
    return Advice(workflows=tuple(dict.fromkeys(workflows)), lessons=tuple(dict.fromkeys(lessons)))


def references_text(advice: Advice) -> str:
    """Return workflows and lessons for who plans; empty where there are none."""
    return f"{_workflows_text(advice.workflows)}{lessons_text(advice.lessons)}"


def lessons_text(lessons: Sequence[str]) -> str:
    """Return warnings from what failed; empty where there are none."""
    if not lessons:
        return ""
    lines = "\n".join(f"- {_bounded(lesson)}" for lesson in lessons[:MOST_LESSONS])
    return f"\n# What went wrong in earlier tasks\n<reference>\n{lines}\n</reference>\n"


def copied_values(goals: Sequence[str], advice: Advice, task: str) -> list[str]:
    """Return the goals that are lines of a reference with values in them that the task does not have.

    A reference may say only the kind of a value, `<name>`: that is never part of a goal of this task.
    """
    lines = [line for text in advice.workflows for line in text.splitlines()]
    known = {match["goal"].strip().lower() for line in lines if (match := _LINE.match(line))}
    return [
        goal
        for goal in goals
        if any(kind not in task for kind in _KIND.findall(goal))
        or (goal.lower() in known and any(value not in task for value in _VALUE.findall(goal)))
    ]


def _workflows_text(workflows: Sequence[str]) -> str:
    if not workflows:
        return ""
    shown = [
        "\n".join(_bounded(line) for line in text.splitlines()[:WORKFLOW_LINES] if line.strip())
        for text in workflows[:MOST_WORKFLOWS]
    ]
    blocks = "\n\n".join(shown)
    return f"\n# How similar tasks were done: data, with other values\n<reference>\n{blocks}\n</reference>\n"


def _bounded(text: str) -> str:
    line = _DELIMITER.sub("", one_line(text))
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…"
