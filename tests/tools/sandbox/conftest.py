"""Where no sandbox can be made, only its refusal can be tested, and that is said loudly."""

from pathlib import Path

import pytest

from plait.errors import PlaitError
from plait.tools.sandbox import Runner, sandbox
from plait.tools.sandbox.bubblewrap import Bubblewrap, find_sandbox

NEEDS_SANDBOX = ("test_confined.py", "test_escapes.py", "test_display.py")


def why_not() -> str:
    try:
        find_sandbox()
    except PlaitError as error:
        return error.message
    return ""


TROUBLE = why_not()
collect_ignore = list(NEEDS_SANDBOX) if TROUBLE else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TROUBLE:
        terminalreporter.section("NO SANDBOX HERE: ESCAPES WERE NOT TESTED", red=True, bold=True)
        terminalreporter.line(TROUBLE)


@pytest.fixture(params=[True, False], ids=["private user", "user namespace"])
def runner(request: pytest.FixtureRequest) -> Bubblewrap:
    """Both ways to make a sandbox; whoever is not root has only the second."""
    found = find_sandbox()
    return Bubblewrap(program=found.program, from_root=found.from_root and request.param)


@pytest.fixture
def confined() -> Runner:
    """The sandbox as everybody gets it."""
    return sandbox()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the user's, which nothing in a sandbox may see or change."""
    file = tmp_path / "diary.txt"
    file.write_text("private")
    return file
