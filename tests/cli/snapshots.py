"""Compares what is shown with a text file; PLAIT_UPDATE_SNAPSHOTS=1 writes the files anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "data"


def assert_snapshot(name: str, text: str) -> None:
    """Hold `text` against `data/NAME.txt`, blanks at the ends of lines aside."""
    shown = "\n".join(row.rstrip() for row in text.rstrip().splitlines()) + "\n"
    file = FOLDER / f"{name}.txt"
    if os.environ.get("PLAIT_UPDATE_SNAPSHOTS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")
