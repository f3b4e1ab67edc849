"""The fenced form: files in named code blocks, which is how code travels without being escaped.

    ```python hello.py
    print("hello")
    ```

Knows nothing of folders or models: it returns relative paths and texts. A name may stand after the
fence's language, on the line before the fence, or in a comment on the block's first line.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.errors import ReplyError

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_PATH = r"(?:[A-Za-z]:[\\/])?[~\w@+.\-/\\\[\]]+"
_HAS_EXTENSION = re.compile(r"^.*[^./\\][.]\w{1,12}$|^.*(?:^|[\\/])[.]\w[\w.\-]*$", re.DOTALL)
_BARE_NAMES = frozenset({"Makefile", "Dockerfile", "Procfile", "LICENSE", "README", "CHANGELOG", "justfile"})
_NAME_PREFIX = re.compile(r"^(?:[#>\s]+|[-*]\s+|\d+[.)]\s+)*[*`]*(?:file(?:name)?\s*:?\s+)?", re.IGNORECASE)
_DECORATION = "*`\"': \t"
_NAME_COMMENT = re.compile(
    rf"^\s*(?:#|//|--|;|%|/\*|<!--)\s*(?:file(?:name)?\s*:\s*)?(?P<path>{_PATH})\s*(?:\*/|-->)?\s*$",
    re.IGNORECASE,
)
_LANGUAGE_PREFIX = re.compile(
    r"^(?:[a-z][\w+#-]+:(?![\\/]{2})|(?:title|file|filename|path|name)=)", re.IGNORECASE
)
_ASIDES = frozenset(
    {"bash", "sh", "shell", "console", "terminal", "text", "txt", "plaintext", "output", "diff"}
)
"""Languages of blocks that show something beside the files, and so need no name."""

OWN_PREFIX = ".plait-"
"""Names that begin so are Plait's own in every folder that it writes."""
SHOWN_CHARACTERS = 40
LONGEST_PART_BYTES, LONGEST_PATH_BYTES = 200, 800
"""Of one name, and of a whole path: no file system takes much more, below a folder of the user's."""


@dataclass(frozen=True, kw_only=True)
class _Block:
    info: str
    before: str
    lines: Sequence[str]


def parse_files(text: str) -> dict[str, str]:
    """Return the files of a reply: normalised relative path to content; of equal paths the last wins.

    Raises:
        ReplyError: no named block, a block without a name, a path outside the folder, or a block
            that is not closed before the next; written for the model.
    """
    files: dict[str, str] = {}
    for block in _blocks(text):
        path, lines = _named(block)
        if path:
            files.pop(path, None)
            files[path] = _content(lines)
    if not files:
        raise ReplyError(
            "There is no file. Put each file in a code block named after the fence: ```python hello.py"
        )
    check_folders(files)
    return files


def normal_path(path: str) -> str:
    """Return a relative path with forward slashes.

    Raises:
        ReplyError: it is absolute, leaves the folder, names no file, or has a name that cannot be written.
    """
    slashed = path.strip().replace("\\", "/")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    outside = slashed.startswith(("/", "~")) or re.match(r"^[A-Za-z]:", slashed) or ".." in parts
    if outside or not parts or slashed.endswith("/") or not slashed.isprintable():
        raise ReplyError(
            f"The path {path!r} is not a file inside the folder. Use a relative path such as src/app.py."
        )
    normal = "/".join(parts)
    if len(normal.encode()) > LONGEST_PATH_BYTES or any(
        len(part.encode()) > LONGEST_PART_BYTES for part in parts
    ):
        raise ReplyError(f"The path that begins with {path[:SHOWN_CHARACTERS]!r} is too long. Shorten it.")
    if any(part.casefold().startswith(OWN_PREFIX) for part in parts):
        raise ReplyError(f"The path {path!r} has a name that begins with {OWN_PREFIX!r}. Use another name.")
    return normal


def check_folders(files: Mapping[str, str]) -> None:
    """Check that no file is the folder of another.

    Raises:
        ReplyError: one is; written for the model.
    """
    for path in files:
        for inner in files:
            if inner.startswith(f"{path}/"):
                raise ReplyError(f"{path!r} cannot be both a file and the folder of {inner!r}. Rename one.")


def _blocks(text: str) -> list[_Block]:
    # Not splitlines: it would also cut at form feeds and other separators that belong to the content.
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    blocks: list[_Block] = []
    position = 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        if opening is None:
            position += 1
            continue
        end = _block_end(lines, position, opening)
        before = next((line for line in reversed(lines[:position]) if line.strip()), "")
        content = [_dedent(line, opening["indent"]) for line in lines[position + 1 : end]]
        blocks.append(_Block(info=opening["info"].strip(), before=before, lines=content))
        position = end + 1
    return blocks


def _block_end(lines: Sequence[str], start: int, opening: re.Match[str]) -> int:
    """Return the line that closes a block, or the line past the end for an open last block."""
    depth, nested = 1, 0
    for position in range(start + 1, len(lines)):
        fence = _FENCE.match(lines[position])
        if fence is None or fence["fence"][0] != opening["fence"][0]:
            continue
        if len(fence["fence"]) < len(opening["fence"]):
            continue
        if fence["info"].strip():
            if _info(fence["info"])[1]:
                raise _not_closed(lines, start, position)
            depth, nested = depth + 1, nested or position
            continue
        depth -= 1
        if depth == 0:
            if nested and any(_FENCE.match(line) for line in lines[position + 1 :]):
                raise _not_closed(lines, start, nested)
            return position
    if nested:
        raise _not_closed(lines, start, nested)
    return len(lines)


def _not_closed(lines: Sequence[str], start: int, nested: int) -> ReplyError:
    return ReplyError(
        f"The code block {lines[start].strip()!r} is not closed before {lines[nested].strip()!r}. Close "
        "every block with ```; a file that holds ``` itself goes between ```` lines."
    )


def _named(block: _Block) -> tuple[str, Sequence[str]]:
    """Return a block's path, or "" for an aside, and its lines without the one that names it."""
    language, path = _info(block.info)
    if path:
        return normal_path(path), block.lines
    first = _NAME_COMMENT.match(block.lines[0]) if block.lines else None
    if first and _is_path(first["path"]):
        return normal_path(first["path"]), block.lines[1:]
    before = _NAME_PREFIX.sub("", block.before.strip()).strip(_DECORATION)
    if re.fullmatch(_PATH, before) and _is_path(before):
        return normal_path(before), block.lines
    if language in _ASIDES:
        return "", block.lines
    raise ReplyError(
        f"The code block ```{block.info} has no file name. Write it after the fence: ```python hello.py"
    )


def _info(info: str) -> tuple[str, str]:
    """Split what follows a fence into language and path."""
    words = info.split()
    for word in words:
        candidate = _LANGUAGE_PREFIX.sub("", word.strip("{}")).strip("\"'`")
        if re.fullmatch(_PATH, candidate) and (_is_path(candidate) or (word != candidate and "=" in word)):
            return (words[0] if word != words[0] else ""), candidate
    return (words[0].lower() if words else ""), ""


def _is_path(text: str) -> bool:
    return (
        bool(_HAS_EXTENSION.match(text)) or text in _BARE_NAMES or re.split(r"[\\/]", text)[-1] in _BARE_NAMES
    )


def _dedent(line: str, indent: str) -> str:
    return line.removeprefix(indent)


def _content(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
