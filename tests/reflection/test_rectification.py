"""Rectifications as values: what can be written, what it means, and that the grammar and the reader agree."""

import pytest
from tests.support.gbnf import accepts

from plait.errors import ReplyError
from plait.reflection.plan import Subtask
from plait.reflection.rectification import Offer, key_of, read_rectification, rectification_grammar

LEAF = Subtask(id="2", goal="Return 7", depends_on=("1",), milestone="it is back")
OFFER = Offer(leaf=LEAF, more=8, deletable=("2", "3"))
ALL = (
    "give up",
    "delete 2",
    "delete 2, 3",
    "split\n1. a goal\n2. another => it holds",
    "split\n1. a goal\n2. another (independent)\n3. third (after 1)\n4. fourth",
    "add before\n1. a goal",
    "add after\n1. a goal => it holds",
)


@pytest.mark.parametrize("text", ALL)
def test_what_the_grammar_lets_through_can_be_read(text: str) -> None:
    assert accepts(rectification_grammar(OFFER, brackets=False, remarks=False), text)
    remarked = rectification_grammar(OFFER, brackets=False, remarks=True)
    assert accepts(remarked, f"{text}\n# critique: fits\n# score: 9")
    assert not accepts(remarked, text)
    assert read_rectification(text, OFFER).operation == text.split()[0].replace("give", "give_up")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first line must be one of: split, add before, add after, delete, give up"),
        ("1. a goal\n2. another", "the first line must be one of"),
        ("split", "no subtask"),
        ("split\n1. a goal", "a split has 2 to 4 lines"),
        ("split\n" + "\n".join(f"{n}. goal {n}" for n in range(1, 6)), "a split has 2 to 4 lines"),
        ("add after\n1. a goal\n2. another", "'add after' takes one line"),
        ("delete", "only these can be deleted: 2, 3"),
        ("delete 1", "only these can be deleted: 2, 3"),
        ("delete 2-1", "only these can be deleted: 2, 3"),
        ("split\n1. ab (after 2)\n2. ba (after 1)", "circle"),
    ],
)
def test_what_cannot_be_done_is_said(text: str, reason: str) -> None:
    held = accepts(rectification_grammar(OFFER, brackets=False, remarks=False), text)
    assert held is ("(after 2)" in text)  # What depends on what is for the reader.
    with pytest.raises(ReplyError, match=reason):
        read_rectification(text, OFFER)


def test_of_a_split_the_whole_that_stands_among_its_parts_is_left_out() -> None:
    text = "split\n1. Find 7\n2. return 7\n3. Look at it (after 1, 2)\n4. Give it back"
    way = read_rectification(text, OFFER)
    assert [(part.id, part.goal, part.depends_on) for part in way.subtasks] == [
        ("2-1", "Find 7", ()),
        ("2-2", "Look at it", ("2-1",)),
        ("2-3", "Give it back", ("2-2",)),
    ]


def test_a_split_into_something_and_the_whole_again_adds_something_before() -> None:
    one, other = (
        read_rectification(text, OFFER)
        for text in (f"split\n1. find it\n2. {LEAF.goal.upper()}", "add before\n1. find it")
    )
    assert one == other
    assert read_rectification(f"split\n1. {LEAF.goal}\n2. find it", OFFER).operation == "split"


@pytest.mark.parametrize("text", ["Split:\n1. a\n2. b", "**split**\n1. a\n2. b", "- Split into\n1. a\n2. b"])
def test_models_without_a_grammar_may_decorate(text: str) -> None:
    assert read_rectification(text, OFFER).operation == "split"


def test_parts_have_ids_of_the_failed_leaf_and_depend_on_one_another() -> None:
    way = read_rectification("split\n1. a\n2. b (independent)\n3. c (after 1, 2) => done", OFFER)
    assert [(part.id, part.depends_on) for part in way.subtasks] == [
        ("2-1", ()),
        ("2-2", ()),
        ("2-3", ("2-1", "2-2")),
    ]
    assert way.subtasks[2].milestone == "done"
    assert way.as_text() == "split\n2-1. a\n2-2. b\n2-3. c"


def test_a_leaf_that_is_tried_again_keeps_its_goal_and_milestone() -> None:
    first, again = read_rectification("add before\n1. a", OFFER).subtasks
    assert (first.id, again.id, again.depends_on) == ("2a", "2b", ("2a",))
    assert (again.goal, again.milestone) == (LEAF.goal, LEAF.milestone)


@pytest.mark.parametrize(
    ("offer", "ways"),
    [
        (Offer(leaf=LEAF, more=8, deletable=()), ["split", "add before", "add after"]),
        (Offer(leaf=LEAF, more=1, deletable=("2",)), ["add after", "delete"]),
        (Offer(leaf=LEAF, more=0, deletable=("2",)), ["delete"]),
        (Offer(leaf=Subtask(id="2-1-1", goal="x"), more=8, deletable=()), ["add before", "add after"]),
        (Offer(leaf=LEAF, more=3, deletable=()), ["split", "add before", "add after"]),
    ],
)
def test_only_what_fits_is_offered(offer: Offer, ways: list[str]) -> None:
    assert offer.ways == ways
    grammar = rectification_grammar(offer, brackets=False, remarks=False)
    assert accepts(grammar, "give up")
    written = {"split": "\n1. ab\n2. ba", "add before": "\n1. ab", "add after": "\n1. ab", "delete": " 2"}
    for way, rest in written.items():
        assert accepts(grammar, way + rest) is (way in ways)
    five = "split" + "".join(f"\n{n}. goal" for n in range(1, offer.more + 2))
    assert not accepts(grammar, five)


def test_the_same_is_the_same_whatever_the_ids() -> None:
    other = Offer(leaf=Subtask(id="5", goal="return 7"), more=8, deletable=())
    one, same = (read_rectification("split\n1. A\n2. b", offer) for offer in (OFFER, other))
    assert key_of(LEAF, one) == key_of(other.leaf, same)
    another = read_rectification("split\n1. A\n2. c", OFFER)
    assert key_of(LEAF, one) != key_of(LEAF, another)
