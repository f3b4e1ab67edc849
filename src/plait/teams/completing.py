"""What makes a merge whole: the files it does not write stay as they are in its inputs.

Knows nothing of models or of how replies are read.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.teams.solution import Solution

SHORTEST = 0.5
"""Of the shortest input; a shorter merge has left something out."""
REMOVAL = 'If a file is to go, say so in the changes: "removed: NAME".'
"""What a merge of files is told; to praise a file or to say nothing of it keeps it."""

_OF_SOLUTION = r"[\"'`*]*\s+(?:of|from|in)\s+(?:the\s+)?solution\s+(\d{1,2})\b"
_REMOVED = re.compile(r"\bremoved\s*:\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;]+(?:and\s+)?")
_DECORATION = "\"'`*()"


def completed(merged: Solution, changes: str, inputs: Sequence[Solution], base: int) -> Solution:
    """Return a merge with the files that it keeps without writing them.

    Args:
        merged: As it was written.
        changes: What it says of it.
        inputs: What was merged.
        base: Place of the best input: a file of that which the merge neither writes nor says it removed is
            kept, and so is one that it says it has of another input.
    """
    there = dict.fromkeys(path for each in (inputs[base], *inputs) for path in each.files)
    gone = removed(changes, [*there])
    kept: dict[str, str] = {}
    for path in there:
        source = inputs[_named(path, changes, inputs, base)].files
        if path in source and path not in merged.files and path not in gone and not _in_the_way(path, merged):
            kept[path] = source[path]
    return replace(merged, files={**merged.files, **kept}) if kept else merged


def _named(path: str, changes: str, inputs: Sequence[Solution], base: int) -> int:
    """Return the place of the input that a file is said to be of, as in `main.py of solution 2`."""
    said = re.search(rf"(?<![\w./]){re.escape(path)}{_OF_SOLUTION}", changes, re.IGNORECASE)
    place = int(said[1]) - 1 if said else base
    return place if 0 <= place < len(inputs) and path in inputs[place].files else base


def removed(changes: str, names: Sequence[str]) -> set[str]:
    """Return which of `names` are said to be removed: those that follow `removed:` at once."""
    gone: set[str] = set()
    for found in _REMOVED.finditer(changes):
        for word in _BETWEEN.split(changes[found.end() :]):
            name = word.strip(_DECORATION)
            ends = name not in names
            name = name.rstrip(".:").rstrip(_DECORATION) if ends else name
            if name in names:
                gone.add(name)
            if ends:
                break  # What follows is another sentence.
    return gone


def problems_of(written: Solution, whole: Solution, inputs: Sequence[Solution]) -> list[str]:
    """Return why a merge cannot be used; empty where it can.

    Args:
        written: What the agent wrote.
        whole: The same, completed.
        inputs: What was to be merged.
    """
    problems: list[str] = []
    there = dict.fromkeys(path for each in inputs for path in each.files)
    if there and not any(path in written.files for path in there):
        problems.append(f"none of the given files is in it: {', '.join(there)}; write them under these names")
    shortest = min(_length(each) for each in inputs)
    if _length(whole) < SHORTEST * shortest:
        problems.append(
            f"the solution has {_length(whole)} characters and the shortest of the given {shortest}: "
            "it is not whole; write all of it"
        )
    return problems


def _in_the_way(path: str, merged: Solution) -> bool:
    """Whether a file cannot stand beside those of a merge, as one is the folder of the other."""
    return any(each.startswith(f"{path}/") or path.startswith(f"{each}/") for each in merged.files)


def _length(solution: Solution) -> int:
    return len(solution.text) + sum(map(len, solution.files.values()))
