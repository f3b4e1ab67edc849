"""The models Plait knows by name: those of `catalogue.toml` and those a user added.

Knows where files come from and where they go, and nothing of fetching or running them.
"""

import difflib
import json
import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from plait.errors import UserError
from plait.models.gguf import is_gguf
from plait.models.verified import forget, remember, sha256_of
from plait.paths import models_folder

Kind = Literal["chat", "embedding"]
DEFAULT_CHAT_MODEL = "qwen2.5-coder-1.5b"
DEFAULT_EMBEDDING_MODEL = "all-minilm-l6-v2"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Packages:
    """Python packages that carry a file in pieces, numbered from 1."""

    name: str
    """Name of a package, with `{n}` for its number."""
    data: str
    """The piece's path below the import package, with `{n}` for its number."""
    count: int

    def package(self, number: int) -> str:
        return self.name.format(n=number)

    def path(self, number: int) -> str:
        """Return the path of a piece inside its wheel."""
        return f"{self.package(number).replace('-', '_')}/{self.data.format(n=number)}"


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """One file of a model."""

    name: str
    """Below the folder of models; always with forward slashes."""
    size_bytes: int
    sha256: str
    hub: str = ""
    """Path below the model hub's base URL; empty where the hub does not have these bytes."""
    packages: Packages | None = None

    @property
    def path(self) -> Path:
        return models_folder() / self.name


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """A model under its name."""

    name: str
    kind: Kind
    licence: str
    about: str
    files: Sequence[ModelFile]
    added: Path | None = None
    """Where the file of a model lies that the user added; None for one of Plait's."""

    @property
    def file(self) -> Path:
        """The file that holds the weights."""
        return self.added or self.files[0].path

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def pulled(self) -> bool:
        """Whether all files are there, whole as far as their size tells."""
        sizes = zip(self.sums, (file.size_bytes for file in self.files), strict=True)
        return all(path.is_file() and path.stat().st_size == size for path, size in sizes)

    @property
    def sums(self) -> Mapping[Path, str]:
        """Where each file is or will be, with the sha256 it should have."""
        if self.added is not None:
            return {self.added: self.files[0].sha256}
        return {file.path: file.sha256 for file in self.files}


@cache
def known_models() -> tuple[CatalogueEntry, ...]:
    """Return the models of the catalogue that comes with Plait."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return tuple(_entry(model) for model in tomllib.loads(text)["model"])


def all_models() -> tuple[CatalogueEntry, ...]:
    """Return all models: Plait's, then the user's.

    Raises:
        UserError: the list of the user's models cannot be read.
    """
    return known_models() + tuple(_read_added().values())


def find_model(name: str) -> CatalogueEntry:
    """Return the model of that name.

    Raises:
        UserError: there is none; the message names the nearest.
    """
    name = name.removeprefix("local:")
    # The list of the user's models is not read for one of Plait's: it may be damaged.
    if known := [entry for entry in known_models() if entry.name == name]:
        return known[0]
    entries = {entry.name: entry for entry in all_models()}
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name, entries, n=2, cutoff=0.5) or list(entries)
    raise UserError(
        f"There is no local model {name!r}; did you mean {' or '.join(repr(other) for other in near)}? "
        "See `plait models list`, or add a GGUF file with `plait models add NAME FILE`."
    )


def find_chat_model(name: str) -> CatalogueEntry:
    """Return the language model of that name; raises UserError as `find_model`, or for an embedder."""
    entry = find_model(name)
    if entry.kind != "chat":
        raise UserError(f"Model {name!r} makes embeddings and cannot answer; see `plait models list`.")
    return entry


def add_model(name: str, file: Path, *, copy: bool = False) -> CatalogueEntry:
    """Add a GGUF file under a name; the file stays where it is unless it is copied.

    Raises:
        UserError: the name is taken or malformed, or the file is no GGUF file.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name for a model: use letters, digits, dot, dash and underscore.")
    if any(entry.name == name for entry in all_models()):
        raise UserError(
            f"There is a model {name!r} already; run `plait models rm {name}` or choose another name."
        )
    file = file.expanduser().absolute()
    _check_gguf(file)
    if copy:
        file = _copy(file, models_folder() / f"{name}.gguf")
    files = (ModelFile(name=file.name, size_bytes=file.stat().st_size, sha256=sha256_of(file)),)
    entry = CatalogueEntry(
        name=name, kind="chat", licence="unknown", about=f"added from {file}", files=files, added=file
    )
    _write_added({**_read_added(), name: entry})
    remember(name, entry.sums)
    return entry


def remove_model(entry: CatalogueEntry) -> list[Path]:
    """Remove a model's files and what a broken fetch left; a user's own file outside our folder stays.

    Returns:
        The files removed.
    """
    removed: list[Path] = []
    forget(entry.name)
    for path in entry.sums:
        if models_folder() not in path.parents:
            continue
        for leftover in (path, *path.parent.glob(f"{path.name}.part*")):
            if leftover.is_file():
                _remove(leftover)
                removed.append(leftover)
    if entry.added:
        _write_added({name: other for name, other in _read_added().items() if name != entry.name})
    return removed


def _entry(model: Mapping[str, Any]) -> CatalogueEntry:
    fields: dict[str, Any] = {**model, "files": tuple(_file(file) for file in model["files"])}
    return CatalogueEntry(**fields)


def _file(file: Mapping[str, Any]) -> ModelFile:
    fields: dict[str, Any] = {**file}
    if "packages" in file:
        fields["packages"] = Packages(**file["packages"])
    return ModelFile(**fields)


def _check_gguf(file: Path) -> None:
    try:
        whole = is_gguf(file)
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be read: {error.strerror or error}.") from error
    if not whole:
        raise UserError(f"{str(file)!r} is no GGUF file: it does not begin with GGUF.")


def _copy(file: Path, to: Path) -> Path:
    part = to.with_name(f"{to.name}.part")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, part)
        part.replace(to)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{str(file)!r} could not be copied to {str(to)!r}: {error.strerror}.") from error
    return to


def _remove(file: Path) -> None:
    try:
        file.unlink()
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be removed: {error.strerror}.") from error


def _added_file() -> Path:
    return models_folder() / "added.json"


def _read_added() -> dict[str, CatalogueEntry]:
    path = _added_file()
    try:
        rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {name: _added_entry(name, row) for name, row in rows.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(
            f"The list of your own models, {str(path)!r}, cannot be read ({error}); mend or remove it."
        ) from error


def _added_entry(name: str, row: Mapping[str, Any]) -> CatalogueEntry:
    file = Path(row["file"])
    files = (ModelFile(name=file.name, size_bytes=row["size_bytes"], sha256=row["sha256"]),)
    return CatalogueEntry(
        name=name, kind="chat", licence=row["licence"], about=row["about"], files=files, added=file
    )


def _write_added(entries: Mapping[str, CatalogueEntry]) -> None:
    rows = {
        name: {
            "file": str(entry.file),
            "size_bytes": entry.size_bytes,
            "sha256": entry.files[0].sha256,
            "licence": entry.licence,
            "about": entry.about,
        }
        for name, entry in entries.items()
    }
    path = _added_file()
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise UserError(
            f"The list of your own models, {str(path)!r}, cannot be written: {error.strerror}; free the "
            "disk, or set PLAIT_HOME to a folder that can be written."
        ) from error
