"""Grammars of replies and how replies are read, with and without a grammar to hold them."""

import pytest
from tests.support.gbnf import accepts

from plait.errors import ReplyError
from plait.models.protocol import Grammar, Text
from plait.teams.chain import ReplyKind
from plait.teams.forms import MOST_FILES, MOST_ITEM, analysis_form, opinion_form, solution_form
from plait.teams.replies import (
    analysis_text,
    echoes,
    read_analysis,
    read_merge,
    read_opinion,
    read_solution,
    silent,
    too_many_lines,
)
from plait.teams.solution import Solution

REMARKS = "\n# critique: fine\n# score: 9"
ONE = "```python main.py\nprint(1)\n```"
WEAK = "# critique: The list does not say how it ends."
TWO = "```text data/notes.txt\n\n# a line\n  indented\n```"


def gbnf(kind: str, *, remarks: bool = True, changes: bool = False) -> str:
    form = solution_form(kind, remarks=remarks, changes=changes)  # pyright: ignore[reportArgumentType]
    assert isinstance(form, Grammar)
    return form.gbnf


@pytest.mark.parametrize("kind", ["files", "changes"])
@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        (ONE + REMARKS, True),
        (f"{ONE}\n{TWO}{REMARKS}", True),
        (f"{ONE}\n\n{TWO}{REMARKS}", True),
        (ONE, True),
        (f"Here it is:\n{ONE}{REMARKS}", False),
        ("```python\nprint(1)\n```" + REMARKS, False),
        ("```python main\nprint(1)\n```" + REMARKS, False),
        ("```python ../main.py\nprint(1)\n```" + REMARKS, False),
        ("```python main.py\nprint(1)" + REMARKS, False),
        ("\n".join([ONE] * MOST_FILES) + REMARKS, True),
        ("\n".join([ONE] * (MOST_FILES + 1)) + REMARKS, False),
    ],
)
def test_files_are_named_blocks_and_then_remarks(kind: str, reply: str, fits: bool) -> None:
    assert accepts(gbnf(kind), reply) is fits


def test_what_the_grammar_of_files_lets_through_can_be_read() -> None:
    reply = f"{ONE}\n{TWO}{REMARKS}"
    assert accepts(gbnf("files"), reply)
    found = read_solution(reply, "files", product="code", by="team-1")
    assert found.solution.files == {
        "main.py": "print(1)\n",
        "data/notes.txt": "\n# a line\n  indented\n",
    }
    assert (found.critique, found.score) == ("fine", 9)


def test_a_merge_says_its_changes_before_its_remarks() -> None:
    grammar = gbnf("files", changes=True)
    assert accepts(grammar, f"{ONE}\n# changes: none{REMARKS}")
    assert not accepts(grammar, ONE + REMARKS)
    assert accepts(gbnf("files", changes=True, remarks=False), f"{ONE}\n# changes: none")


def test_a_text_may_have_headings_and_empty_lines_but_no_line_like_a_remark_before_its_end() -> None:
    grammar = gbnf("text")
    assert accepts(grammar, "# Title\n\n## Part\nIt was a dark night." + REMARKS)
    assert accepts(grammar, "It was dark.\n\nIt rained.")
    assert not accepts(grammar, "It was dark.\n\n\nIt rained.")
    assert not accepts(grammar, "# critique: fine" + REMARKS)
    assert not accepts(grammar, REMARKS)
    assert solution_form("text", remarks=False) == Text()


def test_a_text_is_read_without_its_remarks() -> None:
    found = read_solution("# Title\n\nNight.\n" + REMARKS, "text", product="story", by="team-2")
    assert found.solution == Solution(product="story", text="# Title\n\nNight.", by="team-2")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(REMARKS, "text"), ("", "text"), ("no file", "files"), ("```\nx\n```", "files"), ("", "changes")],
)
def test_a_reply_without_a_text_or_a_named_file_is_refused(reply: str, kind: str) -> None:
    with pytest.raises(ReplyError):
        read_solution(reply, kind, product="p", by="b")  # pyright: ignore[reportArgumentType]


