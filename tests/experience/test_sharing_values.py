"""Goals told with invented values: the same to whoever recalls, and nothing of the real ones in them."""

import csv
import re
from pathlib import Path

import pytest

from plait.errors import UserError
from plait.experience.sharing.values import NAMES, StandIns
from plait.experience.words.goals import agree, aligned, key_of, masked
from plait.experience.words.vocabulary import ORDINARY

WORKBENCH = Path(__file__).parents[1] / "bench" / "data" / "workbench"


def workbench() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted(WORKBENCH.glob("*_queries_and_answers.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found += list(csv.DictReader(file))
    return found


def test_every_workbench_task_is_told_without_its_values_and_stays_the_same_task() -> None:
    for row in workbench():
        goal = row["query"]
        told = StandIns(goal).goal
        assert key_of(told) == key_of(goal)
        assert agree(told, goal) == agree(goal, goal)
        for span in masked(goal).spans:
            if span.kind in ("name", "email", "date", "quoted"):
                assert not re.search(rf"(?<!\w){re.escape(span.text)}(?!\w)", told), (goal, told)


def test_what_aligned_before_aligns_afterwards() -> None:
    wordings: dict[str, list[str]] = {}
    for row in workbench():
        wordings.setdefault(key_of(row["query"]), []).append(row["query"])
    pairs = [(goals[0], other) for goals in wordings.values() for other in goals[1:]]
    assert len(pairs) > 100
    for one, other in pairs:
        instead = StandIns(one)
        before, after = aligned(one, other), aligned(instead.goal, other)
        assert before is not None
        assert after == {instead.given.get(was, was): now for was, now in before.items()}


def test_the_same_goal_is_always_told_the_same_way() -> None:
    goal = "Forward the last email from olivia to raj.patel@atlas.com on December 5"
    assert StandIns(goal).goal == StandIns(goal).goal
    assert StandIns(goal).goal == ("Forward the last email from robin to casey@example.com on March 14, 2024")


def test_equal_values_stay_equal_and_others_differ() -> None:
    told = StandIns("Forward it from Olivia to Raj and tell Olivia").goal
    assert told == "Forward it from Robin to Casey and tell Robin"


def test_a_goal_that_says_a_name_where_it_is_taken_for_a_word_is_not_told() -> None:
    with pytest.raises(UserError, match="once more"):
        StandIns("Move olivia's tasks to raj and tell olivia and raj")


def test_no_invented_name_is_one_of_the_goal() -> None:
    assert StandIns("Cancel my next meeting with robin").goal == "Cancel my next meeting with casey"


def test_invented_names_are_no_words_of_tasks() -> None:
    assert not ORDINARY.intersection(NAMES)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("Cancel it on 2023-12-13", "Cancel it on 2024-03-14"),
        ("Cancel it on Fridays", "Cancel it on Fridays"),
        ("Delete it at 9am after 3 days", "Delete it at 9am after 3 days"),
        ("Delete customer 00000256 and 00000257", "Delete customer 10000001 and 10000002"),
        ("Send 'Hi, I am Olivia'", "Send 'Sample text 1'"),
        ("Send '2023-12-13 10:00'", "Send 'Sample text 1 2024-03-14 10:30'"),
        ("Add a task called Fix bug to the Back end backlog", None),
    ],
)
def test_each_kind_has_stand_ins_of_its_own(goal: str, told: str | None) -> None:
    found = StandIns(goal).goal
    assert told is None or found == told
    assert key_of(found) == key_of(goal)


def test_values_of_the_goal_are_replaced_wherever_another_text_says_them() -> None:
    instead = StandIns("Cancel my next meeting with Olivia Chen on December 13")
    text = "Look for OLIVIA CHEN and olivia_chen, olivia chen on December 13"
    assert instead.in_text(text) == ("Look for Robin Casey and olivia_chen, robin casey on March 14, 2024")


def test_a_text_with_values_of_its_own_loses_them_too() -> None:
    instead = StandIns("Cancel my next meeting with olivia")
    assert instead.in_text("Write to raj@atlas.com about olivia") == "Write to casey@example.com about robin"


def test_more_names_than_there_are_to_invent_are_not_replaced() -> None:
    names = " and ".join(f"'{word}' to {word}@atlas.com" for word in (f"n{n}" for n in range(len(NAMES) + 1)))
    with pytest.raises(UserError, match="more names"):
        StandIns(f"Send {names}")


@pytest.mark.parametrize(
    "goal", ["", "   ", "'", "<name> <name>", "Cancel <date> on December 13", "\u202e" * 50]
)
def test_any_text_is_told_or_refused(goal: str) -> None:
    try:
        told = StandIns(goal).goal
    except UserError:
        return
    assert key_of(told) == key_of(goal)
