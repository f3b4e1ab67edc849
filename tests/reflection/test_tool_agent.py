"""The tool agent over a script: only offered tools, nothing made up, nothing again, in both forms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.crew import DANA, OMAR, Stage, call, done, give_back, search
from tests.support.gbnf import accepts

from plait.errors import ReplyError
from plait.models.protocol import FunctionCalling, Grammar, Reply, ToolCall
from plait.models.scripted import CutAtLimit
from plait.reflection.checks import Known
from plait.reflection.memory import ShortTermMemory
from plait.reflection.plan import read_plan
from plait.reflection.plan_tree import PlanTree
from plait.reflection.settings import ReflectionSettings
from plait.reflection.tool_agent import Choice, Moment, choose
from plait.reflection.trajectory import Effects, Step, Trajectory
from plait.tools.functions import from_function, tool

FUNCTIONS = ReflectionSettings(function_calling=True)


def step(tool: str, arguments: dict[str, Any], observation: str, *, ok: bool = True) -> Step:
    return Step(tool=tool, arguments=arguments, ok=ok, observation=observation, effect=tool == "return_loan")


FOUND = step("search_loans", {"who": "dana"}, f"loan_id {DANA} of dana")


def second_offer(stage: Stage) -> str:
    """Return the grammar of what the second try might call."""
    form = stage.models["tool"].requests[1].form
    assert isinstance(form, Grammar)
    return form.gbnf


async def chosen(stage: Stage, *steps: Step, elsewhere: Sequence[Step] = ()) -> Choice:
    trajectory = Trajectory.of(read_plan("1. Return the loans"))
    run = trajectory.runs["1"]
    run.steps.extend(steps)
    known = Known(
        task=stage.crew.task,
        texts=[stage.crew.task, run.subtask.goal, *(each.observation for each in steps)],
        notes="",
        dates={},
        steps=run.steps,
        effects=Effects(done=list(elsewhere)),
    )
    moment = Moment(run=run, trajectory=trajectory, known=known, memory=ShortTermMemory())
    passed = await choose(stage.journal, stage.crew, moment)
    stage.assert_done()
    return passed.judged.output


def native(tool: str, critique: str = "fits", score: float = 9, **arguments: Any) -> Reply:
    """A reply through the provider's function calling."""
    remarks = {"own_critique": critique, "own_score": score}
    return Reply(
        text="", finish="tool_calls", tool_calls=(ToolCall(name=tool, arguments={**arguments, **remarks}),)
    )


async def test_a_call_that_fits_is_chosen_in_one_reply() -> None:
    stage = Stage(tool=[search("dana")])
    choice = await chosen(stage)
    assert (choice.name, choice.arguments, choice.done) == ("search_loans", {"who": "dana"}, False)
    assert len(stage.prompts("tool")) == 1


async def test_done_is_a_choice_of_its_own() -> None:
    choice = await chosen(Stage(tool=[done("found it")]), FOUND)
    assert (choice.done, choice.arguments) == (True, {"result": "found it"})


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (search("dana", score=9), True),
        (give_back(DANA, score=0), True),
        (done(score=10), True),
        (call("burn_library()"), False),
        (call('search_loans(name="dana")'), False),
        (call("search_loans()"), False),
        (call("return_loan(loan_id=417)"), False),
        (call('search_loans(who="dana")', score=None), False),
        ("I would search first.", False),
    ],
)
async def test_under_the_grammar_a_reply_can_only_be_an_offered_call(reply: str, right: bool) -> None:
    stage = Stage(tool=[search("dana")])
    await chosen(stage)
    form = stage.models["tool"].requests[0].form
    assert isinstance(form, Grammar)
    assert accepts(form.gbnf, reply) is right


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (call("burn_library()"), "burn_library"),
        (call('search_loans(name="dana")'), "has no parameter 'name'"),
        (call("search_loans()"), "needs who"),
        ("I would search first.", "no tool call"),
        (CutAtLimit(text=search("dana")), "cut at"),
    ],
)
async def test_without_a_grammar_another_reply_is_refused_and_asked_again(wrong: Any, reason: str) -> None:
    stage = Stage(tool=[wrong, search("dana")])
    assert (await chosen(stage)).name == "search_loans"
    assert reason in stage.prompts("tool")[1]


