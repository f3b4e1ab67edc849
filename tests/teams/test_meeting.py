"""Meetings: who is pruned, grouped and merged, what is accepted, and what stands where a merge fails."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.memory_journal import MemoryJournal
from tests.teams.troupe import CODING, REMARKS, Asked, Marks, Troupe, Voices, files, model_steps

from plait.agents.gate import GateSettings
from plait.errors import BudgetExhausted, ModelError, NeedsDecision, PlaitError, ReplyError, RequestRefused
from plait.events import (
    GroupsFormed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
)
from plait.journal import Journal
from plait.models.protocol import Reply, Settings
from plait.models.scripted import Slow
from plait.teams.completing import completed
from plait.teams.meeting import Meeting, origins
from plait.teams.ratings import Contender, Ratings
from plait.teams.solution import Rating, Solution


def code(number: int, quality: int, **more: str) -> Solution:
    text = {"main.py": f"# by {number}, quality {quality}\n", **{f"{n}.py": t for n, t in more.items()}}
    return Solution(product="code", files=text, by=f"team-{number}")


def entries(*qualities: int) -> list[Contender]:
    return [Contender(solution=code(number, quality)) for number, quality in enumerate(qualities, start=1)]


async def meet(troupe: Troupe, brought: Sequence[Contender]) -> Contender:
    journal = MemoryJournal(troupe.memory)
    meeting = Meeting(journal, troupe.ensemble, Ratings(journal, troupe.ensemble), CODING)
    return await meeting.hold([entry.solution.by for entry in brought], brought)


class Merging(Voices):
    """Merges well: the best quality of the inputs, plus `gain`."""

    def __init__(self, gain: int = 1) -> None:
        self.gain = gain

    def merge(self, asked: Asked) -> Any:
        best = max(map(int, re.findall(r"quality (\d+)", asked.text)))
        numbers = "+".join(re.findall(r"by ([\d+]+),", asked.text))
        return files(main=f"# by {numbers}, quality {best + self.gain}") + "\n# changes: took both"


async def test_two_solutions_become_one_in_two_calls() -> None:
    troupe = Troupe(voices=Merging())
    result = await meet(troupe, entries(5, 3))
    assert troupe.parts == ["analysis", "merge"]
    assert result.quality == 6
    assert result.solution.by == "coding/level-1/group-1"
    [merged] = troupe.events(SolutionsMerged)
    assert merged.analysis == [
        {"by": "team-1", "strengths": ["strong 1"], "weaknesses": ["weak 1"]},
        {"by": "team-2", "strengths": ["strong 2"], "weaknesses": ["weak 2"]},
    ]
    assert (merged.changes, merged.failed, merged.inputs) == ("took both", "", ["team-1", "team-2"])
    assert [event.teams for event in troupe.events(MeetingStarted)] == [["team-1", "team-2"]]
    assert [(event.by, event.levels) for event in troupe.events(MeetingFinished)] == [(merged.by, 1)]


async def test_groups_merge_level_by_level_until_one_is_left() -> None:
    troupe = Troupe(voices=Merging())
    result = await meet(troupe, entries(5, 4, 3, 2, 1))
    assert [
        (event.level, [len(group) for group in event.groups]) for event in troupe.events(GroupsFormed)
    ] == [
        (1, [2, 2, 1]),
        (2, [2, 1]),
        (3, [2]),
    ]
    assert result.solution.files["main.py"].startswith("# by 1+2+3+4+5,")


async def test_the_merge_sees_task_solutions_findings_and_analysis_in_this_order() -> None:
    troupe = Troupe(voices=Merging())
    brought = entries(3, 5)
    findings = Rating(quality=3, findings=["it does not start"])
    await meet(troupe, [Contender(solution=brought[0].solution, rating=findings), brought[1]])
    [analysis], [merge] = troupe.prompts("analysis"), troupe.prompts("merge")
    parts = [
        "You are the one who merges.",
        "Write a game.",
        "by 2,",
        "by 1,",
        "it does not start",
        "+ strong 1",
    ]
    places = [merge.index(part) for part in parts]
    assert places == sorted(places)
    assert "Start from solution 1" in merge
    shared = merge[: merge.index("# Strengths and weaknesses")]
    assert analysis.startswith(shared)


async def test_the_best_of_a_group_is_shown_first_and_of_equals_the_first() -> None:
    troupe = Troupe(voices=Merging(), group_size=4)
    await meet(troupe, entries(3, 5, 5, 4))
    [merged] = troupe.events(SolutionsMerged)
    assert [each["by"] for each in merged.analysis] == ["team-2", "team-3", "team-4", "team-1"]


async def test_what_a_merge_says_of_itself_stands_for_an_analysis_at_the_next_level() -> None:
    usual, thorough = Troupe(voices=Merging()), Troupe(voices=Merging(), analyse_merged=True)
    for troupe in (usual, thorough):
        await meet(troupe, entries(1, 2, 3, 4, 5, 6))
    assert (usual.parts.count("analysis"), thorough.parts.count("analysis")) == (3, 5)
    assert usual.parts.count("merge") == thorough.parts.count("merge") == 5
    last = usual.prompts("merge")[-1]
    assert "Solution 1\n+ took both\n- As asked.\nSolution 2\n+ took both\n- As asked." in last


async def test_a_solution_that_is_alone_is_analysed_at_the_level_where_others_merge() -> None:
    troupe = Troupe(voices=Merging())
    await meet(troupe, entries(1, 2, 3))
    assert model_steps(troupe.memory) == [
        "run/coding/level-1/group-1/analysis/try-1",
        "run/coding/level-1/group-1/merge/try-1",
        "run/coding/level-1/group-2/analysis/try-1",
        "run/coding/level-2/group-1/merge/try-1",
    ]
    last = troupe.events(SolutionsMerged)[-1]
    assert [(each["by"], each["strengths"]) for each in last.analysis] == [
        ("coding/level-1/group-1", ["took both"]),
        ("team-3", ["strong 1"]),
    ]


async def test_an_input_that_a_merge_could_not_better_keeps_its_points() -> None:
    troupe = Troupe(voices=Merging(gain=-1))
    await meet(troupe, entries(3, 4, 5, 6))
    assert troupe.parts.count("analysis") == 2
    last = troupe.events(SolutionsMerged)[-1]
    assert [(each["by"], each["weaknesses"]) for each in last.analysis] == [
        ("team-4", ["weak 1"]),
        ("team-2", ["weak 1"]),
    ]


async def test_points_that_are_missing_are_asked_for_at_the_next_level() -> None:
    class Halting(Merging):
        def analysis(self, asked: Asked) -> str:
            return "Both are good." if "by 1," in asked.text else super().analysis(asked)

    troupe = Troupe(voices=Halting(gain=-1))
    await meet(troupe, entries(4, 1, 3))
    assert "# Solution 2" in troupe.prompts("analysis")[-1]


async def test_a_solution_that_its_judge_cannot_grade_is_pruned_first_and_merged_all_the_same() -> None:
    class Helpless(Marks):
        async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
            if "quality 9" in solution.shown():
                raise ReplyError("no grade")
            return await super().rate(journal, task, solution)

    troupe = Troupe(voices=Merging(), quality=Helpless(), prune_from=3, prune=0.4)
    await meet(troupe, entries(3, 9, 5))
    assert [(event.by, event.rated) for event in troupe.events(SolutionPruned)] == [("team-2", False)]
    troupe = Troupe(voices=Merging(), quality=Helpless())
    result = await meet(troupe, entries(9, 3))
    assert (result.solution.by, result.quality) == ("coding/level-1/group-1", 10)


async def test_a_rating_that_lacks_budget_ends_the_run_so_that_it_can_be_taken_up() -> None:
    class Poor(Marks):
        async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
            raise BudgetExhausted("used up", limit="usd")

    with pytest.raises(BudgetExhausted):
        await meet(Troupe(voices=Merging(), quality=Poor()), entries(3, 5))


async def test_without_a_role_the_aggregate_agent_is_told_nothing_of_who_it_is() -> None:
    troupe = Troupe(voices=Merging(), role=False)
    await meet(troupe, entries(3, 5))
    assert all("You are" not in text for text in [*troupe.prompts("merge"), *troupe.prompts("analysis")])


async def test_without_partition_all_are_merged_at_once() -> None:
    troupe = Troupe(voices=Merging(), partition=False)
    await meet(troupe, entries(1, 2, 3, 4, 5))
    [formed] = troupe.events(GroupsFormed)
    assert formed.groups == [["team-1", "team-2", "team-3", "team-4", "team-5"]]
    assert troupe.parts == ["analysis", "merge"]


async def test_larger_groups_need_fewer_merges() -> None:
    troupe = Troupe(voices=Merging(), group_size=3)
    await meet(troupe, entries(1, 2, 3, 4, 5, 6, 7))
    assert [[len(group) for group in event.groups] for event in troupe.events(GroupsFormed)] == [
        [3, 2, 2],
        [3],
    ]


async def test_the_lowest_quarter_is_pruned_from_eight_on_once_and_before_grouping() -> None:
    troupe = Troupe(voices=Merging())
    await meet(troupe, entries(5, 1, 5, 5, 1, 5, 5, 2))
    assert [(event.by, event.tied) for event in troupe.events(SolutionPruned)] == [
        ("team-2", False),
        ("team-5", False),
    ]
    first = troupe.events(GroupsFormed)[0]
    assert first.groups == [["team-1", "team-3"], ["team-4", "team-6"], ["team-7", "team-8"]]


async def test_among_equals_lots_decide_and_a_content_that_is_there_again_goes_first() -> None:
    gone: set[str] = set()
    for seed in range(1, 9):
        troupe = Troupe(voices=Merging(), prune_from=4)
        troupe.ensemble = replace(troupe.ensemble, sampling=Settings(seed=seed))
        await meet(troupe, entries(5, 5, 5, 5))
        [pruned] = troupe.events(SolutionPruned)
        assert (pruned.tied, pruned.rated) == (True, True)
        gone.add(pruned.by)
    assert len(gone) > 1
    troupe = Troupe(voices=Merging(), prune_from=4)
    twin = Contender(solution=Solution(product="code", files=code(1, 5).files, by="team-2"))
    first, _, *others = entries(5, 5, 5, 5)
    await meet(troupe, [first, twin, *others])
    assert [event.by for event in troupe.events(SolutionPruned)] == ["team-2"]


@pytest.mark.parametrize("settings", [{"prune": 0.0}, {"prune_from": 9}])
async def test_pruning_can_be_switched_off(settings: dict[str, Any]) -> None:
    troupe = Troupe(voices=Merging(), **settings)
    await meet(troupe, entries(5, 1, 5, 5, 1, 5, 5, 2))
    assert troupe.events(SolutionPruned) == []


async def test_the_paper_prunes_inside_every_aggregation() -> None:
    troupe = Troupe(voices=Merging(), prune_in_groups=True, prune=0.5, group_size=4, elitism=False)
    result = await meet(troupe, entries(1, 2, 3, 4, 5, 6, 7, 8))
    places = [path for path, event in troupe.memory.events if isinstance(event, SolutionPruned)]
    assert places == [
        *["run/coding/level-1/group-1"] * 2,
        *["run/coding/level-1/group-2"] * 2,
        "run/coding/level-2/group-1",
    ]
    assert [event.by for event in troupe.events(SolutionPruned)][:4] == [
        "team-1",
        "team-2",
        "team-5",
        "team-6",
    ]
    # Of the two that are left at level 2 the lower goes, and the other needs no merge.
    assert result.solution.by == "coding/level-1/group-2"


async def test_the_paper_prunes_groups_that_are_too_small_for_a_share_of_their_own() -> None:
    troupe = Troupe(voices=Merging(gain=0), prune_in_groups=True, elitism=False)
    await meet(troupe, entries(5, 1, 2, 6, 7, 8, 9, 9))
    pruned = [(path, event.by) for path, event in troupe.memory.events if isinstance(event, SolutionPruned)]
    # A quarter of the eight, then of the four that are left; of two a quarter is none.
    assert pruned == [
        ("run/coding/level-1/group-1", "team-2"),
        ("run/coding/level-1/group-2", "team-3"),
        ("run/coding/level-2/group-1", "team-1"),
    ]
    assert [len(event.groups) for event in troupe.events(GroupsFormed)] == [4, 2, 1]


async def test_many_equal_solutions_are_never_analysed() -> None:
    troupe = Troupe(voices=Merging())
    files = {"a.py": "quality 4\n"}
    same = [Contender(solution=Solution(product="code", files=files, by=f"team-{n}")) for n in range(1, 6)]
    await meet(troupe, same)
    assert troupe.parts == []


async def test_equal_solutions_are_merged_without_a_model() -> None:
    troupe = Troupe(voices=Merging())
    same = [
        Contender(solution=Solution(product="code", files={"a.py": "quality 4\n"}, by=f"team-{n}"))
        for n in (1, 2)
    ]
    result = await meet(troupe, same)
    assert troupe.parts == []
    assert (result.solution.by, len(troupe.quality.rated)) == ("team-1", 1)
    [merged] = troupe.events(SolutionsMerged)
    assert merged.origins == {"a.py": "team-1"}


async def test_of_a_group_with_equal_solutions_the_model_sees_each_once() -> None:
    troupe = Troupe(voices=Merging(), partition=False)
    twin = Solution(product="code", files=code(1, 3).files, by="team-2")
    await meet(troupe, [*entries(3), Contender(solution=twin), Contender(solution=code(3, 5))])
    assert "# Solution 3" not in troupe.prompts("merge")[0]
    assert "# Solution 2" in troupe.prompts("merge")[0]


async def test_what_a_team_brings_bears_its_name_whoever_made_it() -> None:
    troupe = Troupe(voices=Merging(gain=-1), prune_from=2, prune=0.4)
    made = [Solution(product="code", files=code(n, n).files, by="before/level-1") for n in (4, 5, 6)]
    journal = MemoryJournal(troupe.memory)
    meeting = Meeting(journal, troupe.ensemble, Ratings(journal, troupe.ensemble), CODING)
    await meeting.hold(["team-2", "team-3", "team-5"], [Contender(solution=each) for each in made])
    assert [event.by for event in troupe.events(SolutionPruned)] == ["team-2"]
    assert [event.groups for event in troupe.events(GroupsFormed)] == [[["team-3", "team-5"]]]
    assert [event.inputs for event in troupe.events(SolutionsMerged)] == [["team-3", "team-5"]]
    assert [event.best for event in troupe.events(MergeRefused)] == ["team-5"]
    assert [event.by for event in troupe.events(MeetingFinished)] == ["team-5"]


async def test_a_merge_below_its_best_input_gives_way_to_that() -> None:
    troupe = Troupe(voices=Merging(gain=-1))
    result = await meet(troupe, entries(3, 5))
    assert (result.solution.by, result.quality) == ("team-2", 5)
    [refused] = troupe.events(MergeRefused)
    assert (refused.quality, refused.best, refused.best_quality) == (4, "team-2", 5)


async def test_a_merge_as_good_as_its_best_input_stands() -> None:
    troupe = Troupe(voices=Merging(gain=0))
    assert (await meet(troupe, entries(3, 5))).solution.by == "coding/level-1/group-1"
    assert troupe.events(MergeRefused) == []


async def test_without_elitism_a_worse_merge_stands_and_nothing_is_rated() -> None:
    troupe = Troupe(voices=Merging(gain=-1), elitism=False)
    assert (await meet(troupe, entries(3, 5))).solution.by == "coding/level-1/group-1"
    assert troupe.quality.rated == []


async def test_each_content_is_rated_once() -> None:
    troupe = Troupe(voices=Merging(gain=-1))
    await meet(troupe, entries(3, 5, 7, 9))
    assert len(troupe.quality.rated) == len(set(troupe.quality.rated))
    assert [event.by for event in troupe.events(SolutionRated)][:4] == [
        "team-1",
        "team-2",
        "team-3",
        "team-4",
    ]


class Failing(Merging):
    """Merges as it is told, one reply after the other."""

    def __init__(self, *replies: Any) -> None:
        super().__init__()
        self.replies = list(replies)

    def merge(self, asked: Asked) -> Any:
        reply = self.replies[asked.attempt - 1]
        return super().merge(asked) if reply is None else reply


LONG = files(main="# by 9, quality 9\n" + "x = 1\n" * 40)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("It should keep the strengths of both.", "There is no file"),
        (Reply(text=LONG, finish="length"), "the reply was cut"),
        (files(other="x = 1"), "none of the given files is in it: main.py"),
        (files(main="# q"), "it is not whole"),
        ("", "There is no file"),
    ],
)
async def test_a_merge_that_is_not_whole_is_asked_again_with_what_is_missing(bad: Any, told: str) -> None:
    troupe = Troupe(voices=Failing(bad, None))
    result = await meet(troupe, entries(3, 5))
    assert result.solution.by == "coding/level-1/group-1"
    first, second = troupe.prompts("merge")
    assert told not in first
    assert told in second


async def test_if_no_whole_solution_comes_the_best_input_stands() -> None:
    cut = Reply(text=LONG, finish="length")
    troupe = Troupe(voices=Failing(cut, "words", cut))
    result = await meet(troupe, entries(5, 3))
    assert (result.solution.by, result.quality) == ("team-1", 5)
    [merged] = troupe.events(SolutionsMerged)
    assert "the reply was cut" in merged.failed
    assert merged.digest == code(1, 5).digest
    assert merged.analysis != []


@pytest.mark.parametrize("poor", [files(other="x = 1\n" * 9), files(main="# q")])
async def test_a_merge_that_is_never_whole_is_never_taken(poor: str) -> None:
    other = poor.replace("x = 1", "x = 2").replace("# q", "# r")
    troupe = Troupe(voices=Failing(poor, other, poor), elitism=False)
    assert (await meet(troupe, entries(5, 3))).solution.by == "team-1"
    assert troupe.events(SolutionsMerged)[0].failed


async def test_a_merge_is_asked_again_as_often_as_the_gate_says() -> None:
    troupe = Troupe(voices=Failing("words", "words"), gate=GateSettings(threshold=8, revisions=1))
    await meet(troupe, entries(5, 3))
    assert troupe.parts == ["analysis", "merge", "merge"]


async def test_a_merge_goes_on_without_an_analysis() -> None:
    class Mute(Merging):
        def analysis(self, asked: Asked) -> str:
            return "Both are good."

    troupe = Troupe(voices=Mute())
    assert (await meet(troupe, entries(5, 3))).quality == 6
    assert troupe.events(SolutionsMerged)[0].analysis == []


async def test_a_merge_that_its_model_refuses_leaves_the_best_input() -> None:
    class Refused(Merging):
        def merge(self, asked: Asked) -> Any:
            return RequestRefused("too long")

    troupe = Troupe(voices=Refused())
    assert (await meet(troupe, entries(5, 3))).solution.by == "team-1"
    assert troupe.events(SolutionsMerged)[0].failed == "too long"


@pytest.mark.parametrize("error", [ModelError("gone"), BudgetExhausted("used up", limit="calls")])
async def test_a_merge_without_model_or_budget_is_still_to_be_made(error: PlaitError) -> None:
    class Dead(Merging):
        def merge(self, asked: Asked) -> Any:
            return error

    troupe = Troupe(voices=Dead())
    with pytest.raises(type(error), match=error.message):
        await meet(troupe, entries(5, 3))
    again = Troupe(voices=Merging(), memory=troupe.memory)
    assert (await meet(again, entries(5, 3))).solution.by == "coding/level-1/group-1"
    assert again.parts == ["merge"]


@pytest.mark.parametrize(("lines", "asked"), [(200, 2_030), (1_000, 10_030), (2_000, 16_384)])
async def test_a_merge_has_room_for_a_longer_solution_but_asks_for_no_more_than_providers_give(
    lines: int, asked: int
) -> None:
    troupe = Troupe(voices=Merging())
    brought = [Contender(solution=code(n, n, long="x = 1 + 1\n" * lines * 2)) for n in (1, 2)]
    await meet(troupe, brought)
    *_, merge = troupe.model.requests
    assert merge.settings.max_tokens == pytest.approx(asked, rel=0.01)


async def test_what_is_too_long_for_one_reply_is_not_merged_and_costs_no_call() -> None:
    troupe = Troupe(voices=Merging())
    brought = [Contender(solution=code(n, n, long="x = 1 + 1\n" * 6_000)) for n in (1, 2)]
    assert (await meet(troupe, brought)).solution.by == "team-2"
    assert troupe.parts == []
    [merged] = troupe.events(SolutionsMerged)
    assert merged.failed.startswith("too long to merge: the longest solution has about 20,0")
    assert merged.failed.endswith("one reply at most 16,384")


async def test_a_merge_that_stalls_leaves_the_best_input() -> None:
    class Stalling(Merging):
        def merge(self, asked: Asked) -> Any:
            return Slow(seconds=30)

    troupe = Troupe(voices=Stalling(), stall_seconds=0.05)
    assert (await meet(troupe, entries(5, 3))).solution.by == "team-1"
    assert troupe.events(SolutionsMerged)[0].failed == "stalled: no step ended for 0.05 seconds"


async def test_what_only_the_user_can_decide_is_never_a_failed_merge() -> None:
    class Doubtful(Merging):
        def merge(self, asked: Asked) -> Any:
            return NeedsDecision("in doubt", path="run/x")

    with pytest.raises(NeedsDecision):
        await meet(Troupe(voices=Doubtful()), entries(5, 3))


async def test_texts_are_merged_as_texts() -> None:
    class Stories(Merging):
        def merge(self, asked: Asked) -> str:
            return "One long story, quality 9.\n# changes: joined them"

    troupe = Troupe(voices=Stories(), product="story")
    brought = [
        Contender(solution=Solution(product="code", text=f"A story of {n}, quality {n}.", by=f"team-{n}"))
        for n in (1, 2)
    ]
    result = await meet(troupe, brought)
    assert (result.solution.text, result.solution.files) == ("One long story, quality 9.", {})
    assert REMARKS not in result.solution.text


@pytest.mark.parametrize("changes", ["kept main.py as it is", "nothing", "main.py is removed"])
async def test_a_file_that_a_merge_does_not_write_stays_as_the_best_input_has_it(changes: str) -> None:
    class Lazy(Merging):
        def merge(self, asked: Asked) -> str:
            return files(rules="rules = 3") + f"\n# changes: {changes}"

    for elitism in (True, False):
        troupe = Troupe(voices=Lazy(), elitism=elitism)
        ratings = [Rating(quality=3), Rating(quality=5)]
        brought = [code(1, 3, rules="r = 1\n", more="m = 1\n"), code(2, 5, rules="r = 2\n", extra="e = 2\n")]
        result = await meet(
            troupe,
            [Contender(solution=each, rating=rating) for each, rating in zip(brought, ratings, strict=True)],
        )
        assert troupe.parts.count("merge") == 1
        assert result.solution.files == {**brought[1].files, "rules.py": "rules = 3\n"}
        [merged] = troupe.events(SolutionsMerged)
        assert merged.origins == {"rules.py": "merged", "main.py": "team-2", "extra.py": "team-2"}


async def test_a_file_goes_where_the_merge_says_that_it_removed_it() -> None:
    class Tidy(Merging):
        def merge(self, asked: Asked) -> str:
            return f"{super().merge(asked)} in one file; removed: `rules.py`, extra.py. data.py is mended"

    troupe = Troupe(voices=Tidy())
    more = {"rules": "r = 1\n", "extra": "e = 1\n", "data": "d = 1\n"}
    brought = [Contender(solution=code(n, n, **more)) for n in (1, 2)]
    assert list((await meet(troupe, brought)).solution.files) == ["main.py", "data.py"]


def test_a_file_is_not_put_where_a_merge_has_a_folder() -> None:
    base = Solution(product="code", files={"rules": "x\n", "data/a.txt": "a\n"}, by="team-1")
    merged = Solution(product="code", files={"rules/all.py": "y\n", "data": "z\n"}, by="m")
    assert completed(merged, "", [base, base], 1) == merged


def test_a_file_that_is_kept_of_another_input_comes_from_that() -> None:
    inputs = [code(1, 5, rules="r = 1\n", extra="e = 1\n"), code(2, 3, rules="r = 2\n"), code(3, 4)]
    merged = Solution(product="code", files={"main.py": "m\n"}, by="m")
    whole = completed(merged, "kept `rules.py` of solution 2; took extra.py from solution 1", inputs, 2)
    assert whole.files == {"main.py": "m\n", "rules.py": "r = 2\n", "extra.py": "e = 1\n"}
    assert completed(merged, "took rules.py from solution 3 and 9", inputs, 0).files == {
        "main.py": "m\n",
        "rules.py": "r = 1\n",
        "extra.py": "e = 1\n",
    }


def test_origins_tell_where_each_file_came_from_unchanged() -> None:
    inputs = [code(1, 5, rules="r = 1\n"), code(2, 6, rules="r = 2\n")]
    merged = Solution(
        product="code", files={"main.py": inputs[1].files["main.py"], "rules.py": "r = 3\n"}, by="m"
    )
    brought = [Contender(solution=each, name=each.by) for each in inputs]
    assert origins(merged, brought) == {"main.py": "team-2", "rules.py": "merged"}
