"""A model as judge: it reads a text and grades it in named dimensions (Croto, section 5.6).

Knows nothing of where the text comes from. The reply is short, reasons first, because a grade that
comes before its reasons is a guess:

    reasons: The ending contradicts the beginning.
    grammar and fluency: 3
    logic consistency: 1
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Role, next_attempt, through_gate
from plait.agents.prompting import fill, load
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.protocol import Grammar, Message, Reply, Request

PACKAGE = "plait.domains"
REASON_CHARACTERS = 300
REPLY_TOKENS = 400

_REASONS = re.compile(r"^[\W_]*reasons?[\W_]*:[\s*_]*(?P<reasons>.+)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What the judge thinks of a text."""

    grades: Mapping[str, float]
    """One for each dimension, 0 to the scale."""
    reasons: str


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Who grades, and in what."""

    agent: Agent
    gate: GateSettings
    dimensions: Mapping[str, str]
    """What each dimension means, by its name."""
    scale: int
    """The best grade; 0 is the worst."""
    prompts: Path | None = None

    async def read(self, journal: Journal, task: str, text: str) -> Opinion:
        """Return the judge's opinion of `text`, which was written for `task`.

        Raises:
            ReplyError: no reply gave every grade.
            BudgetExhausted, ModelError: as `ask`.
        """
        settings = replace(self.agent.settings, temperature=0.0, max_tokens=REPLY_TOKENS)
        agent = replace(self.agent, settings=settings)
        form = Grammar(gbnf=grades_grammar(list(self.dimensions), self.scale))

        def request(feedback: Feedback | None) -> Request:
            message = Message(role="user", content=self._prompt(task, text, feedback))
            return agent.request([message], form, next_attempt(feedback))

        async def read(reply: Reply) -> Judged[Opinion]:
            opinion = read_grades(reply.text, list(self.dimensions), self.scale)
            return Judged(output=opinion, shown={"reasons": opinion.reasons, **opinion.grades})

        # A judge that judged itself would be believed no more: only what can be read decides.
        gate = replace(self.gate, enabled=False)
        passed = await through_gate(journal, Role(agent=agent, gate=gate, request=request, read=read))
        return passed.judged.output

    def _prompt(self, task: str, text: str, feedback: Feedback | None) -> str:
        return fill(
            load(PACKAGE, "judge", self.prompts),
            scale=str(self.scale),
            dimensions="\n".join(f"- {name}: {meaning}" for name, meaning in self.dimensions.items()),
            form="\n".join(f"{name}: 0 to {self.scale}" for name in self.dimensions),
            task=task,
            written=text,
            feedback="" if feedback is None else f"\nYour last reply: {'; '.join(feedback.problems)}\n",
        )


def grades_grammar(dimensions: Sequence[str], scale: int) -> str:
    """Return the GBNF grammar of a line of reasons and one grade for each dimension."""
    lines = " ".join(f'"\\n{_quoted(name)}: " grade' for name in dimensions)
    grades = " | ".join(f'"{grade}"' for grade in range(scale, -1, -1))
    return (
        f'root ::= "reasons: " reasons {lines}\n'
        f"reasons ::= [^\\x00-\\x1F\\x7F]{{1,{REASON_CHARACTERS}}}\n"
        f"grade ::= {grades}\n"
    )


def read_grades(text: str, dimensions: Sequence[str], scale: int) -> Opinion:
    """Read a judge's reply.

    Raises:
        ReplyError: a grade is missing or off the scale; written for the model.
    """
    grades = {name: _grade(text, name, scale) for name in dimensions}
    reasons = _REASONS.search(text)
    return Opinion(grades=grades, reasons=reasons["reasons"].strip() if reasons else "")


def _grade(text: str, name: str, scale: int) -> float:
    line = re.search(
        rf"^[\W_]*{re.escape(name)}[\W_]*?(?P<grade>-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?[\s*_.]*$",
        text,
        re.IGNORECASE | re.MULTILINE,
    )
    if line is None:
        raise ReplyError(f"there is no line '{name}: ' with a grade from 0 to {scale}")
    grade = float(line["grade"])
    if not 0 <= grade <= scale:
        raise ReplyError(f"'{name}: {line['grade']}' is not from 0 to {scale}")
    return grade


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
