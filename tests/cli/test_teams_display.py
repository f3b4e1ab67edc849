"""Teams as they are drawn: side by side where there is room, with meetings, prunings and merges below."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from plait.cli.awaiting import awaited
from plait.cli.display import LiveDisplay
from plait.cli.pages import write_story
from plait.cli.sheet import Sheet
from plait.cli.teams_plain import team_line
from plait.cli.teams_words import below
from plait.cli.telling import tell
from plait.events import (
    Event,
    Gated,
    GroupsFormed,
    Instructed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    PhaseFinished,
    PhaseStarted,
    Record,
    RunResumed,
    RunStarted,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)
from plait.runtime.record_page import changed_since, file_sources, record_page
from plait.runtime.report import team_items
from plait.teams.meeting import EQUAL
from plait.teams.solution import Solution

from .snapshots import assert_snapshot

TEAMS = ("team-1", "team-2", "team-3", "team-4")
FIRST, SECOND, THIRD = "coding/level-1/group-1", "coding/level-1/group-2", "coding/level-2/group-1"


class Log:
    """Records of four teams up to any moment."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._numbers: dict[str, int] = {}
        self.add("", RunStarted(task="A game", options={"domain": "software", "model": "m"}, version="1"))

    def add(self, place: str, event: Event) -> None:
        """Add an event a second after the one before."""
        number = self._numbers[place] = self._numbers.get(place, -1) + 1
        path = "/".join(part for part in ("run", place) if part)
        at = 1_000_000.0 + len(self.records)
        sequence = len(self.records) + 1
        record = Record(
            run_id="abc", sequence=sequence, path=f"{path}!{number}", revision=0, epoch=1, at=at, event=event
        )
        self.records.append(record)

    def phase(self, team: str, phase: str, digest: str = "") -> None:
        """Let a team begin a phase, and where a digest is given end it."""
        place = f"{team}/{phase}"
        self.add(place, PhaseStarted(team=team, phase=phase, instructor="chief", assistant="programmer"))
        if digest:
            self.end(team, phase, digest)

    def end(self, team: str, phase: str, digest: str) -> None:
        """Let a team agree on what it has."""
        place = f"{team}/{phase}"
        self.add(
            f"{place}/round-1/assistant",
            Gated(
                role="programmer",
                attempt=1,
                score=9.0,
                threshold=8.0,
                critique="Short.",
                problems=[],
                verdict="passed",
                output={"digest": digest, "files": ["main.py"]},
            ),
        )
        said = Instructed(team=team, phase=phase, round=1, agreed=True, instruction="", by="instructor")
        self.add(place, said)
        finished = PhaseFinished(
            team=team,
            phase=phase,
            product="code",
            rounds=1,
            agreed=True,
            digest=digest,
            files={"main.py": 40, "scores.py": 8},
            characters=900,
        )
        self.add(place, finished)

    def rated(self, place: str, by: str, digest: str, quality: float) -> None:
        """Rate a solution."""
        dimensions = {"consistency": 0.5, "strict_quality": quality, "official_quality": 1.0}
        event = SolutionRated(by=by, digest=digest, quality=quality, dimensions=dimensions, findings=[])
        self.add(place, event)

    def merged(self, by: str, inputs: Sequence[str], origins: dict[str, str], failed: str = "") -> None:
        """Merge a group."""
        analysis = [{"by": each, "strengths": ["clear"], "weaknesses": ["slow"]} for each in inputs]
        event = SolutionsMerged(
            by=by,
            inputs=inputs,
            analysis=analysis,
            changes="The scores of the second.",
            digest=f"digest of {by}",
            origins=origins,
            failed=failed,
        )
        self.add(by, event)


