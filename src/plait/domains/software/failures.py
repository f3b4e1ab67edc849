"""Reads what a Python program wrote as it failed.

Knows nothing of how it was run. Paths in a traceback are those of wherever it ran, so a frame belongs to
the program when its path ends in that of one of the program's files.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

HEADER = "Traceback (most recent call last)"
LONGEST_MESSAGE = 300

_FRAME = re.compile(
    r'^ +File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<where>.+))?(?:\n(?! +File) +(?P<code>.+))?',
    re.MULTILINE,
)
_ERROR = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_MISSING_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One place in the program's own files."""

    path: str
    line: int
    where: str
    code: str

    def told(self) -> str:
        """Return the place as one line."""
        inside = f", in {self.where}" if self.where and self.where != "<module>" else ""
        return f"{self.path}, line {self.line}{inside}: {self.code}"


@dataclass(frozen=True, kw_only=True)
class ProgramFailure:
    """The last error of a program that said why it failed."""

    kind: str
    """The class of the error, without its module."""
    message: str
    frames: Sequence[Frame]
    """Places in the program's own files, the innermost last."""

    @property
    def missing_module(self) -> str:
        """The module that could not be imported; empty where that was not the error."""
        found = _MISSING_MODULE.search(self.message)
        return found["name"] if found and self.kind == "ModuleNotFoundError" else ""

    def told(self) -> str:
        """Return the error as one line."""
        return f"{self.kind}: {self.message}" if self.message else self.kind


def last_failure(stderr: str, paths: Collection[str]) -> ProgramFailure | None:
    """Return the last error in what a program wrote; None where there is no sign of one."""
    lines = stderr.rstrip().splitlines()
    for position in range(len(lines) - 1, -1, -1):
        error = _ERROR.match(lines[position])
        if error and position and lines[position - 1].startswith(" "):
            above = "\n".join(lines[:position])
            start = above.rfind(HEADER)
            if start < 0 and not _FRAME.search(above):
                # Indented lines before "name: error: ..." are what argparse writes when its usage is long.
                continue
            return ProgramFailure(
                kind=error["kind"].rpartition(".")[2],
                message=(error["message"] or "").strip()[:LONGEST_MESSAGE],
                frames=_frames(above[max(start, 0) :], paths),
            )
    return None


def _frames(text: str, paths: Collection[str]) -> list[Frame]:
    frames: list[Frame] = []
    for found in _FRAME.finditer(text):
        owned = [path for path in paths if f"/{found['file']}".endswith(f"/{path}")]
        if owned:
            frames.append(
                Frame(
                    path=max(owned, key=len),
                    line=int(found["line"]),
                    where=found["where"] or "",
                    code=(found["code"] or "").strip(),
                )
            )
    return frames