@pytest.mark.parametrize("ok", [True, False])
async def test_a_call_made_before_in_the_subtask_is_refused(ok: bool) -> None:
    before = step("search_loans", {"who": "dana"}, f"loan_id {DANA} of dana", ok=ok)
    stage = Stage(tool=[search("dana"), search("omar")])
    assert (await chosen(stage, before)).arguments == {"who": "omar"}


async def test_a_tool_whose_answer_is_there_is_offered_no_more_in_this_step() -> None:
    stage = Stage(tool=[search("dana"), give_back(OMAR), give_back(DANA)])
    assert (await chosen(stage, FOUND)).name == "return_loan"
    first, second, third = (request.form for request in stage.models["tool"].requests)
    assert isinstance(first, Grammar)
    assert accepts(first.gbnf, search("dana"))
    for later in (second, third):
        assert isinstance(later, Grammar)
        assert not accepts(later.gbnf, search("dana"))
        assert accepts(later.gbnf, give_back(DANA))
        assert accepts(later.gbnf, done())


async def test_where_a_search_found_nothing_a_wider_one_is_on_offer_again() -> None:
    nothing = step("search_loans", {"who": "dana"}, "No loans found.")
    stage = Stage(tool=[search("dana"), give_back(OMAR), search("omar")])
    assert (await chosen(stage, nothing)).arguments == {"who": "omar"}
    _, second, third = (request.form for request in stage.models["tool"].requests)
    assert isinstance(second, Grammar)
    assert isinstance(third, Grammar)
    assert not accepts(second.gbnf, search("omar"))
    assert accepts(third.gbnf, search("omar"))


@pytest.mark.parametrize(
    ("steps", "offered"),
    [
        ([], False),
        ([step("search_loans", {"who": "omar"}, "No loans found.")], False),
        ([step("search_loans", {"who": "omar"}, "no answer", ok=False)], False),
        ([FOUND], True),
    ],
)
async def test_what_was_called_with_something_made_up_is_offered_again_once_something_is_found(
    steps: list[Step], offered: bool
) -> None:
    stage = Stage(tool=[give_back(OMAR), search("dana")])
    if offered:
        stage = Stage(tool=[give_back(OMAR), give_back(DANA)])
    await chosen(stage, *steps)
    second = second_offer(stage)
    assert accepts(second, give_back(DANA)) is offered
    assert accepts(second, search("dana"))


async def test_the_only_tool_stays_on_offer_whatever_was_wrong() -> None:
    @tool(effect="changes")
    def close(case_id: str) -> str:
        return ""

    only = [from_function(close, source="tests")]
    wanted = call('close(case_id="7")')
    stage = Stage(task="Close case 8", tools=only, tool=[wanted, call('close(case_id="8")')])
    assert (await chosen(stage)).arguments == {"case_id": "8"}
    second = second_offer(stage)
    assert accepts(second, wanted)


async def test_a_repeated_effect_leaves_its_tool_for_another_of_several() -> None:
    returned = step("return_loan", {"loan_id": DANA}, "Returned.")
    stage = Stage(task="Return all loans", tool=[give_back(DANA), give_back(OMAR)])
    assert (await chosen(stage, BOTH, returned)).arguments == {"loan_id": OMAR}
    second = second_offer(stage)
    assert accepts(second, give_back(OMAR))


async def test_an_id_that_no_result_has_is_refused_however_sure_the_agent_is() -> None:
    stage = Stage(tool=[give_back(OMAR, score=10), give_back(DANA)])
    assert (await chosen(stage, FOUND)).arguments == {"loan_id": DANA}
    assert OMAR in stage.prompts("tool")[1]


