"""Modules of tools are those of the folder in which a run was started, wherever it goes on.

Knows nothing of what is in them.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from plait.errors import UserError
from plait.runtime.places import is_module


def import_modules(sources: Sequence[str], folder: str) -> None:
    """Import the modules among the sources from `folder`, so that no other of their names is taken.

    What is not there is left to be looked for in the usual way.

    Raises:
        UserError: one of them cannot be imported, or this process has another one of its name.
    """
    if not folder:
        return
    names = [source for source in sources if is_module(source)]
    if Path(folder) != Path.cwd():  # There they are looked for anyhow.
        sys.path.insert(0, folder)
        try:
            for name in names:
                _import(name, folder)
        finally:
            sys.path.remove(folder)
    for name in names:
        _check(name, folder)


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


def _check(name: str, folder: str) -> None:
    """Refuse a module that was imported from elsewhere before, where `folder` has one of its name."""
    have, wanted = getattr(sys.modules.get(name), "__file__", None), _file(name, folder)
    if have and wanted and Path(have).resolve() != Path(wanted).resolve():
        raise UserError(
            f"{name}: the run's is {wanted!r}, but this process has imported {have!r} by that name:"
            " go on with the run in another process"
        )


def _file(name: str, folder: str) -> str | None:
    """Return where a folder has a module; None where it has not."""
    places: Sequence[str] | None = [folder]
    found = None
    for part in name.split("."):
        found = PathFinder.find_spec(part, places) if places else None
        places = found.submodule_search_locations if found else None
    return found.origin if found else None
