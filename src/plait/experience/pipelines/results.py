"""Reads what a tool answered into rows, so that a later call can take a field of one (ICE, section 3.2).

Whoever learns a pipeline and whoever walks it read results here, so that both mean the same row. Knows
nothing of tools, nor of what a result is needed for; takes any text and never raises.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from plait.tools.executor import UNKNOWN_RESULT
from plait.tools.rendering import NO_RESULT, found_nothing

Row = Mapping[str, str]

MOST_TRIFLE = 2
"""Characters of a value that may stand in an answer by chance."""
WHOLE = ""
"""Name of the field of a result that has none: a text, a number."""

_CUT = re.compile(r"(?:\A|\n)\[cut: [^\n]*\]\s*\Z")
_COLUMN = " | "
_ONE_COLUMN = re.compile(r"id|[A-Za-z]\w*_\w+")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(?::\d\d)?"
)


def rows_of(observation: str) -> list[Row]:
    """Return the rows of a result; none where nothing was found.

    A table or a list of objects has a row each; an object is one row; anything else is one row with the
    field `WHOLE`, of a list one for each item. Of a cut result only rows that are whole are returned. A
    cell that cannot be told from its neighbours is left out of its row, and null is empty.
    """
    cut = is_cut(observation)
    text = _CUT.sub("", observation) if cut else observation
    bare = text.strip()
    if not bare or bare in (NO_RESULT, UNKNOWN_RESULT) or found_nothing(bare):
        return []
    rows = _of_json(bare, cut=cut)
    if rows is None:
        rows = _of_table(text.strip("\n").split("\n"), cut=cut)
    if rows is not None:
        return rows
    return [] if cut else [{WHOLE: bare}]


def is_cut(observation: str) -> bool:
    """Whether a result says at its end that more of it was left out."""
    return _CUT.search(observation) is not None


def is_time(text: str) -> bool:
    """Whether a text is a day, a time of day or both, in figures from the largest unit to the smallest."""
    return _TIME.fullmatch(text) is not None


def cell_text(value: Any) -> str:
    """Spell a JSON value as a cell holds it: text as it is, null as nothing, other values as JSON."""
    if value is None:
        return ""
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def first_of(rows: Sequence[Row]) -> Row:
    """Return the first row: the earliest where the rows tell times, else the one on top.

    Returns:
        The row, or an empty one where two are equally early or two columns of times disagree.
    """
    return _at_end(rows, latest=False)


def last_of(rows: Sequence[Row]) -> Row:
    """Return the last row: the latest where the rows tell times, else the one at the bottom.

    Returns:
        The row, or an empty one where two are equally late or two columns of times disagree.
    """
    return _at_end(rows, latest=True)


def in_order(rows: Sequence[Row]) -> bool:
    """Whether rows that tell times stand in the order of one of them, upwards or downwards."""
    columns = _columns_of_times(rows)
    return not columns or any(_ordered(rows, column) for column in columns)


def _at_end(rows: Sequence[Row], *, latest: bool) -> Row:
    columns = _columns_of_times(rows)
    if len(rows) < 2 or not columns:
        return {} if not rows else rows[-1 if latest else 0]
    if len(columns) > 1:
        columns = [column for column in columns if _ordered(rows, column)]
    picked = [_extreme(rows, column, latest=latest) for column in columns]
    return picked[0] if picked and all(row is picked[0] for row in picked) else {}


def _extreme(rows: Sequence[Row], column: str, *, latest: bool) -> Row:
    cells = [row[column] for row in rows]
    extreme = max(cells) if latest else min(cells)
    return rows[cells.index(extreme)] if cells.count(extreme) == 1 else {}


def _ordered(rows: Sequence[Row], column: str) -> bool:
    cells = [row[column] for row in rows]
    return cells in (sorted(cells), sorted(cells, reverse=True))


def _columns_of_times(rows: Sequence[Row]) -> list[str]:
    """Return the columns that hold a time, written alike, in every row: as texts they sort as times."""
    if not rows:
        return []
    return [name for name in rows[0] if _are_times([row.get(name, "") for row in rows])]


def _are_times(cells: Sequence[str]) -> bool:
    times = [_TIME.fullmatch(cell) for cell in cells]
    return len({time and (time["zone"], len(time[0])) for time in times}) == 1 and times[0] is not None


def _of_json(text: str, *, cut: bool) -> list[Row] | None:
    """Return the rows of JSON text; None where it is something else."""
    if cut:
        items = _whole_items(text) if text.startswith("[") else []
        return [_row(item) for item in items] or None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return [_row(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict | str):
        return [_row(value)] if value else []
    return [] if value is None else [{WHOLE: text}]  # Numbers as they are written.


def _whole_items(text: str) -> list[Any]:
    """Return the items of a list whose end is missing."""
    decoder, items, at = json.JSONDecoder(), list[Any](), 1
    while True:
        try:
            item, end = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        except (ValueError, RecursionError):
            return items
        if text[end : end + 1] != ",":  # `12` may be the beginning of `123`.
            return items
        items.append(item)
        at = end + 1


def _row(item: Any) -> Row:
    if isinstance(item, Mapping):
        return {name: cell_text(value) for name, value in cast("Mapping[str, Any]", item).items()}
    return {WHOLE: cell_text(item)}


def _of_table(lines: Sequence[str], *, cut: bool) -> list[Row] | None:
    """Return the rows of a table as `table_rows` of the executor spells it; None where it is none."""
    names = lines[0].split(_COLUMN)
    body = lines[1:-1] if cut else lines[1:]  # The last line of a cut table may be half a row.
    if not body or len(set(names)) < len(names) or not all(name.strip() for name in names):
        return None
    if len(names) == 1 and not (_ONE_COLUMN.fullmatch(names[0]) and all(body)):
        return None
    rows: list[Row] = []
    for line in body:
        cells = line.split(_COLUMN)
        if len(cells) == len(names) - 1 and line.endswith(" |"):  # An empty last cell whose space got lost.
            cells = [*cells[:-1], cells[-1].removesuffix(" |"), ""]
        if len(cells) < len(names):
            return None
        if len(cells) > len(names):
            # A cell holds a bar, so that all after it may stand in the wrong column: whoever wrote that cell
            # must not choose what the others say. An identifier in front holds none.
            cells, known = cells[:1], names[:1] if names[0].casefold().endswith("id") else []
        else:
            known = names
        rows.append({name: "" if cell == "null" else cell for name, cell in zip(known, cells, strict=False)})
    return rows


def answer_shape(observation: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of how a tool answered, whatever it was called with: "deleted" is not "not found"."""
    text = observation.casefold()
    for value in sorted(map(str, arguments.values()), key=len, reverse=True):
        text = text.replace(value.casefold(), "~") if len(value) > MOST_TRIFLE else text
    return hashlib.blake2b(re.sub(r"\d+", "0", text).encode("utf-8", "replace"), digest_size=8).hexdigest()


def digest_of_result(observation: str) -> str:
    """Return what two results have in common only where they are the same to the letter."""
    return hashlib.blake2b(observation.encode(), digest_size=8).hexdigest()
