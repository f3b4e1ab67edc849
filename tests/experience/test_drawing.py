"""A pipeline is shown as lines and as a flowchart that nothing in it can break."""

import re

from plait.experience.pipelines.drawing import mermaid, terminal_text
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


def made(constant: str = "softly", said: str = "Olivia", comment: str = "as the goal says") -> Pipeline:
    return Pipeline(
        name="search then delete",
        purpose="Delete the meeting with olivia",
        nodes=[
            Node(name="start"),
            Node(
                name="search",
                tool="calendar.search_events",
                arguments={"query": FromGoal(slot="query"), "time_min": Unknown(example=7)},
            ),
            Node(
                name="delete",
                tool="calendar.delete_event",
                arguments={
                    "event_id": FromResult(node="search", field="event_id", row="each"),
                    "address": FromResult(node="search", field=""),
                    "how": Constant(value=constant),
                },
                effect=True,
            ),
            Node(name="end"),
        ],
        edges=[
            Edge(from_node="start", to_node="search", comments=[comment]),
            Edge(
                from_node="search",
                to_node="end",
                condition=Condition(node="search", field="", comparison="empty"),
            ),
            Edge(from_node="search", to_node="delete"),
            Edge(
                from_node="delete",
                to_node="end",
                condition=Condition(node="search", field="status", comparison="=", value="open"),
            ),
        ],
        slots=[Slot(name="query", example="olivia", said=said)],
    )


def test_lines_show_calls_origins_and_what_follows() -> None:
    assert terminal_text(made()) == [
        "start",
        "  → search",
        "      as the goal says",
        "search: calendar.search_events",
        '    query     the goal\'s query, such as "Olivia"',
        "    time_min  not known, such as 7",
        "  → end if search is empty",
        "  → delete",
        "delete: calendar.delete_event (changes the world)",
        "    event_id  event_id of each row of search",
        "    address   the only row of search",
        '    how       always "softly"',
        '  → end if status of search = "open"',
        "end",
    ]


def test_a_flowchart_has_a_node_for_each_call_and_its_conditions() -> None:
    lines = mermaid(made()).splitlines()
    assert lines[0] == "flowchart TD"
    assert lines[1] == '    n0(["start"])'
    assert lines[2].startswith('    n1["search#58; calendar.search_events<br/>query#58; the goal#39;s query')
    assert lines[5:] == [
        "    n0 --> n1",
        '    n1 -->|"if search is empty"| n3',
        "    n1 --> n2",
        '    n2 -->|"if status of search = #34;open#34;"| n3',
    ]


def test_nothing_in_a_pipeline_breaks_out_of_a_line_or_label() -> None:
    hostile = '"]; click n0 "javascript:alert(1)"\n%%{init}%%<script>`|\x1b[2J\u202e#quot;'
    pipeline = made(constant=hostile, said=hostile, comment=hostile)
    assert all(line.isprintable() for line in terminal_text(pipeline))
    label = re.compile(r'"(?:[\w .,=()/-]|#\d+;|<br/>)*"')
    for line in mermaid(pipeline).splitlines()[1:]:
        assert re.fullmatch(r" {4}(?:n\d+(?:\[L\]|\(\[L\]\))|n\d+ -->(?:\|L\|)? n\d+)", label.sub("L", line))


def test_what_is_shown_of_a_value_is_bounded() -> None:
    huge = made(constant="x" * 100_000, said="y" * 100_000, comment="z" * 100_000)
    assert max(len(line) for line in terminal_text(huge)) < 320
    assert len(mermaid(huge)) < 2_000


def test_an_edge_to_nowhere_is_left_out_of_a_flowchart() -> None:
    pipeline = Pipeline(
        name="x", purpose="x", nodes=[Node(name="start")], edges=[Edge(from_node="start", to_node="gone")]
    )
    assert mermaid(pipeline) == 'flowchart TD\n    n0(["start"])\n'
