"""The statements that read and write the run log.

Knows nothing of threads, futures or locks: every function takes an open transaction. A run is
written only by the process that claimed it last; its epoch fences off all others.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

from plait.errors import LogError, UserError
from plait.events import Record
from plait.runtime.codec import decode
from plait.runtime.shapes import first_misfit
from plait.runtime.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row


class RecordRow(TypedDict):
    """A record as its table holds it."""

    run_id: str
    sequence: int
    path: str
    revision: int
    epoch: int
    at: float
    kind: str
    data: str


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """A run as its table holds it."""

    run_id: str
    created: float
    epoch: int
    status: str
    task: str
    owner: str
    claimed: float
    """Unix time at which the last process took the run."""
    seconds: float
    """Seconds of work by the processes before, or by all when the run has ended."""


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """How a run ended."""

    run_id: str
    status: str
    seconds: float


STEP_KINDS = ("step_recorded", "effect_intended")
"""Events of which a run consists: what was asked, done or about to be."""
RUNNING = "running"
"""Status of a run that has not ended in good order; its process may be gone."""


def to_record(row: RecordRow) -> Record:
    """Read a row as a record.

    Raises:
        LogError: it, or the event in it, cannot be read.
    """
    if misfit := first_misfit(RecordRow, row):
        place = f"run {row['run_id']!r}: the {misfit} of record {row['sequence']!r}"
        raise LogError(f"{place} cannot be read: {row[misfit]!r}")
    return Record(
        run_id=row["run_id"],
        sequence=row["sequence"],
        path=row["path"],
        revision=row["revision"],
        epoch=row["epoch"],
        at=row["at"],
        event=decode(row["kind"], row["data"]),
    )


def insert_runs(connection: "Connection", runs: Sequence[RunRow]) -> None:
    """Add runs that are not there yet."""
    if runs:
        connection.execute(tables().runs.insert(), [vars(run) for run in runs])


def claim_run(connection: "Connection", run: RunRow, *, owner: str, now: float) -> RunRow:
    """Take a run over: its epoch rises, and whoever wrote to it before cannot any more."""
    runs = tables().runs
    seconds = run.seconds if run.status != RUNNING else run.seconds + worked(connection, run)
    claimed = RunRow(
        run_id=run.run_id,
        created=run.created,
        epoch=run.epoch + 1,
        status=RUNNING,
        task=run.task,
        owner=owner,
        claimed=now,
        seconds=seconds,
    )
    connection.execute(runs.update().where(runs.c.run_id == run.run_id), vars(claimed))
    return claimed


def withdraw_claim(connection: "Connection", before: RunRow, epoch: int) -> None:
    """Undo a claim since which no step was recorded: the run is as it was, but for its epoch.

    Args:
        connection: of an open transaction.
        before: the run as it was before the claim.
        epoch: what the claim made of the epoch.
    """
    from sqlalchemy import func, select

    runs, records = tables().runs, tables().records
    since = (records.c.run_id == before.run_id, records.c.epoch == epoch)
    steps = select(func.count()).where(*since, records.c.kind.in_(STEP_KINDS))
    if connection.execute(steps).scalar_one():
        return
    connection.execute(records.delete().where(*since))
    query = runs.update().where(runs.c.run_id == before.run_id, runs.c.epoch == epoch)
    connection.execute(query, {**vars(before), "epoch": epoch})


def worked(connection: "Connection", run: RunRow) -> float:
    """Say for how many seconds the last process of a run is known to have worked."""
    from sqlalchemy import func, select

    records = tables().records
    query = select(func.max(records.c.at)).where(records.c.run_id == run.run_id)
    last: object = connection.execute(query).scalar()
    # In a damaged database it may be a text.
    return max(0.0, last - run.claimed) if isinstance(last, float | int) else 0.0


def select_run(connection: "Connection", run_id: str, *, lock: bool = False) -> RunRow | None:
    """Find a run by its whole id."""
    runs = tables().runs
    query = runs.select().where(runs.c.run_id == run_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _run(row)


def select_runs(connection: "Connection", *, prefix: str = "", limit: int | None = None) -> list[RunRow]:
    """List runs, newest first."""
    runs = tables().runs
    query = runs.select().order_by(runs.c.created.desc(), runs.c.run_id.desc()).limit(limit)
    if prefix:
        query = query.where(runs.c.run_id.startswith(prefix, autoescape=True))
    return [_run(row) for row in connection.execute(query)]


def find_run(connection: "Connection", prefix: str) -> str:
    """Return the id of the one run that begins with `prefix`.

    Raises:
        UserError: none does, or several do.
    """
    found = [run.run_id for run in select_runs(connection, prefix=prefix, limit=6)]
    if prefix in found:
        return prefix
    if not found or not prefix:
        raise unknown_run(connection, prefix)
    if len(found) > 1:
        raise UserError(f"several runs begin with {prefix!r}: {', '.join(found[:5])}; give more of the id")
    return found[0]


def _run(row: "Row[Any]") -> RunRow:
    return RunRow(**cast("Mapping[str, Any]", row._mapping))  # pyright: ignore[reportPrivateUsage]


def unknown_run(connection: "Connection", run_id: str) -> UserError:
    """Make the error for a run that is not there, naming some that are."""
    latest = [run.run_id for run in select_runs(connection, limit=3)]
    hint = f"the latest are {', '.join(latest)}" if latest else "there are no runs yet"
    return UserError(f"there is no run {run_id!r}: {hint}")


def taken_over(run_id: str, found: int | None) -> LogError:
    """Make the error for a process that does not own its run any more."""
    if found is None:
        return LogError(f"run {run_id!r} was removed while it was running: nothing more is recorded")
    return LogError(f"run {run_id!r} was taken over by another process: this one stops")


def has_record(connection: "Connection", row: RecordRow) -> bool:
    """Whether a record is there, written by the same process."""
    from sqlalchemy import select

    records = tables().records
    query = select(records.c.epoch).where(
        records.c.run_id == row["run_id"], records.c.sequence == row["sequence"]
    )
    return connection.execute(query).scalar() == row["epoch"]


def select_records(connection: "Connection", run_id: str) -> list[RecordRow]:
    """Read all records of a run in their order."""
    records = tables().records
    query = records.select().where(records.c.run_id == run_id).order_by(records.c.sequence)
    return [cast("RecordRow", dict(row)) for row in connection.execute(query).mappings()]


def select_kinds(connection: "Connection", kinds: Collection[str]) -> list[RecordRow]:
    """Read the records of some kinds of all runs, run by run in their order."""
    records = tables().records
    query = records.select().where(records.c.kind.in_(kinds))
    query = query.order_by(records.c.run_id, records.c.sequence)
    return [cast("RecordRow", dict(row)) for row in connection.execute(query).mappings()]


def rows_of(connection: "Connection", run_id: str) -> list[RecordRow]:
    """Read all records of a run that must exist.

    Raises:
        UserError: there is no such run.
    """
    if select_run(connection, run_id) is None:
        raise unknown_run(connection, run_id)
    return select_records(connection, run_id)


def next_place(connection: "Connection", run_id: str, kind: str) -> tuple[int, int]:
    """Say the next free sequence of a run, and how many records of a kind it has."""
    from sqlalchemy import func, select

    records = tables().records
    mine = select(func.max(records.c.sequence)).where(records.c.run_id == run_id)
    same = select(func.count()).where(records.c.run_id == run_id, records.c.kind == kind)
    return (connection.execute(mine).scalar() or 0) + 1, connection.execute(same).scalar_one()


def end_runs(connection: "Connection", ends: Sequence[RunEnd]) -> None:
    """Note how runs ended."""
    if not ends:
        return
    from sqlalchemy import bindparam

    runs = tables().runs
    query = runs.update().where(runs.c.run_id == bindparam("ended"))
    values = [{"ended": end.run_id, "status": end.status, "seconds": end.seconds} for end in ends]
    connection.execute(query, values)


def delete_run(connection: "Connection", run_id: str) -> None:
    """Remove a run and all its records.

    Raises:
        UserError: there is no such run.
    """
    runs, records = tables().runs, tables().records
    if select_run(connection, run_id, lock=True) is None:
        raise unknown_run(connection, run_id)
    connection.execute(records.delete().where(records.c.run_id == run_id))
    connection.execute(runs.delete().where(runs.c.run_id == run_id))
