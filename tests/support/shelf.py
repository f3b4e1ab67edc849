"""Tools that keep their state in the run's folder, and one that changes the world outside it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from plait.tools.functions import tool

SOURCE = str(Path(__file__))


def toolset(folder: Path) -> Sequence[Callable[..., Any]]:
    """Return the notebook's tools, over a notebook in the folder."""
    file = folder / "shelf.txt"

    @tool
    def write_line(number: int) -> str:
        """Write a line."""
        with file.open("a") as stream:
            stream.write(f"{number}\n")
        if trace := os.environ.get("SHELF_TRACE"):
            with Path(trace).open("a") as stream:
                stream.write(f"{number}\n")
        return f"line {number} is written"

    @tool(effect="reads")
    def read_page(number: int) -> str:
        """Read the shelf."""
        return f"page {number}, {len(file.read_text().split())} lines"

    return [write_line, read_page]
