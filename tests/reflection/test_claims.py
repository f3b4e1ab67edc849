"""An answer does not claim a change that was not made."""

from typing import Any

import pytest
from tests.reflection.moments import step

from plait.reflection.claims import NOT_DONE, problems
from plait.reflection.plan import read_plan
from plait.reflection.trajectory import Step, Trajectory
from plait.tools.tool import Tool


def tools(*names: str) -> dict[str, Tool]:
    async def run(_: Any) -> str:
        return ""

    made = {"description": "", "parameters": {}, "effect": "changes", "run": run, "source": "tests"}
    return {name: Tool(name=name, **made) for name in names}


OFFICE = tools("calendar.delete_event", "email.send_email", "email.reply_email", "tasks.update_task")


def wrong(answer: str, *steps: Step) -> list[str]:
    trajectory = Trajectory.of(read_plan("1. Cancel it"))
    trajectory.runs["1"].steps.extend(steps)
    return problems("Cancel it", answer, trajectory, OFFICE)


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("I canceled the meeting on Tuesday.", True),
        ("I have successfully cancelled the meeting.", True),
        ("I've removed it", True),
        ("No meeting was found, and I sent nothing.", False),
        ("I forwarded the email to bo", True),
        ("I updated the task", True),
        ("I replied to ann", True),
        ("I did not cancel anything: the meeting is at 9.", False),
        ("I cancelled no meetings, as none is before 9.", False),
        ("The meeting was cancelled on Monday.", False),
        ("I found the email that ann sent.", False),
        ("I created nothing", False),
        ('Ann wrote: "I have sent you the invoice."', False),
        ("Hi Ann, I sent you the slides yesterday.", False),
        ("I did not find a meeting that I deleted.", False),
        ("If I deleted event 7, the day would be free.", False),
        ("I cancelled 0 meetings.", False),
        ("I deleted neither of them.", False),
        ("It is at 9, and I cancelled it.", True),
        ("There it was.\nI cancelled it.", True),
        ("I created an event", False),  # No tool here could.
    ],
)
def test_a_change_that_was_not_made_is_not_claimed(answer: str, claims: bool) -> None:
    look = step({"day": "Tuesday"}, "event_id | start\n7 | 09:00")
    assert wrong(answer, look) == ([NOT_DONE] if claims else [])
    assert wrong(answer, look, step({"event_id": "7"}, "Failed.", ok=False, effect=True)) == (
        [NOT_DONE] if claims else []
    )
    assert wrong(answer, look, step({"event_id": "7"}, "Deleted.", effect=True)) == []


def test_without_a_tool_that_changes_anything_nothing_is_claimed() -> None:
    looked = Trajectory.of(read_plan("1. Look"))
    assert problems("Send it", "I sent it", looked, {}) == []
    assert problems("Send it", "I sent it", looked, OFFICE) == [NOT_DONE]
    assert problems("Look it up", "I sent it", looked, OFFICE) == []


def test_what_an_earlier_round_changed_may_be_told() -> None:
    later = Trajectory.of(read_plan("1. Look whether it is off"), changed_before=True)
    assert problems("Cancel it", "I cancelled it", later, OFFICE) == []