async def test_an_effect_done_elsewhere_is_refused() -> None:
    returned = step("return_loan", {"loan_id": DANA}, "Returned.")
    stage = Stage(tool=[give_back(DANA), done()])
    assert (await chosen(stage, FOUND, elsewhere=[returned])).done


async def test_a_refused_call_is_never_forced_through() -> None:
    stage = Stage(tool=[give_back(OMAR), call(f'return_loan(loan_id="{OMAR}1")'), give_back(OMAR)])
    with pytest.raises(ReplyError, match="tool agent in 3 tries"):
        await chosen(stage, FOUND)


async def test_a_weak_choice_is_revised_with_its_own_critique() -> None:
    stage = Stage(tool=[search("omar", score=4, critique="the task begins with dana"), search("dana")])
    assert (await chosen(stage)).arguments == {"who": "dana"}
    assert "the task begins with dana" in stage.prompts("tool")[1]


async def test_one_empty_search_is_not_taken_for_an_answer_at_first() -> None:
    nothing = step("find_loans", {"who": "nobody"}, "[]")

    @tool(effect="reads")
    async def find_loans(who: str = "") -> str:
        """Find loans."""
        return who

    stage = Stage(
        tools=[from_function(find_loans, source="tests")],
        tool=[done("nothing there"), done("nothing there")],
    )
    assert (await chosen(stage, nothing)).arguments == {"result": "nothing there"}
    assert "does not show that there is nothing" in stage.prompts("tool")[1]


async def test_function_calling_offers_the_same_tools_and_done_with_the_remarks() -> None:
    stage = Stage(tool=[native("search_loans", who="dana")], settings=FUNCTIONS)
    assert (await chosen(stage)).arguments == {"who": "dana"}
    form = stage.models["tool"].requests[0].form
    assert isinstance(form, FunctionCalling)
    assert [offered["name"] for offered in form.tools] == ["search_loans", "return_loan", "done"]
    for offered in form.tools:
        assert {"own_critique", "own_score"} <= set(offered["parameters"]["required"])


async def test_function_calling_without_a_gate_asks_for_no_remarks() -> None:
    bare = Reply(text="", tool_calls=(ToolCall(name="search_loans", arguments={"who": "dana"}),))
    stage = Stage(tool=[bare], settings=FUNCTIONS.without(["tool-gate"]))
    await chosen(stage)
    form = stage.models["tool"].requests[0].form
    assert isinstance(form, FunctionCalling)
    assert list(form.tools[0]["parameters"]["properties"]) == ["who"]


@pytest.mark.parametrize(
    "wrong",
    [
        Reply(text="I would search."),
        native("burn_library"),
        native("search_loans", name="dana"),
        native("return_loan", loan_id=OMAR),
        native("search_loans", who="omar", score=3),
    ],
)
async def test_function_calling_goes_through_the_same_gate(wrong: Reply) -> None:
    stage = Stage(tool=[wrong, native("search_loans", who="dana")], settings=FUNCTIONS)
    assert (await chosen(stage)).arguments == {"who": "dana"}


def test_a_subtask_sees_itself_and_what_it_depends_on() -> None:
    plan = read_plan("1. a\n2. b (independent)\n3. c (after 1)\n4. d (after 3)")
    tree = PlanTree(Trajectory.of(plan))
    seen = {leaf.id: list(tree.before(leaf).runs) for leaf in tree.leaves}
    assert seen == {"1": ["1"], "2": ["2"], "3": ["1", "3"], "4": ["1", "3", "4"]}


async def test_where_a_check_knows_what_seems_right_the_grammar_leaves_that_or_to_insist() -> None:
    shelf = "loan_id | due\n77000417 | 2023-12-04 14:30:00\n77000398 | 2023-12-06 09:00:00"
    found = step("search_loans", {"who": "dana"}, shelf)
    stage = Stage(task="Return the last loan of dana", tool=[give_back(DANA), give_back(OMAR)])
    assert (await chosen(stage, found)).arguments == {"loan_id": OMAR}
    second = second_offer(stage)
    assert "return_loan" in second
    assert "search_loans" not in second


