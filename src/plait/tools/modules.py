"""Finds the tools of a Python module or file.

A module offers what its `toolset(folder)` returns, for tools that keep state in the run's folder, or else
every function tagged with `@tool`. Its `TOOL_NOTES`, a text, goes into prompts. Knows nothing of runs.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from plait.errors import PlaitError, UserError
from plait.tools.functions import from_function, tag_of
from plait.tools.tool import Tool


@dataclass(frozen=True, kw_only=True)
class ModuleTools:
    """What a module offers."""

    tools: Sequence[Tool]
    notes: str
    in_folder: bool
    """Whether its tools keep their state in the run's folder."""


def module_tools(source: str, folder: Path) -> ModuleTools:
    """Import a module, or run a file that ends in `.py`, and return its tools and its notes.

    Raises:
        UserError: cannot be found, imported or used; the message names the file and the line.
    """
    module = _load_file(source) if source.endswith(".py") else _load_module(source)
    notes = getattr(module, "TOOL_NOTES", "")
    if not isinstance(notes, str):
        raise UserError(f"{source}: TOOL_NOTES must be text, not {notes!r}")
    make: object = getattr(module, "toolset", None)
    if not callable(make):
        tagged = (value for value in vars(module).values() if tag_of(value))
        unique = {id(function): function for function in tagged}
        tools = [from_function(function, source=source) for function in unique.values()]
        return ModuleTools(tools=tools, notes=notes, in_folder=False)
    with _explained(source, "its toolset() failed"):
        made = list(cast("Callable[[Path], Iterable[object]]", make)(folder))
    return ModuleTools(tools=[_as_tool(item, source) for item in made], notes=notes, in_folder=True)


def _as_tool(item: object, source: str) -> Tool:
    if isinstance(item, Tool):
        return item
    if callable(item):
        return from_function(cast("Callable[..., Any]", item), source=source)
    raise UserError(f"{source}: toolset() returned {item!r}, which is neither a tool nor a function")


def _load_module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UserError(
            f"{name!r}: is no source of tools; give a module (pkg.module), a .py file,"
            " an MCP configuration (.json), or an OpenAPI document (.json, .yaml or its address)"
        )
    try:
        # The folder a user stands in, as with `python -m`.
        with _searched(Path.cwd()), _explained(name, "cannot be imported"):
            return importlib.import_module(name)
    except UserError as exc:
        missing = exc.__cause__
        if (
            isinstance(missing, ModuleNotFoundError)
            and missing.name
            and f"{name}.".startswith(f"{missing.name}.")
        ):
            raise UserError(
                f"there is no module {name!r}; give a module, or a file that ends in .py"
            ) from exc
        raise


def _load_file(source: str) -> ModuleType:
    file = Path(source).expanduser().absolute()
    if not file.is_file():
        raise UserError(f"{source}: there is no such file")
    name = f"plait_tools_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    specification = importlib.util.spec_from_file_location(name, file)
    if specification is None or specification.loader is None:
        raise UserError(f"{source}: is not a Python file")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses and annotations look their own module up here.
    sys.modules[name] = module
    with _searched(file.parent), _explained(source, "cannot be imported"):
        specification.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _searched(folder: Path) -> Generator[None]:
    """Let imports look into `folder` as well."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)


@contextlib.contextmanager
def _explained(source: str, what: str) -> Generator[None]:
    """Turn whatever a user's code raises into one line with the place it came from."""
    try:
        yield
    except PlaitError:
        raise
    except SyntaxError as exc:
        raise UserError(f"{exc.filename or source}:{exc.lineno}: {type(exc).__name__}: {exc.msg}") from exc
    except (Exception, SystemExit) as exc:
        message = " ".join(str(exc).split())
        raise UserError(f"{_place(exc, source)}: {what}: {type(exc).__name__}: {message}") from exc


def _place(error: BaseException, source: str) -> str:
    """Return file and line of the innermost frame of the user's own file, where it has one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).name == Path(source).name]
    return f"{source}:{own[-1].lineno}" if own else source
