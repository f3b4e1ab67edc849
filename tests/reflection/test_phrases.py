"""What the words of a task say about it."""

import pytest

from plait.reflection.phrases import ahead, names_period, names_time, of_one, of_several


@pytest.mark.parametrize(
    ("task", "several"),
    [
        ("return the loan of dana", False),
        ("return the last loan called Sales Numbers", False),
        ("check the status of this class", False),
        ("return the first of my loans", False),
        ("return the next two loans", True),
        ("return my loans", True),
        ("return it and tell dana", True),
        ("send 'all books' to dana", False),
        ('read it\n\n<file name="a.txt">\nall books\n</file>', False),
    ],
)
def test_what_a_task_speaks_of_is_one_or_several(task: str, several: bool) -> None:
    assert of_several(task) is several


def test_the_next_or_last_is_one() -> None:
    assert of_one("return the next loan")
    assert not of_one("return the loan")
    assert not of_one("return the next loan and tell dana")


def test_time_is_named_in_many_words() -> None:
    assert names_time("what came in March")
    assert not names_time("find Tides")
    assert names_period("lent in the last 3 weeks")
    assert not names_period("lent on Friday before 10")
    assert ahead("cancel all future talks")
    assert not ahead("send 'the next talk'")
