"""Teams on a tool task: plans meet, one team acts on what most would do, answers meet."""

from tests.reflection.crew import DANA, OMAR, answer, done, give_back, plan, search
from tests.support.assembly import ANALYSIS, EITHER, GOOD, IS_DONE, PLAN, Run, judging, merging, team

from plait.events import (
    ActionsAgreed,
    EffectRehearsed,
    GroupsFormed,
    MeetingFinished,
    MergeRefused,
    Noted,
    PlanMade,
    RoundFinished,
    SolutionPruned,
    SolutionsMerged,
    TeamDropped,
    TeamStarted,
)
from plait.models.budget import Limits
from plait.models.scripted import ScriptStep
from plait.reflection.settings import ReflectionSettings
from plait.teams.ensemble import SEEDS_PER_TEAM
from plait.teams.settings import TeamSettings
from plait.tools.approval import ApprovalPolicy


async def test_teams_that_think_alike_need_no_merge_and_one_acts() -> None:
    run = Run([*team(1, plan(PLAN), *GOOD, answer("Yes.")), *team(2, plan(PLAN), *GOOD, answer("Yes."))])
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer, outcome.score) == ("succeeded", "Yes.", 10)
    # Read once for both teams and for the one that acts; changed once.
    assert run.library.calls == ["search dana", f"return {DANA}"]
    [agreed] = run.of(ActionsAgreed)
    assert (agreed.by, agreed.teams, agreed.others) == ("team-1", ["team-1", "team-2"], [])
    assert agreed.calls == [f'return_loan(loan_id="{DANA}")']
    assert len(run.of(EffectRehearsed)) == 2
    assert [event.phase for event in run.of(MeetingFinished)] == ["plan", "answer"]
    assert [event.team for event in run.of(TeamStarted)] == ["team-1", "team-2"]
    # Both teams' plans, and the one that they agreed on.
    assert len(run.of(PlanMade)) == 3


async def test_teams_differ_by_seed_and_temperature() -> None:
    same = (plan(PLAN), *GOOD, answer("Yes."))
    run = Run([*team(1, *same), *team(2, *same), *team(3, *same)], teams=3)
    await run.outcome()
    drawn = {(r.settings.seed, r.settings.temperature) for r in run.model.requests}
    assert drawn == {(0, 0.2), (SEEDS_PER_TEAM, 0.2), (2 * SEEDS_PER_TEAM, 0.4)}


async def test_different_plans_are_merged_and_all_work_on_the_merged_one() -> None:
    long, short = "1. Return the loan of dana, and tell me", "1. Return all the loans"
    merged = "- Return the loan of dana, and tell me\n# changes: kept dana\n# critique: fine\n# score: 9"
    same = (*GOOD, answer("Yes."))
    run = Run(
        [
            *team(1, plan(short), *same),
            *team(2, plan(long), *same),
            *merging(ANALYSIS, merged),
        ]
    )
    outcome = await run.outcome(task="Return the loan of dana and tell me.")
    assert outcome.status == "succeeded"
    [event] = [event for event in run.of(SolutionsMerged) if event.by.startswith("plan/")]
    # Which is the second team's again, word for word, so it is what that one planned.
    assert event.changes == "kept dana"
    assert [subtask["goal"] for subtask in run.of(PlanMade)[-1].subtasks] == [long.removeprefix("1. ")]


async def test_a_merged_plan_that_lost_something_gives_way() -> None:
    one = "1. Return the loan of dana, and tell me"
    two = "1. Return the loan of dana and tell me so"
    merged = "- Return all the loans of everybody\n# changes: all at once\n# critique: fine\n# score: 9"
    same = (*GOOD, answer("Yes."))
    run = Run([*team(1, plan(one), *same), *team(2, plan(two), *same), *merging(ANALYSIS, merged)])
    await run.outcome(task="Return the loan of dana, and tell me.")
    [refused] = run.of(MergeRefused)
    assert refused.quality < refused.best_quality == 1.0
    assert [subtask["goal"] for subtask in run.of(PlanMade)[-1].subtasks] == [one.removeprefix("1. ")]


async def test_without_elitism_a_merged_plan_of_no_use_gives_way_to_the_first() -> None:
    one, two = "1. Return the loan of dana", "1. Return the loan of dana now"
    # A plan may not say the same twice.
    same = (*GOOD, answer("Yes."))
    settings = TeamSettings(teams=2).without(["elitism"])
    twice = "- Look at the shelf once\n- Look at the shelf once\n# changes: m\n# critique: c\n# score: 9"
    run = Run(
        [*team(1, plan(one), *same), *team(2, plan(two), *same), *merging(ANALYSIS, twice)], teams=settings
    )
    await run.outcome(task="Return the loan of dana now and then tell me of it and all other things.")
    assert any("that of team-1 stands" in event.text for event in run.of(Noted))
    assert [subtask["goal"] for subtask in run.of(PlanMade)[-1].subtasks] == [one.removeprefix("1. ")]


