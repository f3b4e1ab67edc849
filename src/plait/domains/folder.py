"""Puts the files of a result into a folder: whole files only, never outside it, never over a user's own.

Each file is written beside its place first and then renamed, so that a reader sees the old file or the new
one. What was put there is kept in a small list with hashes: a file that is not in it, or was changed since,
is the user's, and stays. What is left of an earlier result goes, so that a folder never holds two results in
one. Knows nothing of what the files are.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

from plait.errors import ReplyError, UserError
from plait.models.fenced import OWN_PREFIX, normal_path

LIST_NAME = f"{OWN_PREFIX}files.json"


def conflicts(folder: Path, paths: Sequence[str]) -> list[str]:
    """Return which of these paths hold something that no earlier result put there."""
    ours = _ours(folder)
    return [path for path in paths if _taken(folder / path) and not _is_ours(folder, path, ours)]


def put(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Put text files into a folder, which is made if need be, and return their paths in it, sorted.

    Nothing is written unless all of it can be. A file that is there already with the same content stays
    as it is; one of an earlier result that this one does not have is removed, unless it was changed since.

    Raises:
        UserError: a name cannot be written, a path leads out of the folder, directly or by a link; a file
            of the user's is in the way; or the folder cannot be written.
    """
    try:
        return _put_whole(folder, files)
    except OSError as error:
        where = f" ({error.filename!r})" if error.filename else ""
        raise UserError(f"the folder {str(folder)!r} cannot be written: {error.strerror}{where}") from error


def _put_whole(folder: Path, files: Mapping[str, str]) -> list[str]:
    contents = {_inside(folder, path): text.encode(errors="replace") for path, text in files.items()}
    _check_folders(contents)
    changed = {path: data for path, data in contents.items() if _read(folder / path) != data}
    if taken := conflicts(folder, list(changed)):
        raise UserError(
            f"the folder {str(folder)!r} holds {', '.join(map(repr, taken))}, which would be written over: "
            "move it, or give another folder with --out"
        )
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder, contents, changed, _left_over(folder, contents))
    return sorted(contents)


def _left_over(folder: Path, contents: Collection[str]) -> list[str]:
    """Return the files of earlier results that nobody changed and that are not among these."""
    ours = _ours(folder)
    return [path for path in sorted(ours) if path not in contents and _is_ours(folder, path, ours)]


def _check_folders(paths: Collection[str]) -> None:
    """Check that no file is a folder too.

    Raises:
        UserError: one is.
    """
    for path in paths:
        for parent in PurePosixPath(path).parents:
            if str(parent) in paths:
                raise UserError(
                    f"the result has {str(parent)!r} both as a file and as the folder of {path!r}"
                )


def _put(
    folder: Path, contents: Mapping[str, bytes], changed: Mapping[str, bytes], left_over: Sequence[str]
) -> None:
    if not changed and not left_over:
        return
    # Inside the folder and not beside it: what stands beside it may be another disk, or not ours to write.
    waiting = Path(tempfile.mkdtemp(prefix=OWN_PREFIX, dir=folder))
    try:
        # The list comes first: a file that is there but not in it would be taken for the user's.
        ordered = {LIST_NAME: _list_of(contents, _ours(folder)), **changed}
        for path, data in ordered.items():
            (waiting / path).parent.mkdir(parents=True, exist_ok=True)
            (waiting / path).write_bytes(data)
        for path in ordered:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(waiting / path, folder / path)
        for path in left_over:
            _remove(folder, path)
        (waiting / LIST_NAME).write_bytes(_list_of(contents, {}))
        os.replace(waiting / LIST_NAME, folder / LIST_NAME)
    finally:
        shutil.rmtree(waiting)


def _remove(folder: Path, path: str) -> None:
    """Remove a file, and the folders around it that are empty then."""
    (folder / path).unlink()
    for parent in list(PurePosixPath(path).parents)[:-1]:
        if any((folder / parent).iterdir()):
            return
        (folder / parent).rmdir()


def _inside(folder: Path, path: str) -> str:
    """Return a path in its shortest form.

    Raises:
        UserError: it leaves the folder, goes through a link, or cannot be written.
    """
    try:
        normal = normal_path(path)
    except ReplyError as error:
        raise UserError(f"the result cannot be put into a folder. {error.message}") from error
    place = folder
    for part in normal.split("/")[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise UserError(
                f"{str(place)!r} is no folder of its own: move it, or give another folder with --out"
            )
    return normal


def _taken(place: Path) -> bool:
    return place.is_symlink() or place.exists()


def _is_ours(folder: Path, path: str, ours: Mapping[str, Sequence[str]]) -> bool:
    data = _read(folder / path)
    return data is not None and _digest(data) in ours.get(path, ())


def _read(place: Path) -> bytes | None:
    """Return the content of a plain file; None for everything else."""
    return None if place.is_symlink() or not place.is_file() else place.read_bytes()


def _ours(folder: Path) -> dict[str, list[str]]:
    """Return the hashes of everything that results put into a folder, by path."""
    data = _read(folder / LIST_NAME)
    if data is None:
        return {}
    try:
        value = json.loads(data)
    except ValueError:
        # Damaged: then all that is there counts as the user's.
        return {}
    listed = cast("dict[str, Any]", value).items() if isinstance(value, dict) else ()
    return {path: hashes for path, hashes in listed if isinstance(hashes, list) and _is_own(folder, path)}


def _is_own(folder: Path, path: str) -> bool:
    """Whether a path of the list, which anybody may have written, is that of a file in the folder itself."""
    try:
        return _inside(folder, path) == path
    except UserError:
        return False


def _list_of(contents: Mapping[str, bytes], others: Mapping[str, Sequence[str]]) -> bytes:
    """Return the list of these files and others; old hashes of them stay, for a crash in the middle."""
    new = {path: sorted({*others.get(path, ()), _digest(data)}) for path, data in contents.items()}
    return (json.dumps({**others, **new}, indent=1, sort_keys=True) + "\n").encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
