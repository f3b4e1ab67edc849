"""Act: what runs at once, what waits, what is skipped, and that effects keep the plan's order."""

import asyncio
from dataclasses import replace

import pytest
from tests.reflection.crew import AS_PLANNED, DANA, MIRA, OMAR, Stage, at, call, done, give_back, search

from plait.errors import ToolError
from plait.events import LoopBroken, MemoryCleared, SubtaskFinished, SubtaskStarted
from plait.models.protocol import Request
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Effects, Step
from plait.tools.functions import from_function, tool

WITHOUT_GATE = ReflectionSettings().without(["tool-gate"])


async def test_a_subtask_takes_steps_until_it_is_done() -> None:
    stage = Stage(tool=[search("dana"), give_back(DANA), done("returned one")])
    trajectory = await stage.act("1. Return the loans of dana")
    assert stage.calls == ["search dana", f"return {DANA}"]
    run = trajectory.runs["1"]
    assert (run.status, run.result, len(run.steps)) == ("succeeded", "returned one", 2)
    assert not trajectory.failed
    assert [each.kind for each in (*stage.memory.of(SubtaskStarted), *stage.memory.of(SubtaskFinished))] == [
        "subtask_started",
        "subtask_finished",
    ]


async def test_each_step_sees_the_results_of_those_before() -> None:
    stage = Stage(tool=[search("dana"), done()])
    await stage.act("1. Find the loans of dana")
    assert DANA not in stage.prompts("tool")[0]
    assert f"loan_id {DANA} of dana" in stage.prompts("tool")[1]


async def test_independent_subtasks_run_at_once() -> None:
    # Each waits in the model until the other is there too: one after the other would never end.
    both = asyncio.Barrier(2)

    async def meet(_: Request) -> str:
        await both.wait()
        return done()

    stage = Stage(tool=[at(1, meet), at(2, meet)])
    await stage.act("1. Look for dana", "2. Look for omar (independent)")
    assert stage.endings == {"1": "succeeded", "2": "succeeded"}


async def test_a_dependent_waits_and_sees_only_the_results_of_what_it_depends_on() -> None:
    stage = Stage(
        tool=[
            at(1, search("dana")),
            at(1, done("one of dana")),
            at(2, search("omar")),
            at(2, done("one of omar")),
            at(3, done()),
        ]
    )
    await stage.act("1. Look for dana", "2. Look for omar (independent)", "3. Return it (after 1)")
    [third] = [prompt for prompt in stage.prompts("tool") if "subtask 3]" in prompt]
    assert f"loan_id {DANA} of dana" in third
    assert "one of dana" in third
    assert OMAR not in third
    assert "one of omar" not in third


async def test_results_pass_on_along_the_chain() -> None:
    stage = Stage(tool=[search("dana"), done("found"), done("checked"), give_back(DANA), done()])
    await stage.act("1. Find", "2. Check", "3. Return")
    assert stage.calls == ["search dana", f"return {DANA}"]


async def test_after_a_failure_dependents_are_skipped_and_others_go_on() -> None:
    stage = Stage(tool=[at(1, "?"), at(1, "?!"), at(1, "?!?"), at(3, done())], settings=AS_PLANNED)
    trajectory = await stage.act(
        "1. Find", "2. Return (after 1)", "3. Look (independent)", "4. Tell (after 2)"
    )
    assert stage.endings == {"1": "failed", "2": "skipped", "3": "succeeded", "4": "skipped"}
    assert trajectory.failed
    assert [event.id for event in stage.memory.of(SubtaskStarted)] == ["1", "3"]


async def test_effects_keep_the_plans_order_whoever_is_ready_first() -> None:
    second_is_ready = asyncio.Event()

    async def last(_: Request) -> str:
        await second_is_ready.wait()
        return give_back(DANA)

    def first(_: Request) -> str:
        second_is_ready.set()
        return give_back(OMAR)

    stage = Stage(
        tool=[
            at(1, search("dana")),
            at(1, last),
            at(1, done()),
            at(2, search("omar")),
            at(2, first),
            at(2, done()),
        ]
    )
    await stage.act("1. Return that of dana", "2. Return that of omar (independent)")
    effects = [each for each in stage.calls if each.startswith("return")]
    assert effects == [f"return {DANA}", f"return {OMAR}"]


