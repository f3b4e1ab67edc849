"""Plans: what a planner wrote becomes a graph without cycles, or a reason that it can read."""

import pytest
from tests.support.gbnf import accepts

from plait.errors import ReplyError
from plait.reflection.plan import MAXIMUM_SUBTASKS, Plan, plan_line, read_plan


def edges(text: str) -> list[tuple[str, list[str]]]:
    """Ids in plan order with what each depends on."""
    return [(subtask.id, list(subtask.depends_on)) for subtask in read_plan(text).subtasks]


def goals(text: str) -> list[str]:
    return [subtask.goal for subtask in read_plan(text).subtasks]


def test_lines_follow_one_another_by_default() -> None:
    assert edges("1. find\n2. change\n3. tell") == [("1", []), ("2", ["1"]), ("3", ["2"])]


def test_an_independent_line_waits_for_none() -> None:
    text = "1. find\n2. look (independent)\n3. tell"
    assert edges(text) == [("1", []), ("2", []), ("3", ["1", "2"])]
    assert goals(text) == ["find", "look", "tell"]


@pytest.mark.parametrize(
    ("suffix", "needs"),
    [
        ("(after 1)", ["1"]),
        ("(after 1, 2)", ["1", "2"]),
        ("(After 1 and 2).", ["1", "2"]),
        ("(after 1, 1)", ["1"]),
    ],
)
def test_a_line_names_what_it_comes_after(suffix: str, needs: list[str]) -> None:
    text = f"1. find\n2. look (independent)\n3. tell {suffix}"
    assert edges(text)[2] == ("3", needs)
    assert goals(text)[2] == "tell"


@pytest.mark.parametrize("goal", ["tell lena (her boss)", "tell (after lunch)", "call dana (after 5 pm)"])
def test_other_brackets_belong_to_the_goal(goal: str) -> None:
    assert goals(f"1. {goal}") == [goal]


@pytest.mark.parametrize("line", ["1. find", "1) find", "1: find", "- 1. find", "## 1. find", "  01. find"])
def test_a_line_is_read_however_it_is_numbered(line: str) -> None:
    assert (edges(line), goals(line)) == ([("1", [])], ["find"])


def test_other_lines_are_passed_over() -> None:
    assert edges("Here is the plan:\n1. find\n\n   in the calendar\n2. tell\nThat is all.") == [
        ("1", []),
        ("2", ["1"]),
    ]


def test_a_plan_is_put_in_topological_order_and_keeps_its_own_where_it_can() -> None:
    text = "1. tell (after 3)\n2. find (independent)\n3. change (after 2)\n4. look (independent)"
    assert [id for id, _ in edges(text)] == ["2", "3", "1", "4"]


def test_a_diamond_is_a_plan() -> None:
    text = "1. find\n2. left (after 1)\n3. right (after 1)\n4. join (after 2, 3)"
    assert edges(text) == [("1", []), ("2", ["1"]), ("3", ["1"]), ("4", ["2", "3"])]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no subtask"),
        ("First find, then tell.", "no subtask"),
        ("1.find", "no subtask"),
        ("1. find (after 2)\n2. tell (after 1)", "1, 2 depend on each other in a circle"),
        ("1. find (after 1)", "1 depend on each other in a circle"),
        ("1. go\n2. find (after 3)\n3. tell (after 2)", "2, 3 depend on each other in a circle"),
        ("1. find\n2. tell (after 7)", "subtask 2 is after 7, which is no subtask"),
        ("1. find\n1. tell", "two subtasks have the number 1"),
        ("1. find\n2. Find", "two subtasks say the same: find"),
    ],
)
def test_a_broken_plan_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(ReplyError, match=reason):
        read_plan(text)


def numbered(count: int) -> str:
    return "\n".join(f"{number}. part {number}" for number in range(1, count + 1))


def test_a_plan_may_have_so_many_subtasks_and_no_more() -> None:
    assert len(read_plan(numbered(MAXIMUM_SUBTASKS)).subtasks) == MAXIMUM_SUBTASKS
    with pytest.raises(ReplyError, match=f"{MAXIMUM_SUBTASKS + 1} subtasks, {MAXIMUM_SUBTASKS} at most"):
        read_plan(numbered(MAXIMUM_SUBTASKS + 1))


def test_a_plan_is_logged_with_its_edges() -> None:
    plan: Plan = read_plan("1. find\n2. tell")
    assert plan.as_json() == [
        {"id": "1", "goal": "find", "depends_on": []},
        {"id": "2", "goal": "tell", "depends_on": ["1"]},
    ]


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("1. Return the loan of dana", True),
        ("2. Tell omar (independent)", True),
        ("3. Tell omar (after 2)", True),
        ("Tell omar", False),
        ("1. ", False),
        ("1. Tell omar (sometime)", False),
        (f"1. {'x' * 300}", False),
    ],
)
def test_the_grammar_holds_a_planner_to_lines_that_can_be_read(line: str, right: bool) -> None:
    assert accepts(f"root ::= {plan_line()}", line) is right
    if right:
        assert len(read_plan(line.replace("(after 2)", "")).subtasks) == 1


def test_a_bare_condition_is_joined_with_what_hangs_on_it() -> None:
    assert goals("1. If dana has a book\n2. Extend it by a week\n3. Tell omar") == [
        "If dana has a book, extend it by a week",
        "Tell omar",
    ]
    assert edges("1. If dana has a book\n2. Extend it by a week\n3. Tell omar") == [("2", []), ("3", ["2"])]


def test_what_came_before_a_condition_still_comes_before() -> None:
    assert edges("1. Find it\n2. If it is lent\n3. Reserve it\n4. Tell omar") == [
        ("1", []),
        ("3", ["1"]),
        ("4", ["3"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. If dana has a book, extend it\n2. Tell omar",
        "1. If dana has a book then extend it\n2. Tell omar",
        "1. If dana has a book\n2. Tell omar (independent)",
        "1. Tell omar if he is in",
        "1. If dana has a book",
    ],
)
def test_a_whole_condition_or_one_that_nothing_hangs_on_stays(text: str) -> None:
    assert len(goals(text)) == len(text.splitlines())


def test_a_goal_may_hold_brackets() -> None:
    assert accepts(f"root ::= {plan_line(brackets=True)}", "1. File the form (blue) with dana (after 1)")
    assert (
        goals("1. Look\n2. File the form (blue) with dana (after 1)")[1] == "File the form (blue) with dana"
    )


def test_a_condition_on_which_two_hang_stays_their_condition() -> None:
    assert edges("1. If it is lent\n2. Reserve it (after 1)\n3. Tell omar (after 1)") == [
        ("1", []),
        ("2", ["1"]),
        ("3", ["1"]),
    ]
