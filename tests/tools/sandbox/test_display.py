"""Programs with windows: on a virtual display where one is installed, and told apart where none is."""

import shutil
import stat
from pathlib import Path

import pytest
from tests.support.programs import run_python

from plait.tools.sandbox import Runner, display, unconfined

WINDOW = """
import sys
try:
    import tkinter
except ImportError:
    sys.exit("no display name and no $DISPLAY: this Python has no tkinter either")
window = tkinter.Tk()
tkinter.Label(window, text="hello").pack()
window.update()
print("shown")
"""


async def test_a_window_opens_or_the_lack_of_a_display_is_told(runner: Runner):
    ran = await run_python(runner, WINDOW)
    assert (ran.stdout == "shown\n") != ran.lacked_display, ran.stderr
    assert (ran.exit_status == 0) != ran.lacked_display


async def test_a_window_without_a_display_server_is_no_fault(runner: Runner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(display, "display_server", lambda: "")
    ran = await run_python(runner, WINDOW)
    assert (ran.exit_status, ran.lacked_display) == (1, True)


async def test_a_display_server_that_fails_leaves_the_program_without(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(display, "display_server", lambda: shutil.which("false") or "")
    assert (await run_python(runner, WINDOW)).lacked_display


async def test_the_number_of_the_display_reaches_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server = tmp_path / "server"
    # As the real one: the number and the end of the line are written apart, and both must be read.
    server.write_text(
        '#!/bin/bash\nprintf 7 >&$2; sleep 0.1; echo >&$2 || exit 1; touch "$0.serves"; sleep 30\n'
    )
    server.chmod(server.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(display, "display_server", lambda: str(server))
    code = f"""
        import os, time
        if False:
            import turtle
        while not os.path.exists({str(server) + ".serves"!r}):
            time.sleep(0.01)
        print(os.environ["DISPLAY"])
        try:
            os.wait()
        except ChildProcessError:
            print("no child")
    """
    ran = await run_python(unconfined(), code)
    assert (ran.stdout, ran.exit_status) == (":7\nno child\n", 0), ran.stderr


def test_an_ordinary_failure_is_not_the_want_of_a_display():
    assert not display.lacked_display(1, "ValueError: cannot display the score")
    assert not display.lacked_display(0, "no display name and no $DISPLAY environment variable")
    assert display.lacked_display(
        1, "_tkinter.TclError: no display name and no $DISPLAY environment variable"
    )
    assert display.lacked_display(1, "qt.qpa.xcb: could not connect to display :0")


def test_only_programs_with_windows_get_a_display():
    assert display.wants_display({"a.py": "x = 1", "b.py": "import os\nfrom tkinter import ttk"})
    assert not display.wants_display({"a.py": "import pygame, numpy\nprint('import tkinter')"})


async def test_libraries_that_draw_into_memory_are_told_so(runner: Runner):
    code = "import os; print(*map(os.environ.get, ['SDL_VIDEODRIVER', 'MPLBACKEND', 'QT_QPA_PLATFORM']))"
    assert (await run_python(runner, code)).stdout == "dummy Agg offscreen\n"
