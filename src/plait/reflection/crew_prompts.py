"""The prompts of MIRROR's agents: one typed function per prompt, texts in `prompts/`.

What stays the same comes first (tools, role, task), what changes last, so that an engine with a
prefix cache reads only what is new. Knows nothing of models.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.agents.gate import Feedback
from plait.agents.prompting import fill, load
from plait.errors import UserError
from plait.models.callspec import CallSpec, signature
from plait.models.protocol import Message
from plait.reflection.phrases import of_several
from plait.reflection.plan import Subtask
from plait.reflection.rectification import ADD_AFTER, ADD_BEFORE, DELETE, GIVE_UP, SPLIT
from plait.reflection.references import lessons_text
from plait.reflection.round_text import plan_text, trajectory_text
from plait.reflection.trajectory import (
    SHOWN_CHARACTERS,
    Step,
    SubtaskRun,
    Trajectory,
    observations,
    one_line,
    shown,
)

PACKAGE = "plait.reflection"
TOOL_REMARKS = 3
MADE_WITHOUT_SCORE, MADE_WITHOUT_CRITIQUE = "10", "It fits the subtask."
"""Shown for a call that needed no model."""
OWN_CHARACTERS = 5_000
"""Of the results of the subtask at work; the rest is for what came before it."""
TRIED_CHARACTERS = 3_000
"""Of the results of a subtask that failed, where its plan is rectified."""
WAYS: Mapping[str, str] = {
    SPLIT: "the failed line becomes 2 to 4 smaller lines",
    ADD_BEFORE: "one line that must be done first; then the failed line is tried again",
    ADD_AFTER: "one line that reaches the same in another way, in place of the failed one",
    DELETE: "lines that the task does not need, by their numbers",
    GIVE_UP: "no way is left",
}
"""What may be done about a failed line of a plan, in words for the planner."""
REPLY_CHARACTERS = 600
"""Of a refused reply at most this much is shown again."""


class CrewPrompts:
    """Renders every prompt; `overrides` is a folder with the user's own files, or None."""

    def __init__(self, overrides: Path | None = None) -> None:
        self._overrides = overrides

    def _load(self, name: str) -> str:
        return load(PACKAGE, name, self._overrides)

    def _criteria(self, name: str, enabled: bool) -> str:
        return self._load(name) + "\n" if enabled else ""

    def shared(self, notes: str, tools: Sequence[CallSpec]) -> str:
        """Return what all agents are told first: facts and tools."""
        return fill(
            self._load("shared"),
            notes=notes,
            tools="\n".join(signature(tool, details=True) for tool in tools),
        )

    def planner(
        self, task: str, lessons: Sequence[str], feedback: Feedback | None, gated: bool, references: str = ""
    ) -> str:
        """Return the planner's prompt; `lessons` is long-term memory, `references` what earlier tasks say."""
        milestones = self._load("planner_milestones") + "\n" if of_several(task) else ""
        return fill(
            self._load("planner"),
            criteria=milestones + self._criteria("planner_criteria", gated),
            remarks="\n" + self._load("planner_remarks") if gated else "",
            task=task,
            lessons=references + _lessons(lessons),
            feedback=revision(feedback),
        )

    def rectifier(self, failure: "FailureText", feedback: Feedback | None, gated: bool) -> str:
        """Return the planner's prompt about a subtask that failed."""
        changed = "\n".join(f"Changed, and stays so: {call}" for call in failure.changed)
        return fill(
            self._load("rectifier"),
            ways="\n".join(f"- {word}: {WAYS[word]}" for word in failure.ways),
            criteria=self._criteria("rectifier_criteria", gated),
            remarks="\n" + self._load("planner_remarks") if gated else "",
            references=failure.references,
            task=failure.task,
            plan="\n".join(failure.plan),
            tried=_tried(failure.run),
            changed=f"{changed}\n" if changed else "",
            feedback=revision(feedback),
            failed=f"{failure.run.subtask.id}. {failure.run.subtask.goal}",
        )

    def rectifier_text(self) -> str:
        """Return that prompt with nothing filled in."""
        return re.sub(r"\{\{\w+\}\}", "", self._load("rectifier"))

    def planner_text(self) -> str:
        """Return the planner's prompt with nothing filled in."""
        return re.sub(r"\{\{\w+\}\}", "", self._load("planner"))

    def tool(
        self, task: str, now: SubtaskRun, before: Trajectory, hints: "Hints", gated: bool
    ) -> list[Message]:
        """Return the tool agent's prompt for the next call of subtask `now`, as a chat.

        Each call so far is a turn of the agent with its result as the answer: a new step only adds to
        the prompt. What was refused is not a turn; only the last message tells of it.
        """
        remarks = self._tool_remarks() if gated else ["", "", ""]
        opening = fill(
            self._load("tool"),
            criteria=self._criteria("tool_criteria", gated),
            searched=_lead(remarks[0]),
            returned=_lead(remarks[1]),
            ended=_lead(remarks[2]),
            task=task,
            subtask=_subtask(now, before),
            results=_results(now, before),
        )
        chat = [Message(role="user", content=opening)]
        steps = [step for step in now.steps if step.ok or hints.failed_steps]
        for step, text in zip(steps, observations(steps, OWN_CHARACTERS), strict=True):
            chat.append(Message(role="assistant", content=_turn(step, gated)))
            chat.append(Message(role="user", content=f"<result>\n{text}\n</result>"))
        ending = f"{_failures(hints.failures)}{revision(hints.feedback)}Next call:"
        return [*chat[:-1], Message(role="user", content=f"{chat[-1].content}\n{ending}")]

    def _tool_remarks(self) -> list[str]:
        remarks = self._load("tool_remarks").split("\n\n")
        if len(remarks) != TOOL_REMARKS:
            raise UserError(
                f"prompt 'tool_remarks' needs {TOOL_REMARKS} paragraphs, one for each call of the example"
            )
        return remarks

    def second_opinion(self, subtask: str, done: Sequence[str]) -> str:
        """Return the prompt of one who says whether a subtask is done; `done` are its effects."""
        return fill(self._load("second_opinion"), subtask=subtask, done="\n".join(done))

    def milestone(self, subtask: Subtask, done: Sequence[str], claim: str) -> str:
        """Return the prompt of one who says whether a milestone holds; `done` are calls with results."""
        return fill(
            self._load("milestone"),
            subtask=subtask.goal,
            milestone=subtask.milestone,
            done="\n".join(done),
            claim=claim,
        )

    def fork(self, subtask: str, done: Sequence[str], ways: Sequence[str]) -> str:
        """Return the prompt of one who says which condition holds after what was done."""
        lines = ["0. none of these", *(f"{number}. {one_line(way)}" for number, way in enumerate(ways, 1))]
        return fill(self._load("fork"), subtask=subtask, done="\n".join(done), ways="\n".join(lines))

    def answer(self, task: str, trajectory: Trajectory, feedback: Feedback | None, gated: bool) -> str:
        """Return the answer agent's prompt."""
        return fill(
            self._load("answer"),
            criteria=self._criteria("answer_criteria", gated),
            remarks="\n" + self._load("answer_remarks") if gated else "",
            task=task,
            trajectory=trajectory_text(trajectory),
            feedback=revision(feedback),
        )

    def answer_judge(self, task: str, trajectory: Trajectory, answer: str) -> str:
        """Return the prompt of one who judges an answer that is written already."""
        return fill(
            self._load("answer_judge"),
            trajectory=trajectory_text(trajectory),
            task=task,
            answer=answer,
            criteria=self._load("answer_criteria"),
            remarks=self._load("answer_remarks"),
        )


