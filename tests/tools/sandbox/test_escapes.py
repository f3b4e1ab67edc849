"""Programs that try to get out of a sandbox, each in one way; and that nothing of them outlives a run."""

import asyncio
import os
import secrets
import signal
import socket
from pathlib import Path

import pytest
from tests.support.processes import existing, start_python, until_gone, until_there
from tests.support.programs import run_python

from plait.tools.sandbox import ProgramLimits, Runner
from plait.tools.sandbox.bubblewrap import Bubblewrap, find_sandbox


def content(file: Path) -> str:
    return file.read_text()


async def test_loopback_of_the_machine_is_not_reached(runner: Runner):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 3)"
        ran = await run_python(runner, code)
    assert ran.exit_status == 1
    assert "ConnectionRefusedError" in ran.stderr


async def test_no_network_is_reached(runner: Runner):
    code = """
        import socket
        tries = [
            lambda: socket.create_connection(("192.0.2.1", 80), 3),
            lambda: socket.create_connection(("2001:db8::1", 80), 3),
            lambda: socket.getaddrinfo("example.org", 80),
            lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
            lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
            lambda: socket.socket(40, socket.SOCK_STREAM),  # vsock, which no namespace holds back
        ]
        for attempt in tries:
            try:
                print("reached", attempt())
            except OSError as error:
                print("refused")
    """
    assert (await run_python(runner, code)).stdout == "refused\n" * 6


async def test_only_loopback_is_there(runner: Runner):
    assert (await run_python(runner, "import socket; print(socket.if_nameindex())")).stdout == "[(1, 'lo')]\n"


async def test_nothing_is_written_outside(runner: Runner):
    name = f"escaped-{secrets.token_hex(8)}"
    places = [
        "/",
        "/usr",
        "/usr/bin",
        "/usr/lib",
        "/etc",
        "/dev",
        "/home",
        "/root",
        "/proc/sys/kernel",
        "/var",
    ]
    places.append(os.path.dirname(os.__file__))
    code = f"""
        for place in {places}:
            try:
                open(place + "/{name}", "w").write("x")
                print("wrote to", place)
            except OSError:
                print("refused")
    """
    assert (await run_python(runner, code)).stdout == "refused\n" * len(places)
    assert existing(*(f"{place}/{name}" for place in places)) == []


async def test_the_interpreter_cannot_be_changed(runner: Runner):
    code = "import os\nopen(os.path.join(os.path.dirname(os.__file__), 'os.py'), 'a')"
    ran = await run_python(runner, code)
    assert "Error: [Errno" in ran.stderr


async def test_the_folder_above_is_not_that_of_the_machine(runner: Runner):
    name = f"escaped-{secrets.token_hex(8)}"
    ran = await run_python(runner, f"open('../{name}', 'w').write('x')")
    assert ran.exit_status == 0
    assert existing(*(f"{folder}/{name}" for folder in ("/", "/tmp", ".", ".."))) == []


async def test_files_of_the_user_are_neither_read_nor_written(runner: Runner, outside: Path):
    path, name = str(outside), outside.name
    ways = [path, f"link/{name}", f"/proc/1/root{path}", f"/proc/1/cwd{path}", f"/proc/self/root{path}"]
    code = f"""
        import os
        os.symlink({str(outside.parent)!r}, "link")
        for way in {ways}:
            for mode in "ra":
                try:
                    print(open(way, mode).read())
                except OSError as error:
                    print("refused")
    """
    assert (await run_python(runner, code)).stdout == "refused\n" * 2 * len(ways)
    assert content(outside) == "private"


async def test_the_home_and_the_secrets_of_the_user_are_not_seen(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "sk-do-not-tell")
    code = """
        import glob, os
        print(os.environ)
        for file in glob.glob("/proc/[0-9]*/environ") + ["/etc/passwd"]:
            try:
                print(open(file).read())
            except OSError:
                pass
        print(*map(os.path.exists, ["/root/.ssh", "/etc/shadow", "/var", "/sys"]))
    """
    ran = await run_python(runner, code)
    assert ran.exit_status == 0
    assert ran.stdout.endswith("False False False False\n")
    assert "sk-do-not-tell" not in ran.stdout
    assert str(Path.home()) + ":" not in ran.stdout


