"""`plait run --domain`: teams make something, from the command line to the files, come what may."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import studio
from tests.support.commands import Commands, records, runs
from tests.support.endpoint import Endpoint
from tests.support.served import served

from plait.events import MeetingFinished, Noted, RunStarted, SolutionsMerged, StepRecorded, TeamStarted
from plait.paths import runs_folder

ALONE, THREE = 5, 17
"""Model calls of a run of one team and of three."""
POLISHED = "The note, PLANNED, with DETAIL, POLISHED."


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(respond=studio.respond) as endpoint:
        yield endpoint


def test_one_team_makes_a_note(plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "1", "--json")
    assert (said.status, said.json["answer"], said.json["score"]) == (0, POLISHED, 1.0)
    assert endpoint.requests == ALONE
    [team] = said.json["teams"]
    assert team == {
        "name": "team-1",
        "temperature": 0.2,
        "phases": ["plan", "writing", "polish"],
        "quality": 1.0,
        "pruned": False,
        "dropped": "",
    }


def test_three_teams_meet_and_one_goes_on(plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "3", "--json")
    assert (said.status, said.json["answer"]) == (0, POLISHED)
    assert endpoint.requests == said.json["usage"]["model_calls"] == THREE
    assert [team["temperature"] for team in said.json["teams"]] == [0.2, 0.2, 0.4]
    assert [len(team["phases"]) for team in said.json["teams"]] == [3, 2, 2]
    assert said.json["teams"][1]["quality"] == pytest.approx(2 / 3)
    assert said.json["reflection"]["gates"]["aggregator"] == {"passed": 4, "revised": 0, "forced": 0}


def test_the_result_lies_in_its_folder_with_its_record(plait: Commands, endpoint: Endpoint, tmp_path: Path):
    folder = tmp_path / "notes" / "rain"
    said = studio.run(plait, endpoint.base_url, "--teams", "3", "--json", "--out", str(folder))
    assert [Path(path).name for path in said.json["artifacts"]] == ["RECORD.md", "note.md"]
    assert (folder / "note.md").read_text() == POLISHED + "\n"
    record = (folder / "RECORD.md").read_text()
    assert "> Write a note about rain" in record
    assert "| team-3 | 0.4 | plan | 1 |" in record
    assert "- team-2: quality 0.67" in record
    assert "### writing/level-1/group-1: team-1 + team-2" in record
    assert "> I took the detail from solution 2." in record


def test_a_folder_with_something_else_in_it_is_left_alone(
    plait: Commands, endpoint: Endpoint, tmp_path: Path
):
    (tmp_path / "note.md").write_text("mine")
    said = studio.run(plait, endpoint.base_url, "--teams", "1", "--json", "--out", str(tmp_path))
    assert said.status == 0
    assert (tmp_path / "note.md").read_text() == "mine"
    own = runs_folder() / said.json["run_id"]
    assert said.json["artifacts"] == [str(own / "RECORD.md"), str(own / "note.md")]
    notes = [r.event.text for r in records(said.json["run_id"]) if isinstance(r.event, Noted)]
    assert any("note.md" in note and str(own) in note for note in notes)
    assert json.loads(plait("replay", said.json["run_id"]).out) == said.json


@pytest.mark.parametrize("teams", ["1", "3"])
def test_a_replay_gives_the_same_result(teams: str, plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", teams, "--json")
    asked = endpoint.requests
    replayed = plait("replay", said.json["run_id"])
    assert (replayed.status, json.loads(replayed.out)) == (0, said.json)
    assert endpoint.requests == asked


@pytest.mark.parametrize("calls", [1, 4, 6])
def test_a_used_up_budget_is_resumed_with_a_larger_one(calls: int, plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "3", "--json", "--max-calls", str(calls))
    assert (said.status, said.json["status"]) == (3, "budget_exhausted")
    assert "--max-calls" in said.json["message"]
    assert endpoint.requests == calls
    again = plait("resume", said.json["run_id"], "--json", "--max-calls", "100")
    assert (again.status, again.json["answer"]) == (0, POLISHED)
    assert endpoint.requests == THREE
    assert json.loads(plait("replay", said.json["run_id"]).out) == again.json


def test_the_best_so_far_of_a_used_up_budget_is_handed_over(plait: Commands, endpoint: Endpoint):
    # Three calls are the plan and the note, and the fourth would have polished it.
    said = studio.run(plait, endpoint.base_url, "--teams", "1", "--json", "--max-calls", "3")
    assert said.status == 3
    assert said.json["answer"] == "The note of team 1, PLANNED, in short."
    assert [Path(path).name for path in said.json["artifacts"]] == ["RECORD.md", "note.md"]


def test_a_budget_that_runs_low_goes_on_with_less_and_says_so(plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "3", "--json", "--max-calls", "9")
    assert (said.status, said.json["answer"]) == (0, POLISHED)
    assert endpoint.requests <= 9
    dropped = {team["name"]: team["dropped"] for team in said.json["teams"]}
    assert dropped["team-1"] == ""
    assert "the budget runs low" in dropped["team-3"]
    assert "so fewer teams go on" in plait("show", said.json["run_id"]).out
    assert json.loads(plait("replay", said.json["run_id"]).out) == said.json


def test_a_domain_file_is_read_once(plait: Commands, endpoint: Endpoint, tmp_path: Path):
    domain = tmp_path / "own.toml"
    domain.write_text(Path(studio.DOMAIN).read_text())
    short = studio.run(
        plait, endpoint.base_url, "--teams", "1", "--json", "--max-calls", "2", domain=str(domain)
    )
    domain.unlink()
    again = plait("resume", short.json["run_id"], "--json", "--max-calls", "100")
    assert (again.status, again.json["answer"]) == (0, POLISHED)
    assert json.loads(plait("replay", short.json["run_id"]).out) == again.json


def test_a_fork_from_a_phase_pays_for_what_follows_alone(plait: Commands, endpoint: Endpoint):
    old = studio.run(plait, endpoint.base_url, "--teams", "3", "--json").json
    new = plait("fork", old["run_id"], "--from", "team-1/polish", "--json", "--no-phase-gate")
    assert (new.status, new.json["answer"]) == (0, POLISHED)
    # The prompts of an open gate are others, but what came before the phase is on record.
    assert endpoint.requests > THREE
    same = plait("fork", old["run_id"], "--from", "team-1/polish", "--json")
    assert same.json["usage"]["model_calls"] == THREE


def test_what_teams_do_is_told_as_lines(plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "3")
    assert said.out == POLISHED + "\n"
    *told, where = said.err.splitlines()
    assert where.startswith("plait: in ")
    assert ": RECORD.md, " in where
    lines = [line.split(" s  ", 1)[1] for line in told]
    assert "at most 1,500 calls · 8,000,000 tokens · 14,400 s" in lines[1]
    for line in (
        "team-3 starts, temperature 0.4: plan, writing, polish",
        "team-1 plan: editor and writer",
        "team-1 plan: writer 9/10, passed",
        "team-2 writing done: 41 characters, 1 round",
        "meeting after writing: team-1, team-2, team-3",
        "rated team-2: 0.67",
        "level 1: team-1 + team-2 | team-3",
        "merged team-1 + team-2: I took the detail from solution 2.",
        "meeting after writing over: all are given the solution of writing/level-2/group-1",
        "team-2 closed, another team goes on",
        "team-1 polish: inspection, round 0: It is not polished.",
        "team-1 finished",
    ):
        assert line in lines


def test_what_teams_did_is_shown_as_a_page(plait: Commands, endpoint: Endpoint):
    studio.run(plait, endpoint.base_url, "--teams", "3")
    run_id = runs()[0].run_id
    shown = plait("show", run_id).out
    for text in (
        "team-2, temperature 0.2: plan, writing, polish",
        "  closed: another team carries the merged solution on",
        "meeting after writing: team-1, team-2, team-3",
        "  rated team-1: 0.33 (checks 0.33)\n    finding: It lacks a detail.",
        "      team-2\n        + strength 1\n        - weakness 1",
        "      changes: I took the detail from solution 2.",
        "team      calls  tokens in",
        f"file: {runs_folder() / run_id / 'note.md'}",
    ):
        assert text in shown
    # Each team has its calls; what is left was asked in meetings.
    calls = [row.split()[:2] for row in shown.splitlines() if row.startswith(("team-", "meetings "))][-4:]
    assert [name for name, _ in calls] == ["team-1", "team-2", "team-3", "meetings"]
    assert sum(int(count) for _, count in calls) == THREE
    assert "--- reply of the aggregator" not in shown
    assert "--- reply of the aggregator" in plait("show", run_id, "--prompts").out
    assert "studio" in plait("runs").out


def started(plait: Commands, endpoint: Endpoint, *flags: str) -> str:
    """Run with flags and return the run's id."""
    said = studio.run(plait, endpoint.base_url, "--json", *flags)
    assert said.status == 0
    return said.json["run_id"]


