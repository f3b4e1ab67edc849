"""The prompts of teams and of the aggregate agent: one typed function per prompt, texts in `prompts/`.

Role, task and products come first and what changes comes last, so that teams share the beginning of
their prompts and an engine with a prefix cache reads only what is new. Knows nothing of models.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plait.agents.gate import Feedback
from plait.agents.prompting import fill, load
from plait.models.protocol import Message
from plait.teams.chain import MOST_POINTS, Domain, Phase, ReplyKind
from plait.teams.completing import REMOVAL
from plait.teams.ensemble import NOTHING_TOLD, Told
from plait.teams.solution import Rating, Solution, opening

PACKAGE = "plait.teams"
EXAMPLE_FILE = "notes.txt"
NOT_THERE = "(none)"
"""Shown for a product that is not written (yet), and where there are no findings."""
MERGE_PROMPTS = (
    "aggregate",
    "aggregate_analysis",
    "aggregate_merge",
    "form_text",
    "form_files",
    "form_lines",
    "remarks",
)

WARNED = "In earlier runs this went wrong:"

AGAIN = (
    "Write it again, whole and in the same form, with that mended. "
    "Write only what belongs in it, and nothing about what was weak."
)

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_SECTION = re.compile(r"^#+ [^\n]*\n\{\{(\w+)\}\}\n*", re.MULTILINE)
"""A heading with nothing below it but a place: left out where there is nothing to fill it with, because small
models shown a design of "(none)" write next to nothing."""


class TeamPrompts:
    """Renders every prompt; `overrides` is a folder with the user's own files, or None."""

    def __init__(self, overrides: Path | None = None, *, gated: bool = True) -> None:
        self._overrides = overrides
        self._gated = gated

    def _load(self, name: str) -> str:
        return load(PACKAGE, name, self._overrides)

    def _form(self, kind: ReplyKind, file: str, most_lines: int) -> str:
        """Return how to reply, with the fence of a file as the example."""
        if most_lines:
            return fill(self._load("form_lines"), lines=str(most_lines))
        form = self._load(f"form_{kind}")
        return form if kind == "text" else fill(form, fence=opening(file or EXAMPLE_FILE))

    def _remarks(self, name: str = "remarks") -> str:
        return "\n" + self._load(name) if self._gated else ""

    def assistant(
        self,
        task: str,
        phase: Phase,
        products: Mapping[str, Solution],
        findings: Sequence[str],
        told: Told = NOTHING_TOLD,
    ) -> str:
        """Return what an assistant is told first: the phase's prompt, what is known of earlier work, and how
        to reply."""
        values = {name: solution.shown() for name, solution in products.items()}
        values |= {"task": task, "findings": listed(findings)}
        text = _SECTION.sub(lambda found: found[0] if found[1] in values else "", phase.prompt)
        places = set(_PLACE.findall(text))
        prompt = fill(text, **{place: values.get(place, NOT_THERE) for place in places})
        criteria = fill(self._load("criteria"), criteria=phase.criteria) if phase.criteria else ""
        return fill(
            self._load("assistant"),
            prompt="\n\n".join(self._with_what_is_told(told, prompt)),
            criteria=f"\n{criteria}\n" if criteria else "",
            form=self._form(
                phase.reply,
                phase.first_file or _first_file(products.get(phase.writes)),
                phase.most_lines,
            ),
            remarks=self._remarks(),
        )

    def _with_what_is_told(self, told: Told, prompt: str) -> Iterator[str]:
        """Yield a phase's prompt with what is known of earlier work around it.

        The reference comes first: small models do the task that is named last.
        """
        if told.reference:
            yield fill(self._load("reference"), reference=told.reference)
        yield prompt
        if told.warnings:
            yield f"{WARNED}\n{listed(told.warnings)}"

    def instruction(self, instruction: str) -> str:
        """Return what an assistant is told when its last reply is not enough."""
        return fill(self._load("instruction"), instruction=instruction)

    def instructor(self, task: str, phase: Phase, solution: Solution, asked: Sequence[str]) -> str:
        """Return what an instructor is asked; `asked` is what it wanted changed before."""
        before = f"\nYou asked for this before:\n{listed(asked)}\n" if asked else ""
        return fill(
            self._load("instructor"),
            task=task,
            assistant=phase.assistant,
            solution=solution.shown(),
            criteria=phase.criteria,
            asked=before,
            remarks=self._remarks("remarks_instructor"),
        )

    def solutions(self, task: str, solutions: Sequence[Solution], ratings: Sequence[Rating | None]) -> str:
        """Return what the analysis and the merge of a group both begin with."""
        blocks: list[str] = []
        for number, (solution, rating) in enumerate(zip(solutions, ratings, strict=True), start=1):
            found = "" if rating is None else f"\n\nWhat checks found in it:\n{listed(rating.findings)}"
            blocks.append(f"# Solution {number}\n{solution.shown()}{found}")
        return fill(self._load("aggregate"), task=task, solutions="\n\n".join(blocks))

    def analysis(self, most_points: int = MOST_POINTS) -> str:
        """Return what asks for strengths and weaknesses; for fewer than usual it asks for one of each."""
        brief = "".join(f"\n\n{self._load(name)}" for name in _shortening(most_points))
        return fill(self._load("aggregate_analysis"), remarks=brief + self._remarks())

    def merge(self, analysis: str, kind: ReplyKind, base: int | None, phase: Phase) -> str:
        """Return what asks for the merged solution.

        Args:
            analysis: Strengths and weaknesses.
            kind: What the solution is.
            base: Number of the best rated solution, from 1, or None.
            phase: Whose solutions they are; its first file is shown as the example.
        """
        start = "" if base is None else f"Start from solution {base}, which was rated best. "
        form = self._form(kind, phase.first_file, phase.most_lines)
        return fill(
            self._load("aggregate_merge"),
            analysis=analysis or NOT_THERE,
            base=start,
            form=form if kind == "text" else f"{form}\n{REMOVAL}",
            remarks=self._remarks(),
        )

    def merge_digest(self, most_points: int = MOST_POINTS) -> str:
        """Return a hash of the prompts of a merge, so that an edited one is noticed."""
        text = "\0".join(self._load(name) for name in (*MERGE_PROMPTS, *_shortening(most_points)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _shortening(most_points: int) -> Sequence[str]:
    """Return the prompts that ask for a shorter analysis than usual."""
    return ("aggregate_brief",) if most_points < MOST_POINTS else ()


def role_text(domain: Domain, role: str) -> str:
    """Return what an agent is told it is."""
    return domain.roles.get(role, f"You are the {role}.")


def chat(role: str, *turns: str) -> list[Message]:
    """Return a chat: who the agent is, if it is told, then turns of the user and the agent by turns."""
    messages = [Message(role="system", content=role)] if role else []
    for number, turn in enumerate(turns):
        messages.append(Message(role="assistant" if number % 2 else "user", content=turn))
    return messages


def revised(messages: Sequence[Message], feedback: Feedback | None) -> list[Message]:
    """Return the chat of the next try: the last one, where it was whole but weak, and what was wrong."""
    if feedback is None:
        return list(messages)
    wrong = listed(feedback.problems or [feedback.critique or "its score is too low"])
    if feedback.problems:
        # A reply that cannot be used would only be copied.
        ending = f"Your last reply was not accepted:\n{wrong}\nWrite the whole reply again in the same form."
        last = messages[-1]
        return [*messages[:-1], Message(role=last.role, content=f"{last.content}\n\n{ending}")]
    # Small models copy what they are told is weak into the reply itself.
    ending = f"Weak about this is:\n{wrong}\n{AGAIN}"
    said = Message(role="assistant", content=feedback.reply.strip())
    return [*messages, said, Message(role="user", content=ending)]


def _first_file(solution: Solution | None) -> str:
    return next(iter(solution.files), "") if solution is not None else ""


def listed(lines: Sequence[str]) -> str:
    """Return lines as a list."""
    return "\n".join(f"- {line}" for line in lines) or NOT_THERE
