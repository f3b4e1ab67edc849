"""The critical path of a run of teams, from records made by hand; each reply takes as long as it says."""

from typing import Any

from benchmarks._critical_path import critical_path

from plait.events import GroupsFormed, MeetingStarted, Record, StepRecorded, TeamStarted


def records(*told: tuple[str, Any]) -> list[Record]:
    return [
        Record(run_id="r", sequence=number, path=f"run/{path}", revision=0, epoch=1, at=0.0, event=event)
        for number, (path, event) in enumerate(told)
    ]


def call(path: str, seconds: float) -> tuple[str, StepRecorded]:
    step = StepRecorded(step="model", args={}, args_hash="", result={"text": str(seconds)}, seconds=99)
    return f"{path}/try-1", step


def team(number: int) -> tuple[str, TeamStarted]:
    name = f"team-{number}"
    return f"{name}!0", TeamStarted(team=name, temperature=0.2, phases=["plan", "code", "end"])


def meeting(*levels: list[list[str]]) -> list[tuple[str, Any]]:
    names = sorted(name for group in levels[0] for name in group)
    started = ("code!0", MeetingStarted(phase="code", teams=names))
    formed = [
        (f"code!{number}", GroupsFormed(level=number, groups=groups))
        for number, groups in enumerate(levels, start=1)
    ]
    return [started, *formed]


def path_of(*told: tuple[str, Any]) -> float:
    return critical_path(records(*told), float)


def test_the_calls_of_one_team_wait_for_each_other() -> None:
    calls = [call("team-1/plan/round-1/assistant", 1), call("team-1/plan/round-1/instructor", 2)]
    assert path_of(team(1), *calls, call("team-1/code/round-1/assistant", 4)) == 7


def test_other_steps_than_calls_of_the_model_are_no_part_of_it() -> None:
    value = StepRecorded(step="value", args={}, args_hash="", result={"text": "50"}, seconds=50)
    assert path_of(team(1), call("team-1/plan/round-1/assistant", 1), ("team-1/plan/x", value)) == 1


def test_teams_without_a_meeting_do_not_wait_for_each_other() -> None:
    calls = [call("team-1/plan/a", 5), call("team-2/plan/a", 1), call("team-2/code/a", 3)]
    assert path_of(team(1), team(2), *calls) == 5


def test_a_name_that_begins_as_another_is_another_team() -> None:
    assert path_of(team(1), team(10), call("team-1/plan/a", 2), call("team-10/plan/a", 3)) == 3


def test_a_meeting_waits_for_all_and_who_goes_on_waits_for_the_meeting() -> None:
    calls = [call("team-1/code/a", 5), call("team-2/code/a", 1), call("team-1/end/a", 10)]
    merges = [call("code/level-1/group-1/analysis", 2), call("code/level-1/group-1/merge", 3)]
    assert path_of(team(1), team(2), *calls, *meeting([["team-1", "team-2"]]), *merges) == 20


def test_groups_of_one_level_do_not_wait_for_each_other_and_a_later_one_only_for_its_own() -> None:
    levels = meeting(
        [["team-1", "team-2"], ["team-3", "team-4"], ["team-5", "team-6"]],
        [["code/level-1/group-1", "team-4"], ["code/level-1/group-3"]],
        [["code/level-2/group-1", "code/level-1/group-3"]],
    )
    merges = [
        call("code/level-1/group-1/merge", 1),
        # It was refused, so that one of its inputs goes on: no sooner than the merge was there.
        call("code/level-1/group-2/merge", 2),
        call("code/level-1/group-3/merge", 7),
        call("code/level-2/group-1/merge", 4),
        call("code/level-3/group-1/merge", 10),
    ]
    teams = [team(number) for number in range(1, 7)]
    assert path_of(*teams, *levels, *merges) == 17
    assert path_of(*teams, *levels, *merges, call("code/level-2/group-1/analysis", 2)) == 18


def test_a_run_that_asked_nothing_takes_nothing() -> None:
    assert path_of() == 0
