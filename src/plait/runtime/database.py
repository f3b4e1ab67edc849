"""From an address to an open database, and from a driver's exception to one line for the user.

Knows nothing of runs. SQLite runs in WAL mode and begins with the right to write, so that commands
that meet on one database wait for each other and never fail half-way.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from plait.errors import LogError, UserError
from plait.runtime import experience_vectors, migrations

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

BUSY_TIMEOUT_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 10

_REMEDIES = (
    ("is full", "the disk is full: free some space, then resume the run"),
    ("readonly", "it cannot be written: check the permissions of the folder, or set PLAIT_HOME"),
    ("unable to open", "it cannot be opened: check the permissions of the folder, or set PLAIT_HOME"),
    ("not a database", "the file is damaged or no database: move it away, or restore a copy"),
    ("malformed", "the file is damaged: move it away, or restore a copy"),
    ("is locked", f"another program has kept it locked for {BUSY_TIMEOUT_SECONDS:.0f} seconds"),
    ("disk i/o error", "the disk failed: check it, then resume the run"),
)


@dataclass(frozen=True, kw_only=True)
class Database:
    """An open database with all migrations done."""

    engine: "Engine"
    name: str
    """As messages name it; never with a password."""
    file: Path | None
    """The file of an SQLite database; None in memory and for Postgres."""

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def begin(self, connection: "Connection", *, writes: bool, durable: bool) -> Generator[None]:
        """Run one transaction.

        Args:
            connection: of this database, outside of any transaction.
            writes: whether to wait for the right to write before the first statement.
            durable: whether the commit must survive the loss of power.
        """
        connection.info["begin"] = "BEGIN IMMEDIATE" if writes else "BEGIN"
        if not self.is_postgres:
            _set_synchronous(connection, "FULL" if durable else "NORMAL")
        with connection.begin():
            if self.is_postgres and writes and not durable:
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
            yield

    def truncate_journal(self) -> None:
        """Empty the write-ahead file of SQLite, which still holds what was removed."""
        if self.file is not None:
            with self.translated(), self.engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    def lost(self, error: BaseException) -> bool:
        """Whether an error, as `translated` raises it, means that the connection broke."""
        from sqlalchemy.exc import DBAPIError

        cause = error.__cause__
        return isinstance(cause, DBAPIError) and cause.connection_invalidated

    @contextmanager
    def translated(self) -> Generator[None]:
        """Turn a driver's exception into a LogError of one line."""
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except DBAPIError as exc:
            raise LogError(f"the run log {self.name!r} cannot be used: {_cause(exc.orig)}") from exc
        except OSError as exc:  # From the locks beside the database.
            raise LogError(f"the run log {self.name!r} cannot be used: {exc.strerror}") from exc


def _set_synchronous(connection: "Connection", level: str) -> None:
    if connection.info.get("synchronous") != level:
        # On the driver's own connection: through SQLAlchemy it would begin the transaction.
        driver: Any = connection.connection.driver_connection
        driver.execute(f"PRAGMA synchronous={level}")
        connection.info["synchronous"] = level


def _cause(exc: BaseException | None) -> str:
    text = " ".join(str(exc).split("\n", 1)[0].split()) or type(exc).__name__
    lowered = text.lower()
    for sign, remedy in _REMEDIES:
        if sign in lowered:
            return remedy
    return text


def open_database(address: str) -> Database:
    """Open a database by its address and bring it to the newest schema.

    Args:
        address: `sqlite:///FILE`, `sqlite://` (in memory), or `postgresql://...`.

    Raises:
        UserError: the address is none.
        LogError: the database cannot be reached, read or written, or is newer than this Plait.
    """
    from sqlalchemy.exc import ArgumentError

    try:
        url = _parse(address)
        is_postgres = url.get_backend_name() == "postgresql"
        database = _open_postgres(url) if is_postgres else _open_sqlite(url)
        with database.translated(), database.engine.connect() as connection:
            _upgrade(database, connection)
    except (ArgumentError, ValueError, TypeError) as exc:
        # Of its parts too: a port, a driver, an option. Without the address, as that may hold a password.
        raise UserError(
            "PLAIT_DATABASE_URL is not a database address: give postgresql://USER@HOST/NAME, or unset it"
        ) from exc
    return database


def _upgrade(database: Database, connection: "Connection") -> None:
    with database.begin(connection, writes=False, durable=False):
        found = migrations.version(connection)
    migrations.check(found, database.name)
    if found < len(migrations.MIGRATIONS):
        with database.begin(connection, writes=True, durable=True):
            migrations.migrate(connection, database.name)
    with database.begin(connection, writes=False, durable=False):
        can_compare = experience_vectors.missing(connection)
    if can_compare:
        with database.begin(connection, writes=True, durable=True):
            migrations.set_up_vectors(connection)


def _parse(address: str) -> "URL":
    from sqlalchemy import make_url

    url = make_url(address)
    backend = url.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise UserError(f"databases of kind {backend!r} are not supported: give postgresql:// or sqlite:///")
    return url


def _open_postgres(url: "URL") -> Database:
    from sqlalchemy import create_engine

    try:
        engine = create_engine(
            url, pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS}
        )
    except ImportError as exc:
        raise UserError("Postgres needs the package psycopg: pip install 'plait[postgres]'") from exc
    return Database(engine=engine, name=url.render_as_string(hide_password=True), file=None)


def _open_sqlite(url: "URL") -> Database:
    from sqlalchemy import StaticPool, create_engine, event

    in_memory = url.database in (None, "", ":memory:")
    file = None if in_memory else Path(cast("str", url.database)).expanduser().resolve()
    name = str(file) if file else "in memory"
    if file:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise LogError(
                f"the folder of the run log {name!r} cannot be made ({exc.strerror}): set PLAIT_HOME"
            ) from exc
        url = url.set(database=str(file))
    arguments = {"timeout": BUSY_TIMEOUT_SECONDS, "isolation_level": None, "check_same_thread": False}
    pool = {"poolclass": StaticPool} if in_memory else {}
    engine = create_engine(url, connect_args=arguments, **pool)
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Database(engine=engine, name=name, file=file)


def _configure_sqlite(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    # What is removed is private text: it is overwritten, not only unlinked.
    connection.execute("PRAGMA secure_delete=ON")


def _begin_sqlite(connection: "Connection") -> None:
    connection.exec_driver_sql(connection.info.get("begin", "BEGIN"))
