"""Which Python runs the programs: the one below our virtual environment, which has none of our packages.

Knows nothing of sandboxes, except that it names the folders that the interpreter needs to be seen.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

PARTS = ("bin", "lib", "lib64", "share")


@cache
def interpreter() -> str:
    """Return the interpreter that virtual environments are made from, without links."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix, "bin", name)
    return os.path.realpath(base if base.exists() else sys.executable)


def python_command(main: str) -> list[str]:
    """Return the command that runs the Python file `main` of a program's folder; see `start_arguments`.

    It is the base interpreter, not that of our virtual environment: the program sees the standard library
    and what is installed in the base, and neither our packages nor the user's own. Output is not
    buffered, so that what a program said before it was stopped is there.
    """
    return [interpreter(), "-s", "-B", "-u", *start_arguments(main)]


def start_arguments(main: str) -> list[str]:
    """Return what follows the interpreter to start a file; a __main__.py is started as its package (`-m`)."""
    path = PurePosixPath(main)
    if path.name == "__main__.py" and path.parent.name:
        return ["-m", ".".join(path.parent.parts)]
    return [main]


@cache
def interpreter_folders() -> Sequence[str]:
    """Return the folders that the interpreter is made of; never its whole prefix, which may be a home."""
    prefixes = dict.fromkeys([os.path.realpath(sys.base_prefix), str(Path(interpreter()).parent.parent)])
    folders = [os.path.join(prefix, part) for prefix in prefixes for part in PARTS]
    return [folder for folder in folders if os.path.isdir(folder)]
