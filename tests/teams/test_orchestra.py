"""Teams at work: who does what, who meets whom, who goes on, who is dropped, and what the result is."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from tests.support.memory_journal import Memory
from tests.teams.troupe import (
    CODING,
    COMPLETION,
    DESIGN,
    MANUAL,
    TEST,
    Asked,
    Troupe,
    Voices,
    files,
    model_steps,
    part_of,
    team_of,
)

from plait.errors import (
    BudgetExhausted,
    LogError,
    ModelError,
    NeedsDecision,
    PlaitError,
    ReplyError,
    RequestRefused,
    UserError,
)
from plait.events import (
    MeetingFinished,
    MeetingStarted,
    Noted,
    PhaseStarted,
    SolutionRated,
    SolutionsMerged,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)
from plait.models.protocol import Request
from plait.models.scripted import Slow, prompt


class Whole(Voices):
    """Merges so that nothing of the inputs is missing."""

    def merge(self, asked: Asked) -> Any:
        extra = {"extra": "extra = 'merged'"} if "extra.py" in asked.text else {}
        main = "print('merged')  # quality 99"
        return files(main=main, rules="rules = 'merged'", **extra) + "\n# changes: took the best of all"


def manuals(troupe: Troupe) -> list[str]:
    """Return which teams wrote a manual, the last phase."""
    return sorted({path.split("/")[1] for path in model_steps(troupe.memory) if "/manual/" in path})


async def test_one_team_goes_through_its_chain_without_meetings_and_is_rated_once() -> None:
    troupe = Troupe(teams=1)
    progress = await troupe.play()
    assert progress.solution is not None
    assert list(progress.solution.files) == ["main.py", "rules.py", "extra.py"]
    assert troupe.parts == [
        "design",
        "instructor",
        "coding",
        "instructor",
        "completion",
        "instructor",
        "manual",
    ]
    assert (len(troupe.quality.rated), progress.rating is not None) == (1, True)
    assert set(progress.products) == {"design", "code", "manual"}
    assert troupe.events(MeetingStarted) == []
    assert [(event.team, event.temperature) for event in troupe.events(TeamStarted)] == [("team-1", 0.2)]


async def test_the_last_solution_is_rated_for_the_report_even_where_nothing_else_is() -> None:
    troupe = Troupe(DESIGN, CODING, MANUAL, teams=1)
    progress = await troupe.play()
    assert progress.rating is not None
    assert progress.rating.quality == 10
    [(path, _)] = [(path, event) for path, event in troupe.memory.events if isinstance(event, SolutionRated)]
    assert path == "run/ended"


async def test_teams_meet_at_key_phases_and_one_of_them_carries_the_merged_solution_on() -> None:
    troupe = Troupe(teams=4, voices=Whole())
    progress = await troupe.play()
    assert progress.solution is not None
    assert "merged" in progress.solution.files["extra.py"]
    assert [event.phase for event in troupe.events(MeetingStarted)] == ["coding", "completion"]
    assert manuals(troupe) == ["team-1"]
    assert [event.team for event in troupe.events(TeamFinished) if event.closed] == [
        "team-2",
        "team-3",
        "team-4",
    ]
    # Every team goes on from the merged solution.
    assert all("print('merged')" in text for text in troupe.prompts("completion"))
    assert len(troupe.prompts("completion")) == 4


async def test_on_the_papers_terms_all_go_on_after_the_last_meeting() -> None:
    troupe = Troupe(teams=3, voices=Whole(), all_go_on=True)
    await troupe.play()
    assert manuals(troupe) == ["team-1", "team-2", "team-3"]


async def test_a_solution_that_came_back_is_not_rated_again_by_those_that_inspect_it() -> None:
    troupe = Troupe(teams=3, voices=Whole(), all_go_on=True)
    await troupe.play()
    assert len(troupe.quality.rated) == len(set(troupe.quality.rated))


async def test_what_a_meeting_hands_back_is_rated_once_for_all_that_inspect_it() -> None:
    troupe = Troupe(CODING, TEST, teams=4, voices=Whole(), all_go_on=True, elitism=False)
    await troupe.play()
    [merged] = [event for event in troupe.events(SolutionRated) if event.by.startswith("coding/")]
    assert troupe.quality.rated.count(merged.digest) == 1
    assert len(troupe.quality.rated) == 1
    # Where the next phase writes it anew without looking at it, nobody wants the rating.
    troupe = Troupe(CODING, replace(COMPLETION, key=False), teams=4, voices=Whole(), elitism=False)
    await troupe.play()
    assert [event.by for event in troupe.events(SolutionRated)] == ["team-1"]


async def test_teams_without_a_key_phase_do_not_wait_for_its_meeting() -> None:
    released = asyncio.Event()

    class Waiting(Whole):
        async def wait(self, said: str) -> str:
            await released.wait()
            return said + "\n# critique: fine\n# score: 9"

        def completion(self, asked: Asked) -> Any:
            # Teams 1 and 2 complete only after team 3, which has no such phase, is at its end.
            return self.wait(super().completion(asked))

        def manual(self, asked: Asked) -> str:
            if asked.team == 3:
                released.set()
            return super().manual(asked)

    leave_out = ((), (), ("completion",))
    troupe = Troupe(
        CODING, COMPLETION, MANUAL, teams=3, voices=Waiting(), leave_out=leave_out, all_go_on=True
    )
    await troupe.play()
    assert [(event.phase, list(event.teams)) for event in troupe.events(MeetingStarted)] == [
        ("coding", ["team-1", "team-2", "team-3"]),
        ("completion", ["team-1", "team-2"]),
    ]


@pytest.mark.parametrize("without", [1, 2, 3])
async def test_a_team_without_the_last_key_phase_goes_on_whatever_its_number(without: int) -> None:
    leave_out = [("completion",) if number == without else () for number in (1, 2, 3)]
    troupe = Troupe(teams=3, voices=Whole(), leave_out=leave_out)
    await troupe.play()
    others = [f"team-{number}" for number in (1, 2, 3) if number != without]
    assert [list(event.teams) for event in troupe.events(MeetingStarted)][1:] == [others]
    assert manuals(troupe) == sorted([others[0], f"team-{without}"])
    assert [event.team for event in troupe.events(TeamFinished) if event.closed] == [others[1]]


async def test_after_the_last_meeting_the_longest_chain_goes_on_and_the_next_takes_over() -> None:
    leave_out = (("review",), ())
    chain = (CODING, replace(TEST, name="review", optional=True), MANUAL)
    troupe = Troupe(*chain, teams=3, voices=Whole(), leave_out=leave_out)
    await troupe.play()
    assert manuals(troupe) == ["team-2"]
    troupe = Troupe(*chain, teams=3, voices=Dropping("manual", "", 2, 3), leave_out=leave_out)
    await troupe.play()
    assert [event.team for event in troupe.events(TeamDropped)] == ["team-2", "team-3"]
    assert troupe.progress.products["manual"].by == "team-1"


async def test_the_first_team_that_met_goes_on_and_the_best_of_several_results_is_taken() -> None:
    class Endings(Whole):
        def test(self, asked: Asked) -> str:
            return files(main=f"print('mended')  # quality {200 + asked.team}")

        def merge(self, asked: Asked) -> Any:
            return str(super().merge(asked)).replace("quality 99", "quality 99 broken")

    troupe = Troupe(teams=3, voices=Endings(), leave_out=(("completion",),))
    progress = await troupe.play()
    # Team 1 has no part in the last meeting, so it goes on; of teams 2 and 3 one does.
    assert manuals(troupe) == ["team-1", "team-2"]
    assert progress.rating is not None
    assert progress.rating.quality == 202
    assert progress.products["manual"].by == "team-2"


async def test_of_equal_results_the_first_team_has_the_say() -> None:
    class Same(Voices):
        def coding(self, asked: Asked) -> str:
            return files(main=f"print({asked.team})  # quality 5")

    troupe = Troupe(CODING, MANUAL, teams=3, voices=Same(), all_go_on=True)
    progress = await troupe.play()
    assert progress.products["manual"].by == "team-1"


async def test_phases_that_one_team_alone_has_are_no_meeting() -> None:
    troupe = Troupe(teams=2, voices=Whole(), leave_out=((), ("completion",)))
    await troupe.play()
    assert [event.phase for event in troupe.events(MeetingStarted)] == ["coding"]


async def test_only_optional_phases_can_be_left_out() -> None:
    with pytest.raises(
        UserError, match="phase 'coding' cannot be left out; optional are: completion, design"
    ):
        await Troupe(teams=2, leave_out=(("coding",),)).play()


async def test_teams_differ_in_temperature() -> None:
    troupe = Troupe(teams=6, voices=Whole())
    await troupe.play()
    assert [event.temperature for event in troupe.events(TeamStarted)] == [0.2, 0.2, 0.4, 0.4, 0.2, 0.2]


class Dropping(Whole):
    """Some teams say something else in one phase."""

    def __init__(self, phase: str, said: Any, *teams: int) -> None:
        self._phase = phase
        self._said = said
        self._teams = teams

    def __call__(self, request: Request) -> Any:
        concerned = part_of(prompt(request)) == self._phase and team_of(request) in self._teams
        return self._said if concerned else super().__call__(request)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("no file at all", "no usable reply of the programmer agent"),
        (RequestRefused("too long"), "too long"),
        (Slow(seconds=30), "no step ended for 0.2 seconds"),
    ],
)
async def test_a_team_that_fails_is_dropped_and_the_others_go_on(said: Any, reason: str) -> None:
    troupe = Troupe(teams=3, voices=Dropping("coding", said, 1), stall_seconds=0.2)
    progress = await troupe.play()
    [dropped] = troupe.events(TeamDropped)
    assert (dropped.team, dropped.phase) == ("team-1", "coding")
    assert reason in dropped.reason
    assert list(troupe.events(MeetingStarted)[0].teams) == ["team-2", "team-3"]
    assert manuals(troupe) == ["team-2"]
    assert progress.reason.startswith("team-1 was dropped in coding: ")


async def test_a_team_that_waits_its_turn_at_the_model_is_not_dropped() -> None:
    class Busy(Whole):
        """Answers one request at a time."""

        turn = asyncio.Semaphore(1)

        def __call__(self, request: Request) -> Any:
            return self.later(super().__call__(request))

        async def later(self, said: Any) -> Any:
            async with self.turn:
                await asyncio.sleep(0.03)
            return said

    troupe = Troupe(replace(CODING, rounds=1), teams=12, voices=Busy(), stall_seconds=0.3, partition=False)
    await troupe.play()
    assert troupe.events(TeamDropped) == []


async def test_a_team_that_is_alone_at_a_meeting_merges_nothing_and_goes_on() -> None:
    troupe = Troupe(teams=3, voices=Dropping("coding", "nothing", 1, 3))
    progress = await troupe.play()
    assert troupe.events(MeetingStarted) == []
    assert troupe.events(SolutionsMerged) == []
    assert manuals(troupe) == ["team-2"]
    assert progress.solution is not None


async def test_a_closed_team_takes_over_from_one_that_fails_later() -> None:
    troupe = Troupe(teams=3, voices=Dropping("manual", "", 1, 2))
    progress = await troupe.play()
    assert [event.team for event in troupe.events(TeamDropped)] == ["team-1", "team-2"]
    assert progress.products["manual"].by == "team-3"


async def test_an_optional_phase_that_gives_nothing_costs_the_team_only_that_phase() -> None:
    optional = replace(MANUAL, optional=True)
    troupe = Troupe(DESIGN, CODING, TEST, optional, teams=2, voices=Dropping("design", "", 1))
    progress = await troupe.play()
    assert troupe.events(TeamDropped) == []
    assert "team-1 goes on without design: " in troupe.events(Noted)[0].text
    assert progress.products["manual"].by == "team-1"
    assert sum("Design: (none)" in text for text in troupe.prompts("coding")) == 1
    troupe = Troupe(CODING, optional, teams=1, voices=Dropping("manual", "", 1))
    progress = await troupe.play()
    assert progress.solution is not None
    assert "manual" not in progress.products


LACKING = [BudgetExhausted("used up", limit="usd"), ModelError("gone")]


@pytest.mark.parametrize("error", LACKING)
async def test_a_team_without_budget_or_model_stops_until_the_run_is_taken_up(error: PlaitError) -> None:
    troupe = Troupe(teams=3, voices=Dropping("coding", error, 2))
    with pytest.raises(type(error)) as raised:
        await troupe.play()
    assert str(raised.value) == f"{error.message}. What stopped: team-2 in coding."
    assert troupe.events(TeamDropped) == troupe.events(MeetingStarted) == []
    assert any("team-2 stops in coding" in event.text for event in troupe.events(Noted))
    # The others came as far as they could, and what they have is not lost.
    assert sum(path.split("/")[2] == "coding" for path in model_steps(troupe.memory)) == 4
    assert troupe.progress.solution is not None


@pytest.mark.parametrize("error", LACKING)
async def test_a_merge_without_budget_or_model_lets_the_others_end(error: PlaitError) -> None:
    class Late(Whole):
        """The second merge of the level ends long after the first has failed."""

        async def later(self, said: str) -> str:
            await asyncio.sleep(0.05)
            return said

        def merge(self, asked: Asked) -> Any:
            return error if "team 1" in asked.text else self.later(str(super().merge(asked)))

    troupe = Troupe(teams=4, voices=Late())
    with pytest.raises(type(error), match=r"What stopped: the meeting after coding\."):
        await troupe.play()
    paths = model_steps(troupe.memory)
    assert "run/coding/level-1/group-2/merge/try-1" in paths
    assert "run/coding/level-1/group-1/outcome" not in troupe.memory.results


async def test_no_team_takes_over_where_the_budget_is_used_up() -> None:
    error = BudgetExhausted("used up", limit="usd")
    troupe = Troupe(teams=3, voices=Dropping("manual", error, 1))
    with pytest.raises(BudgetExhausted, match="used up"):
        await troupe.play()
    assert manuals(troupe) == []
    assert troupe.progress.solution is not None
    assert "merged" in troupe.progress.solution.shown()
    assert set(troupe.progress.products) == {"design", "code"}


async def test_when_no_team_lives_each_reason_is_told() -> None:
    troupe = Troupe(teams=2, voices=Dropping("coding", "nothing", 1, 2))
    with pytest.raises(ReplyError, match=r"team-1 was dropped in coding: .*; team-2 was dropped in coding: "):
        await troupe.play()
    assert troupe.progress.solution is None


@pytest.mark.parametrize("error", [BudgetExhausted("used up", limit="usd"), ModelError("gone")])
async def test_when_no_team_lives_for_lack_of_budget_or_model_that_is_the_error(error: PlaitError) -> None:
    troupe = Troupe(teams=2, voices=Dropping("coding", error, 1, 2))
    with pytest.raises(type(error), match=error.message):
        await troupe.play()
    # So that the run can be taken up again with more.
    assert not [path for path in troupe.memory.results if path.endswith(("attendance", "ended"))]


async def test_a_real_budget_ends_the_run_with_the_best_so_far() -> None:
    troupe = Troupe(teams=2, voices=Whole(), calls=10, thrifty=False)
    with pytest.raises(BudgetExhausted):
        await troupe.play()
    assert len(model_steps(troupe.memory)) <= 10
    assert troupe.progress.solution is not None


@pytest.mark.parametrize("error", [NeedsDecision("in doubt", path="run/x"), LogError("disk full")])
async def test_what_concerns_the_whole_run_ends_all_teams_at_once(error: PlaitError) -> None:
    ended: list[int] = []

    class Doubtful(Whole):
        async def wait(self, team: int) -> str:
            try:
                await asyncio.sleep(30)
            finally:
                ended.append(team)
            return ""

        def coding(self, asked: Asked) -> Any:
            return error if asked.team == 2 else self.wait(asked.team)

    troupe = Troupe(teams=3, voices=Doubtful())
    with pytest.raises(type(error)):
        await troupe.play()
    assert sorted(ended) == [1, 3]


async def test_cancellation_ends_all_teams() -> None:
    troupe = Troupe(teams=3, voices=Dropping("coding", Slow(seconds=30), 1, 2, 3))
    task = asyncio.create_task(troupe.play())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert troupe.events(TeamDropped) == []


class Shuffled(Whole):
    """Answers after pauses of its own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, request: Request) -> Any:
        return self._later(super().__call__(request), self._random.random() / 100)

    async def _later(self, said: Any, seconds: float) -> Any:
        await asyncio.sleep(seconds)
        return said


