"""The documentation agrees with the code, and what checks it notices when it does not."""

from pathlib import Path

import pytest
from scripts import check_docs


@pytest.fixture(scope="module")
def group() -> check_docs.TyperGroup:
    return check_docs.loaded_command()


def test_the_documentation_is_right():
    assert check_docs.problems() == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["doctor", "--json"], ""),
        (["runs", "--json"], ""),
        (["runs", "rm", "RUN"], ""),
        (["dokter"], "no command 'dokter'"),
        (["doctor", "--fix"], "`plait doctor --fix`: no option --fix"),
        (["runs", "rm", "--frob=1"], "`plait runs rm --frob=1`: no option --frob=1"),
    ],
)
def test_unknown_words_in_examples_are_found(group: check_docs.TyperGroup, words: list[str], problem: str):
    found = check_docs.unknown_words(group, words)
    assert [line.partition("=")[0] for line in found] == ([problem.partition("=")[0]] if problem else [])


def test_bad_examples_and_links_are_found(
    group: check_docs.TyperGroup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("[x](nowhere.md) [y](page.md)\n```sh\n$ plait dokter\n```\n```python\nif:\n```\n")
    assert check_docs.broken_links(page) == ["page.md: link to 'nowhere.md' leads nowhere"]
    unknown, uncompilable = check_docs.broken_examples(page, group)
    assert unknown == "page.md: no command 'dokter'"
    assert "invalid syntax" in uncompilable


def test_a_page_that_is_out_of_date_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    monkeypatch.setattr(check_docs, "generated", lambda: {page: "new"})
    page.write_text("new")
    assert check_docs.stale() == []
    page.write_text("old")
    assert check_docs.stale() == ["page.md: out of date; run `make docs`"]
