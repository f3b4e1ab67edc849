"""Plan trees from logs: of runs that went straight, in rounds, were refused, killed, taken up and forked."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.experience.recorded import (
    RUN,
    called,
    calls,
    chosen,
    on_record,
    planned,
    statuses,
    trajectories,
    worked,
)
from tests.reflection.crew import AS_PLANNED, DANA, TASK, Stage, answer, at, done, give_back, plan, search
from tests.support import notebook

from plait.errors import ModelError
from plait.events import (
    ApprovalDecided,
    FeedbackGiven,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.experience.investigation.investigate import investigate
from plait.experience.investigation.tree import Goal
from plait.models.protocol import Request
from plait.models.scripted import Answer, FunctionModel, ScriptedModel
from plait.outfit.hands import Hands
from plait.runner import fork, resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.tools import executor
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import UNKNOWN_RESULT
from plait.tools.functions import from_function, tool

FUNCTIONS = (notebook.write_line, notebook.read_page)
YES = Options(yes=True, without=("experience",))
"""Each run stands for itself: none is a reference for the next."""
SUBTASK = "run/round-1/subtask-1"


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return file


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


def tree(records: Sequence[Record]) -> Goal:
    found = investigate(records)
    assert found is not None
    return found


def hands(log: RunLog, model: Any = notebook.answer) -> Hands:
    return Hands(tools=FUNCTIONS, model=FunctionModel(model), log=log)


async def test_the_subtasks_of_a_run_in_one_round_are_subgoals_of_its_task(log: RunLog) -> None:
    stage = Stage(
        planner=[plan("1. Find those of dana", "2. Return that of dana")],
        tool=[search("dana"), done("found"), give_back(DANA), done("returned")],
        answer=[answer("It is returned.")],
    )
    root = tree(await worked(log, stage, ends="succeeded"))
    assert (root.id, root.text, root.status, root.result) == ("", TASK, "succeeded", "It is returned.")
    assert statuses(root) == {"": "succeeded", "1": "succeeded", "2": "succeeded"}
    assert [(leaf.text, leaf.result) for leaf in root.leaves()] == [
        ("Find those of dana", "found"),
        ("Return that of dana", "returned"),
    ]
    (found,), (returned,) = (leaf.steps for leaf in root.leaves())
    assert (found.tool, found.arguments, found.observation) == (
        "search_loans",
        {"who": "dana"},
        f"loan_id {DANA} of dana",
    )
    assert (found.ok, found.effect, found.whole) == (True, False, True)
    assert (returned.ok, returned.effect, returned.observation) == (True, True, "Returned.")


async def test_errors_on_the_way_stay_and_what_failed_or_was_skipped_says_so(log: RunLog) -> None:
    lines = ("1. Find lena", "2. Find dana (independent)", "3. Return both (after 1)")
    stage = Stage(
        planner=[plan(*lines)] * 2,
        tool=[
            *(at(1, reply) for reply in (search("lena"), "?", "?!", "?!?")),
            *(at(2, reply) for reply in (search("lena"), search("dana"), done())),
        ]
        * 2,
        answer=[answer("Half of it.")],
        settings=AS_PLANNED,
    )
    root = tree(await worked(log, stage, ends="failed"))
    assert statuses(root) == {
        "": "failed",
        "1": "failed",
        "1-1": "failed",
        "1-2": "succeeded",
        "1-3": "skipped",
        "2": "failed",
        "3": "succeeded",
        "4": "skipped",
    }
    assert trajectories(root)["3"] == ['search_loans(who="lena")', 'search_loans(who="dana")']
    assert [step.ok for step in root.subgoals[2].steps] == [False, True]
    assert trajectories(root)["4"] == []
    assert root.subgoals[0].text == TASK


async def test_a_leaf_that_an_earlier_round_changed_the_world_for_still_has_the_effect(log: RunLog) -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana"), plan("1. Find omar", "2. RETURN that of dana")],
        tool=[search("dana"), give_back(DANA), done(), search("omar"), done(), "yes"],
        answer=[answer("Perhaps.", score=3), answer("It is returned.")],
    )
    root = tree(await worked(log, stage, ends="succeeded"))
    assert statuses(root) == {
        "": "succeeded",
        "1": "failed",
        "1-1": "succeeded",
        "2": "succeeded",
        "3": "succeeded",
    }
    way = ['search_loans(who="dana")', f'return_loan(loan_id="{DANA}")']
    assert trajectories(root) == {"1-1": way, "2": ['search_loans(who="omar")'], "3": way}
    assert root.subgoals[0].result == "Perhaps."


@pytest.mark.parametrize(
    "policy", [ApprovalPolicy(dry_run=True), ApprovalPolicy(yes=True, deny=("return_loan",))]
)
async def test_a_call_that_was_not_made_is_a_step_that_is_not_ok(policy: ApprovalPolicy, log: RunLog) -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana")],
        tool=[search("dana"), give_back(DANA), done()],
        answer=[answer("As you like.")],
    )
    stage.crew.executor.policy = policy
    root = tree(await worked(log, stage, ends="succeeded"))
    assert stage.calls == ["search dana"]
    found, refused = root.leaves()[0].steps
    assert (found.ok, found.tool) == (True, "search_loans")
    assert (refused.ok, refused.effect, refused.tool) == (False, True, "return_loan")
    assert refused.observation.startswith("not done: ")


async def test_a_result_that_was_cut_is_not_whole(log: RunLog) -> None:
    @tool(effect="reads")
    async def read_all() -> str:
        """Read all that there is to be read."""
        return "x" * 100_000

    stage = Stage(
        planner=[plan("1. Read it")],
        tool=[plan("read_all()"), done()],
        answer=[answer("It is long.")],
        tools=[from_function(read_all, source="library")],
    )
    (step,) = tree(await worked(log, stage)).leaves()[0].steps
    assert (step.ok, step.whole) == (True, False)


async def test_every_first_part_of_a_log_has_a_tree_that_grows(log: RunLog) -> None:
    result = await start(notebook.TASK, YES, hands(log))
    records = log.records(result.run_id)
    assert tree(records) == tree(random.Random(1).sample(records, len(records)))
    assert investigate([]) is None
    seen: list[str] = []
    steps: dict[str, list[str]] = {}
    for length in range(1, len(records) + 1):
        root = tree(records[:length])
        seen.append(" ".join(statuses(root).values()))
        for id, made in trajectories(root).items():
            assert made[: len(steps.get(id, []))] == steps.get(id, [])
            steps[id] = made
    assert list(dict.fromkeys(seen)) == [
        "doing",
        "doing todo todo",
        "doing doing todo",
        "doing succeeded todo",
        "doing succeeded doing",
        "doing succeeded succeeded",
        "succeeded succeeded succeeded",
    ]
    writes = ["write_line(number=1)", "read_page(number=2)", "write_line(number=3)", "read_page(number=4)"]
    assert steps["1"] == writes
    assert [step.effect for step in tree(records).leaves()[0].steps] == [True, False] * 2


async def test_a_run_that_was_broken_off_anywhere_and_taken_up_has_the_tree_of_one_that_was_not(
    log: RunLog,
) -> None:
    straight = await start(notebook.TASK, YES, hands(log))
    for number in range(notebook.MODEL_CALLS):
        model = _failing(notebook.answer, at=number)
        with pytest.raises(ModelError):
            await start(notebook.TASK, YES, hands(log, model), run_id=f"broken-{number}")
        assert tree(log.records(f"broken-{number}")).status == "doing"
        await resume(f"broken-{number}", hands(log))
        assert tree(log.records(f"broken-{number}")) == tree(log.records(straight.run_id))


def _failing(respond: Any, *, at: int) -> Any:
    asked: list[Request] = []

    def reply(request: Request) -> Answer:
        asked.append(request)
        return ModelError("it is gone") if len(asked) > at else respond(request)

    return reply


@pytest.mark.parametrize("place", ["", "/subtask-1/step-3", "/subtask-2", "/answer"])
async def test_a_fork_that_goes_the_same_way_has_the_same_tree(place: str, log: RunLog) -> None:
    first = await start(notebook.TASK, YES, hands(log))
    forked = await fork(first.run_id, f"round-1{place}", {"temperature": 0.9}, hands(log))
    assert tree(log.records(forked.run_id)) == tree(log.records(first.run_id))


async def test_a_fork_that_was_broken_off_shows_what_it_met_of_what_it_copied(log: RunLog) -> None:
    first = await start(notebook.TASK, YES, hands(log))
    lent = hands(log, _failing(notebook.answer, at=0))
    with pytest.raises(ModelError):
        await fork(first.run_id, "round-1/subtask-2/step-2", {}, lent, new_id="forked")
    records = log.records("forked")
    assert statuses(tree(records)) == {"": "doing", "1": "succeeded", "2": "doing"}
    assert trajectories(tree(records))["2"] == ["write_line(number=5)"]
    copied = [record for record in records if record.sequence < 10]
    assert tree(copied).is_leaf


@pytest.mark.parametrize(
    "way",
    [
        ["read_page(number=9)"],
        ["read_page(number=1)"],
        ["read_page(number=1)", "read_page(number=9)"],
        ["read_page(number=9)", "read_page(number=8)", "read_page(number=7)", "read_page(number=6)"],
    ],
)
async def test_a_run_taken_up_with_another_model_has_the_steps_of_the_new_way_only(
    way: Sequence[str], log: RunLog
) -> None:
    """Old calls stay on record at places that the new way never comes to."""

    def model(name: str, *replies: str, last: Answer) -> ScriptedModel:
        texts = ["1. Look at the pages", *replies, 'done(result="seen")']
        return ScriptedModel([*(text + notebook.REMARKS for text in texts), last], name=name)

    old = model("old", *(f"read_page(number={n})" for n in (1, 2, 3)), last=ModelError("it is gone"))
    with pytest.raises(ModelError):
        await start("Look", YES, Hands(tools=FUNCTIONS, model=old, log=log), run_id=RUN)
    assert len(tree(log.records(RUN)).leaves()[0].steps) == 3
    new = model("new", *way, last="White." + notebook.REMARKS)
    await resume(RUN, Hands(tools=FUNCTIONS, model=new, log=log))
    root = tree(log.records(RUN))
    assert (root.status, trajectories(root)) == ("succeeded", {"1": list(way)})


async def test_an_effect_that_the_user_says_was_done_is_a_step_without_its_result(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "GRACE_SECONDS", 0.01)
    under_way = asyncio.Event()

    @tool(name="write_line")
    async def slow(number: int) -> str:
        """Hang."""
        under_way.set()
        await asyncio.Event().wait()
        return ""

    lent = replace(hands(log), tools=(slow, notebook.read_page))
    run = asyncio.create_task(start(notebook.TASK, YES, lent, run_id=RUN))
    await under_way.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    root = tree(log.records(RUN))
    assert (statuses(root), trajectories(root)["1"]) == ({"": "failed", "1": "doing", "2": "todo"}, [])
    await resume(RUN, hands(log), decision="assume-done")
    first = tree(log.records(RUN)).leaves()[0].steps[0]
    assert (first.observation, first.ok, first.effect, first.whole) == (UNKNOWN_RESULT, True, True, False)


async def test_the_users_own_verdict_overrules_how_the_run_ended(log: RunLog) -> None:
    result = await start(notebook.TASK, YES, hands(log))
    log.append(result.run_id, FeedbackGiven(verdict="wrong"))
    assert statuses(tree(log.records(result.run_id))) == {"": "failed", "1": "succeeded", "2": "succeeded"}
    log.append(result.run_id, FeedbackGiven(verdict="right"))
    assert tree(log.records(result.run_id)).status == "succeeded"


def test_a_run_that_was_taken_up_again_has_neither_its_old_end_nor_the_verdict_on_it() -> None:
    ended = ("run!run_finished!0", RunFinished(status="budget_exhausted", result={"answer": "half"}))
    wrong = ("run!feedback_given!0", FeedbackGiven(verdict="wrong"))
    again = ("run!run_resumed!0", RunResumed(epoch=2, options={}))
    whole = ("run!run_finished!1", RunFinished(status="succeeded", result={"answer": {"lines": 2}}))
    outcomes = [
        tree(on_record(*log)) for log in ((ended,), (ended, wrong, again), (ended, wrong, again, whole))
    ]
    assert [(root.status, root.result) for root in outcomes] == [
        ("failed", "half"),
        ("doing", ""),
        ("succeeded", '{"lines": 2}'),
    ]


@pytest.mark.parametrize("domain", ["software", "story", "my-domain.toml"])
def test_a_run_of_teams_has_no_plan_tree(domain: str) -> None:
    first, *rest = on_record(planned("Solve it"))
    teams = RunStarted(task="Write", options={"domain": domain}, version="0")
    assert investigate([replace(first, event=teams), *rest]) is None
    assert investigate(rest) is None


def test_of_a_run_killed_in_a_later_plan_every_round_before_it_failed() -> None:
    root = tree(
        on_record(
            planned("First way"),
            (f"{SUBTASK}!0", SubtaskStarted(id="1", goal="First way")),
            (f"{SUBTASK}!1", SubtaskFinished(id="1", status="failed", result="no")),
            ("run/round-1!1", RoundFinished(round=1, answer="", score=None, passed=False)),
            ("run/round-2!0", RoundStarted(round=2)),
        )
    )
    assert statuses(root) == {"": "doing", "1": "failed", "1-1": "failed"}


def test_a_round_that_a_changed_run_never_came_to_again_is_left_out() -> None:
    weak = RoundFinished(round=1, answer="?", score=3, passed=False)
    root = tree(
        on_record(
            planned("First way"),
            ("run/round-1!1", weak),
            ("run/round-2!0", RoundStarted(round=2)),
            planned("Second way", round=2),
            ("run/round-1!1", replace(weak, passed=True)),
        )
    )
    assert [goal.text for goal in root.subgoals] == ["First way"]


def test_of_a_place_that_was_done_anew_the_highest_revision_counts() -> None:
    records = on_record(
        planned("Old", "Older"),
        planned("New"),
        (f"{SUBTASK}!0", SubtaskStarted(id="1", goal="New")),
        called(f"{SUBTASK}/step-1", "read", n=1),
        called(f"{SUBTASK}/step-1", "read", n=2),
    )
    root = tree(records)
    assert [(leaf.text, calls(leaf.steps)) for leaf in root.leaves()] == [("New", ["read(n=2)"])]


def step(number: int) -> str:
    return f"{SUBTASK}/step-{number}"


STALE = called(step(3), "read", n=3)


@pytest.mark.parametrize(
    ("places", "way"),
    [
        pytest.param(
            [called(step(2), "read", n=2), called(step(1), "read", n=1)],
            ["read(n=1)", "read(n=2)"],
            id="an earlier step that was done later stays the earlier one",
        ),
        pytest.param(
            [chosen(step(1), "done('')"), called(step(1), "read", n=1)],
            ["read(n=1)"],
            id="a search that was made wider without a model, where a choice had been before, counts",
        ),
        pytest.param(
            [
                called(step(1), "read", n=1),
                chosen(step(1), "read(n=1)", verdict="revised"),
                chosen(step(1), "read(n=5)", attempt=2, verdict="forced"),
            ],
            ["read(n=1)"],
            id="a choice that was forced through may be that of any try",
        ),
        pytest.param(
            [
                chosen(step(1), "read(n=1)", attempt=2),
                called(step(1), "read", n=1),
                chosen(step(1), "read(n=5)"),
            ],
            [],
            id="a try after the one that passed is of the way before",
        ),
        pytest.param(
            [STALE, chosen(step(2), "", verdict="failed")],
            [],
            id="no step comes after one without a choice",
        ),
        pytest.param(
            [STALE, chosen(step(2), "done('')", verdict="forced")],
            ["read(n=3)"],
            id="an end that was forced through may have been none",
        ),
    ],
)
def test_of_ways_that_were_gone_one_after_the_other_the_last_is_read(places: Any, way: list[str]) -> None:
    begun = (f"{SUBTASK}!0", SubtaskStarted(id="1", goal="Find it"))
    assert trajectories(tree(on_record(planned("Find it"), begun, *places))) == {"1": way}


def test_a_call_that_was_refused_when_its_turn_came_is_told_once() -> None:
    place = f"{SUBTASK}/step-1"
    refused = {"ok": True, "text": "dry run", "cut": False, "shared": False, "refused": "--dry-run"}
    decided = ApprovalDecided(tool="pay", arguments={"n": 1}, allowed=False, by="--dry-run")
    root = tree(
        on_record(
            planned("Pay"),
            (f"{SUBTASK}!0", SubtaskStarted(id="1", goal="Pay")),
            called(place, "pay", refused, kind="effect", n=1),
            (f"{place}/act!approval_decided!1", decided),
        )
    )
    assert [(step.ok, step.observation) for step in root.leaves()[0].steps] == [(False, "dry run")]


def test_steps_that_a_fork_copied_belong_to_no_subtask_before_it_is_begun() -> None:
    root = tree(on_record(planned("Look"), called(f"{SUBTASK}/step-1", "read", n=1)))
    assert (statuses(root), trajectories(root)) == ({"": "doing", "1": "todo"}, {"1": []})