@dataclass(frozen=True, kw_only=True)
class FailureText:
    """What the planner is told of a subtask that failed."""

    task: str
    plan: Sequence[str]
    """Its lines, with how they stand where that is known."""
    run: SubtaskRun
    ways: Sequence[str]
    """What may be done, of `WAYS`."""
    changed: Sequence[str]
    """Calls that changed the world."""
    references: str = ""


class Hints:
    """What the next try of a call is told besides the state of things."""

    def __init__(
        self, failures: Sequence[str], feedback: Feedback | None, *, failed_steps: bool = True
    ) -> None:
        self.failures = failures
        self.feedback = feedback
        self.failed_steps = failed_steps
        """Whether calls that failed are shown; short-term memory holds them."""


def _subtask(now: SubtaskRun, before: Trajectory) -> str:
    """Return the plan and which of its lines is worked on; for a plan of one line just that."""
    milestone = f"It is done when: {now.subtask.milestone}\n" if now.subtask.milestone else ""
    ending = f"{milestone}{lessons_text(now.warnings)}"
    if len(before.plan.subtasks) == 1:
        return f"\n# Subtask: {now.subtask.goal}\n{ending}"
    plan = plan_text(before.plan)
    return f"\n# Plan\n{plan}\n\n# Work on {now.subtask.id}: {now.subtask.goal}\n{ending}"


