"""A budget that runs low ends in less of all, not in the middle; a team that takes too much ends alone."""

from typing import Any
from zlib import crc32

import pytest
from tests.support.memory_journal import Memory, MemoryJournal
from tests.teams.test_resume import Whole
from tests.teams.troupe import (
    CODING,
    COMPLETION,
    DESIGN,
    MANUAL,
    TEST,
    Asked,
    Troupe,
    model_steps,
    part_of,
)

from plait.errors import BudgetExhausted
from plait.events import MeetingStarted, Noted, TeamDropped, TeamFinished
from plait.models.budget import Budget, Limits
from plait.models.protocol import TokenUsage
from plait.models.scripted import prompt
from plait.task import Usage
from plait.teams import economy
from plait.teams.economy import Ahead, Economy, ahead_of

CHAIN = (DESIGN, CODING, COMPLETION, TEST, MANUAL)
MEETINGS = ("coding", "completion")
WHOLE_CALLS = 33
"""What four teams take where nothing is saved."""


class Discontent(Whole):
    """Teams of which some find no end, and never write the same again."""

    def __init__(self, *teams: int) -> None:
        self.teams = teams

    def instructor(self, asked: Asked) -> str:
        return "CHANGE: do more." if asked.team in self.teams else "AGREED"

    def design(self, asked: Asked) -> str:
        return f"{super().design(asked)} {crc32(asked.text.encode())}"

    def coding(self, asked: Asked) -> Any:
        return str(super().coding(asked)).replace("rules = ", f"rules = {crc32(asked.text.encode())} + ")


def outcome(troupe: Troupe) -> Any:
    progress = troupe.progress
    return progress.solution, {name: each.shown() for name, each in progress.products.items()}


def told(troupe: Troupe) -> list[str]:
    notes = [event.text for event in troupe.events(Noted)]
    return notes + [event.reason for event in troupe.events(TeamDropped)]


def test_what_lies_ahead_is_counted_in_phases() -> None:
    assert ahead_of(CHAIN, CODING, MEETINGS, 3) == Ahead(rank=3, together=2, meetings=2, alone=2)
    assert Ahead(rank=3, together=2, meetings=2, alone=2).work == 3 * 2 + 2 * 2 + 2
    assert Ahead(rank=3, together=2, meetings=2, alone=2).length == 6
    assert ahead_of(CHAIN, COMPLETION, MEETINGS, 2) == Ahead(rank=2, together=1, meetings=1, alone=2)
    assert ahead_of(CHAIN, MANUAL, MEETINGS, 1).work == 1
    # Where all go on to the end nobody goes alone.
    assert ahead_of(CHAIN, CODING, (), 3) == Ahead(rank=3, together=4, meetings=0)
    assert ahead_of(CHAIN, CODING, MEETINGS, 1).length == 4


@pytest.mark.parametrize(
    ("limits", "spent", "lacks"),
    [
        ({"calls": 100}, {"model_calls": 10}, ""),
        ({"calls": 20}, {"model_calls": 10}, "10 model calls are left, about 24 are needed"),
        ({"tokens": 1_000}, {"input_tokens": 900}, "100 tokens are left, about 1,200 are needed"),
        ({"usd": 1.0}, {"usd": 0.5}, "0.50 USD are left, about 1.20 are needed"),
        ({"seconds": 80.0}, {"seconds": 21.0}, "59 seconds are left, about 60 are needed"),
    ],
)
async def test_what_is_left_is_compared_with_what_phases_cost(
    limits: dict[str, Any], spent: dict[str, Any], lacks: str
) -> None:
    troupe = Troupe()
    run = Budget(Limits(**limits), spent=Usage(**spent), clock=lambda: 0.0)
    journal = MemoryJournal(troupe.memory)
    purse = Economy(journal, run, thrifty=True)
    ahead = Ahead(rank=3, together=2, meetings=2, alone=2)
    assert (await purse.lacks("nothing-yet", ahead)).lacks == ""
    for calls in (1, 3):
        phase = run.part("phase")
        for _ in range(calls):
            phase.recall(TokenUsage(input_tokens=40, output_tokens=10, seconds=5.0, usd=0.05))
        purse.ended(phase)
    found = await purse.lacks("phase", ahead)
    assert found.lacks == lacks
    # Found once, it stands.
    later = Economy(journal, Budget(Limits()), thrifty=True)
    assert await later.lacks("phase", ahead) == found
    assert not (await Economy(journal, run, thrifty=False).lacks("other", ahead)).lacks