def at_work() -> Log:
    """Four teams: one was dropped, two have coded, one is at it."""
    log = Log()
    for number, team in enumerate(TEAMS, start=1):
        temperature = 0.2 if number < 3 else 0.4
        phases = ["coding", "test"] if number < 4 else ["coding"]
        log.add(team, TeamStarted(team=team, temperature=temperature, phases=phases))
    log.phase("team-1", "coding", "one")
    log.phase("team-2", "coding", "two")
    log.phase("team-3", "coding")
    change = Instructed(
        team="team-3", phase="coding", round=1, agreed=False, instruction="Add scores.", by="instructor"
    )
    log.add("team-3/coding", change)
    log.phase("team-4", "coding")
    log.add("team-4", TeamDropped(team="team-4", phase="coding", reason="stalled: no end after 9 seconds"))
    return log


def meeting() -> Log:
    """The same, in their meeting."""
    log = at_work()
    log.end("team-3", "coding", "three")
    log.add("coding", MeetingStarted(phase="coding", teams=TEAMS[:3]))
    for team, digest, quality in (("team-1", "one", 0.7), ("team-2", "two", 0.8), ("team-3", "three", 0.1)):
        log.rated("coding", team, digest, quality)
    log.add("coding", SolutionPruned(by="team-3", quality=0.1))
    log.add("coding", GroupsFormed(level=1, groups=[["team-1", "team-2"]]))
    return log


def over() -> Log:
    """The same, at the end: the merged solution was refused."""
    log = meeting()
    log.merged(FIRST, ["team-1", "team-2"], {"main.py": "merged", "scores.py": "team-2"})
    log.rated(FIRST, FIRST, f"digest of {FIRST}", 0.6)
    log.add(FIRST, MergeRefused(by=FIRST, quality=0.6, best="team-2", best_quality=0.8))
    log.add("coding", MeetingFinished(phase="coding", by="team-2", digest="two", levels=1))
    for team in ("team-2", "team-3"):
        log.add(team, TeamFinished(team=team, closed=True))
    log.phase("team-1", "test", "tested")
    log.add("team-1", TeamFinished(team="team-1", closed=False))
    return log


def drawn(log: Log, width: int, height: int = 40) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, height=height, _environ={})
    console.print(LiveDisplay(log.records, console=console, clock=lambda: log.records[-1].at))
    return stream.getvalue()


@pytest.mark.parametrize(("name", "log"), [("at_work", at_work()), ("meeting", meeting()), ("over", over())])
@pytest.mark.parametrize("width", [120, 70])
def test_teams_are_drawn(name: str, log: Log, width: int):
    assert_snapshot(f"teams_{name}_{width}", drawn(log, width))


@pytest.mark.parametrize("width", [120, 40])
@pytest.mark.parametrize("height", [8, 12, 40])
def test_no_line_is_wider_and_no_frame_is_higher_than_the_terminal(width: int, height: int):
    for log in (at_work(), meeting()):
        lines = drawn(log, width, height).splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) <= height


def test_equal_solutions_are_shown_once_and_said_to_be_equal():
    log = at_work()
    log.end("team-3", "coding", "one")
    log.add("coding", MeetingStarted(phase="coding", teams=["team-1", "team-3"]))
    for team in ("team-1", "team-3"):
        log.rated("coding", team, "one", 0.7)
    log.add("coding", GroupsFormed(level=1, groups=[["team-1", "team-3"]]))
    assert "rated team-1 0.70, which all of them have" in drawn(log, 120)
    log.merged(FIRST, ["team-1", "team-3"], {"main.py": "team-1"})
    equal = log.records[-1].event
    assert isinstance(equal, SolutionsMerged)
    log.records[-1] = replace(log.records[-1], event=replace(equal, changes=EQUAL))
    assert "equal, nothing to merge: team-1 + team-3" in drawn(log, 120)


def told(log: Log) -> str:
    """Return what `plait show` prints, wide enough for every line."""
    stream = io.StringIO()
    write_story(Sheet(Console(file=stream, width=200, _environ={})), tell(log.records), 1.0)
    return stream.getvalue()


def row_of(log: Log, word: str, width: int = 120) -> str:
    """Return the line of the live display that has a word."""
    [row] = [row.rstrip() for row in drawn(log, width).splitlines() if word in row]
    return row


