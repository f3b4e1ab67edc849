"""Runs a program and says whether it really starts, in two readings (Croto, section 5: executability).

A program is run twice where it asks for input: with nothing to read, and with a few numbers typed in.

`official` follows `get_executability` of the paper's scripts (github.com/OpenBMB/ChatDev, commit 0ee00f7,
chatdev/eval_quality.py): only a traceback within 3 seconds counts against a program, so that one with a
syntax error, a non-zero exit or no main.py at all passes. There input and screen were a person's, who did
nothing; so an end of input and a missing screen are no faults here.

`strict` also counts files that do not parse, a non-zero exit and the limits on memory, processes and disk,
but not a program that is still running, that reads past the end of its input, that wants a screen, that
asks for arguments (it tells its usage and exits), or that says which file is missing. Of what happens after
numbers were typed in, where it asked for something else perhaps, a ValueError, KeyError or IndexError is no
fault either; and a non-zero exit is none where what is typed in makes a difference.

Knows nothing of sandboxes but how to use one.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from plait.agents.together import together
from plait.domains.quoting import cleaned, quoted, shortened
from plait.domains.software.failures import ProgramFailure, last_failure
from plait.domains.software.libraries import (
    ONLY_ON_WINDOWS,
    is_library,
    is_part_of_python,
    names_library,
)
from plait.domains.software.program import own_modules, parsed, python_files, reads_input
from plait.journal import JSONObject
from plait.tools.sandbox.interpreter import python_command, start_arguments
from plait.tools.sandbox.ran import NotReady, ProgramLimits, Ran, Runner, UnfitProgram

RUN_SECONDS = 5.0
"""A program that runs longer has started."""
OFFICIAL_SECONDS = 3.0
TYPED = "1\n2\n3\n" * 8
KEPT_CHARACTERS = 4_000
"""Of each output, its end."""
TOLD_FRAMES = 3
NOT_RUN = Ran(exit_status=None, stdout="", stderr="", stopped_by="", seconds=0.0)
FAULTY_LIMITS = ("memory_bytes", "processes", "disk_bytes")

_NO_TERMINAL = re.compile(r"_curses\.error|termios\.error|Inappropriate ioctl|could not find terminal")
_USAGE = re.compile(r"^\W*usage\b", re.MULTILINE | re.IGNORECASE)
_MISSING_FILE = re.compile(
    r"not found|\bmissing\b|no such file|(?:not|n't) exist|(?:not|n't) (?:be )?(?:find|found|open|read|load)",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b(?!\()")
_NONSENSE = ("ValueError", "KeyError", "IndexError")
"""What a program may stop with that was typed something it did not ask for."""
POLITE_STATUSES = (1, 2)
"""With which programs end that say what they lack."""


@dataclass(frozen=True, kw_only=True)
class TrialRun:
    """How a program ran, or why its files keep it from being run at all."""

    main: str
    silent: Ran
    """With nothing to read."""
    typed: Ran | None
    """With numbers typed in; None where it asks for nothing."""
    unfit: str = ""
    """Why its files cannot be laid out; then it was not run."""

    def as_json(self) -> JSONObject:
        """Return the trial as it is recorded."""
        return {
            "main": self.main,
            "silent": asdict(self.silent),
            "typed": asdict(self.typed) if self.typed else None,
            "unfit": self.unfit,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TrialRun":
        """Return the trial that `as_json` gave."""
        typed = value["typed"]
        return cls(
            main=value["main"],
            silent=Ran(**value["silent"]),
            typed=Ran(**typed) if typed else None,
            unfit=value.get("unfit", ""),
        )


async def try_out(runner: Runner, files: Mapping[str, str], main: str) -> TrialRun:
    """Run a program once, or where it asks for input twice, at the same time.

    Raises:
        SandboxError: it could not be run, and not for its own sake.
    """
    inputs = ["", TYPED] if reads_input(files) else [""]
    try:
        silent, *typed = await together([_run(runner, files, main, stdin) for stdin in inputs])
    except UnfitProgram as error:
        return TrialRun(main=main, silent=NOT_RUN, typed=None, unfit=error.found)
    return TrialRun(main=main, silent=silent, typed=typed[0] if typed else None)


async def _run(runner: Runner, files: Mapping[str, str], main: str, stdin: str) -> Ran:
    limits = ProgramLimits(wall_seconds=RUN_SECONDS)
    try:
        ran = await runner.run(python_command(main), files, stdin=stdin, limits=limits)
    except NotReady:
        # The machine was busy, perhaps with the programs of all teams.
        ran = await runner.run(python_command(main), files, stdin=stdin, limits=limits)
    return replace(ran, stdout=ran.stdout[-KEPT_CHARACTERS:], stderr=ran.stderr[-KEPT_CHARACTERS:])


def official(files: Mapping[str, str], trial: TrialRun | None) -> float:
    """Return 1 where the paper's scripts would call a program executable, else 0.

    Args:
        files: The program.
        trial: How it ran; None where it has no file to start.
    """
    if not python_files(files) or (trial is not None and trial.unfit):
        return 0.0
    if trial is None or PurePosixPath(trial.main).name != "main.py":
        # The scripts start main.py in any case, and that there is none leaves no traceback.
        return 1.0
    ran = trial.silent
    failed = "traceback" in ran.stderr.lower() and ran.seconds <= OFFICIAL_SECONDS
    return 0.0 if failed and not _waits(ran, files) else 1.0


def faults(files: Mapping[str, str], trial: TrialRun | None) -> list[str]:
    """Return why a program does not really start, written for who mends it; empty where it does."""
    if not python_files(files):
        return ["There is no Python file."]
    if notes := unreadable(files):
        return notes
    if trial is None:
        return ["No file can be started: call the file that starts the program main.py."]
    if trial.unfit:
        return [f"{started(trial)} cannot be tried: {trial.unfit}."]
    fault = (
        _error(trial.silent, files, started(trial)) or _typed_error(trial, files) or _bad_status(trial, files)
    )
    return [fault] if fault else []


def lacking(files: Mapping[str, str], task: str, trial: TrialRun | None) -> str:
    """Return what this machine lacks to tell whether a program starts; empty where it can be told.

    That is a library that the task names, or a part of Python that was left out when it was built.
    """
    if trial is None or unreadable(files):
        return ""
    for ran in filter(None, (trial.silent, trial.typed)):
        failure = last_failure(ran.stderr, files)
        root = failure.missing_module.partition(".")[0] if failure else ""
        if root and root not in own_modules(files):
            if is_part_of_python(root):
                return f"the Python that programs are tried with was built without {root!r}"
            if names_library(task, root):
                return f"the library {root!r} is not installed where programs are tried"
    return ""


def started(trial: TrialRun) -> str:
    """Return the command that was tried, as a reader would type it."""
    return f"`{' '.join(['python', *start_arguments(trial.main)])}`"


def unreadable(files: Mapping[str, str]) -> list[str]:
    """Return which files of a program are no Python, and where; this needs no run."""
    notes: list[str] = []
    for path, text in python_files(files).items():
        tree = parsed(text)
        if isinstance(tree, SyntaxError):
            line = shortened(cleaned((tree.text or "").strip()))
            code = f": {line}" if line else ""
            notes.append(f"{path}, line {tree.lineno or 1} is no Python ({tree.msg}){code}")
    return notes


def _error(ran: Ran, files: Mapping[str, str], when: str) -> str:
    """Return with what error a program stopped, or what limit; empty where it did not."""
    failure = last_failure(ran.stderr, files)
    if failure and not _waits(ran, files) and (ran.exit_status or "traceback" in ran.stderr.lower()):
        return _told(failure, files, when)
    if ran.stopped_by in FAULTY_LIMITS:
        return f"{when} was stopped: it uses too much ({ran.stopped_by})."
    return ""


def _typed_error(trial: TrialRun, files: Mapping[str, str]) -> str:
    """Return with what error a program stopped after something was typed in, unless that was nonsense."""
    if trial.typed is None:
        return ""
    failure = last_failure(trial.typed.stderr, files)
    if failure is not None and failure.kind in _NONSENSE:
        return ""
    return _error(trial.typed, files, f"{started(trial)}, given 1, 2, 3, ... to read,")


def _bad_status(trial: TrialRun, files: Mapping[str, str]) -> str:
    """Return that a program ends with a status that says it failed, unless only for want of input."""
    ran, typed = trial.silent, trial.typed
    if not ran.exit_status or _waits(ran, files) or _says_what_it_lacks(ran, files):
        return ""
    if typed and (typed.exit_status, typed.stdout) != (ran.exit_status, ran.stdout):
        return ""
    said = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-TOLD_FRAMES:]
    what = f"{started(trial)} ends with status {ran.exit_status}"
    return quoted(what, said) if said else f"{what} and says nothing."


def _says_what_it_lacks(ran: Ran, files: Mapping[str, str]) -> bool:
    """Whether a program ends for want of arguments, or of a file that is not its own, and says so."""
    if ran.exit_status not in POLITE_STATUSES:
        return False
    said = f"{ran.stderr}\n{ran.stdout}"
    if _USAGE.search(said):
        return True
    own = {PurePosixPath(path).name for path in files}
    return any(
        _MISSING_FILE.search(line) and set(_FILE_NAME.findall(line)) - own for line in said.splitlines()
    )


def _waits(ran: Ran, files: Mapping[str, str]) -> bool:
    """Whether a program only lacks somebody who types, a terminal, or a screen."""
    if ran.lacked_display:
        return True
    failure = last_failure(ran.stderr, files)
    if failure is None:
        return False
    end_of_input = failure.kind == "EOFError" and (
        failure.message.startswith("EOF when reading") or "getpass" in ran.stderr
    )
    return end_of_input or (failure.kind == "error" and _NO_TERMINAL.search(ran.stderr) is not None)


def _told(failure: ProgramFailure, files: Mapping[str, str], when: str) -> str:
    if name := failure.missing_module:
        return f"{when} cannot import {name!r}: {_why_missing(name, files)}"
    frames = [f"  {frame.told()}" for frame in failure.frames[-TOLD_FRAMES:]]
    return quoted(f"{when} stops with an error", [failure.told(), *frames])


def _why_missing(name: str, files: Mapping[str, str]) -> str:
    root = name.partition(".")[0]
    if root in own_modules(files):
        return "it is a file of the program, but not where it is looked for; mend the import or move the file"
    if is_library(root):
        return "this library is not installed where the program is tried; use Python's own library instead"
    if root in ONLY_ON_WINDOWS:
        return "it is there on Windows alone; do without it, or import it only there"
    return f"it is no file of the program and no part of Python; write {root}.py or do without it"
