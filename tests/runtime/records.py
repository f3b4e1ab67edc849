"""Records of experience, and short ways to ask for them."""

from collections.abc import Sequence
from typing import Any

from plait.experience.record import Experience
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

NEAR: Sequence[float] = (1.0, 0.0, 0.0)
FAR: Sequence[float] = (0.0, 1.0, 0.0)


def pipeline(id: str, key: str = "", **fields: object) -> Experience:
    """Return a record with whatever fields."""
    values: dict[str, object] = {
        "id": id,
        "kind": "pipeline",
        "domain": "tools",
        "goal": f"goal of {id}",
        "key": key or f"key of {id}",
        "tools": ("read", "write"),
        "content": {"made": id},
        "run_id": f"run-{id}",
        "model": "scripted",
        "created": 100.0,
        **fields,
    }
    return Experience(**values)  # pyright: ignore[reportArgumentType]


async def nearest(
    store: ExperienceStore, vector: Sequence[float] = NEAR, most: int = 10, **filters: Any
) -> list[str]:
    """Return the ids of the pipelines for tools that are nearest to a vector."""
    found = await store.nearest(vector, most, **{"kind": "pipeline", "domain": "tools", **filters})
    return [record.id for record, _ in found]


async def waiting(store: ExperienceStore) -> list[str]:
    """Return the ids of the pipelines for tools that still need a vector."""
    return ids(await store.without_vector(memory="default", kind="pipeline", domain="tools"))


async def execute(log: RunLog, statement: str) -> None:
    """Do something to the database that no Plait does."""
    await log.transact(lambda connection: connection.exec_driver_sql(statement))


def ids(records: Sequence[Experience]) -> list[str]:
    return [record.id for record in records]
