"""Reading what endpoints say when they fail."""

import pytest

from plait.models.failures import complaint_of, mask, retry_after_seconds, shown_url


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("1.5", 1.5),
        ("-4", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after_seconds({"Retry-After": value}, now=10.0) == seconds


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b'{"error": {"message": "no\\n way"}}', "no way"),
        (b'{"error": "no way"}', "no way"),
        (b'{"detail": [{"loc": 1}]}', '[{"loc":1}]'),
        (b"<html><b>Bad</b> gateway</html>", "Bad gateway"),
        (b"plain \xff words", "plain � words"),
        (b"", ""),
    ],
)
def test_a_complaint_is_found_in_any_shape(body: bytes, line: str) -> None:
    assert complaint_of(body) == line


def test_a_long_complaint_is_cut() -> None:
    assert len(complaint_of(b"word " * 1000)) == 300


def test_keys_are_masked_and_words_are_not() -> None:
    assert mask("key sk-proj-abcdefgh123 of Bearer abc123", None) == "key *** of Bearer ***"
    assert mask("given hunter2!", "hunter2!") == "given ***"
    assert mask("no task-management here", "no") == "no task-management here"


def test_an_address_is_shown_without_its_secrets() -> None:
    assert shown_url("https://me:pw@host:8/v1?key=abc") == "https://host:8/v1"
