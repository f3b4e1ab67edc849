"""What is kept of a benchmark: each file of finished tasks with what it is of.

Knows nothing of how it is shown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.bench.benchmark import Benchmark
from plait.bench.trial import Trial, read_trials
from plait.errors import UserError

SAID_OF_ALL = ("memory", "tools", "yes", "domain", "base_url", "check_folder", "tools_folder", "unpriced")
"""Options that tell no two lines of a comparison apart."""
MOST_LABEL = 60


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One file: a method under some options, on some of the tasks."""

    file: Path
    method: str
    plait: str
    """Version."""
    data: str
    """Digest of all tasks that there were; empty where an older version did not note it."""
    options: Mapping[str, Any]
    """Those that the method goes by."""
    trials: Sequence[Trial]


def read_kept(benchmark: Benchmark[Any], folder: Path) -> list[Kept]:
    """Return all that is kept in a folder, by the names of the files.

    Raises:
        UserError: there is nothing, or a file cannot be read.
    """
    found = [_read(file, benchmark) for file in sorted(folder.glob("*.jsonl"))]
    kept = [each for each in found if each.trials]
    if not kept:
        raise UserError(
            f"nothing is kept in {str(folder)!r}: run plait bench {benchmark.name} first, or name its --out"
        )
    return kept


def labels_of(benchmark: Benchmark[Any], kept: Sequence[Kept]) -> list[str]:
    """Return what each is called: its method, and which options are not the usual ones."""
    usual = benchmark.options({}).as_json()
    several = {
        name
        for name in ("model", "seed")
        if len({str(each.options[name]) for each in kept if name in each.options}) > 1
    }
    labels = [_label(benchmark, each, usual, several) for each in kept]
    # Other data or another version: the file tells them apart.
    return [
        f"{label} ({each.file.stem[-8:]})" if labels.count(label) > 1 else label
        for label, each in zip(labels, kept, strict=True)
    ]


def _label(benchmark: Benchmark[Any], kept: Kept, usual: Mapping[str, Any], several: set[str]) -> str:
    words: list[str] = []
    name = kept.method
    counts = benchmark.methods[name].counts if name in benchmark.methods else ""
    if counts:
        name = f"{name[:-1]}{kept.options.get(counts)}"
    for option, value in kept.options.items():
        told = option in several or (option not in ("model", "seed") and value != usual.get(option))
        if not told or option in SAID_OF_ALL or option == counts:
            continue
        if option == "without":
            words += [f"no {switch}" for switch in value]
        elif option == "preset":
            words.append(str(value))
        else:
            words.append(f"{option.replace('_', ' ')} {value}")
    text = f"{name}: {', '.join(words)}" if words else name
    return text if len(text) <= MOST_LABEL else f"{text[: MOST_LABEL - 1]}…"


def _read(file: Path, benchmark: Benchmark[Any]) -> Kept:
    beside = file.with_suffix(".json")
    try:
        about: Mapping[str, Any] = json.loads(beside.read_text(encoding="utf-8"))
        return Kept(
            file=file,
            method=file.stem.rpartition("-")[0],
            plait=str(about["plait"]),
            data=str(about.get("tasks", "")),
            options=dict(about["options"]),
            trials=read_trials(file, benchmark.fields()),
        )
    except OSError as error:
        raise UserError(
            f"{str(beside)!r} cannot be read: {error.strerror}; it says what {file.name} is of"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{str(beside)!r} does not say what {file.name} is of: move both away") from error
