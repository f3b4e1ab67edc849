"""Doubts where tools are no office: what the words of a task can mean otherwise is not doubted."""

from datetime import date
from typing import Any

import pytest
from tests.reflection.moments import known, step

from plait.reflection.checks import call_problems
from plait.reflection.doubts import ALL_ACTED_ON, doubts
from plait.reflection.meant import MEANT, RIGHT
from plait.reflection.milestones import changes_nothing
from plait.reflection.phrases import topics
from plait.tools.tool import Tool

ISSUES = (
    "issue_id | title | opened\n12 | Crash at start | 2023-12-05 09:00\n15 | Slow login | 2023-12-04 09:00"
)


def named(name: str, effect: Any = "changes", **properties: Any) -> Tool:
    async def run(_: Any) -> str:
        return ""

    parameters = {"type": "object", "properties": properties}
    return Tool(name=name, description="", parameters=parameters, effect=effect, run=run, source="tests")


def first_doubt(task: str, name: str, *others: str) -> str:
    tools = {each: named(each) for each in (name, *others)}
    return next(iter(doubts(tools[name], {}, known(task), tools)), "").partition(":")[0]


@pytest.mark.parametrize(
    "value",
    [
        "git@github.com:psf/requests.git",
        "react@18.2.0",
        "root@10.0.0.5",
        "actions/checkout@4.1.0",
        "dana@example",
        "https://example.org/@dana/feed.xml",
        "postgres://app@db.example.org/shop",
    ],
)
def test_what_only_holds_an_at_sign_is_no_address(value: str) -> None:
    assert call_problems(named("use"), {"what": value}, known("use it")) == []


@pytest.mark.parametrize(
    "address", ["dana@example.org", "mailto:dana@example.org", "Dana@example.org.", "dana@example.xn--p1ai"]
)
def test_an_address_in_any_spelling_must_come_from_somewhere(address: str) -> None:
    assert call_problems(named("use"), {"to": address}, known("write to dana")) != []
    heard = known("write to dana@example.org or dana@example.xn--p1ai")
    assert call_problems(named("use"), {"to": address}, heard) == []


@pytest.mark.parametrize(
    ("task", "name", "other", "doubted"),
    [
        ("Answer ann's question in a new email", "send_email", "reply_email", f"{RIGHT} reply_email"),
        ("Reply to ann's voicemail with an email", "send_email", "reply_email", f"{RIGHT} reply_email"),
        ("Reply to ann's last email", "send_email", "reply_email", f"{MEANT} reply_email"),
        ("Forward my note to ann", "send_email", "forward_email", f"{RIGHT} forward_email"),
        ("Remove the TODO from main.py", "write_file", "delete_file", ""),
        ("Remove the password from secret.pdf", "unlock_file", "delete_file", ""),
        ("Add a line to todo.txt", "append_file", "create_file", ""),
        ("Cancel the archiving of project Moon", "restore_project", "delete_project", ""),
        ("Cancel the next meeting", "create_event", "delete_event", f"{RIGHT} delete_event"),
    ],
)
def test_only_what_cannot_be_done_otherwise_names_the_tool(
    task: str, name: str, other: str, doubted: str
) -> None:
    assert first_doubt(task, name, other) == doubted


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        ("Add a comment about 'login' to issue 12", {"issue_id": "12", "body": "The login hangs"}),
        ("Move issue 12 to the next sprint", {"issue_id": "12"}),
        ("Assign issue 12 to the first free developer", {"issue_id": "12"}),
        ("Post a message about 'Release 2.0'", {"channel_id": "C1", "text": "Release 2.0 is out!"}),
    ],
)
def test_what_the_task_says_itself_and_what_is_to_be_written_need_not_be_found(
    task: str, arguments: dict[str, Any]
) -> None:
    facts = known(task, ISSUES, "C1", steps=[step({"all": "yes"}, ISSUES)])
    assert doubts(named("change"), arguments, facts) == []


def test_the_number_of_a_day_is_no_id() -> None:
    rows = "event_id | title | start\n8 | Sync | 2023-12-08 15:00\n9 | Plan | 2023-12-08 09:00"
    dates = {"December 8": date(2023, 12, 8)}
    facts = known("Cancel my first meeting on December 8", rows, dates=dates, steps=[step({}, rows)])
    assert doubts(named("change"), {"event_id": "8"}, facts)[0].startswith(f"{RIGHT} 9")