async def test_effects_of_a_subtask_wait_for_the_reads_of_those_before() -> None:
    stage = Stage(
        tool=[
            at(1, search("dana")),
            at(1, done()),
            at(2, search("omar")),
            at(2, give_back(OMAR)),
            at(2, done()),
        ]
    )
    await stage.act("1. Look for dana", "2. Return that of omar (independent)")
    assert stage.calls.index("search dana") < stage.calls.index(f"return {OMAR}")


async def test_effects_run_one_at_a_time() -> None:
    under_way: list[str] = []
    most: list[int] = []

    @tool(effect="changes")
    async def stamp(text: str) -> str:
        """Stamp a text."""
        under_way.append(text)
        most.append(len(under_way))
        await asyncio.sleep(0.01)
        under_way.remove(text)
        return "stamped"

    stage = Stage(
        tools=[from_function(stamp, source="tests")],
        tool=[
            *(at(n, call(f'stamp(text="letter {n}")')) for n in (1, 2, 3)),
            *(at(n, done()) for n in (1, 2, 3)),
        ],
    )
    await stage.act("1. Stamp a", "2. Stamp b (independent)", "3. Stamp c (independent)")
    assert most == [1, 1, 1]


async def test_the_same_effect_of_two_subtasks_at_once_is_done_once() -> None:
    steps = [at(1, search("dana")), at(1, give_back(DANA)), at(1, done())]
    twin = [at(2, search("dana")), at(2, give_back(DANA)), at(2, done())]
    stage = Stage(tool=[*steps, *twin])
    trajectory = await stage.act("1. Return that of dana", "2. Return hers (independent)")
    assert stage.calls.count(f"return {DANA}") == 1
    refused = trajectory.runs["2"].steps[-1]
    assert (refused.ok, refused.effect) == (False, False)


async def test_an_effect_of_an_earlier_round_is_known_and_not_done_again() -> None:
    before = Step(
        tool="return_loan", arguments={"loan_id": DANA}, ok=True, observation="Returned.", effect=True
    )
    effects = Effects(done=[before])
    stage = Stage(tool=[search("dana"), give_back(DANA), done("it was returned before")])
    await stage.act("1. Return that of dana", effects=effects)
    assert stage.calls == ["search dana"]
    assert effects.done == [before]


async def test_effects_that_were_done_are_kept_for_later_rounds_and_reads_are_not() -> None:
    effects = Effects()
    stage = Stage(tool=[search("mira"), give_back(MIRA), done()])
    await stage.act("1. Return that of mira", effects=effects)
    assert [each.call for each in effects.done] == [f'return_loan(loan_id="{MIRA}")']


async def test_an_effect_that_failed_counts_as_not_done() -> None:
    @tool(effect="changes")
    async def return_loan(loan_id: str) -> str:
        """Return a loan."""
        raise ToolError("the desk is closed")

    effects = Effects()
    stage = Stage(
        task=f"Return {DANA}",
        tools=[from_function(return_loan, source="tests")],
        tool=[give_back(DANA), done("closed")],
    )
    await stage.act("1. Return it", effects=effects)
    assert effects.done == []


async def test_a_subtask_ends_at_its_limit_of_steps() -> None:
    settings = replace(AS_PLANNED, steps=2)
    stage = Stage(tool=[search("dana"), search("omar")], settings=settings)
    trajectory = await stage.act("1. Look")
    assert trajectory.runs["1"].status == "failed"
    assert "2 steps" in trajectory.runs["1"].result
    assert stage.calls == ["search dana", "search omar"]


@pytest.mark.parametrize("settings", [ReflectionSettings(), WITHOUT_GATE])
async def test_a_loop_of_the_same_call_with_the_same_result_is_broken(settings: ReflectionSettings) -> None:
    again = search("dana")
    # With its gate the agent is told once that it has the result, and then insists.
    stage = Stage(tool=[again] * (3 if settings.tool.enabled else 2), settings=settings)
    trajectory = await stage.act("1. Look for dana")
    assert len(trajectory.runs["1"].steps) == 2
    assert [event.times for event in stage.memory.of(LoopBroken)] == [2]
    assert trajectory.runs["1"].status == "succeeded"