async def test_where_another_tool_comes_first_only_that_is_offered() -> None:
    @tool(effect="reads")
    def search_tasks(name: str) -> str:
        return ""

    @tool(effect="reads")
    def search_events(name: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (search_tasks, search_events)]
    wanted, first = call('search_tasks(name="Project")'), call('search_events(name="Project")')
    stage = Stage(task="Cancel the next Project meeting", tools=tools, tool=[wanted, first])
    assert (await chosen(stage)).name == "search_events"
    second = second_offer(stage)
    assert (accepts(second, wanted), accepts(second, first)) == (False, True)
    stage = Stage(task="Cancel the next Project meeting", tools=tools, tool=[wanted])
    assert (await chosen(stage, step("search_events", {"name": "Project"}, "None."))).name == "search_tasks"


async def test_where_the_task_orders_what_a_tool_is_named_after_only_that_tool_or_the_end_is_offered() -> (
    None
):
    @tool(effect="changes")
    def send_letter(to: str) -> str:
        return ""

    @tool(effect="changes")
    def answer_letter(to: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (send_letter, answer_letter)]
    both = [call('send_letter(to="dana")'), call('answer_letter(to="dana")')]
    stage = Stage(task="Answer the letter of dana", tools=tools, tool=both)
    assert (await chosen(stage, step("search_letters", {}, "dana"))).name == "answer_letter"
    second = second_offer(stage)
    assert "send_letter" not in second
    assert "done" in second  # Who does not want that either need not.
    # Nobody knows whether an answer is a letter.
    unsure = Stage(task="Answer dana with a letter", tools=tools, tool=both[:1] * 2)
    assert (await chosen(unsure, step("search_letters", {}, "dana"))).name == "send_letter"


async def test_before_anything_is_found_what_finds_it_is_offered_beside_the_tool_that_is_meant() -> None:
    @tool(effect="changes")
    def send_letter(to: str) -> str:
        return ""

    @tool(effect="changes")
    def answer_letter(letter_id: str) -> str:
        return ""

    @tool(effect="reads")
    def search_letters(of: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (send_letter, answer_letter, search_letters)]
    both = [call('send_letter(to="dana")'), call('search_letters(of="dana")')]
    stage = Stage(task="Answer the letter of dana", tools=tools, tool=both)
    assert (await chosen(stage)).name == "search_letters"
    second = second_offer(stage)
    assert (accepts(second, both[0]), accepts(second, both[1])) == (False, True)


async def test_after_one_of_several_effects_the_others_are_offered() -> None:
    @tool(effect="changes")
    def write_letter(to: str) -> str:
        return ""

    @tool(effect="changes")
    def return_loan(loan_id: str) -> str:
        return ""

    @tool(effect="reads")
    def search_loans(who: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (return_loan, write_letter, search_loans)]
    letter = call('write_letter(to="dana")')
    returned = step("return_loan", {"loan_id": DANA}, "Returned.")
    stage = Stage(
        task=f"Return the loan {DANA}, then write to dana", tools=tools, tool=[give_back(DANA), letter]
    )
    assert (await chosen(stage, elsewhere=[returned])).name == "write_letter"
    second = second_offer(stage)
    assert (accepts(second, letter), accepts(second, search(who="dana"))) == (True, False)


