"""`plait memory`: what runs have learned, and its care.

Knows nothing of how experience is made or used.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from plait.cli.asking import can_ask, confirmed
from plait.cli.words import age_text, clean, count_text
from plait.errors import LogError, UserError
from plait.experience.drawing import mermaid, terminal_text
from plait.experience.goals import key_of
from plait.experience.investigate import TOOLS
from plait.experience.paper_form import from_json
from plait.experience.record import DEFAULT_MEMORY, Experience, ExperienceKind
from plait.experience.workflow import Workflow
from plait.models.embeddings import Embedder, local_embedder
from plait.runtime.codec import dumps
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

Result = TypeVar("Result")
KINDS: tuple[ExperienceKind, ...] = ("workflow", "pipeline")
MOST_FOUND = 100
Name = Annotated[str, typer.Option("--memory", metavar="NAME", help="Which memory.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a record, or its beginning.")]

app = typer.Typer(help="See, approve and forget what runs have learned.", no_args_is_help=True)


@app.command("list")
def listing(
    memory: Name = DEFAULT_MEMORY,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List workflows and pipelines, newest first."""
    records, damaged = _with(lambda store: _found(store, memory))
    for error in damaged:
        print(error.message, file=sys.stderr)
    if as_json:
        sys.stdout.write(dumps([_as_object(record) for record in records]) + "\n")
    elif not records:
        print(f"The memory {memory!r} is empty; every tool task that succeeds adds to it.")
    else:
        Console(highlight=False).print(_table(records))


@app.command("show")
def showing(
    id: Id,
    as_mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a pipeline as Mermaid text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show one record: where it came from, how it served, and what it does."""
    record = _with(lambda store: store.get(id))
    if as_json:
        sys.stdout.write(dumps({**_as_object(record), "content": record.content}) + "\n")
        return
    if as_mermaid and record.kind != "pipeline":
        raise UserError(f"record {record.id!r} is a workflow; only a pipeline is drawn")
    if as_mermaid:
        print(mermaid(from_json(record.content)))
        return
    print("\n".join([*_head(record), "", *_content(record)]))


@app.command("search")
def searching(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A task, in your words.")],
    memory: Name = DEFAULT_MEMORY,
    most: Annotated[int, typer.Option("--most", help="So many at most.", min=1)] = 10,
) -> None:
    """List what is nearest in meaning; the local embedder compares, fetched when it is first needed."""
    found = _with(lambda store: nearest_to(store, text, memory, local_embedder()))[:most]
    if not found:
        print(f"The memory {memory!r} has nothing in use.")
        return
    Console(highlight=False).print(_table([record for record, _ in found], [alike for _, alike in found]))


@app.command("approve")
def approving(id: Id) -> None:
    """Let a record be used that waits for that, or was suspended because it failed."""

    async def approve(store: ExperienceStore) -> Experience:
        record = await store.get(id)
        await store.change(record.id, status="active")
        return record

    print(f"Approved: {_with(approve).id}.")


@app.command("rm")
def removing(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of records, or beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget records; this cannot be undone."""
    found = _with(lambda store: _all(store, ids))
    if not yes and not _agreed(found):
        print("Nothing was removed.")
        return
    _with(lambda store: store.remove(found))
    print(f"Removed {count_text(len(found), 'record')}.")


@app.command("stats")
def counting(
    memory: Name = DEFAULT_MEMORY,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how much is there and how it served."""
    figures = statistics(_with(lambda store: store.find(memory=memory)))
    if as_json:
        sys.stdout.write(dumps(figures) + "\n")
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' ')}: {value}")


def statistics(records: Sequence[Experience]) -> dict[str, Any]:
    """Return figures of a memory; `reutilization_rate` is the paper's (ICE, Table 1).

    That is the share of stored pipelines that were reused with success, 0-1.
    """
    pipelines = [record for record in records if record.kind == "pipeline"]
    reused = sum(record.successes > 0 for record in pipelines)
    return {
        "workflows": len(records) - len(pipelines),
        "pipelines": len(pipelines),
        "not_in_use": sum(record.status != "active" for record in records),
        "uses": sum(record.uses for record in records),
        "successes": sum(record.successes for record in records),
        "failures": sum(record.failures for record in records),
        "reutilization_rate": round(reused / len(pipelines), 4) if pipelines else 0.0,
    }


async def nearest_to(
    store: ExperienceStore, text: str, memory: str, embedder: Embedder
) -> list[tuple[Experience, float]]:
    """Return records in use with their similarity to a text, the nearest first."""
    found: list[tuple[Experience, float]] = []
    for kind in KINDS:
        waiting = await store.without_vector(memory=memory, kind=kind, domain=TOOLS)
        keys = [key_of(text), *(record.key for record in waiting)]
        vector, *others = await embedder.embed(keys)
        for record, other in zip(waiting, others, strict=True):
            await store.embedded(record.id, other)
        found += await store.nearest(vector, MOST_FOUND, memory=memory, kind=kind, domain=TOOLS)
    return sorted(found, key=lambda pair: -pair[1])


def _with(do: Callable[[ExperienceStore], Awaitable[Result]]) -> Result:
    """Open the memory, do something with it, and close it."""

    async def go() -> Result:
        log = RunLog.open()
        try:
            return await do(ExperienceStore(log))
        finally:
            await log.close()

    return asyncio.run(go())


async def _found(store: ExperienceStore, memory: str) -> tuple[list[Experience], list[LogError]]:
    return await store.find(memory=memory), await store.damaged(memory=memory)


async def _all(store: ExperienceStore, ids: Sequence[str]) -> list[str]:
    """Return whole ids; a damaged record has one too."""
    return list(dict.fromkeys([await store.find_id(id) for id in ids]))


def _agreed(ids: Sequence[str]) -> bool:
    what = count_text(len(ids), "record")
    if not can_ask():
        raise UserError(f"removing {what} cannot be undone: add --yes to do it")
    return asyncio.run(confirmed(f"Forget {what}: {', '.join(ids)}?"))


def _as_object(record: Experience) -> dict[str, Any]:
    value = asdict(record)
    del value["vector"], value["content"]
    return {**value, "tools": list(record.tools)}


def _table(records: Sequence[Experience], alike: Sequence[float] = ()) -> Table:
    """Return records as a table; with `alike` their similarity comes first."""
    table = Table(box=None, pad_edge=False)
    for name in (*(["alike"] if alike else []), "id", "kind", "status", "age", "served", "goal"):
        table.add_column(name, no_wrap=name != "goal", style="cyan" if name == "id" else "")
    now = time.time()
    for number, record in enumerate(records):
        first = [f"{alike[number]:.2f}"] if alike else []
        served = f"{record.successes} of {record.uses}" if record.uses else "-"
        age = age_text(max(0.0, now - record.created))
        table.add_row(*first, record.id, record.kind, record.status, age, served, clean(record.goal))
    return table


def _head(record: Experience) -> list[str]:
    age = age_text(max(0.0, time.time() - record.created))
    return [
        f"{record.kind} {record.id}  {record.status}",
        f"goal: {clean(record.goal)}",
        f"tools: {', '.join(record.tools)}",
        f"from: {record.source}, run {record.run_id or 'none'}, {record.model}, {age}",
        f"served: {record.successes} of {count_text(record.uses, 'use')}",
    ]


def _content(record: Experience) -> list[str]:
    if record.kind == "pipeline":
        return terminal_text(from_json(record.content))
    steps = Workflow.from_json(record.content).steps
    return [
        f"{number}. {clean(step.goal)}  ({', '.join(step.tools)})" for number, step in enumerate(steps, 1)
    ]