async def test_nothing_on_record_depends_on_timing() -> None:
    async def recorded(voices: Voices) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        troupe = Troupe(teams=5, voices=voices, leave_out=((), ("completion",), ("design",)), prune_from=4)
        await troupe.play()
        return dict(sorted(troupe.memory.results.items())), by_place(troupe.memory)

    usual = await recorded(Whole())
    for seed in range(3):
        assert await recorded(Shuffled(seed)) == usual


def by_place(memory: Memory) -> dict[str, list[Any]]:
    """Return the events of each place, in order."""
    places: dict[str, list[Any]] = {}
    for path, event in memory.events:
        places.setdefault(path, []).append(event)
    return dict(sorted(places.items()))


async def test_eight_teams_take_as_many_steps_in_a_row_as_the_critical_path_has() -> None:
    pauses = 0.02

    class Even(Whole):
        def __call__(self, request: Request) -> Any:
            return self.later(super().__call__(request))

        async def later(self, said: Any) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(pauses)
            self.now -= 1
            return said

        now = most = 0

    voices = Even()
    troupe = Troupe(CODING, teams=8, voices=voices, prune=0.0)
    await troupe.play()
    # All eight at once, and then the merges of one level at once: 4, 2, 1.
    assert voices.most == 8
    assert [event.levels for event in troupe.events(MeetingFinished)] == [3]


async def test_every_phase_begins_with_its_roles() -> None:
    troupe = Troupe(CODING, teams=1)
    await troupe.play()
    [started] = troupe.events(PhaseStarted)
    assert (started.instructor, started.assistant) == ("chief", "programmer")