async def test_who_insists_on_what_is_outside_the_hours_may_look_once_more_and_then_only_end_it() -> None:
    @tool(effect="changes")
    def delete_event(event_id: str) -> str:
        return ""

    @tool(effect="reads")
    def search_events(after: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (delete_event, search_events)]
    head = "event_id | event_start"
    morning = step("search_events", {"after": "00:00"}, f"{head}\n17 | 2023-12-05 09:00:00")
    later = step("search_events", {"after": "09:00"}, f"{head}\n18 | 2023-12-05 11:30:00")
    inside = step("search_events", {"after": "07:00"}, f"{head}\n19 | 2023-12-05 08:00:00")
    refused, look = call('delete_event(event_id="17")'), call('search_events(after="10:00")')
    elsewhere = step("search_events", {"after": "2023-12-05 10:00:00"}, later.observation)
    further = step("search_events", {"after": "2023-12-05 11:00:00"}, later.observation)
    for found, looks, deletes in (
        ([elsewhere, further], True, True),  # Nothing was sought before 9 yet.
        ([morning], True, False),
        ([morning, later], False, False),
        ([morning, later, inside], True, True),
    ):
        stage = Stage(task="Cancel my meetings on Tuesday before 9", tools=tools, tool=[refused, done()])
        assert (await chosen(stage, *found)).done
        second = second_offer(stage)
        assert (accepts(second, look), accepts(second, refused)) == (looks, deletes)
    gone = step("delete_event", {"event_id": "19"}, "Deleted.")
    stage = Stage(task="Cancel my meetings on Tuesday before 9", tools=tools, tool=[refused, done()])
    assert (await chosen(stage, morning, inside, replace(gone, effect=True))).done
    assert not accepts(second_offer(stage), look)


async def test_the_tool_that_is_meant_is_offered_also_where_another_record_seems_right() -> None:
    @tool(effect="changes")
    def forward_letter(letter_id: str) -> str:
        return ""

    @tool(effect="changes")
    def answer_letter(letter_id: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (forward_letter, answer_letter)]
    found = step("search_letters", {}, "letter_id | sent\n1 | 2023-12-04 14:30\n2 | 2023-12-05 14:30")
    both = [call('forward_letter(letter_id="1")'), call('answer_letter(letter_id="2")')]
    stage = Stage(task="Answer the last letter", tools=tools, tool=both)
    choice = await chosen(stage, found)
    assert (choice.name, choice.arguments) == ("answer_letter", {"letter_id": "2"})
    second = second_offer(stage)
    assert "forward_letter" not in second


@pytest.mark.parametrize(
    ("task", "searches"),
    [
        ("Send a letter to dana", False),
        ("Answer the last letter of dana", True),
        ("Send letters to all", True),
    ],
)
async def test_who_is_to_make_one_thing_and_looks_in_vain_may_only_make_it(task: str, searches: bool) -> None:
    @tool(effect="reads")
    def search_people(name: str) -> str:
        return ""

    @tool(effect="reads")
    def search_letters(of: str) -> str:
        return ""

    @tool(effect="changes")
    def send_letter(to: str) -> str:
        return ""

    tools = [from_function(each, source="tests") for each in (search_people, search_letters, send_letter)]
    again, sent = call('search_letters(of="dana")'), call('send_letter(to="dana at home")')
    seen = [
        step("search_people", {"name": "dana"}, "dana at home"),
        step("search_letters", {"of": "dana"}, "[]"),
    ]
    stage = Stage(task=task, tools=tools, tool=[again, sent])
    assert (await chosen(stage, *seen)).name == "send_letter"
    second = second_offer(stage)
    assert ("search_people" in second) is searches
    assert "send_letter" in second
    # Where to send it may be what was not looked up yet.
    stage = Stage(task=task, tools=tools, tool=[again, sent])
    await chosen(stage, replace(seen[1], observation="dana at home"))
    assert "search_people" in second_offer(stage)


async def test_what_is_made_up_is_looked_up_before_anything_else_is_doubted() -> None:
    shelf = "loan_id | due\n77000417 | 2023-12-04 14:30:00\n77000398 | 2023-12-06 09:00:00"
    found = step("search_loans", {"who": "dana"}, shelf)

    @tool(effect="changes")
    def return_loan(loan_id: str, to: str) -> str:
        return ""

    @tool(effect="reads")
    def search_loans(who: str) -> str:
        return ""

    wrong = call(f'return_loan(loan_id="{DANA}", to="mira@nowhere.org")')
    tools = [from_function(each, source="tests") for each in (return_loan, search_loans)]
    stage = Stage(task="Return the last loan to mira", tools=tools, tool=[wrong, search("mira")])
    assert (await chosen(stage, found)).name == "search_loans"
    stage = Stage(
        task="Return the last loan", tools=tools, tool=[wrong.replace("mira@nowhere.org", "mira")] * 2
    )
    await chosen(stage, found)
    second = second_offer(stage)
    assert "search_loans" not in second


