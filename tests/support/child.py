"""A `plait` command as a child process, which a test can kill or interrupt."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import notebook

# A shell starts background jobs with SIGINT ignored, and children inherit that: these listen again.
MAIN = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from plait.cli.app import main; main()",
]


def plait_run(
    base_url: str, notebook_file: Path, terminal: int | None = None, *more: str
) -> "subprocess.Popen[str]":
    """Start the notebook's task as a process of its own; one with a terminal asks about its effects there."""
    where = ["--base-url", base_url, "--model", "m", "--tools", notebook.SOURCE, *more]
    return subprocess.Popen(
        [*MAIN, "run", notebook.TASK, *where, *(["--yes"] if terminal is None else [])],
        stdin=subprocess.DEVNULL if terminal is None else terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if terminal is None else terminal,
        text=True,
        env={**os.environ, "NOTEBOOK": str(notebook_file)},
    )


def run_id_of(line: str) -> str:
    """Return the run that the first line of the plain display names."""
    return line.split(" run ", 1)[1].partition(":")[0]
