"""The settings file: `plait.toml`, in which any option of `plait run` can stand under the name of its flag.

Finds the file, reads it, and says in a line what does not fit. Knows nothing of what else was said of a
run, nor of what a file may be trusted with.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn, cast, get_type_hints

from plait.errors import UserError
from plait.runtime.answer_schema import read_schema
from plait.runtime.options import NOTED, SWITCHES, Options
from plait.runtime.percentiles import THRESHOLDS, read_threshold
from plait.runtime.places import anchored
from plait.runtime.shapes import first_misfit
from plait.runtime.team_options import NO_TEAMS, without_teams

FILE_NAME = "plait.toml"
MOST_BYTES = 64 * 1024

RETURNS, WITHOUT = "returns", "without"
FLAG_NAMES = {"file": "files"}
"""Names of flags that are not those of their options."""
_SWITCH_FLAGS = {f"no-{name}": name for name in (*SWITCHES, NO_TEAMS)}
_OPTIONS = tuple(item.name for item in fields(Options) if item.name not in NOTED)
_SHAPES: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A settings file that was read."""

    path: Path
    named: bool
    """Whether the user named it; else it was found."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Options, as `Options` takes them; what is noted of folders among them."""


def find(folder: Path) -> Path | None:
    """Return the settings file of a folder: its own, or that of the nearest folder above it.

    A folder inside the user's home is searched no further up than there, any other to the root.
    """
    folder, home = folder.absolute(), Path.home()
    above = [folder, *folder.parents]
    if home in above:
        above = above[: above.index(home) + 1]
    return next((place / FILE_NAME for place in above if _is_file(place / FILE_NAME)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # A folder above may be closed to the user.
        return False


def read(path: Path, *, named: bool) -> SettingsFile:
    """Read a settings file; relative paths in it begin in its folder.

    Raises:
        UserError: it cannot be read, is no TOML, or has an unknown option or one of another type.
    """
    path = path.expanduser().absolute()
    text = _text(path)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(
            f"settings file {str(path)!r} is no TOML: {str(error) or 'nested too deep'}"
        ) from error
    return SettingsFile(path=path, named=named, values=_Reading(path, text).options(table))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"settings file {str(path)!r} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise UserError(
            f"settings file {str(path)!r} is longer than {MOST_BYTES:,} bytes: is it the right one?"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"settings file {str(path)!r} is not UTF-8") from error


class _Reading:
    """One file under way."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def options(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that the file sets, as `Options` takes them."""
        values: dict[str, Any] = {}
        without: list[str] = []
        for key, value in table.items():
            name = self._known(key, value)
            if name in _SWITCH_FLAGS:
                without += self._switched(key, name, value)
            elif name in values:
                self._refuse(key, f"says {name} a second time: say it once")
            else:
                values[name] = self._value(key, name, value)
        if without or WITHOUT in values:
            values[WITHOUT] = tuple(dict.fromkeys([*values.get(WITHOUT, ()), *without]))
        try:
            return anchored(without_teams(values), self._path.parent)
        except UserError as error:
            raise UserError(f"settings file {str(self._path)!r}: {error.message}") from error

    def _known(self, key: str, value: Any) -> str:
        """Return the option or the flag of a switch that a key names."""
        dashed = key.replace("_", "-")
        option = FLAG_NAMES.get(key, dashed.replace("-", "_"))
        if option in _OPTIONS:
            return option
        if dashed in _SWITCH_FLAGS:
            return dashed
        if isinstance(value, Mapping):
            self._refuse(key, "is a table: options stand on lines of their own, without a heading")
        names = [name.replace("_", "-") for name in _OPTIONS] + [*_SWITCH_FLAGS]
        near = difflib.get_close_matches(dashed, names, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else "see plait run --help"
        return self._refuse(key, f"is no option; {meant}")

    def _switched(self, key: str, name: str, value: object) -> list[str]:
        if not isinstance(value, bool):
            self._refuse(key, f"must be true or false, not {value!r}")
        return [_SWITCH_FLAGS[name]] if value else []

    def _value(self, key: str, name: str, value: Any) -> Any:
        """Return the value of an option, of the type that it has in `Options`."""
        try:
            if name == RETURNS and isinstance(value, str):
                return read_schema(self._path.parent / Path(value).expanduser())
            if name in THRESHOLDS and isinstance(value, str):
                return read_threshold(name, value)
        except UserError as error:
            raise UserError(f"{self._place(key)}: {error.message}") from error
        if name == RETURNS or first_misfit(Options, {name: value}):
            self._refuse(key, f"must be {_shape(name)}, not {value!r}")
        return tuple(cast("list[Any]", value)) if isinstance(value, list) else value

    def _refuse(self, key: str, what: str) -> NoReturn:
        raise UserError(f"{self._place(key)}: {key} {what}")

    def _place(self, key: str) -> str:
        """Return the file and the line of a key; a table that names no line of its own has none."""
        found = re.compile(rf"""\s*(\[\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
        line = next((number for number, text in enumerate(self._lines, 1) if found.match(text)), 0)
        return f"settings file {str(self._path)!r}" + (f", line {line}" if line else "")


def _shape(name: str) -> str:
    if name == RETURNS:
        return "the name of a file with a JSON schema"
    if name in THRESHOLDS:
        return 'a score from 0 to 10, or a percentile such as "p85"'
    hint = get_type_hints(Options)[name]
    arguments = getattr(hint, "__args__", ())
    if arguments:
        return "a list of numbers" if arguments[0] is float else 'a list of texts, ["..."]'
    return _SHAPES.get(hint, 'a text, "..."')
