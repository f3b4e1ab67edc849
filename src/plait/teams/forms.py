"""The grammars that hold the replies of teams, for models whose engine takes one.

Knows nothing of prompts or of how a reply is read.
"""

import re
from collections.abc import Mapping

from plait.agents.remarks import MAX_CRITIQUE
from plait.models.protocol import Form, Grammar, Text
from plait.teams.chain import MOST_POINTS, ReplyKind
from plait.teams.solution import opening

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
LEAST_ITEM, MOST_ITEM = 8, 160
"""Characters of a line, where lines are counted."""
MOST_POINT = 160

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
    # What a line begins with decides what a small model goes on with: a fence or a heading, and it runs away.
    "item": f'"- " [^- #`*\\x00-\\x1F\\x7F] {_SENTENCE}{{{LEAST_ITEM - 1},{MOST_ITEM - 1}}}',
    "point": f"{_SENTENCE}{{1,{MOST_POINT}}}",
    "what": f"{_SENTENCE}{{1,{MOST_INSTRUCTION}}}",
}
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-z]+)')


def solution_form(
    kind: ReplyKind, *, remarks: bool, changes: bool = False, first: str = "", most_lines: int = 0
) -> Form:
    """Return the form of a solution; free text where nothing follows it and no lines are counted.

    Args:
        kind: What it is.
        remarks: Whether a critique and a score follow.
        changes: Whether a line that says what was changed follows.
        first: Path of the first file of a whole reply; empty: any. Small models name a file after its
            version, or not at all, where nothing holds them.
        most_lines: Of a text; 0: as many as it takes. Small models that are asked for a few lines go on and
            on where nothing holds them.
    """
    if kind != "text":
        lead = "block"
        if kind == "files" and first:
            lead = f'"```{opening(first)}\\n" blank* line (line | blank)* "```"'
        root = f'{lead} ("\\n" "\\n"? block){{0,{MOST_FILES - 1}}}'
    elif most_lines:
        root = f'item ("\\n" item){{0,{most_lines - 1}}}'
    elif remarks or changes:
        # Room for more than one free line, and a small model that wants to end writes them without end.
        root = 'written ("\\n" "\\n"? written)*'
    else:
        return Text()
    told = kind == "text" and not most_lines
    if changes:
        line = '"\\n" "\\n"? "# changes: " changes'
        root += f" ({line})?" if told else f" {line}"
    # Held to lines after a program or a story, small models go on with it instead: they may end there.
    return _grammar(root, remarks=remarks, optional=told or (not changes and not most_lines))


def opinion_form(*, remarks: bool) -> Grammar:
    """Return the form of an instructor's reply."""
    return _grammar('("AGREED" | "CHANGE: " what)', remarks=remarks)


def analysis_form(solutions: int, *, remarks: bool, most_points: int = MOST_POINTS) -> Grammar:
    """Return the form of an analysis: of each solution so many strengths and weaknesses at most."""
    points = f'("+ " point "\\n"){{1,{most_points}}} "- " point ("\\n- " point){{0,{most_points - 1}}}'
    parts = [f'"Solution {number}\\n" {points}' for number in range(1, solutions + 1)]
    return _grammar(' "\\n" '.join(parts), remarks=remarks)


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
