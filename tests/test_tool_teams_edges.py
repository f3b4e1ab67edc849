"""Teams on a tool task at the edges: what a rehearsal cannot know, and who is counted."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.crew import DANA, MIRA, OMAR, answer, call, done, give_back, plan, search
from tests.support.assembly import ANALYSIS, GOOD, PLAN, Run, judging, merging, of_team, team

from plait.errors import RequestRefused
from plait.events import ActionsAgreed, EffectRehearsed, MergeRefused, PlanMade, TeamDropped
from plait.journal import Journal
from plait.models.callform import format_call
from plait.models.scripted import ScriptStep, Slow
from plait.reflection.guide import Advice, CallAhead, Trail
from plait.reflection.plan import Plan, Subtask
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Step, Trajectory
from plait.teams.settings import TeamSettings
from plait.tools.approval import ApprovalPolicy
from plait.tools.functions import from_function, tool
from plait.weave.agreement import AgreedGuide, AgreedTrail, agreed, trails_of

AS_PLANNED = ReflectionSettings(rounds=1).without(["rectification"])


class Office:
    """Two tools of which the second needs what the effect of the first returns."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def tools(self) -> list[Any]:
        @tool(effect="changes")
        async def create_event(name: str) -> str:
            """Create an event; returns its id."""
            self.calls.append(f"create {name}")
            return "event_id 77000999"

        @tool(effect="changes")
        async def invite(event_id: str, who: str) -> str:
            """Invite someone to an event."""
            self.calls.append(f"invite {who} to {event_id}")
            return "Invited."

        return [from_function(function, source="tests") for function in (create_event, invite)]


async def test_who_lacks_what_an_effect_would_bring_keeps_its_vote() -> None:
    office = Office()
    both = plan("1. Create an event called lunch", "2. Invite dana to it")
    create = [call('create_event(name="lunch")'), done()]
    unknown = ["?", "?!", "?!?"]  # The id is not there yet.
    live = [call('invite(event_id="77000999", who="dana")'), done()]
    run = Run(
        [
            *team(1, both, *create, *unknown, *live, answer("Yes.")),
            *team(2, both, *create, *unknown, answer("Yes.")),
            *team(3, both, done(), done(), answer("Yes.")),
        ],
        teams=3,
        tools=office.tools(),
        reflection=AS_PLANNED,
    )
    outcome = await run.outcome(task="Create an event called lunch and then invite dana to it.")
    assert outcome.status == "succeeded"
    assert run.of(ActionsAgreed)[0].teams == ["team-1", "team-2"]
    assert office.calls == ["create lunch", "invite dana to 77000999"]


def rehearsal(*steps: Step, status: Any = "succeeded", goal: str = "Do it") -> Trajectory:
    trajectory = Trajectory.of(Plan(subtasks=[Subtask(id="1", goal=goal)]))
    run = trajectory.runs["1"]
    run.status, run.result = status, "done"
    run.steps.extend(steps)
    return trajectory


def effect(*, observation: str = "Done.", ok: bool = True, score: float = 9, **arguments: Any) -> Step:
    return Step(tool="lend", arguments=arguments, ok=ok, observation=observation, effect=True, score=score)


@tool(effect="changes")
async def lend(book: str, days: int = 7) -> str:
    """Lend a book."""
    return f"{book} for {days}"


TOOLS = {"lend": from_function(lend, source="tests")}


def test_equal_calls_are_one_vote_however_they_are_written() -> None:
    teams = {
        "team-1": rehearsal(effect(book="Ash", days=9)),
        "team-2": rehearsal(effect(book="Ash", days=7)),
        "team-3": rehearsal(effect(days=7, book="Ash")),
        "team-4": rehearsal(effect(book="Ash")),
        "team-5": rehearsal(effect(book="Ash", days=9)),
    }
    assert agreed(teams, TOOLS).teams == ["team-2", "team-3", "team-4"]


def test_the_order_of_calls_makes_no_other_vote() -> None:
    one, two = effect(book="Ash"), effect(book="Tides")
    teams = {
        "team-1": rehearsal(effect(book="Moor", score=10)),
        "team-2": rehearsal(one, two),
        "team-3": rehearsal(two, one),
    }
    assert agreed(teams, TOOLS).teams == ["team-2", "team-3"]