async def test_before_anything_about_the_topic_was_found_only_searches_are_offered() -> None:
    found = step("search_loans", {"who": "dana"}, f"loan_id {DANA} of dana")
    stage = Stage(task="Return the loan about 'Tides'", tool=[give_back(DANA), search("Tides")])
    assert (await chosen(stage, found)).name == "search_loans"
    second = second_offer(stage)
    assert "return_loan" not in second
    assert "done" in second


BOTH = step("search_loans", {"who": "dana"}, f"loan_id {DANA} of dana, loan_id {OMAR} of dana")
RETURNED = step("return_loan", {"loan_id": DANA}, "Returned.")


async def test_where_a_task_of_one_thing_seems_reached_a_second_opinion_ends_it() -> None:
    stage = Stage(task="Return the last loan of dana", tool=[give_back(OMAR), "yes"])
    choice = await chosen(stage, BOTH, RETURNED)
    assert choice.done
    assert DANA in choice.arguments["result"]
    asked = stage.prompts("tool")[1]
    assert f'return_loan(loan_id="{DANA}") -> Returned.' in asked
    assert "on with it" not in asked


async def test_a_second_opinion_may_let_the_agent_go_on_and_is_asked_once() -> None:
    stage = Stage(task="Return the last loan of dana", tool=[give_back(OMAR, score=1), "no", give_back(OMAR)])
    assert (await chosen(stage, BOTH, RETURNED)).arguments == {"loan_id": OMAR}
    assert len(stage.prompts("tool")) == 3


async def test_no_second_opinion_is_asked_about_a_task_of_several_things() -> None:
    stage = Stage(task="Return the loans of dana", tool=[give_back(OMAR)])
    assert not (await chosen(stage, BOTH, RETURNED)).done


async def test_without_its_gate_an_agent_is_not_doubted() -> None:
    settings = ReflectionSettings().without(["tool-gate"])
    bare = f'# thought: on with it\nreturn_loan(loan_id="{DANA}")'
    stage = Stage(task="Return the last loan of dana", tool=[bare], settings=settings)
    assert (await chosen(stage, BOTH, RETURNED)).arguments == {"loan_id": DANA}


async def test_without_its_gate_a_search_is_made_as_it_was_chosen() -> None:
    settings = ReflectionSettings().without(["tool-gate"])

    @tool(effect="reads")
    def search_events(query: str, title: str = "") -> str:
        return ""

    tools = [from_function(search_events, source="tests")]
    bare = '# thought: on with it\nsearch_events(query="x", title="")'
    stage = Stage(task="Show x", tools=tools, tool=[bare], settings=settings)
    assert (await chosen(stage)).arguments == {"query": "x", "title": ""}
    stage = Stage(task="Show x", tools=tools, tool=[call('search_events(query="x", title="")')])
    assert (await chosen(stage)).arguments == {"query": "x"}


@pytest.mark.parametrize(
    ("opinion", "ends"),
    [
        ("Let me think: no loan is left.\n\n**Yes.**\n", True),
        ("No, not yet: yes would be early", False),
        ("Let me think.\nNo.", False),
        ("I cannot say", False),
        (Reply(text="yes, but let me think", finish="length"), False),
    ],
)
async def test_a_second_opinion_is_its_last_word_and_one_that_was_cut_is_none(
    opinion: str | Reply, ends: bool
) -> None:
    stage = Stage(task="Return the last loan of dana", tool=[give_back(OMAR), opinion])
    assert (await chosen(stage, BOTH, RETURNED)).done is ends
