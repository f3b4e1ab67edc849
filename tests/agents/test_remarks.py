"""Remarks: critique and score at the end of a reply, read and held by a grammar."""

import pytest
from tests.support.gbnf import accepts

from plait.agents.remarks import (
    MAX_CRITIQUE,
    PROSE,
    Remarked,
    lines_grammar,
    remarks_grammar,
    split_remarks,
)

LINE = "[a-z]{1,9}"


def test_a_reply_is_taken_apart() -> None:
    remarked = split_remarks("one\ntwo\n# critique: a bit short\n# score: 7\n")
    assert (remarked.body, remarked.critique, remarked.score) == ("one\ntwo", "a bit short", 7.0)


@pytest.mark.parametrize(
    "remark", ["Score: 7", "# SCORE: 7/10", "**Score:** 7", "## score: about 7.0 of 10", "score : 7"]
)
def test_a_score_is_read_however_it_is_decorated(remark: str) -> None:
    remarked = split_remarks(f"one\n{remark}")
    assert (remarked.body, remarked.score) == ("one", 7.0)


@pytest.mark.parametrize(
    ("text", "score"), [("0", 0.0), ("10", 10.0), ("10.1", None), ("11", None), ("high", None)]
)
def test_a_score_is_between_0_and_10_or_none(text: str, score: float | None) -> None:
    assert split_remarks(f"one\n# score: {text}").score == score


def test_a_reply_without_remarks_is_all_body() -> None:
    remarked = split_remarks("  the score was high\n")
    assert (remarked.body, remarked.critique, remarked.score) == ("the score was high", "", None)


def test_the_last_of_several_scores_counts() -> None:
    assert split_remarks("# score: 2\none\n# score: 9").score == 9


@pytest.mark.parametrize("rule", ["", "---\n\n"])
def test_remarks_in_sections_of_markdown_are_no_part_of_the_text(rule: str) -> None:
    text = f"She was content.\n\n{rule}### Critique:\nIt shows\nhow she felt.\n\n### Score:\n9/10\n"
    remarked = split_remarks(text)
    assert (remarked.body, remarked.critique, remarked.score) == (
        "She was content.",
        "It shows how she felt.",
        9,
    )


def test_a_section_called_critique_in_a_text_that_goes_on_stays() -> None:
    text = "# Play\n### Critique\nIt was fine.\n### Score\n9\n### Music\nSlow."
    assert split_remarks(text).body == text


def test_a_reply_of_remarks_only_has_no_body() -> None:
    assert split_remarks("# critique: none\n# score: 9").body == ""


def test_remarks_made_twice_around_the_end_of_a_block_are_no_part_of_the_text() -> None:
    said = "Done.\n# critique: It was found. # score: 10. All is clear.\n```\n# critique: Fine.\n# score: 10"
    assert split_remarks(said) == Remarked(body="Done.", critique="It was found.", score=10)


def test_a_block_at_the_end_of_a_text_stays_whole() -> None:
    said = "```\nscore = 3\n```\n# critique: Fine.\n# score: 9"
    assert split_remarks(said).body == "```\nscore = 3\n```"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("one\n# critique: fine\n# score: 10", True),
        ("one\ntwo\n# critique: fine\n# score: 0", True),
        ("one\ntwo\nthree\n# critique: fine\n# score: 0", False),
        ("one\n# critique: fine\n# score: 11", False),
        ("one\n# score: 9", False),
        ("one", False),
        (f"one\n# critique: {'x' * (MAX_CRITIQUE + 1)}\n# score: 9", False),
        ("# critique: fine\n# score: 9", False),
    ],
)
def test_the_grammar_asks_for_lines_and_both_remarks(text: str, right: bool) -> None:
    assert accepts(lines_grammar(LINE, 2, remarks=True), text) is right


@pytest.mark.parametrize(("text", "right"), [("one", True), ("one\ntwo", True), ("one\n# score: 9", False)])
def test_without_remarks_the_grammar_takes_lines_only(text: str, right: bool) -> None:
    assert accepts(lines_grammar(LINE, 2, remarks=False), text) is right


def test_remarks_in_the_line_of_the_reply_and_again_below_are_no_part_of_it() -> None:
    remarks = "# critique: Clear. # score: 10."
    reply = f"It is done. {remarks}\n\n\n{remarks} # What\n# score: 9"
    assert split_remarks(reply) == Remarked(body="It is done.", critique="Clear.", score=10)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The ticket is <b>closed</b>.", True),
        ("Ticket #12 is closed.", False),
        ("It is done. # critique: Clear. # score: 10.", False),
        ("It is done.<|im_start|>", False),
        ("It is done. #score: 10.", False),
        ("Two are due, and 3 < 4.", True),
    ],
)
def test_prose_holds_no_remark_and_no_token_of_a_model(text: str, right: bool) -> None:
    grammar = f"root ::= ({PROSE}){{1,99}}\n"
    assert accepts(grammar, text) is right
    assert accepts(remarks_grammar(), f"# critique: {text}\n# score: 9") is right