def test_changes_replace_and_add_files_and_leave_the_others() -> None:
    before = Solution(product="code", files={"main.py": "old\n", "keep.py": "kept\n"}, by="team-1")
    found = read_solution(f"{ONE}\n{TWO}", "changes", product="code", by="team-1", before=before)
    assert list(found.solution.files) == ["main.py", "keep.py", "data/notes.txt"]
    assert found.solution.files["keep.py"] == "kept\n"
    assert found.problems == []


def test_a_change_may_not_make_a_file_a_folder() -> None:
    before = Solution(product="code", files={"main.py": "old\n", "data/a.txt": "a\n"}, by="team-1")
    for path in ("main.py/util.py", "data/a.txt/b.txt"):
        with pytest.raises(ReplyError, match="cannot be both a file and the folder"):
            read_solution(f"```python {path}\nx\n```", "changes", product="code", by="t", before=before)


def test_changes_that_change_nothing_are_a_problem() -> None:
    before = Solution(product="code", files={"main.py": "print(1)\n", "keep.py": "kept\n"}, by="team-1")
    found = read_solution(ONE, "changes", product="code", by="team-1", before=before)
    assert "no file differs" in found.problems[0]
    assert found.solution.digest == before.digest


@pytest.mark.parametrize(
    "ending",
    [
        "\n# changes: took a\nand b\n# critique: fine\n# score: 9",
        "\n**Changes:** took a and b\n# critique: fine\n# score: 9",
        "\n# critique: fine\n# score: 9\n# changes: took a and b",
    ],
)
def test_a_merge_is_read_with_its_changes_wherever_a_model_puts_them(ending: str) -> None:
    found = read_merge(ONE + ending, "files", product="code", by="m")
    assert found.solution.files == {"main.py": "print(1)\n"}
    assert (found.changes, found.critique, found.score) == ("took a and b", "fine", 9)


CODE = "print('a')\n# Changes: log of versions\nprint('b')\n"


@pytest.mark.parametrize(
    "ending", ["", "\n# changes: took both", "\n# changes: took both" + REMARKS, REMARKS]
)
@pytest.mark.parametrize("fence", ["```", ""])
def test_a_comment_on_changes_in_the_code_of_a_merge_stays_there(ending: str, fence: str) -> None:
    found = read_merge(f"```python main.py\n{CODE}{fence}{ending}", "files", product="code", by="m")
    assert found.solution.files["main.py"].strip() == CODE.strip()
    assert found.changes == ("took both" if "took both" in ending else "")
    assert found.score == (9 if REMARKS in ending else None)


@pytest.mark.parametrize("kind", ["text", "merge"])
def test_what_looks_like_a_remark_belongs_to_a_text_where_none_was_asked_for(kind: str) -> None:
    text = "# Manual\nPlay it.\n# Critique: a quarterly\nScore: 10"
    if kind == "text":
        found = read_solution(text, "text", product="manual", by="team-1", remarks=False)
    else:
        found = read_merge(f"{text}\n# changes: both", "text", product="manual", by="m", remarks=False)
    assert (found.solution.text, found.critique, found.score) == (text, "", None)


def test_a_merge_may_say_nothing_of_changes() -> None:
    found = read_merge("A story.\nThe end." + REMARKS, "text", product="story", by="m")
    assert (found.solution.text, found.changes, found.score) == ("A story.\nThe end.", "", 9)


def test_a_line_on_changes_far_from_the_end_belongs_to_the_text() -> None:
    text = "\n".join(["# Changes: a chapter", *["line"] * 20])
    assert read_merge(text, "text", product="story", by="m").solution.text == text


def test_an_instructor_agrees_or_says_what_to_change() -> None:
    grammar = opinion_form(remarks=True).gbnf
    assert accepts(grammar, "AGREED" + REMARKS)
    assert accepts(grammar, "CHANGE: add a score." + REMARKS)
    assert not accepts(grammar, "CHANGE: " + REMARKS)
    assert not accepts(grammar, "Looks good" + REMARKS)
    assert accepts(opinion_form(remarks=False).gbnf, "AGREED")