def test_of_those_who_agree_one_acts_whose_plan_did_not_fail() -> None:
    teams = {
        "team-1": rehearsal(effect(book="Ash", score=10), status="failed"),
        "team-2": rehearsal(effect(book="Ash")),
    }
    assert agreed(teams, TOOLS).by == "team-2"


def test_of_those_who_agree_the_one_with_the_fewest_calls_acts() -> None:
    look = Step(tool="see", arguments={}, ok=True, observation="Ash", effect=False, score=10)
    teams = {
        "team-1": rehearsal(look, effect(book="Ash", score=10)),
        "team-2": rehearsal(effect(book="Ash")),
        "team-3": rehearsal(effect(book="Ash")),
        "team-4": rehearsal(effect(book="Moor")),
    }
    choice = agreed(teams, TOOLS)
    assert (choice.by, choice.teams) == ("team-2", ["team-1", "team-2", "team-3"])


def test_where_all_failed_without_a_call_the_first_acts() -> None:
    teams = {name: rehearsal(status="failed") for name in ("team-1", "team-2")}
    assert agreed(teams, TOOLS).by == "team-1"


def test_what_an_earlier_round_did_is_no_vote_and_is_not_looked_at_again() -> None:
    trajectory = rehearsal(effect(ok=False, book="Moor", observation="no"), effect(book="Ash"))
    trajectory.runs["1"].carried = 1
    assert agreed({"team-1": trajectory}, TOOLS).calls == [format_call("lend", {"book": "Ash"})]
    trail = trails_of(trajectory)["Do it"]
    assert trail.next(trajectory.runs["1"].steps[:1], {}) == CallAhead(tool="lend", arguments={"book": "Ash"})


@pytest.mark.parametrize(
    ("said", "goes_on"),
    [
        ("Not lent: the book is reserved.", True),
        ("Event not found.", True),
        ("Failed to lend", True),
        ("It isn't there", True),
        ("Lent for 7 days.", False),
        ("Noted: Notional is lent", False),
    ],
)
def test_an_effect_that_may_not_have_been_done_is_looked_at(said: str, goes_on: bool) -> None:
    trail = AgreedTrail(steps=[effect(book="Ash")], claim="lent")
    made = effect(book="Ash", observation=said)
    assert (getattr(trail.next([made], {}), "reason", "") != "") is goes_on
    assert said in trail.result([made])


async def test_a_goal_that_was_given_again_after_it_failed_is_worked_on_by_an_agent() -> None:
    broken = ("?", "?!", "?!?")
    mended = "add before\n1. Return the loan of mira first\n# critique: c\n# score: 10"
    first = [search("mira"), give_back(MIRA), done()]
    whole = [plan(PLAN), *broken, mended, *first, *GOOD]
    run = Run(
        [
            # What was rehearsed for the goal is only half of it: it is asked anew, and goes on in earnest.
            *team(1, *whole, *broken, mended, *GOOD, answer("Yes.")),
            *team(2, *whole, answer("Yes.")),
        ]
    )
    assert (await run.outcome(task="Return the loan of dana, and that of mira.")).status == "succeeded"
    assert sorted(each for each in run.library.calls if each.startswith("return")) == [
        f"return {DANA}",
        f"return {MIRA}",
    ]


async def test_a_merge_that_its_judge_gives_no_score_gives_way() -> None:
    merged = "The loan of dana is returned.\n# changes: both\n# critique: fine\n# score: 9"
    run = Run(
        [
            *team(1, plan(PLAN), *GOOD, answer("Returned.", score=9)),
            *team(2, plan(PLAN), *GOOD, answer("It was of dana.", score=10)),
            *merging(ANALYSIS, merged),
            *judging("Well.", "Good.", "Hm."),
        ]
    )
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer, outcome.score) == ("succeeded", "It was of dana.", 10)


