"""Options that mean the same in any folder: paths become absolute, and where a run began is noted.

Knows nothing of the command line.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.runtime.options import check_lists
from plait.runtime.team_options import FILE_ENDING

TOOL_FILE_ENDINGS = (".py", ".json", ".yaml", ".yml")
"""By these a source of tools is known to be a file."""


def anchored(values: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Return options, or some of them, that mean the same in any folder.

    Args:
        values: Some options.
        folder: Where relative paths begin; None: where the process is.

    Raises:
        UserError: a single value stands where a list is asked for.
    """
    check_lists(values)
    changed = dict(values)
    for name in ("files", "tools"):
        if name in changed:
            changed[name] = tuple(_absolute(item, folder, always=name == "files") for item in changed[name])
    if str(changed.get("domain", "")).endswith(FILE_ENDING):
        changed["domain"] = _absolute(changed["domain"], folder, always=True)
    for name in ("out", "prompts"):
        if changed.get(name):
            changed[name] = _absolute(changed[name], folder, always=True)
    if changed.get("check"):
        changed["check_folder"] = changed.get("check_folder") or str(folder or Path.cwd())
    if any(is_module(source) for source in changed.get("tools", ())):
        changed["tools_folder"] = changed.get("tools_folder") or str(folder or Path.cwd())
    return changed


def is_module(source: str) -> bool:
    """Whether a source of tools is the name of a Python module."""
    return not source.endswith(TOOL_FILE_ENDINGS) and all(part.isidentifier() for part in source.split("."))


def _absolute(name: str, folder: Path | None, *, always: bool) -> str:
    is_path = always or ("://" not in name and name.endswith(TOOL_FILE_ENDINGS))
    path = (folder or Path()) / Path(name).expanduser()
    return str(path.absolute()) if is_path else name