def test_a_solution_that_is_alone_in_its_group_is_no_skipped_one():
    log = meeting()
    log.add("coding", GroupsFormed(level=1, groups=[["team-1", "team-2"], ["team-3"]]))
    assert row_of(log, "alone") == "  ● alone, nothing to merge: team-3"
    gate = replace(log.records[-1], path=f"run/{SECOND}/analysis!0", event=passed("aggregator"))
    log.records.append(replace(gate, sequence=len(log.records) + 1))
    assert row_of(log, "alone") == "  ● alone, strengths and weaknesses listed: team-3"
    log.add("coding", GroupsFormed(level=2, groups=[[FIRST, "team-3"]]))
    assert row_of(log, "alone") == "  ✔ alone, strengths and weaknesses listed: team-3"


def passed(role: str) -> Gated:
    return Gated(
        role=role,
        attempt=1,
        score=9.0,
        threshold=8.0,
        critique="",
        problems=[],
        verdict="passed",
        output=None,
    )


def test_whose_partner_was_pruned_in_its_group_is_not_said_to_be_merging():
    log = meeting()
    log.add("coding", GroupsFormed(level=1, groups=[["team-1", "team-2"], ["team-3", "team-4"]]))
    log.add(SECOND, SolutionPruned(by="team-4", quality=0.1))
    assert row_of(log, "alone") == "  ● alone, nothing to merge: team-3"


def test_how_good_a_pruned_solution_was_is_said_only_where_it_is_known():
    log = meeting()
    log.add("coding", SolutionPruned(by="team-1", quality=0.5, tied=True))
    log.add("coding", SolutionPruned(by="team-2", quality=0.0, rated=False))
    assert "pruned team-1 (0.50, tied)" in drawn(log, 120)
    assert "pruned team-2 (not rated)" in drawn(log, 120)
    assert "pruned: team-2 (not rated)" in told(log)
    assert team_line(SolutionPruned(by="team-2", quality=0.0, rated=False)) == "pruned team-2: not rated"
    page = record_page("A game", log.records, {})
    assert "- team-1 was pruned (quality 0.50, tied)." in page
    assert "- team-2 was pruned (not rated)." in page


def test_what_came_of_a_merge_is_seen_on_a_narrow_terminal():
    log = meeting()
    log.merged(FIRST, ["team-1", "team-2"], {})
    log.rated(FIRST, FIRST, f"digest of {FIRST}", 0.9)
    log.add("coding", GroupsFormed(level=2, groups=[[FIRST, "team-3"]]))
    log.merged(THIRD, [FIRST, "team-3"], {}, failed="no whole solution came in three tries")
    assert row_of(log, "0.90", 40) == "  ✔ merged, 0.90: team-1 + team-2"
    assert row_of(log, "not merged", 40).startswith("    ✘ not merged, the best stands: ")
    log.add("coding", MeetingFinished(phase="coding", by=FIRST, digest=f"digest of {FIRST}", levels=2))
    assert row_of(log, "back", 60) == "✔ meeting after coding merge 1.1's (0.90) goes back to team…"


def test_nobody_is_said_to_disagree_who_was_not_asked():
    asked, unasked = at_work(), at_work()
    for log in (asked, unasked):
        log.add("team-1/test", PhaseStarted(team="team-1", phase="test", instructor="a", assistant="b"))
    change = Instructed(
        team="team-1", phase="test", round=1, agreed=False, instruction="More.", by="instructor"
    )
    asked.add("team-1/test", change)
    for log, said in ((asked, True), (unasked, False)):
        finished = replace(ended(log), phase="test", agreed=False, digest="other")
        log.add("team-1/test", finished)
        assert ("not agreed" in told(log)) is said
        assert ("not agreed" in record_page("A game", log.records, {})) is said


def ended(log: Log) -> PhaseFinished:
    return next(r.event for r in log.records if isinstance(r.event, PhaseFinished))


def test_those_that_are_closed_are_not_said_to_go_on():
    shown, page = told(over()), record_page("A game", over().records, {})
    assert "all are given the solution of team-2" in shown
    assert "All of them were given the solution of team-2." in page
    assert "go on" not in shown + page


