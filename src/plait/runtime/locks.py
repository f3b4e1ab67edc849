"""Which runs are live: locks that the system takes back when their process dies.

Knows nothing of records. Files under `flock` serve SQLite, advisory locks serve Postgres, a set
serves databases in memory. Epochs keep a log right even without locks; locks are what lets a user
be told that a run is still going on.
"""

import fcntl
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from plait.runtime.database import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection

PROBE_SECONDS = 0.2
"""A lock held for less than this was only looked at by another command, or its holder just died."""


class Locks(Protocol):
    """Locks on runs; used by one thread at a time."""

    def acquire(self, run_id: str) -> bool:
        """Take the lock of a run; False if it is held, by this process or another."""
        ...

    def release(self, run_id: str) -> None:
        """Give a lock back; nothing happens if it is not held here."""
        ...

    def is_live(self, run_id: str) -> bool:
        """Whether any process holds the lock of a run."""
        ...

    def renew(self) -> None:
        """Take what is held once more, where it may have been lost with a connection."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def locks_of(database: Database) -> Locks:
    """Choose the locks that fit a database."""
    if database.is_postgres:
        return PostgresLocks(database)
    if database.file is None:
        return MemoryLocks()
    return FileLocks(database.file.with_name(f"{database.file.name}.live"))


class MemoryLocks:
    """Locks within one process."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def acquire(self, run_id: str) -> bool:
        if run_id in self._held:
            return False
        self._held.add(run_id)
        return True

    def release(self, run_id: str) -> None:
        self._held.discard(run_id)

    def is_live(self, run_id: str) -> bool:
        return run_id in self._held

    def renew(self) -> None:
        return None

    def close(self) -> None:
        self._held.clear()


class FileLocks:
    """One file a live run; the system drops the lock with the process, even after kill -9."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def acquire(self, run_id: str) -> bool:
        deadline = time.monotonic() + PROBE_SECONDS
        while True:
            descriptor = self._create(run_id)
            if not _lock(descriptor, fcntl.LOCK_EX):
                os.close(descriptor)
                if run_id in self._held or time.monotonic() > deadline:
                    return False
                time.sleep(PROBE_SECONDS / 10)
            elif self._is_current(descriptor, run_id):
                self._held[run_id] = descriptor
                return True
            else:  # Its holder removed the file between our open and our lock.
                os.close(descriptor)

    def release(self, run_id: str) -> None:
        descriptor = self._held.pop(run_id, None)
        if descriptor is not None:
            self._file(run_id).unlink(missing_ok=True)
            os.close(descriptor)

    def is_live(self, run_id: str) -> bool:
        if run_id in self._held:
            return True
        try:
            descriptor = os.open(self._file(run_id), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not _lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def renew(self) -> None:
        return None

    def close(self) -> None:
        for run_id in list(self._held):
            self.release(run_id)

    def _create(self, run_id: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self._file(run_id), flags, 0o600)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            return os.open(self._file(run_id), flags, 0o600)

    def _file(self, run_id: str) -> Path:
        # Hashed, so that no run id is too long or too strange for a file system.
        return self._folder / hashlib.sha256(run_id.encode()).hexdigest()[:32]

    def _is_current(self, descriptor: int, run_id: str) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._file(run_id)))
        except FileNotFoundError:
            return False


def _lock(descriptor: int, mode: int) -> bool:
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class PostgresLocks:
    """Advisory locks, all held by one connection that the server watches."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._held: set[str] = set()

    def acquire(self, run_id: str) -> bool:
        if run_id in self._held:
            return False  # The server would grant a session the same lock twice.
        deadline = time.monotonic() + PROBE_SECONDS
        while not self._ask("pg_try_advisory_lock", run_id):
            if time.monotonic() > deadline:
                return False
            time.sleep(PROBE_SECONDS / 10)
        self._held.add(run_id)
        return True

    def release(self, run_id: str) -> None:
        if run_id in self._held:
            self._held.discard(run_id)
            self._ask("pg_advisory_unlock", run_id)

    def is_live(self, run_id: str) -> bool:
        if run_id in self._held:
            return True
        free = self._ask("pg_try_advisory_lock", run_id)
        if free:
            self._ask("pg_advisory_unlock", run_id)
        return not free

    def close(self) -> None:
        from sqlalchemy.exc import DBAPIError

        if self._connection is not None:
            # Where the connection is lost, the server has freed the locks with the session.
            with suppress(DBAPIError):
                self._connection.exec_driver_sql("SELECT pg_advisory_unlock_all()")
            self._connection.close()
            self._connection = None
        self._held.clear()

    def renew(self) -> None:
        from sqlalchemy.exc import DBAPIError

        if self._connection is None:
            return
        with suppress(DBAPIError):
            self._connection.exec_driver_sql("SELECT 1")
        if self._connection.invalidated:
            self._reconnect()

    def _reconnect(self) -> None:
        """Connect anew and take the locks again that went with the connection.

        Who took one meanwhile keeps it: epochs keep the two from mixing their records.
        """
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        connection = self._database.engine.connect()
        self._connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        self._held = {run_id for run_id in self._held if self._ask("pg_try_advisory_lock", run_id)}

    def _ask(self, function: str, run_id: str) -> bool:
        if self._connection is None or self._connection.invalidated:
            self._reconnect()
        assert self._connection is not None
        key = int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:8], "big", signed=True)
        return bool(self._connection.exec_driver_sql(f"SELECT {function}({key})").scalar())
