"""Runs that are cut short and taken up again, and runs that are computed from their records alone."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.memory_journal import Memory, MemoryJournal
from tests.teams.child import RUN
from tests.teams.test_orchestra import Dropping, Shuffled, Whole
from tests.teams.troupe import Troupe, Voices, files, model_steps, part_of, team_of

from plait.errors import BudgetExhausted, ModelError
from plait.events import StepRecorded, TeamDropped
from plait.journal import JSON, Journal, JSONObject, StepKind
from plait.models.protocol import Request
from plait.models.scripted import Slow, prompt
from plait.runtime.log import RunLog
from plait.runtime.replay import Replay
from plait.teams.ensemble import TeamsProgress

ROOT = Path(__file__).parents[2]


class Breaking(Voices):
    """Leaves something to mend, so that every kind of step happens."""

    def merge(self, asked: Any) -> Any:
        merged = files(main="print('merged')  # quality 50 broken", rules="rules = 'merged'", extra="e = 1")
        return merged + "\n# changes: took the best of all"


def outcome(progress: TeamsProgress) -> Any:
    """Return what a run came to."""
    return progress.solution, progress.rating, progress.products, progress.reason


async def test_after_a_crash_at_any_step_no_recorded_call_is_made_again() -> None:
    whole = Troupe(teams=3, voices=Breaking())
    result = outcome(await whole.play())
    paths = list(whole.memory.results)
    assert len(paths) > 40
    for step in range(len(paths) + 1):
        kept = paths[:step]
        memory = Memory(
            results={path: whole.memory.results[path] for path in kept},
            kinds={path: whole.memory.kinds[path] for path in kept},
        )
        resumed = Troupe(teams=3, voices=Breaking(), memory=memory)
        assert outcome(await resumed.play()) == result
        done = sum(whole.memory.kinds[path] == "model" for path in kept)
        assert len(resumed.model.requests) == len(model_steps(whole.memory)) - done
        assert memory.results == whole.memory.results


class Crash(Exception):
    """The process is killed."""


class Mortal(MemoryJournal):
    """A journal whose process dies when a number of steps is on record."""

    def __init__(self, memory: Memory, path: str = "run", *, life: int) -> None:
        super().__init__(memory, path)
        self._life = life

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        result = await super().call(name, fn, args, kind=kind)
        if len(self.memory.results) >= self._life:
            raise Crash
        return result

    async def branch(self, name: str, fn: Callable[[Journal, Any], Awaitable[Any]], args: Any) -> Any:
        return await fn(Mortal(self.memory, f"{self.path}/{name}", life=self._life), args)


@pytest.mark.parametrize("tenth", range(1, 10))
async def test_a_run_that_died_among_parallel_teams_comes_to_the_same_end(tenth: int) -> None:
    whole = Troupe(teams=3, voices=Whole())
    result = outcome(await whole.play())
    life = len(whole.memory.results) * tenth // 10
    dead = Troupe(teams=3, voices=Shuffled(life))
    with pytest.raises(Crash):
        await dead.play(Mortal(dead.memory, life=life))
    resumed = Troupe(teams=3, voices=Shuffled(life + 1), memory=dead.memory)
    assert outcome(await resumed.play()) == result
    assert resumed.memory.results == whole.memory.results


async def test_a_team_that_was_dropped_before_a_meeting_stays_dropped() -> None:
    stalled = Troupe(teams=3, voices=Dropping("coding", Slow(seconds=30), 2), stall_seconds=0.1)
    result = outcome(await stalled.play())
    # Now team 2 would answer at once: but the others have met without it.
    resumed = Troupe(teams=3, voices=Whole(), memory=Memory(results=stalled.memory.results))
    assert outcome(await resumed.play()) == result
    assert resumed.model.requests == []
    [dropped] = resumed.events(TeamDropped)
    assert (dropped.team, dropped.phase) == ("team-2", "coding")


@pytest.mark.parametrize("error", [BudgetExhausted("used up", limit="usd"), ModelError("gone")])
async def test_a_run_that_lacked_budget_or_model_goes_on_where_it_was(error: Exception) -> None:
    poor = Troupe(teams=3, voices=Dropping("completion", error, 1, 2, 3))
    with pytest.raises(type(error)):
        await poor.play()
    whole = Troupe(teams=3, voices=Whole())
    result = outcome(await whole.play())
    resumed = Troupe(teams=3, voices=Whole(), memory=poor.memory)
    assert outcome(await resumed.play()) == result
    paid = len(model_steps(whole.memory)) - len(poor.model.requests) + 3
    assert len(resumed.model.requests) == paid


@pytest.mark.parametrize("calls", [3, 7, 9, 11, 14, 16, 18, 20, 24, 28])
async def test_a_run_that_a_limit_ended_comes_to_the_end_of_one_without(calls: int) -> None:
    whole = Troupe(teams=4, voices=Whole(), thrifty=False)
    result = outcome(await whole.play())
    short = Troupe(teams=4, voices=Shuffled(calls), calls=calls, thrifty=False)
    with pytest.raises(BudgetExhausted):
        await short.play()
    assert len(model_steps(short.memory)) == calls
    memory = Memory(results=short.memory.results)
    resumed = Troupe(teams=4, voices=Shuffled(calls + 1), memory=memory, thrifty=False)
    assert outcome(await resumed.play()) == result
    assert resumed.memory.results == whole.memory.results
    assert len(resumed.model.requests) == len(model_steps(whole.memory)) - calls


async def test_a_loss_on_record_stands_whatever_it_was_for() -> None:
    stalled = Troupe(teams=3, voices=Dropping("coding", Slow(seconds=30), 2), stall_seconds=0.1)
    result = outcome(await stalled.play())
    lost: dict[str, Any] = {"phase": "coding", "reason": "stalled: no step ended for 0.1 seconds"}
    for path in ("run/coding/attendance", "run/completion/attendance", "run/ended"):
        recorded: Any = stalled.memory.results[path]
        stalled.memory.results[path] = {**recorded, "lost": {"team-2": {**lost, "kind": "budget"}}}
    resumed = Troupe(teams=3, voices=Whole(), memory=Memory(results=stalled.memory.results))
    assert outcome(await resumed.play()) == result


@pytest.mark.parametrize("replies", [3, 9, 14, 18, 24])
async def test_a_run_whose_endpoint_went_away_comes_to_the_end_of_one_whose_did_not(replies: int) -> None:
    class Going(Whole):
        left = replies

        def __call__(self, request: Request) -> Any:
            self.left -= 1
            return ModelError("gone") if self.left < 0 else super().__call__(request)

    result = outcome(await Troupe(teams=4, voices=Whole()).play())
    short = Troupe(teams=4, voices=Going())
    with pytest.raises(ModelError, match="gone"):
        await short.play()
    resumed = Troupe(teams=4, voices=Whole(), memory=Memory(results=short.memory.results))
    assert outcome(await resumed.play()) == result
    assert resumed.events(TeamDropped) == []


class Failing(Whole):
    """Stalls in one team's coding, in a merge, and in the chain that goes on."""

    def __call__(self, request: Request) -> Any:
        stalls = (part_of(prompt(request)), team_of(request)) in (("coding", 2), ("manual", 1), ("merge", 0))
        return Slow(seconds=30) if stalls else super().__call__(request)


