"""`plait memory`: what runs have learned.

Knows nothing of how experience is made or used.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from plait.cli.memory_care import approving, forgetting, removing
from plait.cli.memory_export import exporting
from plait.cli.memory_import import importing
from plait.cli.memory_store import DEFAULT_MEMORY, Id, Name, with_store
from plait.cli.words import age_text, count_text, one_line
from plait.errors import LogError, UserError
from plait.experience.consolidation.workflow import Workflow
from plait.experience.pipelines.drawing import mermaid, terminal_text
from plait.experience.pipelines.paper_form import from_json
from plait.experience.record import OWN, Experience, ExperienceKind
from plait.experience.sharing.words import in_words
from plait.experience.words.goals import key_of
from plait.models.embeddings import Embedder, local_embedder
from plait.runtime.codec import dumps
from plait.runtime.experience_store import ExperienceStore

KINDS: tuple[ExperienceKind, ...] = get_args(ExperienceKind)
MOST_FOUND = 100
MOST_GOAL = 2_000
"""Characters of a goal where one record is shown."""
WIDEST = 1_000
"""Characters of a line where no terminal sets a bound; no record needs as many."""

app = typer.Typer(help="See, approve, share and forget what runs have learned.", no_args_is_help=True)


@app.command("list")
def listing(
    memory: Name = DEFAULT_MEMORY,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List what was learned, newest first."""
    records, damaged = with_store(lambda store: _found(store, memory))
    for error in damaged:
        print(error.message, file=sys.stderr)
    if as_json:
        sys.stdout.write(dumps([_as_object(record) for record in records]) + "\n")
    elif not records:
        print(f"The memory {memory!r} is empty; runs add to it what they learn.")
    else:
        _print(_table(records))


@app.command("show")
def showing(
    id: Id,
    as_mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a pipeline as Mermaid text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show one record: where it came from, how it served, and what it does."""
    record = with_store(lambda store: store.get(id))
    if as_json:
        sys.stdout.write(dumps({**_as_object(record), "content": record.content}) + "\n")
        return
    if as_mermaid and record.kind != "pipeline":
        raise UserError(f"record {record.id!r} is a {record.kind}; only a pipeline is drawn")
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
    found = with_store(lambda store: nearest_to(store, text, memory, local_embedder()))[:most]
    if not found:
        print(f"The memory {memory!r} has nothing in use.")
        return
    _print(_table([record for record, _ in found], [alike for _, alike in found]))


@app.command("stats")
def counting(
    memory: Name = DEFAULT_MEMORY,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how much is there and how it served."""
    figures = statistics(with_store(lambda store: store.find(memory=memory)))
    if as_json:
        sys.stdout.write(dumps(figures) + "\n")
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' ')}: {value}")


app.command("approve")(approving)
app.command("rm")(removing)
app.command("forget-vectors")(forgetting)
app.command("export")(exporting)
app.command("import")(importing)


def statistics(records: Sequence[Experience]) -> dict[str, Any]:
    """Return figures of a memory; `reutilization_rate` is that of the paper (ICE, Table 1).

    That is the share of pipelines that were reused with success, 0-1, of those that may be: what waits or is
    suspended could not be. The paper has none of these.
    """
    pipelines = [record for record in records if record.kind == "pipeline" and record.status == "active"]
    reused = sum(record.successes > 0 for record in pipelines)
    return {
        **{f"{kind}s": sum(record.kind == kind for record in records) for kind in KINDS},
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
    there = await store.find(memory=memory, statuses=("active",))
    for kind in KINDS:
        for domain in sorted({record.domain for record in there if record.kind == kind}):
            waiting = await store.without_vector(memory=memory, kind=kind, domain=domain)
            keys = [key_of(text), *(record.key for record in waiting)]
            vector, *others = await embedder.embed(keys)
            for record, other in zip(waiting, others, strict=True):
                await store.embedded(record.id, other)
            found += await store.nearest(vector, MOST_FOUND, memory=memory, kind=kind, domain=domain)
    return sorted(found, key=lambda pair: -pair[1])


async def _found(store: ExperienceStore, memory: str) -> tuple[list[Experience], list[LogError]]:
    return await store.find(memory=memory), await store.damaged(memory=memory)


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
        foreign = "" if record.source == OWN else f"({record.source}) "
        goal = escape(one_line(foreign + record.goal))
        table.add_row(*first, record.id, record.kind, record.status, age, served, goal)
    return table


def _print(table: Table) -> None:
    """Print a table; on a terminal a long goal goes on below, elsewhere a record is one line."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    console.width = WIDEST
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _head(record: Experience) -> list[str]:
    age = age_text(max(0.0, time.time() - record.created))
    return [
        f"{record.kind} {record.id}  {record.status}",
        f"goal: {one_line(record.goal, MOST_GOAL)}",
        f"tools: {one_line(', '.join(record.tools), MOST_GOAL)}",
        f"from: {one_line(record.source)}, run {record.run_id or 'none'}, {one_line(record.model)}, {age}",
        f"served: {record.successes} of {count_text(record.uses, 'use')}",
    ]


def _content(record: Experience) -> list[str]:
    # Of what somebody else wrote nothing is shown cut.
    if record.source != OWN or record.kind not in ("workflow", "pipeline"):
        return in_words(record)[2:]
    if record.kind == "pipeline":
        return terminal_text(from_json(record.content))
    steps = Workflow.from_json(record.content).steps
    return [
        f"{number}. {one_line(step.goal, MOST_GOAL)}  ({one_line(', '.join(step.tools))})"
        for number, step in enumerate(steps, 1)
    ]
