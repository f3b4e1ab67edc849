"""`plait models`: the local models, where they are, and getting and removing them.

Knows nothing of running them.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from plait.models.catalogue import (
    DEFAULT_CHAT_MODEL,
    CatalogueEntry,
    add_model,
    all_models,
    find_model,
    remove_model,
)
from plait.models.fetch import pull
from plait.models.progress import MEBIBYTE, terminal_progress

app = typer.Typer(help="Fetch, list and remove local models.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A model, as `plait models list` names it.")]


@app.command("list")
def listing(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """Show every local model: licence, size, and where it is."""
    rows = [_as_object(entry) for entry in all_models()]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        Console(highlight=False).print(_table(rows))


@app.command("pull")
def pulling(name: Name = DEFAULT_CHAT_MODEL) -> None:
    """Fetch what is missing or damaged of a model; what was broken off goes on where it was."""
    entry = find_model(name)
    if entry.added is None:
        with terminal_progress() as progress:
            pull(entry, progress)
    print(entry.file)


@app.command("rm")
def removing(name: Name) -> None:
    """Remove a model's files. A file that you added without --copy stays where it is."""
    entry = find_model(name)
    removed = remove_model(entry)
    freed = f"{len(removed)} files removed" if removed else "nothing to remove on disk"
    print(f"{entry.name}: {freed}{', no longer listed' if entry.added else ''}")


@app.command("path")
def showing_path(name: Name) -> None:
    """Print where a model's weights are, or will be once they are pulled."""
    print(find_model(name).file)


@app.command("add")
def adding(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it: used as local:NAME.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A GGUF file.")],
    copy: Annotated[bool, typer.Option("--copy", help="Copy the file into Plait's data folder.")] = False,
) -> None:
    """Add a GGUF file of your own under a name."""
    entry = add_model(name, file, copy=copy)
    print(f"Added {entry.name}: use it with --model local:{entry.name}")


def _as_object(entry: CatalogueEntry) -> dict[str, Any]:
    return {
        "name": f"local:{entry.name}",
        "kind": entry.kind,
        "licence": entry.licence,
        "size_bytes": entry.size_bytes,
        "pulled": entry.pulled,
        "path": str(entry.file),
        "added": entry.added is not None,
        "about": entry.about,
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("Name", "Licence", "Size", "Here", "About"):
        table.add_column(column, justify="right" if column == "Size" else "left", overflow="fold")
    for row in rows:
        missing = "file is gone" if row["added"] else "no"
        size = f"{row['size_bytes'] / MEBIBYTE:,.0f} MiB"
        here = "yes" if row["pulled"] else missing
        table.add_row(row["name"], row["licence"], size, here, row["about"])
    return table
