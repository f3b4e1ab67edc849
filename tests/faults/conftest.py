"""What tests of faults use."""

from pathlib import Path

import pytest
from tests.support.commands import Commands


@pytest.fixture
def plait(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands in this process, with a notebook to write into."""
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return Commands(capsys, file)
