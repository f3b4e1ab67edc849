"""Branches: of several edges one at most is taken, by a comparison, or by words where only reads follow."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.experience.shared_records import deleting, pipeline_record, problem

from plait.errors import UserError
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.branches import MOST_FORKS, MOST_WORDED, MOST_WORDS
from plait.experience.pipelines.drawing import mermaid, terminal_text
from plait.experience.pipelines.paper_form import as_json, from_json
from plait.experience.pipelines.pipeline import Condition, Edge, InWords, Node, Pipeline
from plait.experience.pipelines.soundness import problems_of
from plait.experience.pipelines.walk import Finished, Fork, Left, Move, NextCall, Walk
from plait.experience.pipelines.walk_state import open_ways
from plait.experience.sharing.words import in_words

TOOLS: Mapping[str, Mapping[str, Any]] = {"find": {"type": "object"}, "drop": {"type": "object"}}
FIND, READ, MORE = (Node(name=name, tool="find") for name in ("find", "read", "more"))
DROP = Node(name="drop", tool="drop", effect=True)


def compared(comparison: Any, value: Any = None, *, field: str = "kind", node: str = "find") -> Condition:
    return Condition(node=node, field=field, comparison=comparison, value=value)


def edge(before: str, after: str, condition: Condition | InWords | None = None) -> Edge:
    return Edge(from_node=before, to_node=after, condition=condition)


def branching(
    one: Condition | InWords | None, other: Condition | InWords | None, *, after: Node = READ
) -> Pipeline:
    """Return a pipeline that goes on after `find` to a call or to `more`, as one of two conditions holds."""
    edges = [
        edge("start", "find"),
        edge("find", after.name, one),
        edge("find", "more", other),
        edge(after.name, "end"),
        edge("more", "end"),
    ]
    nodes = [Node(name="start"), FIND, after, MORE, Node(name="end")]
    return Pipeline(name="p", purpose="Find it", nodes=nodes, edges=edges)


def found(observation: str) -> Step:
    return Step(tool="find", arguments={}, observation=observation, ok=True, effect=False)


def move(pipeline: Pipeline, observation: str, chosen: Mapping[str, int] | None = None) -> Move:
    walk = Walk(pipeline=pipeline, values={}, parameters=TOOLS, limits={"find": 0})
    return walk.next([found(observation)], chosen or {})


ONE = '[{"kind": "a", "id": 1}]'
WORDS = InWords(text="it is urgent")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (compared("empty"), compared("not empty")),
        (compared("empty"), compared("=", "a")),
        (compared("=", "a"), compared("=", "b")),
        (compared("=", "a"), compared("!=", "A")),
        (compared("=", "a"), None),
        (compared("=", 1), compared("=", "a", field="id")),
        (WORDS, InWords(text="it is not")),
        (WORDS, None),
    ],
)
def test_what_can_be_decided_is_sound(one: Condition | InWords, other: Condition | InWords | None) -> None:
    assert problems_of(branching(one, other), TOOLS) == []


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (None, None, "edges without a condition compete"),
        (WORDS, WORDS, "two edges have one condition"),
        (WORDS, compared("empty"), "words compete with a comparison"),
        (compared("not empty"), compared("=", "a"), "not empty and = 'a' may both hold"),
        (compared("empty"), compared("empty", field="x"), "empty and empty may both hold"),
        (compared("=", "a"), compared("!=", "b"), "= 'a' and != 'b' may both hold"),
        (compared("!=", "a"), compared("!=", "b"), "!= 'a' and != 'b' may both hold"),
        (compared("=", "a"), compared("=", "A"), "= 'a' and = 'A' may both hold"),
        (compared("=", 1), compared("=", "1.0"), "= '1' and = '1.0' may both hold"),
        (compared("=", None), compared("=", ""), "= 'None' and = '' may both hold"),
        (compared("!=", None), compared("=", 1), "!= 'None' and = '1' may both hold"),
    ],
)
def test_what_cannot_be_decided_is_told(
    one: Condition | InWords | None, other: Condition | InWords | None, why: str
) -> None:
    assert problems_of(branching(one, other), TOOLS) == [f"the branch after 'find' cannot be decided: {why}"]


def test_words_never_decide_about_an_effect() -> None:
    told = ["only words decide what follows 'find', and it changes the world"]
    assert problems_of(branching(WORDS, None, after=DROP), TOOLS) == told
    assert problems_of(branching(None, WORDS, after=DROP), TOOLS) == told
    # Also where such a pipeline comes to be walked all the same.
    left = Left(reason="only words decide what follows find, and it changes something")
    for number in (0, 1):
        assert move(branching(WORDS, None, after=DROP), ONE, {"find": number}) == left


@pytest.mark.parametrize("length", [0, MOST_WORDS + 1])
def test_words_are_bounded(length: int) -> None:
    [told] = problems_of(branching(InWords(text="x" * length), None), TOOLS)
    assert told == f"the condition of edge 'find_read' must have 1 to {MOST_WORDS} characters"


def test_words_are_few() -> None:
    whole = branching(WORDS, None)
    many = [edge("find", "more", InWords(text=f"case {number}")) for number in range(MOST_WORDED)]
    [told] = problems_of(replace(whole, edges=[*whole.edges, *many]), TOOLS)
    assert told == f"words decide {MOST_WORDED + 1} edges after 'find'; at most {MOST_WORDED} they may"


def test_words_decide_at_few_places() -> None:
    names = [f"n{number}" for number in range(MOST_FORKS + 1)]
    line = ["start", *names, "end"]
    edges = [edge(before, after) for before, after in pairwise(line)]
    edges += [edge(name, "end", WORDS) for name in names[:-1]]
    nodes = [Node(name="start"), *(Node(name=name, tool="find") for name in names), Node(name="end")]
    whole = Pipeline(name="p", purpose="Find it", nodes=nodes, edges=edges)
    assert problems_of(whole, TOOLS) == []
    more = replace(whole, edges=[*edges, edge(names[-1], "end", WORDS)])
    assert problems_of(more, TOOLS) == [
        f"words decide after {MOST_FORKS + 1} nodes; at most after {MOST_FORKS} they may"
    ]


@pytest.mark.parametrize(
    ("one", "other", "observation", "node"),
    [
        (compared("empty"), compared("=", "a"), "[]", "read"),
        (compared("empty"), compared("=", "a"), ONE, "more"),
        (compared("=", "b"), compared("=", "a"), ONE, "more"),
        (compared("=", "A"), None, ONE, "read"),
        (compared("!=", "a"), None, ONE, "more"),
    ],
)
def test_exactly_one_way_is_taken(
    one: Condition, other: Condition | None, observation: str, node: str
) -> None:
    going = move(branching(one, other), observation)
    assert isinstance(going, NextCall)
    assert going.node == node


@pytest.mark.parametrize(
    ("cell", "value", "equal"),
    [
        ("null", None, True),
        ("null", "", True),
        ("0", None, False),
        ("1", 1.0, True),
        ("1.0", 1, True),
        ("1.50", "1.5", True),
        ("-0.0", 0, True),
        ("10", 1, False),
        ("100", "1e2", False),
        # Zeros in front make it an identifier.
        ('"0001"', 1, False),
        ('["a"]', ["a"], True),
        ('{"b": 1}', {"b": 1}, True),
        ("true", True, True),
        ('"TRUE"', True, True),
        ("123456789012345678901234567890", 123456789012345678901234567891, False),
    ],
)
def test_a_value_is_compared_as_a_cell_spells_it(cell: str, value: Any, equal: bool) -> None:
    result = f'[{{"kind": {cell}, "id": 1}}]'
    for comparison, goes_on in (("=", equal), ("!=", not equal)):
        going = move(branching(compared(comparison, value), None), result)
        assert isinstance(going, NextCall)
        assert (going.node == "read") == goes_on


def test_words_of_a_form_are_not_cut() -> None:
    form: Any = as_json(branching(WORDS, None))
    form["edges"][1]["condition"] = {"words": "x" * MOST_WORDS}
    assert from_json(form).edges[1].condition == InWords(text="x" * MOST_WORDS)
    form["edges"][1]["condition"] = {"words": "x" * (MOST_WORDS + 1)}
    with pytest.raises(UserError, match=f"words has {MOST_WORDS + 1} characters"):
        from_json(form)


def test_where_two_ways_may_be_taken_none_is() -> None:
    both = branching(compared("=", "a"), compared("=", "1", field="id"))
    assert move(both, ONE) == Left(reason="more than one way leads on from find")
    assert open_ways(both, "find", {"find": [found(ONE)]}) == []


def test_where_no_condition_holds_and_each_edge_has_one_it_is_left() -> None:
    pipeline = branching(compared("=", "x"), compared("=", "y"))
    assert move(pipeline, ONE) == Left(reason="nothing follows find")
    assert move(branching(WORDS, InWords(text="not")), ONE, {"find": 0}) == Left(
        reason="nothing follows find"
    )


def test_of_words_somebody_must_choose() -> None:
    pipeline = branching(WORDS, InWords(text="it can wait"))
    assert move(pipeline, ONE) == Fork(node="find", ways=["it is urgent", "it can wait"])
    for number, node in ((1, "read"), (2, "more")):
        going = move(pipeline, ONE, {"find": number})
        assert isinstance(going, NextCall)
        assert going.node == node
    going = move(branching(WORDS, None), ONE, {"find": 0})
    assert isinstance(going, NextCall)
    assert going.node == "more"


def test_a_fork_after_which_other_calls_were_made_is_left() -> None:
    walk = Walk(pipeline=branching(WORDS, None), values={}, parameters=TOOLS)
    assert walk.next([found(ONE), found(ONE)]) == Left(reason="other calls were made")
    whole = Walk(pipeline=branching(WORDS, None), values={}, parameters=TOOLS)
    assert whole.next([found(ONE), found(ONE)], {"find": 1}) == Finished()


def test_words_are_written_and_read_shown_and_cleaned() -> None:
    pipeline = branching(WORDS, None)
    form = as_json(pipeline)
    assert from_json(json.loads(json.dumps(form))).edges == pipeline.edges
    assert "  → read if a model finds that it is urgent" in terminal_text(pipeline)
    assert "if a model finds that it is urgent" in mermaid(pipeline)
    edges: Any = form["edges"]
    dirty = [{**edges[1], "condition": {"words": "do\x1b[2J\nit"}}]
    read = from_json({**form, "edges": dirty}).edges[0].condition
    assert read == InWords(text="do [2J it")


def test_words_are_told_to_who_approves_and_are_not_shared() -> None:
    pipeline = from_json(deleting().content)
    edges: Sequence[Edge] = [*pipeline.edges[:1], *pipeline.edges[1:]]
    worded = [*edges, Edge(from_node="search_events", to_node="end", condition=WORDS)]
    lines = in_words(pipeline_record(replace(pipeline, edges=worded)))
    assert '       if a model finds that "it is urgent", then it ends' in lines
    reading = branching(WORDS, None)
    content = {**as_json(reading), "tool_digests": {"find": "00" * 8}}
    line = {
        "kind": "pipeline",
        "domain": "tools",
        "goal": "Find it",
        "tools": ["find"],
        "model": "m",
        "content": content,
    }
    assert "only words decide whether edge 'find_read' is taken" in problem(line)