async def test_an_agent_that_gives_no_call_fails_its_subtask_whatever_it_did_before() -> None:
    stage = Stage(tool=[search("dana"), "what?", "what?", "what?"], settings=AS_PLANNED)
    trajectory = await stage.act("1. Look for dana")
    assert trajectory.runs["1"].status == "failed"
    assert stage.memory.of(MemoryCleared) == []


@pytest.mark.parametrize(("opinion", "status"), [("yes", "succeeded"), ("no", "failed")])
async def test_of_an_agent_at_its_end_after_an_effect_a_second_opinion_says_if_it_is_done(
    opinion: str, status: str
) -> None:
    stage = Stage(tool=[search("dana"), *[give_back(DANA)] * 3, opinion], settings=AS_PLANNED)
    trajectory = await stage.act("1. Return that of dana")
    assert trajectory.runs["1"].status == status
    assert stage.calls == ["search dana", f"return {DANA}"]
    assert len(stage.memory.of(MemoryCleared)) == (status == "succeeded")


async def test_an_effect_that_gave_no_answer_is_not_done_again() -> None:
    sent: list[str] = []

    async def send(loan_id: str) -> str:
        """Send a reminder."""
        sent.append(loan_id)
        await asyncio.sleep(5)
        return "never"

    slow = tool(effect="changes", timeout_seconds=0.01)(send)
    call = f'# thought: now\nsend(loan_id="{DANA}")\n# critique: fits\n# score: 10'
    tools = [from_function(slow, source="tests")]
    stage = Stage(task=f"Remind {DANA}", tools=tools, tool=[call] * 3, settings=AS_PLANNED)
    effects = Effects()
    trajectory = await stage.act("1. Remind", effects=effects)
    assert sent == [DANA]
    assert len(effects.doubtful) == 1
    assert trajectory.runs["1"].status == "failed"


async def test_an_agent_that_repeats_a_failed_call_fails_its_subtask() -> None:
    again = search("lena")
    stage = Stage(tool=[again, again, again], settings=AS_PLANNED)
    trajectory = await stage.act("1. Look for lena")
    assert stage.calls == ["search lena"] * 2
    assert len(stage.memory.of(LoopBroken)) == 1
    assert trajectory.runs["1"].status == "failed"


async def test_an_error_that_ends_the_run_is_raised_as_it_is() -> None:
    stage = Stage(tool=[RuntimeError("the engine burst")])
    with pytest.raises(RuntimeError, match="the engine burst"):
        await stage.act("1. Look", "2. Tell")


async def test_steps_and_calls_have_places_that_follow_the_plan() -> None:
    stage = Stage(tool=[at(1, search("dana")), at(1, done()), at(2, done())])
    await stage.act("1. Look", "2. Tell (independent)")
    assert {path for path, kind in stage.memory.kinds.items() if kind != "value"} == {
        "run/subtask-1/step-1/try-1",
        "run/subtask-1/step-1/act/call",
        "run/subtask-1/step-2/try-1",
        "run/subtask-2/step-1/try-1",
    }


async def test_a_search_that_found_nothing_is_made_wider_without_asking_the_model() -> None:
    seen: list[str] = []

    @tool(effect="reads")
    async def search_events(who: str, time_max: str = "") -> str:
        """Find what is on."""
        seen.append(f"{who} {time_max}".strip())
        return "[]" if time_max else "a talk of dana"

    stage = Stage(
        task="Find the next talk of dana",
        tools=[from_function(search_events, source="tests")],
        tool=[call('search_events(who="dana", time_max="2023-12-18")'), done("found it")],
    )
    await stage.act("1. Find the next talk of dana")
    assert seen == ["dana 2023-12-18", "dana"]
    assert "a talk of dana" in stage.prompts("tool")[1]


async def test_without_its_gate_a_search_that_found_nothing_is_not_made_again() -> None:
    settings = ReflectionSettings().without(["tool-gate"])
    bare = '# thought: on with it\nsearch_events(who="dana", time_max="2023-12-18")'
    stage = Stage(
        task="Find the next talk of dana",
        tools=[from_function(_search_events, source="tests")],
        tool=[bare, '# thought: on with it\ndone(result="nothing")'],
        settings=settings,
    )
    await stage.act("1. Find the next talk of dana")
    assert "a talk of dana" not in stage.prompts("tool")[1]


@tool(effect="reads")
async def _search_events(who: str, time_max: str = "") -> str:
    """Find what is on."""
    return "[]" if time_max else f"a talk of {who}"