@pytest.mark.parametrize("body", ["AGREED", "**Agreed.**", "agreed, all holds"])
def test_agreement_is_read_however_it_is_written(body: str) -> None:
    assert read_opinion(body).agreed


@pytest.mark.parametrize("body", ["CHANGE: add a\nscore", "**Change:** add a score", "change:  add a score "])
def test_an_instruction_is_read_in_one_line(body: str) -> None:
    opinion = read_opinion(body)
    assert (opinion.agreed, opinion.instruction) == (False, "add a score")


@pytest.mark.parametrize("body", ["", "CHANGE:", "I disagreed", "Nice work"])
def test_neither_agreement_nor_instruction_is_refused(body: str) -> None:
    with pytest.raises(ReplyError, match="AGREED"):
        read_opinion(body)


ANALYSIS = "Solution 1\n+ short\n+ clear\n- slow\nSolution 2\n+ fast\n- long"


def test_an_analysis_has_points_on_every_solution() -> None:
    grammar = analysis_form(2, remarks=True).gbnf
    assert accepts(grammar, ANALYSIS + REMARKS)
    assert not accepts(grammar, "Solution 1\n+ short\n- slow" + REMARKS)
    assert not accepts(grammar, ANALYSIS.replace("- slow\n", "") + REMARKS)
    points = read_analysis(ANALYSIS, 2)
    assert [list(each.strengths) for each in points] == [["short", "clear"], ["fast"]]
    assert [list(each.weaknesses) for each in points] == [["slow"], ["long"]]
    assert analysis_text(points) == ANALYSIS
    assert silent(points) == []


def test_an_analysis_has_as_many_points_as_its_phase_wants() -> None:
    grammar = analysis_form(2, remarks=True, most_points=1).gbnf
    assert not accepts(grammar, ANALYSIS + REMARKS)
    assert accepts(grammar, ANALYSIS.replace("+ clear\n", "") + REMARKS)
    first = read_analysis(ANALYSIS, 2, most_points=1)[0]
    assert (list(first.strengths), list(first.weaknesses)) == (["short"], ["slow"])


def test_an_analysis_is_read_from_what_models_write_without_a_grammar() -> None:
    body = (
        "## Solution 1:\n- Strength: short\n- Weaknesses: slow\n**Solution 2**\n* + fast\nSolution 9\n+ none"
    )
    points = read_analysis(body, 2)
    assert [list(each.strengths) for each in points] == [["short"], ["fast"]]
    assert list(points[0].weaknesses) == ["slow"]


def test_a_solution_nothing_is_said_of_is_a_problem_and_no_analysis_at_all_is_refused() -> None:
    assert silent(read_analysis("Solution 2\n+ fast", 2)) == ["nothing is said of solution 1"]
    with pytest.raises(ReplyError, match="Solution 1"):
        read_analysis("Both are fine.", 2)


def test_a_whole_reply_begins_with_the_file_that_its_phase_names() -> None:
    form = solution_form("files", remarks=False, first="main.py")
    assert isinstance(form, Grammar)
    assert accepts(form.gbnf, "```python main.py\nprint(1)\n```\n```text notes.txt\nhello\n```")
    assert not accepts(form.gbnf, "```python game.py\nprint(1)\n```")


def test_no_file_is_empty_and_none_is_named_by_a_number() -> None:
    form = solution_form("changes", remarks=False)
    assert isinstance(form, Grammar)
    assert accepts(form.gbnf, "```python game.py\n\nprint(1)\n```")
    assert not accepts(form.gbnf, "```python game.py\n```")
    assert not accepts(form.gbnf, "```python game.py\n\n\n```")
    assert not accepts(form.gbnf, "```python 1.0\nprint(1)\n```")


def test_a_line_may_be_free_before_the_remarks() -> None:
    form = solution_form("files", remarks=True, changes=True)
    assert isinstance(form, Grammar)
    block = "```python main.py\nprint(1)\n```"
    assert accepts(form.gbnf, f"{block}\n\n# changes: none\n\n# critique: short\n# score: 9")
    assert accepts(form.gbnf, f"{block}\n# changes: none\n# critique: short\n# score: 9")