async def test_most_decide_what_is_done() -> None:
    other = [search("omar"), give_back(OMAR), done()]
    run = Run(
        [
            *team(1, plan(PLAN), *other, answer("Yes.")),
            *team(2, plan(PLAN), *GOOD, answer("Yes.")),
            *team(3, plan(PLAN), *GOOD, answer("Yes.")),
        ],
        teams=3,
    )
    assert (await run.outcome(task=EITHER)).status == "succeeded"
    [agreed] = run.of(ActionsAgreed)
    assert (agreed.by, agreed.teams) == ("team-2", ["team-2", "team-3"])
    assert agreed.others == [{"team": "team-1", "calls": [f'return_loan(loan_id="{OMAR}")']}]
    assert [each for each in run.library.calls if each.startswith("return")] == [f"return {DANA}"]


async def test_a_tie_goes_to_the_calls_that_were_scored_higher() -> None:
    doubted = [search("omar", score=8), give_back(OMAR, score=8), done(score=8)]
    run = Run(
        [
            *team(1, plan(PLAN), *doubted, answer("Yes.")),
            *team(2, plan(PLAN), *GOOD, answer("Yes.")),
        ]
    )
    await run.outcome(task=EITHER)
    [agreed] = run.of(ActionsAgreed)
    assert agreed.by == "team-2"


async def test_of_equals_the_first_team_acts() -> None:
    other = [search("omar"), give_back(OMAR), done()]
    run = Run(
        [
            *team(1, plan(PLAN), *other, answer("Yes.")),
            *team(2, plan(PLAN), *GOOD, answer("Yes.")),
        ]
    )
    await run.outcome(task=EITHER)
    assert run.of(ActionsAgreed)[0].by == "team-1"
    assert f"return {OMAR}" in run.library.calls
    assert f"return {DANA}" not in run.library.calls


async def test_a_team_whose_plan_failed_has_no_vote() -> None:
    broken = ("?", "?!", "?!?")  # No call at all.
    reflection = ReflectionSettings(rounds=1).without(["rectification"])
    run = Run(
        [
            *team(1, plan(PLAN), *broken, answer("Yes.")),
            *team(2, plan(PLAN), *broken, answer("Yes.")),
            *team(3, plan(PLAN), *GOOD, answer("Yes.")),
        ],
        teams=3,
        reflection=reflection,
    )
    assert (await run.outcome()).status == "succeeded"
    assert run.of(ActionsAgreed)[0].by == "team-3"


async def test_where_the_world_is_otherwise_than_rehearsed_the_acting_agent_goes_on() -> None:
    # Between the two looks something is changed, and the library tells how often it was asked.
    looks = [search("dana"), give_back(DANA), search("dana"), done()]
    same = (plan(PLAN), *looks)
    run = Run([*team(1, *same, done("seen"), answer("Yes.")), *team(2, *same, answer("Yes."))])
    run.library.counts = True
    assert (await run.outcome()).status == "succeeded"
    assert [each for each in run.library.calls if each.startswith("return")] == [f"return {DANA}"]
    assert any("says otherwise than when it was rehearsed" in event.text for event in run.of(Noted))


async def test_answers_that_differ_are_merged_and_the_answer_gate_judges_the_merge() -> None:
    merged = "The loan of dana is returned.\n# changes: both\n# critique: fine\n# score: 9"
    run = Run(
        [
            *team(1, plan(PLAN), *GOOD, answer("Returned.", score=8)),
            *team(2, plan(PLAN), *GOOD, answer("It was of dana.", score=8)),
            *merging(ANALYSIS, merged),
            *judging("# critique: whole\n# score: 9"),
        ]
    )
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer, outcome.score) == (
        "succeeded",
        "The loan of dana is returned.",
        9,
    )


async def test_a_merged_answer_below_the_best_gives_way() -> None:
    merged = "Something was done by somebody.\n# changes: both\n# critique: fine\n# score: 9"
    run = Run(
        [
            *team(1, plan(PLAN), *GOOD, answer("Returned.", score=8)),
            *team(2, plan(PLAN), *GOOD, answer("It was of dana.", score=9)),
            *merging(ANALYSIS, merged),
            *judging("# critique: vague\n# score: 3"),
        ]
    )
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer, outcome.score) == ("succeeded", "It was of dana.", 9)
    assert [event.by for event in run.of(MergeRefused)] == ["answer/level-1/group-1"]