async def test_a_run_on_the_real_log_is_replayed_from_its_records_alone(tmp_path: Path) -> None:
    log = RunLog.open(f"sqlite:///{tmp_path / 'plait.db'}")
    journal = await log.start("r1", "task", {})
    troupe = Troupe(teams=4, voices=Failing(), stall_seconds=0.2)
    result = outcome(await troupe.play(journal))
    await journal.close()
    assert "team-2 was dropped in coding" in troupe.progress.reason
    assert "team-1 was dropped in manual" in troupe.progress.reason

    resumed = Troupe(teams=4, voices=Failing(), stall_seconds=0.2)
    journal = await log.resume("r1", {})
    before = len(log.records("r1"))
    assert outcome(await resumed.play(journal)) == result
    await journal.close()
    # Nothing is done or told again: only that the run was taken up.
    assert len(log.records("r1")) == before
    assert resumed.model.requests == []

    replayed = Troupe(teams=4, voices=Failing())
    assert outcome(await replayed.play(Replay(log.records("r1")))) == result
    await log.close()


def start_and_kill(url: str, requests: int) -> None:
    """Run teams in a process of its own and kill it when the model was asked a number of times."""
    command = [sys.executable, "-m", "tests.teams.child", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        for _ in range(requests):
            assert child.stdout.readline() == "asked\n"
        child.kill()


@pytest.mark.parametrize("requests", [2, 9, 17])
async def test_a_killed_process_is_taken_up_by_another(tmp_path: Path, requests: int) -> None:
    whole = Troupe(teams=3, voices=Whole())
    result = outcome(await whole.play())
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    start_and_kill(url, requests)
    log = RunLog.open(url)
    recorded = {record.path for record in log.records(RUN) if isinstance(record.event, StepRecorded)}
    paid = len([path for path in model_steps(whole.memory) if path in recorded])
    assert paid < len(model_steps(whole.memory))
    resumed = Troupe(teams=3, voices=Whole())
    journal = await log.resume(RUN, {})
    assert outcome(await resumed.play(journal)) == result
    await journal.close()
    assert len(resumed.model.requests) == len(model_steps(whole.memory)) - paid
    await log.close()


async def test_a_run_in_which_no_team_lived_is_replayed_too(tmp_path: Path) -> None:
    log = RunLog.open(f"sqlite:///{tmp_path / 'plait.db'}")
    journal = await log.start("r1", "task", {})
    troupe = Troupe(teams=2, voices=Dropping("coding", Slow(seconds=30), 1, 2), stall_seconds=0.1)
    with pytest.raises(Exception, match="no step ended") as first:
        await troupe.play(journal)
    await journal.close()
    replayed = Troupe(teams=2, voices=Whole())
    with pytest.raises(type(first.value)) as again:
        await replayed.play(Replay(log.records("r1")))
    assert str(again.value) == str(first.value)
    await log.close()
