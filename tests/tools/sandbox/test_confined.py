"""What a well-behaved program meets in a sandbox, and how its limits end it."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.support.programs import run_python

from plait.tools.sandbox import (
    NotReady,
    ProgramLimits,
    Runner,
    UnfitProgram,
    bubblewrap,
    python_command,
    sandbox,
)
from plait.tools.sandbox.surroundings import ready_pipe


async def test_a_program_runs_with_its_files_and_input(confined: Runner):
    files = {
        "main.py": "import helper.words, sys\nprint(helper.words.HELLO, input(), open('data/n.txt').read())",
        "helper/words.py": "HELLO = 'Grüß'",
        "data/n.txt": "7",
    }
    ran = await confined.run(python_command("main.py"), files, stdin="dich\n")
    assert (ran.exit_status, ran.stdout, ran.stderr, ran.stopped_by) == (0, "Grüß dich 7\n", "", "")
    assert ran.exit_status == 0
    assert ran.seconds > 0


async def test_much_input_is_given_whole_and_input_nobody_reads_is_no_fault(confined: Runner):
    much = "x" * 500_000
    assert (await run_python(confined, "print(len(input()))", stdin=much)).stdout == "500000\n"
    assert (await run_python(confined, "print('done')", stdin=much)).exit_status == 0


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(3)", 3),
        ("import os; os.kill(os.getpid(), 15)", 143),
        ("import os; os.abort()", 134),
    ],
)
async def test_the_exit_status_is_that_of_the_program(confined: Runner, code: str, status: int):
    ran = await run_python(confined, code)
    assert (ran.exit_status, ran.stopped_by) == (status, "")


async def test_a_traceback_is_seen(confined: Runner):
    ran = await run_python(confined, "print('before')\n1 / 0")
    assert (ran.exit_status, ran.stdout) == (1, "before\n")
    assert "main.py" in ran.stderr
    assert "ZeroDivisionError" in ran.stderr


async def test_bytes_that_are_not_text_are_replaced(confined: Runner):
    assert (
        await run_python(confined, r"import os; os.write(1, b'a\xffb')")
    ).stdout == "a\N{REPLACEMENT CHARACTER}b"


async def test_a_command_that_is_not_there_says_so(confined: Runner):
    ran = await confined.run(["no-such-program"], {})
    assert ran.exit_status == 127
    assert "no-such-program: No such file" in ran.stderr


async def test_its_folder_home_and_temporary_files_can_be_written_and_are_fresh(confined: Runner):
    code = """
        import os, pathlib, tempfile
        print(sorted(os.listdir(".")), os.listdir(os.path.expanduser("~")))
        for place in (pathlib.Path("scores"), pathlib.Path.home() / "scores"):
            place.write_text("10")
        with tempfile.TemporaryFile() as file:
            file.write(b"10")
    """
    for _ in range(2):
        ran = await run_python(confined, code)
        assert (ran.exit_status, ran.stdout, ran.stderr) == (0, "['main.py'] []\n", "")


async def test_threads_subprocesses_and_shared_memory_work(confined: Runner):
    code = """
        import multiprocessing, subprocess, sys, threading
        thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
        print(multiprocessing.Pool(2).map(abs, [-1, -2]))
        print(subprocess.run(["ls"], capture_output=True, text=True).stdout)
    """
    ran = await run_python(confined, code)
    assert (ran.exit_status, ran.stdout, ran.stderr) == (0, "thread\n[1, 2]\nmain.py\n\n", "")


async def test_our_own_packages_are_not_there(confined: Runner):
    ran = await run_python(confined, "import plait")
    assert "No module named 'plait'" in ran.stderr


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)", "input()\ninput()"])
async def test_a_program_that_does_not_end_is_ended(confined: Runner, code: str):
    ran = await run_python(
        confined, "print('begun')\n" + code, stdin="", limits=ProgramLimits(wall_seconds=1.5)
    )
    if code.startswith("input"):
        assert "EOFError" in ran.stderr
    else:
        assert (ran.exit_status, ran.stopped_by, ran.stdout) == (None, "wall_seconds", "begun\n")


async def test_processor_time_is_limited(confined: Runner):
    ran = await run_python(confined, "while True: pass", limits=ProgramLimits(cpu_seconds=1, wall_seconds=15))
    assert (ran.exit_status, ran.stopped_by) == (None, "cpu_seconds")


@pytest.mark.parametrize("stream", [1, 2])
async def test_endless_output_is_ended_and_cut(confined: Runner, stream: int):
    code = f"import os\nwhile True: os.write({stream}, b'y' * 5000)"
    ran = await run_python(confined, code, limits=ProgramLimits(output_bytes=12_345))
    assert (ran.exit_status, ran.stopped_by) == (None, "output_bytes")
    assert (ran.stdout, ran.stderr)[stream - 1] == "y" * 12_345


async def test_one_process_is_refused_too_much_memory(confined: Runner):
    ran = await run_python(confined, "x = bytearray(200 << 20)", limits=ProgramLimits(memory_bytes=100 << 20))
    assert ran.exit_status == 1
    assert "MemoryError" in ran.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import os, time\nfor _ in range(3): os.fork()\nx = b'x' * (60 << 20)\ntime.sleep(20)",
        "import mmap, time\nx = mmap.mmap(-1, 300 << 20)\nx[:] = b'x' * len(x)\ntime.sleep(20)",
    ],
    ids=["many processes", "shared pages"],
)
async def test_all_memory_together_is_limited(confined: Runner, code: str):
    if "mmap" in code:
        code = code.replace("x[:] = b'x' * len(x)", "for at in range(0, len(x), 4096): x[at] = 1")
    ran = await run_python(confined, code, limits=ProgramLimits(memory_bytes=150 << 20, wall_seconds=15))
    assert (ran.exit_status, ran.stopped_by) == (None, "memory_bytes")


async def test_memory_shared_by_many_processes_counts_once(confined: Runner):
    code = "import os, time\nx = b'x' * (60 << 20)\nfor _ in range(3): os.fork()\ntime.sleep(0.3)"
    ran = await run_python(confined, code, limits=ProgramLimits(memory_bytes=150 << 20))
    assert ran.exit_status == 0


async def test_the_disk_is_limited(confined: Runner):
    code = """
        import os
        for folder in (".", os.path.expanduser("~"), "/tmp"):
            try:
                for n in range(9):
                    open(f"{folder}/{n}", "wb").write(b"x" * 1_000_000)
            except OSError as error:
                sizes = [entry.stat().st_size for entry in os.scandir(folder) if entry.is_file()]
                print(error.strerror, sum(sizes) <= 4 << 20)
    """
    ran = await run_python(confined, code, limits=ProgramLimits(disk_bytes=4 << 20))
    assert ran.stdout == "No space left on device True\n" * 3


async def test_countless_empty_files_are_stopped(confined: Runner):
    code = "n = 0\nwhile True: open(str(n), 'w').close(); n += 1"
    ran = await run_python(confined, code, limits=ProgramLimits(wall_seconds=15))
    assert (ran.exit_status, ran.stopped_by) == (None, "disk_bytes")


@pytest.mark.parametrize("name", ["/etc/passwd", "../out.py", "a/../../out.py", "", ".", "a/", "a\0b"])
async def test_files_outside_the_folder_are_refused(confined: Runner, name: str):
    with pytest.raises(UnfitProgram, match="not the name of a file inside"):
        await confined.run(python_command("main.py"), {name: "pass"})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a": "1", "a/b": "2"}, "File exists: 'a'"),
        ({"n" * 300: "1"}, "File name too long: 'nnn"),
        ({"a/b": "1", "a": "2"}, "File exists: 'a'"),
    ],
)
async def test_files_that_cannot_be_laid_out_are_refused_before_anything_runs(
    confined: Runner, files: dict[str, str], said: str
):
    with pytest.raises(UnfitProgram, match=f"the program was not run: its files cannot be laid out: {said}"):
        await confined.run(["true"], files)


async def test_a_program_that_is_not_reached_in_time_says_so(confined: Runner):
    with pytest.raises(NotReady, match="it was not ready within 0 seconds"):
        await confined.run(["true"], {}, limits=ProgramLimits(wall_seconds=0))


async def test_files_larger_than_the_disk_are_refused(confined: Runner):
    with pytest.raises(UnfitProgram, match="more than the 1024"):
        await confined.run(["true"], {"a": "x" * 1025}, limits=ProgramLimits(disk_bytes=1024))


async def test_many_runs_at_once_do_not_mix(confined: Runner):
    async def one(n: int) -> str:
        return (await run_python(confined, f"open('n', 'x').write('{n}')\nprint(open('n').read())")).stdout

    assert await asyncio.gather(*map(one, range(6))) == [f"{n}\n" for n in range(6)]


async def test_nothing_is_left_open(confined: Runner):
    await run_python(confined, "pass")
    before = sorted(os.listdir("/proc/self/fd"))
    await run_python(confined, "while True: print('y')")
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_the_sandbox_is_tried_once():
    assert sandbox() is sandbox()


async def test_users_own_folder_is_not_touched(
    confined: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "main.py"
    own.write_text("the user's own")
    await run_python(confined, "open('main.py', 'w').write('changed'); open('new.py', 'w')")
    assert os.listdir(tmp_path) == ["main.py"]
    assert own.read_text() == "the user's own"


def test_files_are_not_counted_before_the_sandbox_stands(monkeypatch: pytest.MonkeyPatch):
    """While mounts are made, the paths looked at may lead to file systems of the machine, full of files."""
    monkeypatch.setattr(bubblewrap, "files_on", lambda process, mount: bubblewrap.MOST_FILES + 1)
    with ready_pipe() as ready:
        assert bubblewrap.look(ready, [os.getpid()]) == ""
        os.write(ready.theirs, b".")
        assert bubblewrap.look(ready, [os.getpid()]) == "disk_bytes"
        assert ready.is_said()
