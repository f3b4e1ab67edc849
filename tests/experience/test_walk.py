"""Pipelines walked over what their calls brought: calls in order, rows, conditions, and where they end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Composed,
    Condition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    Node,
    Pipeline,
    Slot,
    Unknown,
    WhichRow,
)
from plait.experience.pipelines.walk import MOST_CALLS, Finished, Left, Move, NextCall, Walk

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "find": {"type": "object", "properties": {"who": {"type": "string"}, "most": {"type": "integer"}}},
    "delete": {"type": "object", "properties": {"id": {"type": "string"}}},
}
SLOTS = [Slot(name="who", example="ann", said="ann")]


def linear(*nodes: Node) -> Pipeline:
    names = [START, *(node.name for node in nodes), END]
    edges = [Edge(from_node=one, to_node=other) for one, other in pairwise(names)]
    ends = [Node(name=START), Node(name=END)]
    return Pipeline(
        name="p", purpose="delete the event of ann", nodes=[*ends, *nodes], edges=edges, slots=SLOTS
    )


def finding(**arguments: Binding) -> Node:
    return Node(name="find", tool="find", arguments={"who": FromGoal(slot="who"), **arguments})


def deleting(row: WhichRow, field: str = "id") -> Node:
    binding = FromResult(node="find", field=field, row=row)
    return Node(name="delete", tool="delete", arguments={"id": binding}, effect=True)


def found(*ids: str, whole: bool = True) -> Step:
    table = "\n".join(["id | name", *(f"{id} | meeting" for id in ids)]) if ids else "[]"
    return Step(tool="find", arguments={"who": "bob"}, observation=table, ok=True, effect=False, whole=whole)


def deleted(id: str, *, ok: bool = True) -> Step:
    return Step(tool="delete", arguments={"id": id}, observation="deleted", ok=ok, effect=True)


def walk(pipeline: Pipeline, *steps: Step) -> Move:
    whole = Walk(pipeline=pipeline, values={"who": "bob"}, parameters=PARAMETERS, limits={"find": 0})
    return whole.next(steps)


@pytest.mark.parametrize(
    ("limits", "goes_on"), [({}, False), ({"find": 3}, False), ({"find": 4}, True), ({"find": 0}, True)]
)
@pytest.mark.parametrize("row", ["each", "last"])
def test_rows_that_may_not_be_all_are_not_taken_for_all(
    row: WhichRow, limits: Mapping[str, int], goes_on: bool
) -> None:
    pipeline = linear(finding(), deleting(row))
    some = Walk(pipeline=pipeline, values={"who": "bob"}, parameters=PARAMETERS, limits=limits)
    assert isinstance(some.next([found("1", "2", "3")]), NextCall if goes_on else Left)


def test_calls_that_are_none_of_its_own_are_not_taken_for_its_end() -> None:
    pipeline = linear(finding(), deleting("only"))
    steps = [found("7"), deleted("7"), deleted("8")]
    assert walk(pipeline, *steps) == Left(reason="other calls were made after it")


def test_calls_are_made_in_order_and_then_it_is_finished() -> None:
    pipeline = linear(finding(), deleting("only"))
    assert walk(pipeline) == NextCall(node="find", tool="find", arguments={"who": "bob"})
    assert walk(pipeline, found("7")) == NextCall(node="delete", tool="delete", arguments={"id": "7"})
    assert walk(pipeline, found("7"), deleted("7")) == Finished()


def test_values_take_the_types_of_the_tool() -> None:
    move = walk(linear(finding(most=Constant(value="5"))))
    assert isinstance(move, NextCall)
    assert move.arguments == {"who": "bob", "most": 5}


@pytest.mark.parametrize(
    ("row", "ids", "chosen"), [("first", "789", "7"), ("last", "789", "9"), ("only", "8", "8")]
)
def test_the_row_that_is_meant_is_taken(row: WhichRow, ids: str, chosen: str) -> None:
    move = walk(linear(finding(), deleting(row)), found(*ids))
    assert isinstance(move, NextCall)
    assert move.arguments == {"id": chosen}


@pytest.mark.parametrize(
    ("row", "steps", "reason"),
    [
        ("only", [found("7", "8")], "find found 2 rows where there was one"),
        ("only", [found()], "find found nothing"),
        ("first", [found()], "find found nothing"),
        ("first", [found("7", whole=False)], "the result of find was cut"),
        ("undecided", [found("7")], "nothing says what delete is called with"),
        ("only", [replace(found("7"), ok=False)], "find failed"),
        ("only", [found("7"), deleted("7", ok=False)], "delete failed"),
        ("only", [found("7"), deleted("8")], "another call was made at delete"),
    ],
)
def test_where_it_cannot_say_what_is_next_it_is_left(
    row: WhichRow, steps: Sequence[Step], reason: str
) -> None:
    assert walk(linear(finding(), deleting(row)), *steps) == Left(reason=reason)


def test_where_two_rows_are_equally_early_none_is_the_first() -> None:
    rows = "id | start_time\n7 | 2023-12-13 09:00:00\n8 | 2023-12-13 09:00:00"
    step = replace(found("7"), observation=rows)
    move = walk(linear(finding(), deleting("first")), step)
    assert move == Left(reason="which row of find is the first is not clear")


def test_a_field_that_a_result_does_not_have_is_not_made_up() -> None:
    assert walk(linear(finding(), deleting("only", "key")), found("7")) == Left(
        reason="the result of find has no 'key'"
    )


def test_a_value_that_is_not_known_is_not_made_up() -> None:
    unknown = linear(finding(most=Unknown(example=5)))
    assert walk(unknown) == Left(reason="nothing says what find is called with")
    empty = Walk(pipeline=linear(finding()), values={}, parameters=PARAMETERS)
    assert empty.next([]) == Left(reason="nothing says what find is called with")


@pytest.mark.parametrize("count", [1, 3])
def test_a_call_for_each_row_is_made_as_often_as_there_are_rows(count: int) -> None:
    ids = [str(number) for number in range(count)]
    pipeline = linear(finding(), deleting("each"))
    steps = [found(*ids)]
    for id in ids:
        move = walk(pipeline, *steps)
        assert isinstance(move, NextCall)
        assert move.arguments == {"id": id}
        steps.append(deleted(id))
    assert walk(pipeline, *steps) == Finished()


NOTHING = Left(reason="nothing shows that there was nothing to do at delete")
DAY = Slot(name="who", example="2023-12-13", said="December 13")
OFFERED: Mapping[str, Any] = {"type": "object", "properties": {"who": {"enum": ["ann", "bob"]}}}


@pytest.mark.parametrize(
    ("who", "slot", "schema", "move"),
    [
        # A name may be spelled otherwise than it was searched by.
        (FromGoal(slot="who"), SLOTS[0], PARAMETERS["find"], NOTHING),
        (Composed(how="text", parts=(Constant(value="to "), FromGoal(slot="who"))), SLOTS[0], {}, NOTHING),
        (FromGoal(slot="who"), DAY, PARAMETERS["find"], Finished()),
        (FromGoal(slot="who"), SLOTS[0], OFFERED, Finished()),
        (Constant(value="bob"), SLOTS[0], PARAMETERS["find"], Finished()),
    ],
)
def test_what_was_searched_by_a_name_and_not_found_may_be_there(
    who: Binding, slot: Slot, schema: Mapping[str, Any], move: Move
) -> None:
    pipeline = replace(linear(replace(finding(), arguments={"who": who}), deleting("each")), slots=[slot])
    value = "to bob" if isinstance(who, Composed) else "bob"
    none = replace(found(), arguments={"who": value})
    tools = {**PARAMETERS, "find": schema}
    whole = Walk(pipeline=pipeline, values={"who": "bob"}, parameters=tools, limits={"find": 0})
    assert whole.next([none]) == move


def test_what_was_found_by_a_name_before_makes_a_search_one_by_a_name() -> None:
    asking = replace(finding(), name="ask")
    address = FromResult(node="ask", field="name")
    pipeline = linear(asking, Node(name="find", tool="find", arguments={"who": address}), deleting("each"))
    none = replace(found(), arguments={"who": "meeting"})
    assert walk(pipeline, found("7"), none) == NOTHING
    by_day = replace(pipeline, slots=[DAY])
    assert walk(by_day, found("7"), none) == Finished()


def test_an_effect_that_draws_nothing_from_an_empty_result_is_not_left_out() -> None:
    telling = Node(name="tell", tool="delete", arguments={"id": Constant(value="x")}, effect=True)
    pipeline = replace(linear(finding(), deleting("first"), telling), slots=[DAY])
    empty = Condition(node="find", field="", comparison="empty")
    ended = replace(pipeline, edges=[*pipeline.edges, Edge(from_node="find", to_node=END, condition=empty)])
    assert walk(ended, found()) == Left(reason="nothing shows that there was nothing to do at tell")
    # A second effect on the same thing has nothing to be done to either.
    again = replace(deleting("first"), name="again")
    both = replace(linear(finding(), deleting("first"), again), slots=[DAY])
    both = replace(both, edges=[*both.edges, Edge(from_node="find", to_node=END, condition=empty)])
    assert walk(both, found()) == Finished()


def test_a_thing_that_is_only_placed_by_what_was_not_found_is_not_left_out() -> None:
    creating = Node(
        name="create", tool="make", arguments={"at": FromResult(node="find", field="name")}, effect=True
    )
    pipeline = replace(linear(finding(), creating), slots=[DAY])
    empty = Condition(node="find", field="", comparison="empty")
    ended = replace(pipeline, edges=[*pipeline.edges, Edge(from_node="find", to_node=END, condition=empty)])
    assert walk(ended, found()) == Left(reason="nothing shows that there was nothing to do at create")


def test_an_effect_is_told_from_another_one_by_a_branch_after_it() -> None:
    again = replace(deleting("first"), name="again")
    pipeline = linear(finding(), deleting("first"), again)
    skip = Edge(
        from_node="delete",
        to_node=END,
        condition=Condition(node="find", field="name", comparison="=", value="meeting"),
    )
    skipping = replace(pipeline, edges=[*pipeline.edges, skip])
    steps = [found("7"), deleted("7")]
    assert walk(skipping, *steps) == Left(reason="nothing shows that there was nothing to do at again")
    going = walk(pipeline, *steps)
    assert isinstance(going, NextCall)
    assert going.node == "again"


def test_there_is_an_end_to_calls_for_each_row() -> None:
    ids = [str(number) for number in range(MOST_CALLS + 1)]
    steps = [found(*ids), *(deleted(id) for id in ids[: MOST_CALLS - 1])]
    pipeline = linear(finding(), deleting("each"))
    assert isinstance(walk(pipeline, *steps[:-1]), NextCall)
    assert walk(pipeline, *steps) == Left(reason=f"it takes more than {MOST_CALLS} calls")


def branching(condition: Condition) -> Pipeline:
    """Return a pipeline that deletes where the condition holds, and else ends."""
    pipeline = linear(finding(), deleting("first"))
    edges = [
        Edge(from_node=START, to_node="find"),
        Edge(from_node="find", to_node=END),
        Edge(from_node="find", to_node="delete", condition=condition),
        Edge(from_node="delete", to_node=END),
    ]
    return replace(pipeline, edges=edges)


@pytest.mark.parametrize(
    ("condition", "ids", "deletes"),
    [
        (Condition(node="find", field="", comparison="not empty"), "7", True),
        (Condition(node="find", field="", comparison="not empty"), "", False),
        (Condition(node="find", field="", comparison="empty"), "7", False),
        (Condition(node="find", field="id", comparison="=", value="7"), "7", True),
        (Condition(node="find", field="id", comparison="=", value=7), "7", True),
        (Condition(node="find", field="id", comparison="=", value="8"), "7", False),
        (Condition(node="find", field="id", comparison="!=", value="8"), "7", True),
    ],
)
def test_a_branch_is_decided_by_a_comparison(condition: Condition, ids: str, deletes: bool) -> None:
    move = walk(branching(condition), found(*ids))
    # Where it does not delete, nothing shows that nothing was to be deleted.
    assert isinstance(move, NextCall) if deletes else move == NOTHING


def test_a_comparison_with_more_than_one_row_decides_nothing() -> None:
    condition = Condition(node="find", field="id", comparison="=", value="7")
    assert walk(branching(condition), found("7", "8")) == Left(reason="find has no one 'id' to compare")


def test_where_nothing_follows_it_is_left() -> None:
    pipeline = linear(finding())
    broken = replace(pipeline, edges=[Edge(from_node=START, to_node="find")])
    assert walk(broken, found("7")) == Left(reason="nothing follows find")


def test_a_circle_has_an_end() -> None:
    pipeline = linear(finding(), deleting("each"))
    edges = [*pipeline.edges[:2], Edge(from_node="delete", to_node="find")]
    assert walk(replace(pipeline, edges=edges), found()) == Left(reason="it comes to find again")


def test_the_end_may_come_without_a_call() -> None:
    assert walk(linear()) == Finished()
