"""The command `plait`: the table of its commands, and how it ends.

Knows nothing of what a command does; each is a module of its own, loaded when it is called.
"""

import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from plait.cli.lazy import LazyCommand
from plait.cli.overview import OverviewGroup
from plait.errors import PlaitError
from plait.paths import log_folder

INTERNAL_ERROR_STATUS = 70
INTERRUPTED_STATUS = 130

VALIDATOR = "Value error, "
"""What the library that checks arguments puts before a message."""

RUNNING = "Run tasks"
LOOKING = "Look at runs"
SETTING_UP = "Set up"

COMMANDS = (
    ("run", RUNNING, "plait.cli.run", "Solve a task with tools, or make a program or a story."),
    ("resume", RUNNING, "plait.cli.resume", "Take up a run that was stopped or killed."),
    ("fork", RUNNING, "plait.cli.fork", "Run again from a place in a run, with other options."),
    ("replay", RUNNING, "plait.cli.replay", "Repeat a run from its log, without any model or tool."),
    ("feedback", RUNNING, "plait.cli.feedback", "Say whether a run's result is right."),
    ("runs", LOOKING, "plait.cli.runs", "List runs, or remove them."),
    ("show", LOOKING, "plait.cli.show", "Show what happened in a run."),
    ("memory", LOOKING, "plait.cli.memory", "See, approve, share and forget what runs have learned."),
    ("bench", LOOKING, "plait.cli.bench", "Run a benchmark and compare methods."),
    ("models", SETTING_UP, "plait.cli.models", "Fetch, list and remove local models."),
    ("tools", SETTING_UP, "plait.cli.tools", "See what a model sees of a source of tools."),
    ("doctor", SETTING_UP, "plait.cli.doctor", "Check this machine, and say how to mend what is wrong."),
)
"""Name, help panel, module and help line of every command, in the order of the help."""

application = typer.Typer(
    name="plait",
    cls=OverviewGroup,
    help="Turn a task into a result with language models, tools and reflection.",
    epilog="Everything a run does is in its log: plait show RUN.",
    invoke_without_command=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # costs more than the rest of the help

        print(f"plait {version('plait')}")
        raise typer.Exit


@application.callback()
def root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    if context.invoked_subcommand is None:
        context.get_help()


def plait_command() -> TyperGroup:
    """Return the command line with every command in it, none of them loaded."""
    group = get_group(application)
    for name, panel, module, line in COMMANDS:
        group.add_command(LazyCommand(name, help=line, module=module, panel=panel))
    return group


def main() -> None:
    """Run the command line of this process and end it."""
    _open_closed_streams()
    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Put the null device where the process was started without a stream (`plait runs >&-`).

    Otherwise the first file that is opened gets its number, and what is meant for the stream goes there.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # Gets the lowest number that is free.
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; whatever goes wrong is told in one line."""
    try:
        ended: Any = plait_command().main(args=arguments, prog_name="plait", standalone_mode=False)
        sys.stdout.flush()
    except PlaitError as error:
        return _tell(error.message, error.exit_status)
    except TyperException as error:
        return _tell(_usage(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        return _reader_gone()
    except Exception as error:
        return _unexpected(error)
    return ended if type(ended) is int else 0


def _tell(message: str, status: int) -> int:
    line = " ".join(message.split())
    if line:
        print(f"plait: {line}", file=sys.stderr)
    return status


def _usage(error: TyperException) -> str:
    """Return the line for bad usage; empty where the help itself was already printed."""
    text = error.format_message().replace(VALIDATOR, "")
    context: Any = getattr(error, "ctx", None)
    if not text or context is None:
        return text
    return f"{text.rstrip('.')}; see {context.command_path} --help"


def _reader_gone() -> int:
    # Whoever read our output has left (`plait runs | head`). Python flushes once more at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _unexpected(error: Exception) -> int:
    text = "".join(traceback.format_exception(error))
    if os.environ.get("PLAIT_DEBUG"):
        print(text, file=sys.stderr, end="")
        return INTERNAL_ERROR_STATUS
    what = f"internal error: {type(error).__name__}: {error}"
    try:
        where = f"the traceback is in {_write(text)}"
    except OSError:
        where = "set PLAIT_DEBUG=1 to see the traceback"
    return _tell(f"{what}; {where}", INTERNAL_ERROR_STATUS)


def _write(text: str) -> Path:
    folder = log_folder()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    file.write_text(text, encoding="utf-8")
    return file
