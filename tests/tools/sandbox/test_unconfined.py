"""Without a sandbox there is no isolation, but limits, a clean environment and an end of what was started."""

import asyncio
import os
import secrets
import signal
import tempfile
from pathlib import Path

import pytest
from tests.support.processes import running, start_python, until_gone, until_there
from tests.support.programs import run_python

from plait.tools.sandbox import ProgramLimits, SandboxError, unconfined


async def test_a_program_runs_in_a_fresh_folder_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("MY_API_KEY", "sk-do-not-tell")
    code = "import os; print(os.getcwd(), input(), os.environ.get('MY_API_KEY')); open('x', 'w')"
    ran = await run_python(unconfined(), code, stdin="hello")
    assert ran.exit_status == 0
    assert ran.stdout.startswith(str(tmp_path))
    assert ran.stdout.endswith("/program hello None\n")
    assert os.listdir(tmp_path) == []


async def test_the_exit_status_is_as_a_shell_gives_it():
    assert (await run_python(unconfined(), "import os; os.kill(os.getpid(), 15)")).exit_status == 143
    assert (await run_python(unconfined(), "raise SystemExit(3)")).exit_status == 3


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("import time; time.sleep(60)", ProgramLimits(wall_seconds=0.3), "wall_seconds"),
        ("while True: pass", ProgramLimits(cpu_seconds=1), "cpu_seconds"),
        ("while True: print('y' * 1000)", ProgramLimits(output_bytes=5000), "output_bytes"),
        (
            "n = 0\nwhile True: open(str(n), 'wb').write(b'x' * 100_000); n += 1",
            ProgramLimits(disk_bytes=2 << 20),
            "disk_bytes",
        ),
        (
            "import os, time\nfor _ in range(4): os.fork()\ntime.sleep(20)",
            ProgramLimits(processes=8),
            "processes",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value and " " not in value else "",
)
async def test_limits_hold(code: str, limits: ProgramLimits, reason: str):
    ran = await run_python(unconfined(), code, limits=limits)
    # A user other than root is refused the process by the kernel before we look.
    assert ran.stopped_by == reason or "BlockingIOError" in ran.stderr
    assert ran.exit_status != 0


async def test_memory_is_refused():
    ran = await run_python(
        unconfined(), "x = bytearray(200 << 20)", limits=ProgramLimits(memory_bytes=100 << 20)
    )
    assert "MemoryError" in ran.stderr


async def test_what_a_program_leaves_in_its_group_is_ended():
    mark = f"left-{secrets.token_hex(8)}"
    code = f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 30; : {mark}']); print('done')"
    ran = await run_python(unconfined(), code)
    assert (ran.exit_status, ran.stdout) == (0, "done\n")
    await until_gone(mark)


async def test_cancelling_ends_the_program_and_removes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mark = f"cancelled-{secrets.token_hex(8)}"
    task = asyncio.create_task(unconfined().run(["sh", "-c", f"sleep 30; : {mark}"], {}))
    await until_there(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(mark)
    assert os.listdir(tmp_path) == []


async def test_the_program_ends_when_we_are_killed(tmp_path: Path):
    mark = f"orphan-{secrets.token_hex(8)}"
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, sys\n"
        "from plait.tools.sandbox import unconfined\n"
        f"command = [sys.executable, '-c', 'import time; time.sleep(30)', {mark!r}]\n"
        "asyncio.run(unconfined().run(command, {}))\n"
    )
    parent = start_python(str(script))
    await until_there(mark)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    await until_gone(mark)
    assert not running(mark)


async def test_names_are_checked_here_too():
    with pytest.raises(SandboxError, match=r"'../x' is not the name of a file inside"):
        await unconfined().run(["true"], {"../x": ""})