def merges(run_id: str) -> list[SolutionsMerged]:
    return [r.event for r in records(run_id) if isinstance(r.event, SolutionsMerged)]


def test_no_partition_merges_all_at_once(plait: Commands, endpoint: Endpoint):
    [merge] = merges(started(plait, endpoint, "--teams", "3", "--no-partition"))
    assert merge.inputs == ["team-1", "team-2", "team-3"]


def test_the_group_size_reaches_the_meeting(plait: Commands, endpoint: Endpoint):
    [merge] = merges(started(plait, endpoint, "--teams", "3", "--group-size", "3"))
    assert merge.inputs == ["team-1", "team-2", "team-3"]


def test_no_role_leaves_the_aggregate_agent_without_one(plait: Commands, endpoint: Endpoint):
    def told() -> list[bool]:
        merging = [body for body in endpoint.bodies if "Compare the solutions." in str(body["messages"])]
        return ["You are an editor." in str(body["messages"][0]) for body in merging]

    started(plait, endpoint, "--teams", "3")
    assert all(told())
    endpoint.bodies.clear()
    started(plait, endpoint, "--teams", "3", "--no-role")
    assert told()
    assert not any(told())


def test_temperatures_phases_and_what_is_left_out_reach_the_teams(plait: Commands, endpoint: Endpoint):
    flags = (
        "--teams",
        "3",
        "--temperatures",
        "0.1, 0.7",
        "--leave-out",
        "2:polish",
        "--leave-out",
        "3:polish",
    )
    run_id = started(plait, endpoint, *flags)
    teams = [r.event for r in records(run_id) if isinstance(r.event, TeamStarted)]
    assert {team.team: (team.temperature, list(team.phases)) for team in teams} == {
        "team-1": (0.1, ["plan", "writing", "polish"]),
        "team-2": (0.7, ["plan", "writing"]),
        "team-3": (0.1, ["plan", "writing"]),
    }
    run_id = started(plait, endpoint, "--teams", "1", "--phases", "plan,writing")
    [team] = [r.event for r in records(run_id) if isinstance(r.event, TeamStarted)]
    assert list(team.phases) == ["plan", "writing"]


