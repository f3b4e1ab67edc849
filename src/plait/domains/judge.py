"""A model as judge: it reads a text and grades it in named dimensions (Croto, section 5.6).

Knows nothing of where the text comes from. For each dimension a remark comes first and then the grade,
because a grade that comes before its reasons is a guess:

    grammar and fluency: Natural throughout, with one slip in the second paragraph.
    grade: 3
    logic consistency: The ending contradicts the beginning.
    grade: 1
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Role, next_attempt, through_gate
from plait.agents.prompting import fill, load
from plait.domains.quoting import without_mark
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.protocol import Grammar, Message, Reply, Request

PACKAGE = "plait.domains"
MARK = "text"
"""What the prompt puts around the text that is judged."""
REMARK_CHARACTERS = 160
REPLY_TOKENS = 400
TAKEN = ("grade", "grades", "reason", "reasons", "checks")
"""What no dimension may be called."""

_NUMBER = r"(?P<grade>-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?[\s*_.]*$"
_GRADE = re.compile(rf"^[\W_]*grade[\W_]*?{_NUMBER}", re.IGNORECASE | re.MULTILINE)
_BARE = re.compile(rf"^[\W_]*?{_NUMBER}")


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What the judge thinks of a text."""

    grades: Mapping[str, float]
    """One for each dimension, 0 to the scale."""
    remarks: Mapping[str, str]
    """What was said of each dimension; empty where nothing was."""


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
            return Judged(output=opinion, shown={"grades": opinion.grades, "remarks": opinion.remarks})

        # A judge that judged itself would be believed no more: only what can be read decides.
        gate = replace(self.gate, enabled=False)
        passed = await through_gate(journal, Role(agent=agent, gate=gate, request=request, read=read))
        return passed.judged.output

    def _prompt(self, task: str, text: str, feedback: Feedback | None) -> str:
        return fill(
            load(PACKAGE, "judge", self.prompts),
            scale=str(self.scale),
            dimensions="\n".join(f"- {name}: {meaning}" for name, meaning in self.dimensions.items()),
            form="\n".join(
                f"{name}: what is best and what is weakest\ngrade: 0 to {self.scale}"
                for name in self.dimensions
            ),
            task=task,
            written=without_mark(text, MARK),
            feedback="" if feedback is None else f"\nYour last reply: {'; '.join(feedback.problems)}\n",
        )


def grades_grammar(dimensions: Sequence[str], scale: int) -> str:
    """Return the GBNF grammar of a remark and a grade for each dimension."""
    lines = ' "\\n" '.join(f'"{_quoted(name)}: " remark "\\ngrade: " grade' for name in dimensions)
    grades = " | ".join(f'"{grade}"' for grade in range(scale, -1, -1))
    return f"root ::= {lines}\nremark ::= [^\\x00-\\x1F\\x7F]{{1,{REMARK_CHARACTERS}}}\ngrade ::= {grades}\n"


def read_grades(text: str, dimensions: Sequence[str], scale: int) -> Opinion:
    """Read a judge's reply; a grade may also stand right after the name of its dimension.

    Raises:
        ReplyError: a grade is missing or off the scale; written for the model.
    """
    parts = _parts(text, dimensions)
    grades: dict[str, float] = {}
    remarks: dict[str, str] = {}
    for name in dimensions:
        head, _, rest = parts.get(name, "").partition("\n")
        bare = _BARE.match(head)
        found = bare or _GRADE.search(rest)
        if found is None:
            raise ReplyError(f"there is no line '{name}: ' with a line 'grade: ' from 0 to {scale} after it")
        grades[name] = float(found["grade"])
        remarks[name] = "" if bare else head.strip(" \t:*_")
        if not 0 <= grades[name] <= scale:
            raise ReplyError(f"the grade {found['grade']} of '{name}' is not from 0 to {scale}")
    return Opinion(grades=grades, remarks=remarks)


def _parts(text: str, dimensions: Sequence[str]) -> dict[str, str]:
    """Return what follows each dimension's name, up to the next one's."""
    names = "|".join(re.escape(name) for name in sorted(dimensions, key=len, reverse=True))
    heads = list(re.finditer(rf"^[\W_]*(?P<name>{names})[\s*_]*[:-]", text, re.IGNORECASE | re.MULTILINE))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    known = {name.casefold(): name for name in dimensions}
    return {
        known[head["name"].casefold()]: text[head.end() : end] for head, end in zip(heads, ends, strict=False)
    }


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
