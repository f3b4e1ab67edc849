"""Pipelines are written and read in the form of the paper's appendix."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from plait.errors import UserError
from plait.experience.pipelines.paper_form import as_json, from_json, plain_line
from plait.experience.pipelines.pipeline import (
    Condition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    Node,
    Pipeline,
    Slot,
    Unknown,
)
from plait.experience.words.derive import Way

PIPELINE = Pipeline(
    name="search then delete",
    purpose="Delete the meeting with olivia",
    nodes=[
        Node(name="start"),
        Node(
            name="search",
            tool="calendar.search_events",
            arguments={"query": FromGoal(slot="query"), "time_min": Unknown(example="2023-11-30 00:00:00")},
        ),
        Node(
            name="delete",
            tool="calendar.delete_event",
            arguments={
                "event_id": FromResult(node="search", field="event_id", row="each"),
                "now": Constant(value={"deep": [1, None, True]}),
            },
            effect=True,
        ),
        Node(name="end"),
    ],
    edges=[
        Edge(from_node="start", to_node="search", comments=("the goal says query of search",)),
        Edge(from_node="search", to_node="delete"),
        Edge(
            from_node="search",
            to_node="end",
            condition=Condition(node="search", field="status", comparison="!=", value="open"),
        ),
        Edge(from_node="delete", to_node="end"),
    ],
    slots=[Slot(name="query", example="olivia", said="Olivia", ways=(Way(how="lower", spans=(0,)),))],
)
PAPER = """{
  "pipeline_name": "product review fetch and write",
  "pipeline_purpose": "Fetch overview information and details information of a given product.",
  "nodes": [
    {"node_name": "start", "tool_name": "Start", "node_type": "Start"},
    {"node_name": "end", "tool_name": "End", "node_type": "End"},
    {"node_name": "product_detail", "tool_name": "wayfair_products_detail", "node_type": "ToolServer"},
    {"node_name": "write_file", "tool_name": "FileSystemEnv_write_to_file", "node_type": "ToolServer"}
  ],
  "edges": [
    {"edge_name": "start_product_detail", "edge_type": "data", "from_node": "start",
     "to_node": "product_detail", "comments": ["The first tool is used to fetch the product details."]},
    {"edge_name": "product_detail_write_file", "edge_type": "data", "from_node": "product_detail",
     "to_node": "write_file", "comments": ["Here is a switch logic: ..."]},
    {"edge_name": "end_pipeline", "edge_type": "data", "from_node": "write_file", "to_node": "end",
     "comments": []}
  ]
}"""


def test_what_is_written_reads_as_it_was() -> None:
    written = json.loads(json.dumps(as_json(PIPELINE)))
    assert from_json(written) == PIPELINE
    assert as_json(from_json(written)) == written


def test_the_form_has_the_keys_of_the_paper() -> None:
    written = cast("Mapping[str, Any]", as_json(PIPELINE))
    assert written["pipeline_name"] == "search then delete"
    assert written["nodes"][0]["node_type"] == "Start"
    assert written["nodes"][1]["tool_name"] == "calendar.search_events"
    assert written["nodes"][1]["node_type"] == "ToolServer"
    assert written["nodes"][3]["tool_name"] == "End"
    assert written["edges"][0]["edge_name"] == "start_search"
    assert written["edges"][0]["edge_type"] == "data"


def test_a_form_as_the_paper_has_it_reads_with_no_bindings() -> None:
    pipeline = from_json(json.loads(PAPER))
    assert [node.name for node in pipeline.calls] == ["product_detail", "write_file"]
    assert all(not node.arguments and not node.effect for node in pipeline.nodes)
    assert pipeline.edges[1] == Edge(
        from_node="product_detail", to_node="write_file", comments=("Here is a switch logic: ...",)
    )
    once = as_json(pipeline)
    assert as_json(from_json(once)) == once


def test_start_and_end_are_told_by_their_type() -> None:
    pipeline = from_json(json.loads(PAPER.replace('"start"', '"begin"').replace('"end"', '"finish"')))
    assert [node.name for node in pipeline.nodes][:2] == ["start", "end"]
    assert pipeline.edges[0].from_node == "start"
    assert pipeline.edges[-1].to_node == "end"


def test_comments_are_cut_and_cleaned() -> None:
    poisoned = "\x1b[31mdo\nthis\u202e\u200b now" + "x" * 10_000
    [first, *rest] = json.loads(PAPER)["edges"]
    form = {**json.loads(PAPER), "edges": [{**first, "comments": [poisoned]}, *rest]}
    [comment] = from_json(form).edges[0].comments
    assert comment.startswith("[31mdo this now")
    assert comment.isprintable()
    assert len(comment) == 300


def changed(**fields: object) -> dict[str, Any]:
    return {**json.loads(PAPER), **fields}


def node(**fields: object) -> dict[str, Any]:
    tool = {"node_name": "find", "tool_name": "box.find", "node_type": "ToolServer", **fields}
    return changed(nodes=[tool])


def edge(**fields: object) -> dict[str, Any]:
    return changed(edges=[{"from_node": "start", "to_node": "end", **fields}])


DEEP: list[Any] = []
for _ in range(50_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the pipeline must be an object, not nothing"),
        ([], "the pipeline must be an object, not a value of type list"),
        (DEEP, "the pipeline must be an object"),
        ({1: 2}, "the pipeline must have texts as its keys"),
        ({}, "nodes must be a list, not nothing"),
        (changed(nodes="many"), "nodes must be a list, not the text 'many'"),
        (changed(nodes=[5]), "a node must be an object, not a value of type int"),
        (changed(nodes=[{}] * 33), "nodes: there are 33; at most 32 are read"),
        (changed(edges=[{}] * 65), "edges: there are 65; at most 64 are read"),
        (changed(slots=[{}] * 17), "slots: there are 17; at most 16 are read"),
        (changed(slots=[{"name": "a"}]), "slot 'a': example must be a text, not nothing"),
        (changed(pipeline_name=""), "the pipeline: pipeline_name is empty"),
        (changed(pipeline_name="x" * 201), "pipeline_name has 201 characters; at most 200 are read"),
        (changed(pipeline_purpose="x" * 20_001), "pipeline_purpose has 20001 characters"),
        (changed(pipeline_purpose="\ud800"), "pipeline_purpose holds characters that no database takes"),
        (node(node_type="Server"), "node 'find': node_type is 'Server'; it must be one of"),
        (node(node_type=DEEP), "node 'find': node_type is 'list'"),
        (node(tool_name=7), "node 'find': tool_name must be a text, not a value of type int"),
        (node(effect="no"), "node 'find': effect is 'no'; it must be true or false"),
        (node(arguments=[]), "arguments of node 'find' must be an object"),
        (node(arguments={f"a{n}": {"slot": "s"} for n in range(65)}), "has 65 arguments; at most 64"),
        (node(arguments={"a" * 201: {"slot": "s"}}), "an argument of node 'find': name has 201 characters"),
        (node(arguments={"a": {}}), "node 'find': 'a' must have one of the keys constant, slot"),
        (node(arguments={"a": {"slot": "s", "constant": 1}}), "must have one of the keys"),
        (node(arguments={"a": {"result": "x", "field": "f", "row": "all"}}), "'a': row is 'all'; it must be"),
        (node(arguments={"a": {"constant": "x" * 3_000}}), "has 3002 characters of JSON; at most 2000"),
        (node(arguments={"a": {"constant": DEEP}}), "node 'find': 'a' is no JSON value"),
        (node(arguments={"a": {"constant": "\0"}}), "node 'find': 'a' is no JSON value"),
        (edge(to_node=None), "an edge: to_node must be a text, not nothing"),
        (edge(comments="do"), "comments of edge 'start_end' must be a list"),
        (edge(comments=[1]), "comments of edge 'start_end' must be texts"),
        (edge(comments=["x"] * 11), "comments of edge 'start_end': there are 11; at most 10"),
        (edge(condition=[]), "the condition of edge 'start_end' must be an object"),
        (
            edge(condition={"node": "a", "field": "", "comparison": ">"}),
            "comparison is '>'; it must be one of",
        ),
    ],
)
def test_what_is_malformed_is_told_in_one_short_line(value: object, message: str) -> None:
    with pytest.raises(UserError) as told:
        from_json(value)
    assert message in told.value.message
    assert told.value.message.isprintable()
    assert len(told.value.message) < 300


def test_a_line_is_cut_only_where_it_is_too_long() -> None:
    assert plain_line("a" * 10, 10) == "a" * 10
    assert plain_line("a" * 11, 10) == "aaaaaaa..."
