"""Tables, as tools' lists of records are shown: a header, then a line for each record, cells between bars."""

from collections.abc import Collection, Iterable, Mapping

from plait.models.schema import is_identifier

BAR = " | "


def identifiers(table: str, named: Collection[str] = ()) -> list[str]:
    """Return the values of the identifier column; empty where the text is no table with one.

    Args:
        table: The text.
        named: Names of arguments; of several such columns the one of these names counts, else none.
    """
    header, *rows = _lines(table)
    columns = [n for n, name in enumerate(header) if is_identifier(name)]
    if named and len(columns) > 1:
        called = [n for n in columns if header[n] in named]
        columns = called if len(called) == 1 else []
    return [row[columns[0]] for row in rows if len(row) == len(header)] if columns else []


def column(table: str, name: str) -> list[str]:
    """Return the values of the column of that name; empty where there is none."""
    header, *rows = _lines(table)
    return [row[header.index(name)] for row in rows if len(row) == len(header)] if name in header else []


def rows_of(tables: Iterable[str]) -> Mapping[str, str]:
    """Return the rows of tables by their first cell."""
    lines = [line for table in tables for line in table.splitlines()[1:]]
    return {line.partition(BAR)[0]: line for line in lines if BAR in line}


def _lines(table: str) -> list[list[str]]:
    if table.startswith("|"):
        return [[]]  # Markdown, whose second line is none of the records.
    return [line.split(BAR) for line in table.splitlines()] or [[]]