@pytest.mark.parametrize(
    "heading", ["# Original solution 1", "## Solution 2", "**Merged solution:**", "Solution"]
)
def test_a_heading_of_the_prompt_is_no_part_of_a_merged_text(heading: str) -> None:
    found = read_merge(f"{heading}\n\nIt rained.\n# changes: both", "text", product="story", by="m")
    assert (found.solution.text, found.changes) == ("It rained.", "both")


@pytest.mark.parametrize("heading", ["# The solution to everything", "Solution 1 was a lie, Anna thought."])
def test_a_title_of_ones_own_stays(heading: str) -> None:
    found = read_merge(f"{heading}\n\nIt rained.", "text", product="story", by="m")
    assert found.solution.text == f"{heading}\n\nIt rained."


@pytest.mark.parametrize(
    ("kind", "reply", "ends"),
    [("files", "```python main.py\nprint(1)\n```", False), ("text", "A story.", True)],
)
def test_a_reply_may_end_without_remarks_and_a_merged_text_without_its_changes(
    kind: ReplyKind, reply: str, ends: bool
) -> None:
    remarks, changes = "\n# critique: short\n# score: 9", "\n# changes: none"
    form, merge = solution_form(kind, remarks=True), solution_form(kind, remarks=True, changes=True)
    assert isinstance(form, Grammar)
    assert isinstance(merge, Grammar)
    assert accepts(form.gbnf, reply)
    assert accepts(form.gbnf, reply + remarks)
    assert accepts(merge.gbnf, reply) is ends
    assert accepts(merge.gbnf, reply + changes) is ends
    assert accepts(merge.gbnf, reply + changes + remarks)


def test_where_lines_are_counted_a_text_has_no_more_and_none_is_a_heading_or_long() -> None:
    form = solution_form("text", remarks=True, most_lines=2)
    assert isinstance(form, Grammar)
    ending = "\n# critique: short\n# score: 9"
    assert not accepts(form.gbnf, "- It asks for a number.")
    assert accepts(form.gbnf, f"- It asks for a number.{ending}")
    assert accepts(form.gbnf, f"- It asks for a number.\n- It says how near it was.{ending}")
    assert accepts(form.gbnf, f"- {'x' * MOST_ITEM}{ending}")
    three = "\n".join(["- It asks for a number."] * 3)
    for refused in (
        three,
        "It asks for a number.",
        "- # Heading",
        "- ```python",
        f"- {'x' * (MOST_ITEM + 1)}",
        "",
    ):
        assert not accepts(form.gbnf, refused + ending)
    bare = solution_form("text", remarks=False, most_lines=1)
    assert isinstance(bare, Grammar)
    assert accepts(bare.gbnf, "- It asks for a number.")
    assert not accepts(bare.gbnf, "- It asks for a number.\n- It ends.")


@pytest.mark.parametrize(("most", "problems"), [(0, 0), (2, 1), (3, 0), (4, 0)])
def test_a_text_with_more_lines_than_it_may_have_is_a_problem(most: int, problems: int) -> None:
    text = Solution(product="plan", text="one\n\ntwo\nthree\n", by="team-1")
    assert len(too_many_lines(text, most)) == problems


@pytest.mark.parametrize(
    ("text", "before", "echo"),
    [
        ("- The list does not say how it ends.", f"- It begins.\n{WEAK}", True),
        ("- It begins.\n- Also: the list does not *say* that", f"- It begins.\n{WEAK}", True),
        ("- It ends.", f"- It begins.\n{WEAK}", False),
        ("- The list does not say how.", f"- The list does not say how.\n{WEAK}", False),
        ("- Too short", "- It begins.\n# critique: Too short", False),
        ("- It begins.", "", False),
    ],
)
def test_a_text_that_says_what_was_weak_is_an_echo(text: str, before: str, echo: bool) -> None:
    assert echoes(text, before) is echo
