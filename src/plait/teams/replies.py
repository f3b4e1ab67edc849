"""How the replies of teams are read.

Text or files, then one line of changes where a merge asks for it, then the agent's remarks. Knows
nothing of prompts or models: text comes in, values or a `ReplyError` written for the model go out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plait.agents.remarks import Remarked, split_remarks
from plait.errors import ReplyError
from plait.models.fenced import check_folders, parse_files
from plait.teams.chain import MOST_POINTS, ReplyKind
from plait.teams.forms import MOST_CHANGES, MOST_INSTRUCTION, MOST_POINT
from plait.teams.solution import Solution

SHOWN_CHARACTERS = 200
ECHOED_WORDS = 5
"""So many words of a critique, from its beginning, are no accident in a reply."""
CHANGES_LINES = 12
"""How far from the end of a merge's reply its line of changes may stand."""

_CHANGES = re.compile(r"^[ \t]*[#*]+[ \t#*]*changes[ \t*]*:[ \t*]*(?P<changes>.*)$", re.IGNORECASE)
_OF_PROMPT = re.compile(
    r"[\W_]*(?:(?:original|merged|new|final|improved|better) )?solution(?: \d{1,2})?[\W_]*", re.IGNORECASE
)
"""A heading of the prompt that a small model copies over a merged text."""
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")
_OPENING = re.compile(r"^[ \t]*[`~]{3,}[ \t]*\S")
_AGREED = re.compile(r"^[\s*_#\"'`]*agreed\b", re.IGNORECASE)
_CHANGE = re.compile(r"^[\s*_#\"'`]*change[\s*_]*:[\s*_]*(?P<what>.*)", re.IGNORECASE | re.DOTALL)
_SOLUTION = re.compile(r"^[\s*#_-]*solution\s+(\d+)\b", re.IGNORECASE)
_POINT = re.compile(r"^\s*(?:[*-]\s+)?(?P<sign>[+-])\s+(?P<point>.+)$")
_WORD = re.compile(r"^[\s*#+-]*(?P<sign>strength|weakness)(?:e?s)?[\s*]*:[\s*]*(?P<point>.+)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class SolutionReply:
    """A solution with what its author says of it."""

    solution: Solution
    critique: str
    score: float | None
    changes: str = ""
    problems: Sequence[str] = ()

    @property
    def shown(self) -> dict[str, Any]:
        """The solution for the log, which holds the reply itself already."""
        solution = self.solution
        if solution.files:
            return {"digest": solution.digest, "files": list(solution.files)}
        return {"digest": solution.digest, "text": solution.text[:SHOWN_CHARACTERS]}


@dataclass(frozen=True, kw_only=True)
class InstructorOpinion:
    """What an instructor thinks of a reply."""

    agreed: bool
    instruction: str = ""


@dataclass(frozen=True, kw_only=True)
class Points:
    """Strengths and weaknesses of one solution."""

    strengths: Sequence[str] = ()
    weaknesses: Sequence[str] = ()


def read_solution(
    text: str,
    kind: ReplyKind,
    *,
    product: str,
    by: str,
    before: Solution | None = None,
    remarks: bool = True,
) -> SolutionReply:
    """Read a reply of an assistant.

    Args:
        text: The reply.
        kind: What it was asked for.
        product: What it is a version of.
        by: Who made it.
        before: The version that `changes` apply to.
        remarks: Whether they were asked for; else a line that looks like one belongs to the solution.

    Raises:
        ReplyError: there is no text or no named file in it, or a file is to be a folder too.
    """
    remarked = _remarked(text, remarks)
    problems: list[str] = []
    if kind == "text":
        solution = Solution(product=product, text=_text(remarked.body), by=by)
    else:
        files = parse_files(remarked.body)
        if kind == "changes" and before is not None:
            files = {**before.files, **files}
            check_folders(files)
        solution = Solution(product=product, files=files, by=by)
        if kind == "changes" and before is not None and solution.digest == before.digest:
            problems.append(
                "no file differs from what is there: write the files that change, as they are to be"
            )
    return SolutionReply(
        solution=solution, critique=remarked.critique, score=remarked.score, problems=problems
    )


def read_merge(text: str, kind: ReplyKind, *, product: str, by: str, remarks: bool = True) -> SolutionReply:
    """Read a merged solution and what it says was changed.

    Raises:
        ReplyError: as `read_solution`.
    """
    lines = text.strip().splitlines()
    if kind == "text" and lines and _OF_PROMPT.fullmatch(lines[0]):
        lines = lines[1:]
    start = _changes_start(lines, kind)
    ending = _remarked("\n".join(lines[start:]), remarks)
    found = read_solution("\n".join(lines[:start]), kind, product=product, by=by, remarks=remarks)
    first, _, rest = ending.body.partition("\n")
    matched = _CHANGES.match(first)
    changes = f"{matched['changes']} {rest}" if matched else ""
    return SolutionReply(
        solution=found.solution,
        critique=ending.critique or found.critique,
        score=found.score if ending.score is None else ending.score,
        changes=" ".join(changes.split())[:MOST_CHANGES],
    )


def echoes(text: str, before: str) -> bool:
    """Whether a text says what was weak about the reply before, with its remarks, instead of mending it."""
    remarked = split_remarks(before)
    begins = _words(remarked.critique)[:ECHOED_WORDS]
    return len(begins) == ECHOED_WORDS and _has(text, begins) and not _has(remarked.body, begins)


def _has(text: str, phrase: Sequence[str]) -> bool:
    words = _words(text)
    return any(words[start : start + len(phrase)] == phrase for start in range(len(words)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def too_many_lines(solution: Solution, most: int) -> list[str]:
    """Return the problem of a text with more lines than it may have; 0: there is no such limit."""
    count = sum(bool(line.strip()) for line in solution.text.splitlines())
    return [f"it has {count} lines: keep to the {most} that matter most"] if 0 < most < count else []


def _changes_start(lines: Sequence[str], kind: ReplyKind) -> int:
    """Return the place of the line that says what was changed, or the number of lines where none does."""
    places = [place for place, line in enumerate(lines) if _CHANGES.match(line)]
    if not places or len(lines) - places[-1] > CHANGES_LINES:
        return len(lines)
    start, fences = places[-1], [place for place, line in enumerate(lines) if _FENCE.match(line)]
    if kind == "text" or not fences:
        return start
    if not _OPENING.match(lines[fences[-1]]):
        return start if start > fences[-1] else len(lines)
    # The last block was never closed: what is followed by more than remarks is a comment in its code.
    alone = "\n" not in split_remarks("\n".join(lines[start:])).body
    return start if start > fences[-1] and alone else len(lines)


def _remarked(text: str, asked: bool) -> Remarked:
    return split_remarks(text) if asked else Remarked(body=text.strip(), critique="", score=None)


def read_opinion(body: str) -> InstructorOpinion:
    """Read an instructor's reply without its remarks.

    Raises:
        ReplyError: it neither agrees nor says what to change.
    """
    if _AGREED.match(body):
        return InstructorOpinion(agreed=True)
    change = _CHANGE.match(body)
    what = " ".join(change["what"].split())[:MOST_INSTRUCTION] if change else ""
    if not what:
        raise ReplyError('reply with the word AGREED, or with "CHANGE: " and what to change')
    return InstructorOpinion(agreed=False, instruction=what)


def read_analysis(body: str, solutions: int, *, most_points: int = MOST_POINTS) -> list[Points]:
    """Read strengths and weaknesses, so many of each at most, one entry per solution.

    Raises:
        ReplyError: nothing is said of any solution.
    """
    strengths: list[list[str]] = [[] for _ in range(solutions)]
    weaknesses: list[list[str]] = [[] for _ in range(solutions)]
    current = -1
    for line in body.splitlines():
        if (head := _SOLUTION.match(line)) is not None:
            current = int(head[1]) - 1
        elif (point := _WORD.match(line) or _POINT.match(line)) and 0 <= current < solutions:
            side = strengths if point["sign"].lower() in ("+", "strength") else weaknesses
            side[current].append(point["point"].strip()[:MOST_POINT])
    if not any([*strengths, *weaknesses]):
        raise ReplyError(
            'write a line "Solution 1", then lines that begin with "+ " or "- ", then "Solution 2" and so on'
        )
    return [
        Points(strengths=plus[:most_points], weaknesses=minus[:most_points])
        for plus, minus in zip(strengths, weaknesses, strict=True)
    ]


def silent(points: Sequence[Points]) -> list[str]:
    """Return a problem for each solution of which an analysis says nothing."""
    return [
        f"nothing is said of solution {number}"
        for number, each in enumerate(points, start=1)
        if not each.strengths and not each.weaknesses
    ]


def analysis_text(points: Sequence[Points]) -> str:
    """Return an analysis as a prompt shows it."""
    blocks: list[str] = []
    for number, each in enumerate(points, start=1):
        lines = [*(f"+ {point}" for point in each.strengths), *(f"- {point}" for point in each.weaknesses)]
        blocks.append("\n".join([f"Solution {number}", *lines]))
    return "\n".join(blocks)


def _text(body: str) -> str:
    if not body.strip():
        raise ReplyError("the reply is empty: write the text itself, then the remarks")
    return body.strip()
