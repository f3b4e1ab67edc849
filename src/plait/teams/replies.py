"""The replies of teams: their grammars, and how each is read.

Text or files, then one line of changes where a merge asks for it, then the agent's remarks. Knows
nothing of prompts or models: text comes in, values or a `ReplyError` written for the model go out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.agents.remarks import MAX_CRITIQUE, Remarked, split_remarks
from plait.errors import ReplyError
from plait.models.fenced import check_folders, parse_files
from plait.models.protocol import Form, Grammar, Text
from plait.teams.chain import ReplyKind
from plait.teams.solution import Solution, opening

MOST_FILES = 12
ENDINGS = (
    *("py", "txt", "md", "json", "csv", "toml", "ini", "cfg", "yaml", "yml", "xml", "sql", "html", "css"),
    *("js", "ts", "sh", "svg", "c", "h", "cpp", "java", "go", "rs", "rb", "tex", "rst", "ipynb"),
)
"""Of files under the grammar; a model without grammar may use any."""
REMARK_FILES = tuple(
    f"```{language} {name}"
    for language in ("python", "text", "markdown")
    for name in ("critique", "score", "changes")
)
"""Where a reply with files is stopped: small models put their remarks into one more block and run away."""
MOST_CHANGES = 300
MOST_INSTRUCTION = 500
MOST_POINT = 160
MOST_POINTS = 3
"""Strengths, and weaknesses, of one solution."""
SHOWN_CHARACTERS = 200
CHANGES_LINES = 12
"""How far from the end of a merge's reply its line of changes may stand."""

_SENTENCE = r"[^\x00-\x1F\x7F]"
_REST = r"[^\x00-\x08\x0A-\x1F\x7F]*"
_RULES = {
    "sentence": f"{_SENTENCE}{{1,{MAX_CRITIQUE}}}",
    "score": '"10" | [0-9]',
    "changes": f"{_SENTENCE}{{1,{MOST_CHANGES}}}",
    # No line of a file begins with a backtick: that closes the block.
    "block": '"```" opening "\\n" blank* line (line | blank)* "```"',
    "opening": 'language " " path',
    "language": "[a-z] [a-z0-9+-]{0,11}",
    "path": 'part ("/" part){0,3} "." extension',
    "part": "[A-Za-z0-9_] [A-Za-z0-9_-]{0,29}",
    # Any ending would let a small model take its remarks for a file.
    "extension": " | ".join(f'"{ending}"' for ending in ENDINGS),
    "line": rf'[^\x00-\x08\x0A-\x1F\x60\x7F] {_REST} "\n"',
    "blank": '"\\n"',
    # No line of a text begins as a remark does.
    "written": rf'[^#\x00-\x08\x0A-\x1F\x7F] {_REST} | "#" [^ \x00-\x1F\x7F] {_REST}'
    rf' | "# " [^cs\x00-\x1F\x7F] {_REST}',
    "point": f"{_SENTENCE}{{1,{MOST_POINT}}}",
    "points": f'("+ " point "\\n"){{1,{MOST_POINTS}}} "- " point ("\\n- " point){{0,{MOST_POINTS - 1}}}',
    "what": f"{_SENTENCE}{{1,{MOST_INSTRUCTION}}}",
}
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-z]+)')
_CHANGES = re.compile(r"^[ \t]*[#*]+[ \t#*]*changes[ \t*]*:[ \t*]*(?P<changes>.*)$", re.IGNORECASE)
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
class Opinion:
    """What an instructor thinks of a reply."""

    agreed: bool
    instruction: str = ""


@dataclass(frozen=True, kw_only=True)
class Points:
    """Strengths and weaknesses of one solution."""

    strengths: Sequence[str] = ()
    weaknesses: Sequence[str] = ()


def solution_form(kind: ReplyKind, *, remarks: bool, changes: bool = False, first: str = "") -> Form:
    """Return the form of a solution; free text where nothing follows it.

    Args:
        kind: What it is.
        remarks: Whether a critique and a score follow.
        changes: Whether a line that says what was changed follows.
        first: Path of the first file of a whole reply; empty: any. Small models name a file after its
            version, or not at all, where nothing holds them.
    """
    if kind != "text":
        lead = "block"
        if kind == "files" and first:
            lead = f'"```{opening(first)}\\n" blank* line (line | blank)* "```"'
        root = f'{lead} ("\\n" "\\n"? block){{0,{MOST_FILES - 1}}}'
    elif remarks or changes:
        root = 'written ("\\n" written?)*'
    else:
        return Text()
    if changes:
        root += ' "\\n" "\\n"? "# changes: " changes'
    # Held to remarks after a program, small models begin another file instead: they may end there.
    return _grammar(root, remarks=remarks, optional=kind != "text" and not changes)


def opinion_form(*, remarks: bool) -> Grammar:
    """Return the form of an instructor's reply."""
    return _grammar('("AGREED" | "CHANGE: " what)', remarks=remarks)


def analysis_form(solutions: int, *, remarks: bool) -> Grammar:
    """Return the form of an analysis of `solutions` solutions."""
    parts = [f'"Solution {number}\\n" points' for number in range(1, solutions + 1)]
    return _grammar(' "\\n" '.join(parts), remarks=remarks)


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


def read_opinion(body: str) -> Opinion:
    """Read an instructor's reply without its remarks.

    Raises:
        ReplyError: it neither agrees nor says what to change.
    """
    if _AGREED.match(body):
        return Opinion(agreed=True)
    change = _CHANGE.match(body)
    what = " ".join(change["what"].split())[:MOST_INSTRUCTION] if change else ""
    if not what:
        raise ReplyError('reply with the word AGREED, or with "CHANGE: " and what to change')
    return Opinion(agreed=False, instruction=what)


def read_analysis(body: str, solutions: int) -> list[Points]:
    """Read strengths and weaknesses, one entry per solution.

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
        Points(strengths=plus[:MOST_POINTS], weaknesses=minus[:MOST_POINTS])
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


def _grammar(root: str, *, remarks: bool, optional: bool = False) -> Grammar:
    if remarks and optional:
        root += ' ("\\n" "\\n"? "# critique: " sentence "\\n# score: " score)?'
    elif remarks:
        # Models leave a line free before their remarks; without room for it they begin another block.
        root += ' "\\n" "\\n"? "# critique: " sentence "\\n# score: " score'
    rules: dict[str, str] = {}
    _collect(root, _RULES, rules)
    lines = [f"root ::= {root}", *(f"{name} ::= {body}" for name, body in rules.items())]
    return Grammar(gbnf="\n".join(lines) + "\n")


def _collect(body: str, known: Mapping[str, str], rules: dict[str, str]) -> None:
    """Add the rules that a body needs, and those that they need."""
    for found in _NAME.finditer(body):
        name = found[1]
        if name and name not in rules:
            rules[name] = known[name]
            _collect(known[name], known, rules)
