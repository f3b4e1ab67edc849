"""The ledger: what the recorded steps of a run consumed, by role or team.

Pure functions from records to figures; knows nothing of storage or display. Every revision of a step
counts, because every one was paid for.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from plait.events import FeedbackGiven, Record, RunStarted, StepRecorded, TextsEmbedded
from plait.models.protocol import TokenUsage
from plait.task import Usage

Key = Literal["role", "team"]

_TEAM = re.compile(r"(?:^|/)team-(\d+)(?=/|$)")
_ROUND = re.compile(r"(?:^|/)round-(\d+)(?=/|$)")


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One finished model call, or one that an equal call answered for."""

    path: str
    role: str
    strand: str
    team: int | None
    """From the path; None outside teams."""
    round: int | None
    """The outermost round of the path; None outside rounds."""
    model: str
    form: str
    finish: str
    usage: TokenUsage
    shared: bool = False
    """Not made: `usage` is what it would have cost."""


@dataclass(frozen=True, kw_only=True)
class ToolCounts:
    """Executed tool calls, by what they do to the world."""

    reads: int = 0
    effects: int = 0

    @property
    def total(self) -> int:
        return self.reads + self.effects


def entries(records: Iterable[Record]) -> list[LedgerEntry]:
    """Return one entry per recorded model call, in the order of the records."""
    return [
        _entry(record.path, record.event)
        for record in records
        if isinstance(record.event, StepRecorded) and record.event.step == "model"
    ]


def totals(ledger: Iterable[LedgerEntry]) -> Usage:
    """Add entries up; `seconds` is the time spent in model calls, longer than the run's if they overlap."""
    total = Usage()
    for entry in ledger:
        usage = entry.usage
        if entry.shared:
            saved = total.saved_tokens + usage.input_tokens + usage.output_tokens
            total = replace(total, shared_calls=total.shared_calls + 1, saved_tokens=saved)
            continue
        total = replace(
            total,
            model_calls=total.model_calls + 1,
            input_tokens=total.input_tokens + usage.input_tokens,
            cached_input_tokens=total.cached_input_tokens + usage.cached_input_tokens,
            output_tokens=total.output_tokens + usage.output_tokens,
            usd=total.usd + usage.usd,
            seconds=total.seconds + usage.seconds,
        )
    return total


def by(ledger: Iterable[LedgerEntry], key: Key) -> dict[str, Usage]:
    """Add entries up by one of their fields; what has no team stands under "-"."""
    groups: dict[str, list[LedgerEntry]] = {}
    for entry in ledger:
        value = cast("str | int | None", getattr(entry, key))
        groups.setdefault("-" if value is None else str(value), []).append(entry)
    return {name: totals(group) for name, group in groups.items()}


def tool_counts(records: Iterable[Record]) -> ToolCounts:
    """Count the executed tool calls; an effect that the user assumed done counts too.

    A read that another call answered for was not executed, nor was what was refused.
    """
    events = [record.event for record in records if isinstance(record.event, StepRecorded)]
    steps = [event.step for event in events if not _spared(event.result)]
    return ToolCounts(reads=steps.count("tool"), effects=steps.count("effect"))


def own_records(records: Sequence[Record]) -> list[Record]:
    """Return what the run itself did: not what a fork copied, and not feedback that came later."""
    begun = next((record.at for record in records if isinstance(record.event, RunStarted)), 0.0)
    return [r for r in records if r.at >= begun and not isinstance(r.event, FeedbackGiven)]


def wall_seconds(records: Sequence[Record]) -> float:
    """Return the seconds a run worked itself, over all its processes and without the pauses between them."""
    spans: dict[int, tuple[float, float]] = {}
    for record in own_records(records):
        first, last = spans.get(record.epoch, (record.at, record.at))
        spans[record.epoch] = (min(first, record.at), max(last, record.at))
    return sum(last - first for first, last in spans.values())


def usage_of(records: Sequence[Record]) -> Usage:
    """Return model and tool calls, those that a fork copied among them, and the run's own embedding calls and
    seconds."""
    return replace(
        totals(entries(records)),
        embedding_calls=sum(isinstance(record.event, TextsEmbedded) for record in records),
        tool_calls=tool_counts(records).total,
        seconds=wall_seconds(records),
    )


def round_of(path: str) -> int | None:
    """Return the number of the outermost round that a step or an event lies in; None outside rounds."""
    return _number(_ROUND, path.partition("!")[0])


def team_of(path: str) -> int | None:
    """Return the number of the team that a step or an event belongs to; None outside teams."""
    return _number(_TEAM, path.partition("!")[0])


def cached_share(usage: Usage) -> float:
    """Return the part of the input tokens that a prefix cache answered, 0 to 1."""
    return usage.cached_input_tokens / usage.input_tokens if usage.input_tokens else 0.0


def _entry(path: str, step: StepRecorded) -> LedgerEntry:
    result = _object(step.result)
    usage = _object(result.get("usage"))
    return LedgerEntry(
        path=path,
        role=str(step.args.get("role", "")),
        strand=str(step.args.get("strand", "")),
        team=_number(_TEAM, path),
        round=round_of(path),
        model=str(step.args.get("model", "")),
        form=_form(step.args.get("form")),
        finish=str(result.get("finish", "")),
        usage=TokenUsage(
            input_tokens=int(usage.get("input_tokens", 0)),
            cached_input_tokens=int(usage.get("cached_input_tokens", 0)),
            output_tokens=int(usage.get("output_tokens", 0)),
            seconds=float(usage.get("seconds", 0.0)),
            usd=float(usage.get("usd", 0.0)),
        ),
        shared=bool(step.shared_with),
    )


def _spared(result: Any) -> bool:
    """Whether a call's result says that nothing was executed for it."""
    said = _object(result)
    return bool(said.get("shared") or said.get("refused"))


def _form(form: Any) -> str:
    """Name the reply form, whether it is recorded by name or as an object of that kind."""
    return str(_object(form).get("kind", "")) if isinstance(form, Mapping) else str(form or "")


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _number(pattern: re.Pattern[str], path: str) -> int | None:
    found = pattern.search(path)
    return int(found[1]) if found else None
