"""Reads what a docstring says about a function and its parameters.

Understands Google, NumPy and Sphinx style, and takes anything else as plain description. Knows nothing
of tools: text goes in, text comes out.
"""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_GOOGLE_SECTION = re.compile(r"^([A-Z][A-Za-z ]{2,20}):$")
_NUMPY_UNDERLINE = re.compile(r"^-{3,}$")
_GOOGLE_PARAMETER = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_PARAMETER = re.compile(r"^\*{0,2}(\w+)\s*(?::.*)?$")
_SPHINX_FIELD = re.compile(r"^:(param|parameter|arg|returns?)\b(?:[^:]*?(\w+))?\s*:\s*(.*)$")
_PARAMETER_SECTIONS = frozenset({"args", "arguments", "parameters", "params", "other parameters"})
_RESULT_SECTIONS = frozenset({"returns", "return", "yields"})


@dataclass(frozen=True, kw_only=True)
class Docstring:
    """A docstring, taken apart."""

    description: str
    """What comes before the first section, and what is returned."""
    parameters: Mapping[str, str]
    """What is said about each parameter, in one line."""


def read_docstring(text: str | None) -> Docstring:
    """Take a docstring apart; a missing one is empty."""
    lines = inspect.cleandoc(text or "").splitlines()
    sections = _sections(lines)
    description = " ".join(" ".join(sections.pop("", [])).split())
    parameters: dict[str, str] = {}
    for name, body in sections.items():
        if name in _PARAMETER_SECTIONS:
            parameters.update(_parameters(body))
        elif name in _RESULT_SECTIONS:
            description = f"{description} Returns: {' '.join(' '.join(body).split())}".strip()
        elif name.startswith("param "):
            parameters[name.removeprefix("param ")] = " ".join(" ".join(body).split())
    return Docstring(description=description, parameters=parameters)


def _sections(lines: list[str]) -> dict[str, list[str]]:
    """Split into sections by lower-case title; what comes first has the title ""."""
    sections: dict[str, list[str]] = {"": []}
    title = ""
    for number, line in enumerate(lines):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if _NUMPY_UNDERLINE.match(line.strip()):
            continue
        if field := _SPHINX_FIELD.match(line.strip()):
            is_result = field[1].startswith("return")
            title = "returns" if is_result else f"param {field[2]}"
            sections.setdefault(title, []).append(field[3])
        elif google := _GOOGLE_SECTION.match(line):
            title = google[1].lower()
            sections.setdefault(title, [])
        elif _NUMPY_UNDERLINE.match(following) and line.strip():
            title = line.strip().lower()
            sections.setdefault(title, [])
        else:
            sections[title].append(line)
    return sections


def _parameters(body: list[str]) -> dict[str, str]:
    """Read `name: text` or `name : type` entries; deeper lines go on with the entry before."""
    margin = min(_indents(body), default=0)
    found: dict[str, str] = {}
    current = ""
    for line in body:
        stripped = line.strip()
        starts = bool(stripped) and len(line) - len(line.lstrip()) == margin
        if starts and (google := _GOOGLE_PARAMETER.match(stripped)) and margin > 0:
            current = google[1]
            found[current] = google[2]
        elif starts and margin == 0 and (numpy := _NUMPY_PARAMETER.match(stripped)):
            current = numpy[1]
            found[current] = ""
        elif current and stripped:
            found[current] = f"{found[current]} {stripped}".strip()
    return found


def _indents(body: list[str]) -> Iterable[int]:
    return (len(line) - len(line.lstrip()) for line in body if line.strip())