def test_what_is_awaited_names_teams_and_meetings():
    assert [what for what, _ in awaited(tell(at_work().records))] == ["team-3 coding round 2"]
    assert [what for what, _ in awaited(tell(meeting().records))] == ["meeting after coding merges"]
    assert [what for what, _ in awaited(tell(over().records))] == ["ending the run"]


def test_a_team_that_takes_over_is_no_longer_closed():
    log = over()
    log.add("team-2", TeamStarted(team="team-2", temperature=0.2, phases=["coding", "test"]))
    log.phase("team-2", "test")
    story = tell(log.records).teams
    assert story is not None
    assert [team.name for team in story.teams] == list(TEAMS)
    assert [what for what, _ in awaited(tell(log.records))] == ["team-2 test round 1"]


def test_teams_of_a_result():
    items = team_items(over().records)
    assert [(item["name"], item["quality"], item["pruned"]) for item in items] == [
        ("team-1", 0.7, False),
        ("team-2", 0.8, False),
        ("team-3", 0.1, True),
        ("team-4", None, False),
    ]
    assert items[3]["dropped"] == "stalled: no end after 9 seconds"
    assert items[0]["phases"] == ["coding", "test"]


def test_the_page_that_lies_beside_the_result():
    page = record_page("A game", over().records, {"code": Solution(product="code", files={"main.py": "x"})})
    assert (
        "| team-3 | 0.4 | coding | 1 | code: main.py (40 lines), scores.py (8 lines); quality 0.10 |" in page
    )
    assert "dropped in coding: stalled: no end after 9 seconds" in page
    assert "- team-3 was pruned (quality 0.10)." in page
    assert "- team-1: + clear; - slow" in page
    assert "Refused: team-2 with 0.80 is better and stands." in page
    assert "- main.py: team-2\n- changed since: team-1 in test" in page


def test_files_are_followed_through_the_levels_of_a_meeting():
    log = Log()
    for team in TEAMS:
        log.add(team, TeamStarted(team=team, temperature=0.2, phases=["coding"]))
        log.phase(team, "coding", team)
    log.add("coding", MeetingStarted(phase="coding", teams=TEAMS))
    log.add("coding", GroupsFormed(level=1, groups=[TEAMS[:2], TEAMS[2:]]))
    log.merged(FIRST, TEAMS[:2], {"a.py": "team-1", "b.py": "merged"})
    log.merged(SECOND, TEAMS[2:], {"c.py": "team-4"}, failed="no whole solution came")
    log.add("coding", GroupsFormed(level=2, groups=[[FIRST, "team-4"]]))
    log.merged(THIRD, [FIRST, "team-4"], {"a.py": FIRST, "b.py": FIRST, "c.py": "team-4", "d.py": "merged"})
    log.add("coding", MeetingFinished(phase="coding", by=THIRD, digest="x", levels=2))
    story = tell(log.records).teams
    assert story is not None
    assert file_sources(story) == {
        "a.py": "team-1",
        "b.py": "merged from team-1 and team-2",
        "c.py": "team-4",
        "d.py": "merged from team-1 and team-2 and team-4",
    }
    assert changed_since(story) == []


def test_records_in_any_order_tell_the_same():
    records = over().records
    assert tell(list(reversed(records))) == tell(records)
    assert tell([replace(record) for record in records]) == tell(records)


@pytest.mark.parametrize(
    ("quality", "best", "text"),
    [(0.8, 0.9, "0.80 below 0.90"), (0.8091, 0.8094, "0.8091 below 0.8094")],
)
def test_a_refused_merge_is_told_with_the_digits_that_matter(quality: float, best: float, text: str) -> None:
    refused = MergeRefused(by="coding/level-1/group-1", quality=quality, best="team-1", best_quality=best)
    assert below(refused) == text


def test_what_a_resumed_run_waits_for_is_timed_from_when_it_was_taken_up():
    log = at_work()
    log.add("run", RunResumed(epoch=2, options={}))
    log.records[-1] = replace(log.records[-1], at=log.records[-1].at + 900)
    assert "team-3 coding round 2 · 0.0 s" in drawn(log, 120)