async def test_a_plan_that_is_only_the_task_again_is_worth_least() -> None:
    task = "Return the loan of dana, then return the loan of omar, and tell me."
    steps = ("1. Return the loan of dana", "2. Return the loan of omar", "3. Tell me")
    other = ("1. Return the loan of dana", "2. Return the loan of omar", "3. Tell it")
    acted = [search("dana"), give_back(DANA), done(), search("omar"), give_back(OMAR), done(), done("told")]
    merged = "\n".join(f"- {line[3:]}" for line in steps) + "\n# changes: c\n# critique: fine\n# score: 9"
    analysis = f"{ANALYSIS.partition('# critique')[0]}Solution 3\n+ c\n- d\n# critique: fair\n# score: 9"
    run = Run(
        [
            *team(1, "no plan", "none", "nothing", *acted, answer("Yes.")),
            *team(2, plan(*steps), *acted, answer("Yes.")),
            *team(3, plan(*other), *acted, answer("Yes.")),
            *merging(analysis, merged),
        ],
        teams=TeamSettings(teams=3, group_size=3),
    )
    await run.outcome(task=task)
    assert run.of(MergeRefused) == []
    assert len(run.of(PlanMade)[-1].subtasks) == 3


async def test_a_limit_on_effects_holds_in_the_rehearsal_too() -> None:
    same = [plan(PLAN), search("dana"), give_back(DANA), done("no more is allowed"), answer("No.")]
    run = Run([*team(1, *same), *team(2, *same)], policy=ApprovalPolicy(yes=True, max_effects=0))
    await run.outcome()
    assert run.of(EffectRehearsed) == []


@pytest.mark.parametrize("at", range(3))
async def test_a_team_whose_model_refuses_is_dropped_and_the_others_go_on(at: int) -> None:
    refused = RequestRefused("the prompt is refused")
    own: list[Any] = [plan(PLAN), *GOOD, answer("Yes.")]
    phases = (own[:1], own[1:4], own[4:])
    script: list[ScriptStep] = []
    for number, phase in enumerate(phases):
        script += team(2, refused) if number == at else team(2, *phase)
    run = Run([*team(1, *own), *script, *team(3, *own)], teams=3)
    assert (await run.outcome()).status == "succeeded"
    assert [(event.team, event.phase) for event in run.of(TeamDropped)] == [
        ("team-2", ("plan", "act", "answer")[at])
    ]


async def test_a_team_that_stalls_is_dropped() -> None:
    own = [plan(PLAN), *GOOD, answer("Yes.")]
    run = Run(
        [*team(1, *own), ScriptStep(Slow(seconds=30), when=of_team(2)), *team(2, *own[1:])],
        teams=TeamSettings(teams=2, stall_seconds=0.2),
    )
    assert (await run.outcome()).status == "succeeded"
    assert [(event.team, event.phase) for event in run.of(TeamDropped)] == [("team-2", "plan")]


class Knowing:
    """A guide that knows a way through some goals, which leads to something nobody rehearsed."""

    def __init__(self, *goals: str) -> None:
        self._goals = goals

    async def advice(self, journal: Journal, goal: str) -> Advice:
        return Advice()

    async def warnings(self, journal: Journal, goal: str) -> tuple[str, ...]:
        return ()

    async def knows(self, journal: Journal, goal: str, task: str) -> bool:
        return goal in self._goals

    async def trail(self, journal: Journal, goal: str, task: str) -> Trail | None:
        known = AgreedTrail(steps=[effect(book="Known")], claim="known")
        return known if goal in self._goals else None


async def test_what_was_agreed_on_comes_before_what_is_known() -> None:
    trails = trails_of(rehearsal(effect(book="Ash"), goal="One"))
    guide: Any = AgreedGuide(trails=trails, own=Knowing("One", "Two"))
    nowhere: Any = None
    assert await guide.trail(nowhere, "One", "One") is trails["One"]
    assert (await guide.trail(nowhere, "Two", "Two")).claim == "known"
    assert await replace(guide, walks=False).trail(nowhere, "Two", "Two") is None


@pytest.mark.parametrize(
    "merged",
    [
        "No action taken.\n\nStrengths and weaknesses:\nSolution 3\n+ It is short.",
        "\n".join(f"It is line {number} of what was done." for number in range(9)),
    ],
)
async def test_a_merged_answer_that_speaks_of_solutions_gives_way_without_a_judge(merged: str) -> None:
    run = Run(
        [
            *team(1, plan(PLAN), *GOOD, answer("Returned.", score=8)),
            *team(2, plan(PLAN), *GOOD, answer("It was of dana.", score=9)),
            *merging(ANALYSIS, f"{merged}\n# changes: both\n# critique: fine\n# score: 9"),
        ]
    )
    outcome = await run.outcome()
    assert (outcome.status, outcome.answer) == ("succeeded", "It was of dana.")
    assert [event.quality for event in run.of(MergeRefused)] == [0.0]