def test_who_does_not_say_which_is_told_which_it_seems() -> None:
    facts = known("Close the first issue", ISSUES, steps=[step({"all": "yes"}, ISSUES)])
    assert doubts(named("change"), {"issue_id": "12"}, facts)[0].startswith(f"{RIGHT} 15")


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ("Reply to sofia with 'I heard about \"Project X\" yesterday'", []),
        ("Delete the latest email about 'Budget.'", ["Budget"]),
        ("Delete the latest email about 'Budget', please", ["Budget"]),
    ],
)
def test_a_topic_is_what_the_task_quotes_and_not_what_is_quoted_there(task: str, found: list[str]) -> None:
    assert topics(task) == found


SYNC = "event_id | event_name | start | end\n7 | Sync | 2023-12-04 10:00 | 2023-12-04 11:00"


@pytest.mark.parametrize(
    ("arguments", "doubted"),
    [
        ({"start": "2023-12-04 10:30", "end": "2023-12-04 11:30"}, False),
        ({"start": "2023-12-04 10:30"}, False),
        ({"start": "2023-12-04 09:30"}, True),
        ({"end": "2023-12-04 10:30"}, True),
        ({"new_start": "2023-12-04 09:30"}, True),
        ({"new_start": "2023-12-04 10:30"}, False),  # Where the end would be, were it moved wrongly.
        ({"field": "end", "new_value": "2023-12-04 10:30"}, True),
        ({"field": "start", "new_value": "2023-12-04 10:30"}, False),
    ],
)
def test_the_end_moved_back_may_be_the_new_start(arguments: dict[str, Any], doubted: bool) -> None:
    facts = known("Push back my sync by 30 minutes", SYNC, steps=[step({"query": "Sync"}, SYNC)])
    found = doubts(named("update_event"), {"event_id": "7", **arguments}, facts)
    assert bool(found) is doubted


def test_a_moment_that_cannot_be_moved_back_is_moved_wrongly_by_nobody() -> None:
    unset = "task_id | title | due | done\n7 | Tidy | 2023-12-04 10:00 | 0001-01-01T00:00:00"
    facts = known("Postpone the task Tidy by 2 days", unset, steps=[step({"query": "Tidy"}, unset)])
    assert doubts(named("update_task"), {"task_id": "7", "due": "2023-12-06 10:00"}, facts) == []


def test_what_is_left_is_told_by_the_ids_that_calls_take() -> None:
    looked = {"user_id": "7"}
    table = "user_id | booking_id\n7 | 31\n7 | 32"

    def left(*ids: str, name: str = "booking_id") -> list[str]:
        acted = [step({name: id}, effect=True) for id in ids]
        facts = known("Cancel all bookings of user 7", table, steps=[step(looked, table), *acted])
        return doubts(named("loans", "reads"), looked, facts)

    assert left("31")[0].endswith("not acted on yet: 32")
    assert left("31", "32")[0].endswith(ALL_ACTED_ON)
    assert left("31", name="id") == []


def test_ids_in_a_list_are_acted_on_too() -> None:
    mails = "mail_id | subject\n1 | Lunch\n2 | Rent"
    both = step({"mail_ids": ["1", "2"]}, effect=True)
    facts = known("Delete all mails", mails, steps=[step({"all": "yes"}, mails), both])
    assert doubts(named("loans", "reads"), {"all": "yes"}, facts)[0].endswith(ALL_ACTED_ON)


@pytest.mark.parametrize(
    ("goal", "orders"),
    [
        ("I need to delete my last email from bo", True),
        ("Bo sent me an email. Can you delete it?", True),
        ("Delete it", True),
        ("Look the number of emails up. Return it", False),
        ("Find bo's address, and write it in capitals", False),
        ("If bo is away, delete it", False),
        ("How many emails did bo send", False),
        ("Tell me whether to delete it", False),
    ],
)
def test_an_order_may_begin_any_clause(goal: str, orders: bool) -> None:
    tools = {name: named(name) for name in ("post.delete_email", "post.send_email")}
    assert changes_nothing(goal, [step({"from": "bo"})], tools) is orders
    assert not changes_nothing(goal, [step({"id": "1"}, effect=True)], tools)
