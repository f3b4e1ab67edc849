"""What `plait` offers by its name, pinned; and that importing it costs next to nothing."""

import subprocess
import sys

import pytest

import plait

EXPORTED = [
    "PlaitError",
    "Result",
    "ScriptedModel",
    "Solved",
    "Tool",
    "__version__",
    "resume",
    "resume_sync",
    "solve",
    "solve_sync",
    "stream",
    "tool",
]


def test_the_names_are_these():
    assert plait.__all__ == EXPORTED
    assert set(EXPORTED) < set(dir(plait))


@pytest.mark.parametrize("name", EXPORTED)
def test_every_name_is_there(name: str):
    value = getattr(plait, name)
    assert isinstance(value, str) or value.__name__ == name


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="module 'plait' has no attribute 'slove'"):
        plait.slove  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018


def test_importing_loads_nothing_else():
    code = "import sys, plait; print(*[m for m in sys.modules if m.startswith('plait.')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""
