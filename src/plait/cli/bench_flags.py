"""The flags that `plait bench` and its commands share: which tasks are run, and where they are kept.

Knows nothing of benchmarks.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from plait.bench.plan import Wanted
from plait.paths import data_folder

MODEL_OPTIONS = (
    *("model", "base_url", "temperature", "seed", "prompts", "preset", "rounds"),
    *("max_calls", "max_tokens", "max_usd", "max_seconds"),
)
TEAM_OPTIONS = (
    *("teams", "temperatures", "group_size", "prune_share", "analyse_merged", "stall_seconds"),
    "phase_threshold",
)
TOOL_OPTIONS = (
    *(*MODEL_OPTIONS, *TEAM_OPTIONS, "function_calling", "steps", "consolidate"),
    *("planner_threshold", "tool_threshold", "answer_threshold"),
)
MAKING_OPTIONS = (*MODEL_OPTIONS, *TEAM_OPTIONS, "phases", "leave_out", "reading", "sandbox")
"""What may be said of each run."""


@dataclass(frozen=True, kw_only=True)
class BenchFlags:
    """Flags that have nothing to do with what a run does."""

    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder with its task files, or one.")]
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="So many tasks, spread over all kinds; else all.")
    ] = None
    kinds: Annotated[
        int | None, typer.Option("--kinds", min=1, help="Only tasks of so many kinds, such as templates.")
    ] = None
    every: Annotated[
        int | None, typer.Option("--every", min=1, help="Every so many tasks, from the first one.")
    ] = None
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Tasks at once.")] = 1
    again: Annotated[bool, typer.Option("--again", help="Run tasks again that an error ended.")] = False
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where finished tasks are kept.")
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False

    def wanted(self, benchmark: str, part: str = "") -> Wanted:
        """Return what they ask for.

        Args:
            benchmark: Its name.
            part: Folder in that where its finished tasks are kept; empty: there.

        Raises:
            UserError: two of them contradict each other.
        """
        return Wanted(
            data=self.data,
            folder=(self.out or kept_folder(benchmark)) / part,
            limit=self.limit,
            kinds=self.kinds,
            every=self.every,
            at_once=self.concurrency,
            again=self.again,
        )


def kept_folder(benchmark: str) -> Path:
    """Return where finished tasks of a benchmark are kept, where nobody says otherwise."""
    return data_folder() / "bench" / benchmark


def spread(command: Callable[..., Any], *without: str) -> Callable[..., Any]:
    """Give a command that takes `flags: BenchFlags` one flag for each field of it, after its own.

    Args:
        command: The command.
        without: Fields that it has no flag for.
    """
    told = [each for each in fields(BenchFlags) if each.name not in without]
    hints = get_type_hints(BenchFlags, include_extras=True)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "flags"]
    first = [p for p in own if p.kind is not p.VAR_KEYWORD]
    spread_out = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.name == "data" else each.default,
            annotation=hints[each.name],
        )
        for each in told
    ]

    def wrapped(**given: Any) -> Any:
        said = {each.name: given.pop(each.name) for each in told}
        return command(flags=BenchFlags(**said), **given)

    wrapped.__doc__ = command.__doc__
    rest = [p for p in own if p.kind is p.VAR_KEYWORD]
    wrapped.__signature__ = inspect.Signature(
        [  # pyright: ignore[reportFunctionMemberAccess]
            *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in first),
            *spread_out,
            *rest,
        ]
    )
    return wrapped
