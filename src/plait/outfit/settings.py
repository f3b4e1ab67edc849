"""What a run is told twice: by its user now, and by a settings file. The user's word counts.

A file that was found, and not named, came perhaps with a folder that somebody else made: it may say how a
run works, and not what the run may spend, touch or execute. Knows nothing of how the file is read.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from plait.domains.names import NAMED
from plait.errors import UserError
from plait.outfit.pricing import at_home
from plait.runtime.options import MAKING_ONLY, TOOLS_ONLY, Options, chosen
from plait.runtime.settings_file import RETURNS, WITHOUT, SettingsFile, find, read
from plait.runtime.switches import switched
from plait.runtime.team_options import defaults_of, is_generation, without_teams
from plait.task import TOOLS

VARIABLE = "PLAIT_SETTINGS"
"""Names a settings file, like `--settings`."""
PRESET_OPTIONS = ("teams", "temperatures", "reading", "consolidate")
"""What a preset decides: one that the user says now goes before these in a file."""
NAMED_ONLY = ("tools", "files", "out", "prompts", "base_url", "yes", "allow", "check", RETURNS)
"""Options that only a file sets that was named: they spend, permit, execute, read or write."""
AT_MOST = ("max_calls", "max_tokens", "max_usd", "max_seconds", "max_effects")
"""Options that a file that was found may lower and not raise."""
MOST_TOLD = 300


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The options of a run that begins."""

    options: Options
    told: Sequence[str] = ()
    """What was taken from a file, in a line."""


def in_force(named: str | os.PathLike[str] | None = None) -> SettingsFile | None:
    """Return the settings file that counts: the named one, else that of the folder, or None.

    Args:
        named: The file that the user names; else the environment may name one.

    Raises:
        UserError: it cannot be read, or something in it does not fit.
    """
    if file := named or os.environ.get(VARIABLE, "").strip():
        return read(Path(file), named=True)
    try:
        found = find(Path.cwd())
    except FileNotFoundError:  # The folder was removed under the process.
        return None
    return None if found is None else read(found, named=False)


def options_with(
    said: Mapping[str, Any], file: SettingsFile | None = None, switches: Mapping[str, bool] | None = None
) -> Chosen:
    """Return the options of a new run: what was said, over what a file says, over the defaults.

    Args:
        said: What the user says now.
        file: The settings file in force.
        switches: Parts of strands that the user switches on or off now.

    Raises:
        UserError: an option cannot be used; or the file was found and sets what only a named one may.
    """
    said, switches = without_teams(said), switches or {}
    if file is None:
        return Chosen(options=chosen({**said, **_parts(said, switches)}))
    values = _counting(file.values, said)
    _check_trust(file, values, said)
    both = {**values, **said}
    try:
        options = chosen({**both, **_parts(both, switches)})
    except UserError as error:
        chosen({**said, **_parts(said, switches)})  # Where that is wrong already, the file is not to blame.
        raise UserError(f"settings file {str(file.path)!r}: {error.message}") from error
    if WITHOUT in values:
        values[WITHOUT] = tuple(name for name in options.without if switches.get(name) is not False)
    return Chosen(options=options, told=_told(file.path, values))


def _counting(values: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what counts of a file: what is not said now, and means something in the run's domain."""
    passed_over = set(said)
    if "preset" in said:
        passed_over.update(PRESET_OPTIONS)
    making = is_generation({**values, **said}.get("domain", TOOLS))
    passed_over.update(TOOLS_ONLY if making else MAKING_ONLY)
    left = {name: value for name, value in values.items() if name not in passed_over}
    for folder, option in (("check_folder", "check"), ("tools_folder", "tools")):
        if option not in left:
            left.pop(folder, None)
    return left


def _parts(values: Mapping[str, Any], switches: Mapping[str, bool]) -> dict[str, Any]:
    """Return what is off after the user has switched parts on or off, as options."""
    without: Sequence[str] = values.get(WITHOUT, ())
    if any(switches.values()):
        return switched(without, switches)
    return {WITHOUT: tuple(dict.fromkeys((*without, *switches)))} if switches else {}


def _check_trust(file: SettingsFile, values: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Refuse what a file that nobody named sets beyond how a run works.

    Raises:
        UserError: there is such an option; the message says what to do.
    """
    if file.named:
        return
    refused = [name for name, value in values.items() if _needs_naming(name, value, {**values, **said})]
    if refused:
        names = ", ".join(name.replace("_", "-") for name in refused)
        raise UserError(
            f"settings file {str(file.path)!r} was found, not named, so it cannot set {names}:"
            f" say --settings {str(file.path)!r} if you trust it, or --no-settings"
        )


def _needs_naming(name: str, value: Any, all_values: Mapping[str, Any]) -> bool:
    if name in AT_MOST:
        usual = defaults_of(all_values.get("domain", TOOLS), "")
        return value > usual.get(name, getattr(Options, name))
    match name:
        case "model":
            return not at_home(value, all_values.get("base_url", ""))
        case "domain":
            return value not in NAMED
        case "sandbox":
            return not value
        case _:
            return name in NAMED_ONLY and bool(value)


def _told(path: Path, values: Mapping[str, Any]) -> Sequence[str]:
    """Say in a line what was taken from a file; nothing where that was nothing."""
    parts = [_spelled(name, value) for name, value in values.items() if not name.endswith("_folder")]
    if not any(parts):
        return ()
    where = path.name if path.parent == Path.cwd() else str(path)
    line = f"from {where}: {', '.join(part for part in parts if part)}"
    return (line if len(line) <= MOST_TOLD else f"{line[: MOST_TOLD - 1]}…",)


def _spelled(name: str, value: Any) -> str:
    if name == WITHOUT:
        return ", ".join(f"no-{switch}" for switch in value)
    shown = name.replace("_", "-")
    if name == RETURNS:
        return shown
    if isinstance(value, bool):
        return shown if value else f"{shown} off"
    items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    return f"{shown} {','.join(map(str, items))}"
