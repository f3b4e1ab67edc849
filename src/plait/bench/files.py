"""Files of finished tasks: named after what decides what comes out, written by one process at a time.

Beside each stands what it is of, and the memory of its runs. Knows nothing of tasks or methods.
"""

import hashlib
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from plait.errors import UserError
from plait.runtime.locks import FileLocks

LIVE = ".live"
"""Folder of the locks of files that a process adds to."""


def digest_of(value: Any, size: int = 4) -> str:
    """Return `size` bytes, as hexadecimal digits, that tell a JSON value from others."""
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=size).hexdigest()


def made(folder: Path) -> Path:
    """Return a folder that is there, made if need be.

    Raises:
        UserError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    return folder


@contextmanager
def alone(file: Path) -> Generator[None]:
    """Keep other processes from running the same tasks; the system frees the lock with the process.

    Raises:
        UserError: one of them is at it, or nothing can be written there.
    """
    locks = FileLocks(file.parent / LIVE)
    with _written(file):
        is_free = locks.acquire(file.name)
    if not is_free:
        raise UserError(
            f"another process is running these tasks into {str(file)!r}: wait for it, or give another --out"
        )
    try:
        yield
    finally:
        locks.close()


def told_beside(file: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands beside a file, written if need be: what it is of, and the memory of its runs.

    What a run learns serves the runs after it, and no other benchmark or user; a file that is begun anew
    begins with nothing learned.

    Raises:
        UserError: it cannot be read or written.
    """
    beside = file.with_suffix(".json")
    if file.exists() and beside.exists():
        return {**about, **_read(beside)}
    told = {"memory": f"bench-{file.stem}-{token_hex(3)}", **about}
    tell_beside(file, told)
    return told


def tell_beside(file: Path, told: Mapping[str, Any]) -> None:
    """Write anew what stands beside a file, at once or not at all.

    Raises:
        UserError: it cannot be written.
    """
    beside = file.with_suffix(".json")
    part = beside.with_suffix(".part")
    with _written(beside):
        part.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        os.replace(part, beside)


def _read(beside: Path) -> dict[str, Any]:
    try:
        told: Any = json.loads(beside.read_text(encoding="utf-8"))
        return {**told, "memory": str(told["memory"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{str(beside)!r} does not say what {beside.stem}.jsonl is of: move both away"
        ) from error


@contextmanager
def _written(file: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be written: {error.strerror}") from error
