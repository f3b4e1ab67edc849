"""Modules of tools are those of the folder in which a run was started, wherever it goes on.

Knows nothing of what is in them.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from plait.errors import UserError
from plait.runtime.places import is_module


def import_modules(sources: Sequence[str], folder: str) -> None:
    """Import the modules among the sources from `folder`, so that no other of their names is taken.

    What is not there is left to be looked for in the usual way.

    Raises:
        UserError: one of them cannot be imported.
    """
    if not folder or Path(folder) == Path.cwd():
        return
    sys.path.insert(0, folder)
    try:
        for source in sources:
            if is_module(source):
                _import(source, folder)
    finally:
        sys.path.remove(folder)


def _import(name: str, folder: str) -> None:
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            return
        said = " ".join(str(error).split())
        raise UserError(
            f"{name}: cannot be imported from {folder!r}: {type(error).__name__}: {said}"
        ) from error