def test_the_preset_of_the_paper_lets_all_teams_go_on(plait: Commands, endpoint: Endpoint):
    run_id = started(plait, endpoint, "--teams", "3", "--preset", "paper")
    models = [r for r in records(run_id) if isinstance(r.event, StepRecorded) and r.event.step == "model"]
    assert {r.path.split("/")[1] for r in models if "/polish/" in r.path} == {"team-1", "team-2", "team-3"}


def test_without_gates_agents_say_nothing_of_themselves(plait: Commands, endpoint: Endpoint):
    started(plait, endpoint, "--teams", "1", "--no-gates")
    assert not any("critique" in str(body["messages"]) for body in endpoint.bodies)


def test_rounds_bound_every_phase(plait: Commands, endpoint: Endpoint):
    started(plait, endpoint, "--teams", "1", "--rounds", "1")
    assert not any("reply AGREED" in str(body["messages"]) for body in endpoint.bodies)


def test_no_sandbox_is_said_in_clear_words(plait: Commands, endpoint: Endpoint):
    run_id = started(plait, endpoint, "--teams", "1", "--no-sandbox")
    notes = [r.event.text for r in records(run_id) if isinstance(r.event, Noted)]
    assert notes == [
        "Programs that the teams write run on this machine without isolation (--no-sandbox): they can read,"
        " change and send whatever you can."
    ]