def _tried(run: SubtaskRun) -> str:
    parts = (shown(run.steps, TRIED_CHARACTERS), f"-> failed: {one_line(run.result)}")
    return "\n".join(part for part in parts if part)


def revision(feedback: Feedback | None) -> str:
    """Return the last try with what was wrong with it; empty on the first try."""
    if feedback is None:
        return ""
    wrong = "; ".join(feedback.problems) or feedback.critique or "its score is too low"
    reply = feedback.reply.strip().partition("\n# critique")[0][:REPLY_CHARACTERS]
    return f"\nYour last reply was not accepted: {reply}\nWhat is wrong: {wrong}\nWrite another one.\n"


def _lead(line: str) -> str:
    return f"\n{line}" if line else ""


def _lessons(lessons: Sequence[str]) -> str:
    if not lessons:
        return ""
    most = SHOWN_CHARACTERS // len(lessons)
    rounds = "\n\n".join(_middle_cut(lesson, most) for lesson in lessons)
    hint = "Plan so that it works this time; what is done already is not done again."
    return f"\n# What was tried before and did not do\n{rounds}\n{hint}\n"


def _middle_cut(text: str, most: int) -> str:
    """Return a round so that its beginning, the plan, and its end, the critique, are kept."""
    half = most // 2
    return (
        text
        if len(text) <= most
        else f"{text[:half]}\n[cut: {len(text) - 2 * half} characters]\n{text[-half:]}"
    )


def _results(now: SubtaskRun, before: Trajectory) -> str:
    blocks: list[str] = []
    most = (SHOWN_CHARACTERS - OWN_CHARACTERS) // max(1, len(before.runs) - 1)
    for run in before.runs.values():
        if run is now:
            break
        if run.steps or run.result:
            blocks.append(f"{shown(run.steps, most)}\n(subtask {run.subtask.id}: {one_line(run.result)})")
    return ("\n# Done before\n" + "\n".join(blocks) + "\n") if blocks else ""


def _turn(step: Step, gated: bool) -> str:
    """Return a call as the agent wrote it."""
    lines = [f"# thought: {step.thought}"] if step.thought else []
    lines.append(step.call)
    if gated:
        score = MADE_WITHOUT_SCORE if step.score is None else f"{step.score:g}"
        lines += [f"# critique: {step.critique or MADE_WITHOUT_CRITIQUE}", f"# score: {score}"]
    return "\n".join(lines)


def _failures(failures: Sequence[str]) -> str:
    if not failures:
        return ""
    return "# Learned so far\n" + "\n".join(f"- {one_line(entry)}" for entry in failures) + "\n"
