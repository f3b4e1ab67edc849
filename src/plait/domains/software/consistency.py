"""How near a program is in meaning to what was asked for: the cosine of their embeddings (Croto, section 5).

As in `get_consistency` of the paper's scripts (github.com/OpenBMB/ChatDev, commit 0ee00f7,
chatdev/eval_quality.py) the code goes without comments and docstrings. The scripts embed all of it at once; a
small embedder reads only the beginning of a long text, so here it is embedded in pieces and the mean
counts. `strict` also leaves out texts in the code that are as long as a task: else a program that does
nothing but print its task is the nearest of all. Knows nothing of which embedder it is.
"""

import ast
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from plait.domains.names import Reading
from plait.domains.software.program import parsed, python_files
from plait.models.embeddings import Embedder
from plait.tools.nearest import cosine

PIECE_CHARACTERS = 800
"""About what a small embedder reads of code."""

LONG_TEXT_CHARACTERS = 24
"""From here on a text in the code is left out by `strict`; menus, keys and names of files are shorter."""

_LONG_TEXT = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"", re.DOTALL)


async def consistency(embedder: Embedder, task: str, files: Mapping[str, str]) -> dict[Reading, float]:
    """Return how near a program is to its task in both readings, 0 to 1.

    Raises:
        UserError, ModelError: the embedder cannot be had.
    """
    whole = _pieces(bare_code(files))
    sources = python_files(files).items()
    sparing = _pieces(bare_code({path: without_long_texts(text) for path, text in sources}))
    asked, *made = await embedder.embed([task, *whole, *([] if sparing == whole else sparing)])
    official = _nearness(asked, made[: len(whole)])
    return {
        "official": official,
        "strict": _nearness(asked, made[len(whole) :]) if made[len(whole) :] else official,
    }


def _nearness(asked: Sequence[float], pieces: Sequence[Sequence[float]]) -> float:
    mean = [sum(numbers) for numbers in zip(*pieces, strict=True)]
    return max(0.0, min(1.0, cosine(asked, mean)))


def bare_code(files: Mapping[str, str]) -> str:
    """Return a program's Python files, each under its name, without comments, docstrings and blank lines."""
    blocks: list[str] = []
    for path, text in python_files(files).items():
        lines = _LONG_TEXT.sub("", text).splitlines()
        code = [line for line in lines if line.strip() and not line.strip().startswith("#")]
        blocks.append("\n".join([PurePosixPath(path).name, *code]))
    return "\n\n".join(blocks) or "None"


def without_long_texts(text: str) -> str:
    """Return a Python file without its long texts and comments; what Python cannot read or write stays."""
    tree = parsed(text)
    if isinstance(tree, SyntaxError):
        return text
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as value) if len(value) >= LONG_TEXT_CHARACTERS:
                node.value = ""
            case ast.JoinedStr(values=values):
                parts = [part for part in values if isinstance(part, ast.Constant)]
                if sum(len(str(part.value)) for part in parts) >= LONG_TEXT_CHARACTERS:
                    node.values = [part for part in values if not isinstance(part, ast.Constant)]
            case _:
                pass
    try:
        return ast.unparse(tree)
    except (RecursionError, ValueError):
        # Python 3.11 cannot write an f-string that needs a backslash in its braces, as a joined emoji does.
        return text


def _pieces(text: str) -> list[str]:
    """Split a text at line ends into pieces of about equal size."""
    count = math.ceil(len(text) / PIECE_CHARACTERS)
    size = len(text) / count
    pieces: list[list[str]] = [[]]
    done = 0
    for line in text.splitlines():
        if pieces[-1] and done + len(line) / 2 > size * len(pieces):
            pieces.append([])
        pieces[-1].append(line)
        done += len(line) + 1
    return ["\n".join(piece) for piece in pieces]