def test_four_teams_where_nothing_is_said(plait: Commands, endpoint: Endpoint):
    run_id = started(plait, endpoint)
    [options] = [r.event.options for r in records(run_id) if isinstance(r.event, RunStarted)]
    assert (options["teams"], options["max_calls"]) == (4, 1500)
    [met] = [r.event for r in records(run_id) if isinstance(r.event, MeetingFinished)]
    assert met.levels == 2


def test_a_story_is_judged(plait: Commands, endpoint: Endpoint):
    said = studio.run(plait, endpoint.base_url, "--teams", "2", "--json", domain="story")
    assert said.status == 0
    assert said.json["answer"].startswith("Once it rained")
    assert said.json["score"] == 4.0
    assert [Path(path).name for path in said.json["artifacts"]] == ["RECORD.md", "story.md"]


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--domain", "softwear"], "--domain 'softwear' is unknown; there are: tools, software, story"),
        (["--domain", "gone.toml"], "gone.toml': there is no such file"),
        (["--domain", "tools", "--leave-out", "1:plan"], "--leave-out is for what teams make"),
        (["--teams", "65"], "--teams must be between 1 and 64, not 65"),
        (["--teams", "0"], "--teams must be between 1 and 64, not 0"),
        (["--group-size", "1"], "--group-size must be at least 2, not 1"),
        (["--prune-share", "1"], "--prune-share must be at least 0 and below 1"),
        (["--stall-seconds", "0"], "--stall-seconds must be above 0"),
        (["--temperatures", "0.2,hot"], "--temperatures '0.2,hot' must be numbers with commas between them"),
        (["--temperatures", "3"], "--temperatures must be between 0 and 2"),
        (["--phase-threshold", "11"], "--phase-threshold must be between 0 and 10"),
        (["--reading", "lax"], "--reading 'lax' is unknown; there are: official, strict"),
        (["--preset", "poem"], "--preset 'poem' is unknown; there is: paper"),
        (
            ["--leave-out", "polish"],
            "--leave-out 'polish' must be TEAM:PHASE, for instance '2:code review,manual'",
        ),
        (["--leave-out", "9:polish"], "--leave-out '9:polish' names team 9, and there are 4"),
        (["--leave-out", "2:plan"], "phase 'plan' cannot be left out; optional are: polish"),
        (["--phases", "plan,dance"], "has no phase 'dance'; there are: plan, writing, polish"),
        (["--phases", "plan"], "no phase that is kept writes 'note'"),
        (["--tools", "plait.tools.office"], "--tools is for --domain tools"),
        (["--dry-run"], "--dry-run is for --domain tools"),
        (["--check", "true"], "--check is for --domain tools"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_leaves_no_run(flags: list[str], line: str, plait: Commands):
    said = plait("run", studio.TASK, "--model", "ollama:m", "--domain", studio.DOMAIN, *flags)
    assert (said.status, said.out) == (2, "")
    assert line in said.last
    assert runs() == []