async def test_no_privilege_is_held_or_gained(runner: Runner):
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(*(int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")))
        print(status["NoNewPrivs"].strip(), status["Seccomp"].strip(), os.getuid() == 0)
        CLONE_NEWUSER = 0x10000000
        print(libc.unshare(CLONE_NEWUSER), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.setuid(0))
        print(libc.ptrace(16, 1, 0, 0), libc.memfd_create(b"x", 0), libc.shmget(0, 4096, 0o1600))
    """
    ran = await run_python(runner, code)
    assert ran.stdout == "0 0 0\n1 2 False\n-1 -1 -1\n-1 -1 -1\n", ran.stderr


async def test_processes_outside_are_neither_seen_nor_signalled(runner: Runner):
    victim = start_python("-c", "import time; time.sleep(30)")
    try:
        code = f"""
            import os, signal
            for target in ({victim.pid}, {os.getpid()}, -1):
                try:
                    os.kill(target, signal.SIGKILL)
                except OSError as error:
                    print(error.strerror)
        """
        ran = await run_python(runner, code)
        assert ran.stdout.startswith("No such process\nNo such process\n")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.parametrize("kind", ["process", "thread"])
async def test_only_so_many_processes_can_be_started(runner: Runner, kind: str):
    start = {
        "process": "if os.fork() == 0: time.sleep(30)",
        "thread": "threading.Thread(target=time.sleep, args=(30,), daemon=True).start()",
    }[kind]
    code = f"""
        import os, threading, time
        started = 0
        try:
            while started < 500:
                {start}
                started += 1
        except (OSError, RuntimeError):
            pass
        print(started)
        os._exit(0)
    """
    ran = await run_python(runner, code, limits=ProgramLimits(processes=16, wall_seconds=120))
    # Root in a user namespace is not counted by the kernel: there we look, and end it.
    counted = runner != Bubblewrap(program=find_sandbox().program) or os.getuid() != 0
    if counted:
        assert ran.stdout, ran
        assert 8 <= int(ran.stdout) <= 18
    elif kind == "process":
        assert ran.stopped_by == "processes"


async def test_a_fork_bomb_comes_to_an_end(runner: Runner):
    ran = await run_python(runner, "import os\nwhile True: os.fork()", limits=ProgramLimits(wall_seconds=2))
    assert ran.exit_status != 0


async def test_a_daemon_does_not_outlive_the_run(runner: Runner):
    mark = f"daemon-{secrets.token_hex(8)}"
    code = f"""
        import os, subprocess, sys
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                subprocess.run([sys.executable, "-c", "import time; time.sleep(30)", "{mark}"])
            os._exit(0)
        def started(n):
            return n.isdigit() and "{mark}" in open(f"/proc/{{n}}/cmdline").read()
        while not any(map(started, os.listdir("/proc"))):
            pass
        print("started")
    """
    ran = await run_python(runner, code)
    assert (ran.exit_status, ran.stdout) == (0, "started\n")
    await until_gone(mark)


async def test_cancelling_ends_the_program(runner: Runner):
    mark = f"cancelled-{secrets.token_hex(8)}"
    task = asyncio.create_task(
        runner.run(["sh", "-c", f"sleep 30; : {mark}"], {}, limits=ProgramLimits(wall_seconds=30))
    )
    await until_there(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(mark)


async def test_the_program_ends_when_we_are_killed(tmp_path: Path):
    mark = f"orphan-{secrets.token_hex(8)}"
    code = f"""
import asyncio
from plait.tools.sandbox import ProgramLimits, sandbox
asyncio.run(sandbox().run(["sh", "-c", "sleep 30; : {mark}"], {{}}, limits=ProgramLimits(wall_seconds=30)))
"""
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = start_python(str(script))
    await until_there(mark)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    await until_gone(mark)