async def test_a_weak_answer_starts_the_next_round_for_all() -> None:
    again = "1. Return the loan of dana"
    run = Run(
        [
            *[IS_DONE] * 3,  # Each team, and who acts; the log of a run would ask once.
            *team(1, plan(PLAN), *GOOD, answer("Hm.", score=3), plan(again), answer("Yes.")),
            *team(2, plan(PLAN), *GOOD, answer("Hm.", score=3), plan(again), answer("Yes.")),
        ],
        reflection=ReflectionSettings(rounds=2),
    )
    # In the second round both start from what was done; whether that is all, they ask.
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer) == ("succeeded", "Yes.")
    assert [event.passed for event in run.of(RoundFinished)] == [False, True]
    assert [each for each in run.library.calls if each.startswith("return")] == [f"return {DANA}"]


async def test_of_typed_answers_the_one_that_most_gave_is_taken() -> None:
    def typed(number: int, score: int) -> str:
        return f'{{"output": {{"answer": {number}}}, "critique": "fine", "score": {score}}}'

    count = (plan("1. Count"), done("7"))
    run = Run(
        [*team(1, *count, typed(6, 10)), *team(2, *count, typed(7, 9)), *team(3, *count, typed(7, 8))],
        teams=3,
    )
    outcome = await run.outcome(task="Count.", returns={"type": "integer"})
    assert (outcome.answer, outcome.score) == (7, 9)


async def test_a_team_without_an_answer_is_dropped() -> None:
    run = Run(
        [
            *team(1, plan(PLAN), *GOOD, "", "", ""),
            *team(2, plan(PLAN), *GOOD, answer("Yes.")),
        ]
    )
    assert (await run.outcome()).answer == "Yes."
    assert [(event.team, event.phase) for event in run.of(TeamDropped)] == [("team-1", "answer")]


async def test_what_the_user_denied_is_refused_in_the_rehearsal_too() -> None:
    denied = [search("dana"), give_back(DANA), done("it may not be returned")]
    run = Run(
        [*team(1, plan(PLAN), *denied, answer("No.")), *team(2, plan(PLAN), *denied, answer("No."))],
        policy=ApprovalPolicy(yes=True, deny=["return_loan"]),
    )
    await run.outcome()
    assert run.of(EffectRehearsed) == []
    assert run.of(ActionsAgreed)[0].calls == []
    assert run.library.calls == ["search dana"]


async def test_in_a_dry_run_nothing_is_done() -> None:
    same = (plan(PLAN), *GOOD, answer("Yes."))
    run = Run([*team(1, *same), *team(2, *same)], policy=ApprovalPolicy(dry_run=True))
    await run.outcome()
    assert run.library.calls == ["search dana"]
    assert len(run.of(EffectRehearsed)) == 2


async def test_many_teams_are_pruned_and_partitioned_as_anywhere() -> None:
    script: list[ScriptStep] = []
    for number in range(1, 9):
        line = "Return loans" if number in (3, 5) else f"Return the loan of dana in way {number}"
        script += team(number, plan(f"1. {line}"), *GOOD, answer("Yes."))
    merged = "- Return the loan of dana in way 1\n# changes: c\n# critique: fine\n# score: 9"
    script += merging(*[ANALYSIS] * 3, *[merged] * 5)
    run = Run(script, teams=8)
    await run.outcome(task="Return the loan of dana and tell me and then tell all the others.")
    pruned = [(path, event.by) for path, event in run.memory.events if isinstance(event, SolutionPruned)]
    assert sorted(by for path, by in pruned if path.endswith("/plan")) == ["team-3", "team-5"]
    assert len([by for path, by in pruned if path.endswith("/answer")]) == 2
    sizes = [[len(group) for group in event.groups] for event in run.of(GroupsFormed)]
    assert sizes[0] == [2, 2, 2]


async def test_budget_that_ends_in_a_rehearsal_changes_nothing() -> None:
    run = Run([*team(1, plan(PLAN), search("dana")), *team(2, plan(PLAN))], limits=Limits(calls=3))
    outcome = await run.outcome()
    assert outcome.status == "budget_exhausted"
    assert [each for each in run.library.calls if each.startswith("return")] == []


async def test_where_the_budget_runs_low_one_team_goes_on_in_the_next_round() -> None:
    weak = [plan(PLAN), *GOOD, answer("Hm.", score=3)]
    second = [plan(PLAN), answer("Yes.")]
    run = Run(
        [IS_DONE, *team(1, *weak, *second), *team(2, *weak)],
        reflection=ReflectionSettings(rounds=2),
        # Two teams took ten calls in the first round; what is left pays a round of one.
        limits=Limits(calls=17),
    )
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer) == ("succeeded", "Yes.")
    assert "the budget runs low, so one team goes on in round 2" in [each.text for each in run.of(Noted)]
    assert [event.passed for event in run.of(RoundFinished)] == [False, True]

    again = Run([], reflection=ReflectionSettings(rounds=2))
    again.memory.results = run.memory.results
    assert await again.outcome() == outcome