async def test_a_budget_that_is_enough_changes_nothing() -> None:
    ample = Troupe(teams=4, voices=Whole())
    await ample.play()
    assert len(model_steps(ample.memory)) == WHOLE_CALLS
    assert told(ample) == []


@pytest.mark.parametrize("calls", range(14, WHOLE_CALLS + 1))
async def test_a_budget_that_runs_low_ends_in_less_and_not_in_the_middle(calls: int) -> None:
    poor = Troupe(teams=4, voices=Whole(), calls=calls)
    await poor.play()
    assert poor.progress.solution is not None
    assert set(poor.progress.products) == {"design", "code", "manual"}
    assert len(model_steps(poor.memory)) <= calls
    assert any(not event.closed for event in poor.events(TeamFinished))
    if len(model_steps(poor.memory)) < WHOLE_CALLS:
        assert all("the budget runs low: " in line for line in told(poor))
        assert told(poor)

    # Resumed with ample means, or replayed, it goes the same way.
    again = Troupe(teams=4, voices=Whole(), memory=Memory(results=dict(poor.memory.results)))
    await again.play()
    assert again.model.requests == []
    assert outcome(again) == outcome(poor)
    assert sorted(told(again)) == sorted(told(poor))


async def test_teams_give_way_from_the_last() -> None:
    poor = Troupe(teams=4, voices=Whole(), calls=20)
    await poor.play()
    dropped = [event.team for event in poor.events(TeamDropped)]
    assert dropped
    assert "team-1" not in dropped
    assert sorted(dropped) == [f"team-{number}" for number in range(5 - len(dropped), 5)]


@pytest.mark.parametrize("calls", [14, 18, 22, 26])
@pytest.mark.parametrize("cut", [2, 5, 9, 12])
async def test_a_run_that_was_killed_while_the_budget_ran_low_goes_on_the_same_way(
    calls: int, cut: int
) -> None:
    poor = Troupe(teams=4, voices=Whole(), calls=calls)
    await poor.play()
    kept = dict(list(poor.memory.results.items())[:cut])
    asked = sum(poor.memory.kinds[path] == "model" for path in kept)
    memory = Memory(results=kept, kinds={path: poor.memory.kinds[path] for path in kept})
    again = Troupe(teams=4, voices=Whole(), memory=memory)
    spent = Budget(Limits(calls=calls), spent=Usage(model_calls=asked))
    again.ensemble = Troupe.with_budget(again.ensemble, spent)
    await again.play()
    assert again.progress.solution is not None
    assert len(again.model.requests) + asked <= calls
    assert all(memory.results[path] == value for path, value in kept.items())


async def test_nothing_is_merged_where_that_cannot_be_paid() -> None:
    poor = Troupe(CODING, TEST, MANUAL, teams=2, voices=Discontent(1, 2), calls=24)
    await poor.play()
    assert any("so nothing is merged after coding: all take what team-" in line for line in told(poor))
    assert poor.events(MeetingStarted) == []
    assert "merge" not in [part_of(prompt(request)) for request in poor.model.requests]
    assert poor.progress.solution is not None


async def test_a_team_that_takes_too_much_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(economy, "FAIR", 0.5)
    troupe = Troupe(teams=4, voices=Discontent(2), calls=100)
    await troupe.play()
    [dropped] = troupe.events(TeamDropped)
    assert dropped.team == "team-2"
    assert "The share of team-2 of the budget, 13 model calls, is used up" in dropped.reason
    assert troupe.progress.solution is not None
    own = [path for path in model_steps(troupe.memory) if path.startswith("run/team-2/")]
    assert len(own) == 13

    # For good: what others settled without it is not asked again.
    again = Troupe(teams=4, voices=Discontent(2), memory=Memory(results=dict(troupe.memory.results)))
    await again.play()
    assert again.model.requests == []
    assert outcome(again) == outcome(troupe)


async def test_what_a_team_spent_before_it_was_taken_up_again_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(economy, "FAIR", 0.5)
    whole = Troupe(teams=4, voices=Discontent(2), calls=100)
    await whole.play()
    kept = {path: each for path, each in whole.memory.results.items() if "design" in path}
    again = Troupe(teams=4, voices=Discontent(2), memory=Memory(results=dict(kept)), calls=100)
    await again.play()
    assert again.memory.results == whole.memory.results


async def test_without_thrift_a_run_stops_where_its_budget_ends() -> None:
    troupe = Troupe(teams=4, voices=Whole(), calls=20, thrifty=False)
    with pytest.raises(BudgetExhausted):
        await troupe.play()
    assert not [path for path in troupe.memory.results if path.endswith("/means")]
