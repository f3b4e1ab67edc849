"""What a run hands over: which files, and that they go into the folder and nowhere else."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from tests.domains.kits import kit, load_domain

from plait.domains.delivery import Statistics, contents, deliver, deliver_as_page, statistics
from plait.domains.folder import LIST_NAME, conflicts, put
from plait.domains.software.program import main_file, requirements
from plait.errors import UserError
from plait.teams.solution import Solution

CODE = Solution(product="code", files={"main.py": "import game\nimport pygame\n", "game/board.py": "x = 1\n"})
MANUAL = Solution(product="manual", text="# Manual\nStart it.")


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_a_program_comes_with_manual_requirements_and_record(tmp_path: Path):
    folder = tmp_path / "new" / "out"
    domain = load_domain("software", kit())
    paths = deliver(folder, domain, {"code": CODE, "manual": MANUAL}, "# Record\nteam-1 wrote it")
    listed = ["MANUAL.md", "RECORD.md", "game/board.py", "main.py", "requirements.txt"]
    assert paths == [str(folder / name) for name in listed]
    assert names(folder) == [LIST_NAME, *listed]
    assert (folder / "main.py").read_text() == CODE.files["main.py"]
    assert (folder / "MANUAL.md").read_text() == "# Manual\nStart it.\n"
    assert (folder / "requirements.txt").read_text() == "pygame\n"
    assert (folder / "RECORD.md").read_text() == "# Record\nteam-1 wrote it\n"


@pytest.mark.parametrize(
    ("own", "record", "manual"),
    [
        (["RECORD.md", "MANUAL.md"], "RECORD-2.md", "MANUAL-2.md"),
        (["record.md", "RECORD-2.md", "Manual.md/x.txt"], "RECORD-3.md", "MANUAL-2.md"),
        (["docs/RECORD.md"], "RECORD.md", "MANUAL.md"),
    ],
)
def test_files_of_the_programs_own_keep_their_names(tmp_path: Path, own: list[str], record: str, manual: str):
    code = Solution(product="code", files={"main.py": "x", **dict.fromkeys(own, "its own\n")})
    deliver(tmp_path, load_domain("software", kit()), {"code": code, "manual": MANUAL}, "the run")
    assert [(tmp_path / name).read_text() for name in own] == ["its own\n"] * len(own)
    assert (tmp_path / record).read_text() == "the run\n"
    assert (tmp_path / manual).read_text() == "# Manual\nStart it.\n"


def test_the_record_holds_no_orders_to_terminals(tmp_path: Path):
    story = {"story": Solution(product="story", text="Once.")}
    deliver(tmp_path, load_domain("story", kit()), story, "# Record\n\x1b[2J- \x1b]0;t\x07team\t1\u202e\n")
    assert (tmp_path / "RECORD.md").read_text() == "# Record\n- team  1\n"


def test_a_story_is_one_page_and_its_record(tmp_path: Path):
    domain = load_domain("story", kit())
    products = {
        "outline": Solution(product="outline", text="x"),
        "story": Solution(product="story", text="Once."),
    }
    deliver(tmp_path, domain, products, "r")
    assert names(tmp_path) == [LIST_NAME, "RECORD.md", "story.md"]
    assert (tmp_path / "story.md").read_text() == "Once.\n"


def test_other_files_are_handed_over_as_they_are():
    page = Solution(product="page", files={"index.html": "<p>"})
    assert contents("page", {"page": page, "manual": MANUAL}) == {"index.html": "<p>"}


def test_requirements_of_the_programs_own_stay():
    code = Solution(product="code", files={"main.py": "import pygame", "requirements.txt": "pygame==2.6\n"})
    assert contents("code", {"code": code})["requirements.txt"] == "pygame==2.6\n"


@pytest.mark.parametrize("products", [{}, {"code": Solution(product="code", text=" ")}])
def test_without_a_product_there_is_nothing_to_hand_over(products: dict[str, Solution]):
    with pytest.raises(UserError, match="no phase wrote 'code'"):
        contents("code", products)


@pytest.mark.parametrize(
    ("code", "listed"),
    [
        ("import os, sys\nfrom pathlib import Path", ""),
        ("import numpy.linalg\nfrom PIL import Image\nimport yaml", "numpy\npillow\npyyaml\n"),
        ("import board\nfrom . import x\nfrom .y import z\nfrom game.rules import r", ""),
        ("def f():\n    import requests", "requests\n"),
        ("def f(:", ""),
    ],
)
def test_requirements_are_what_is_neither_pythons_nor_the_programs(code: str, listed: str):
    assert requirements({"main.py": code, "game/board.py": "x", "game/rules.py": "x"}) == listed


@pytest.mark.parametrize(
    ("files", "main"),
    [
        (["app.py", "main.py"], "main.py"),
        (["src/main.py", "main.py", "app.py"], "main.py"),
        (["a/b/main.py", "c/main.py"], "c/main.py"),
        (["app.py", "game.py"], "app.py"),
        (["game.py"], "game.py"),
        (["game.py", "start.py!"], "start.py"),
        (["game.py!", "start.py!"], None),
        (["game.py", "start.py"], None),
        (["game/__main__.py", "game/engine.py"], "game/__main__.py"),
        (["game/__main__.py", "app.py"], "app.py"),
        (["game.txt"], None),
    ],
)
def test_the_file_that_starts_a_program(files: list[str], main: str | None):
    guard = "if __name__ == '__main__':\n    x\n"
    program = {name.rstrip("!"): guard if name.endswith("!") else "x\n" for name in files}
    assert main_file(program) == main


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/x.py", "a/../../x.py", "~/x.py", "C:\\x.py", "a/", "", "a\0b"]
)
def test_a_path_out_of_the_folder_is_refused_and_nothing_is_written(tmp_path: Path, path: str):
    folder = tmp_path / "out"
    with pytest.raises(UserError, match="not a file inside the folder"):
        put(folder, {"main.py": "x", path: "y"})
    assert names(tmp_path) == []


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path):
    outside, folder = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    folder.mkdir()
    (folder / "game").symlink_to(outside)
    with pytest.raises(UserError, match="is no folder of its own"):
        put(folder, {"main.py": "x", "game/board.py": "y"})
    assert names(outside) == []
    assert not (folder / "main.py").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_place_of_a_file_is_not_written_through(tmp_path: Path, there: bool):
    diary, folder = tmp_path / "diary.txt", tmp_path / "out"
    folder.mkdir()
    if there:
        diary.write_text("private")
    (folder / "main.py").symlink_to(diary)
    with pytest.raises(UserError, match=r"holds 'main.py', which would be written over"):
        put(folder, {"main.py": "x"})
    assert diary.exists() == there
    assert (folder / "main.py").is_symlink()


@pytest.mark.parametrize("path", ["main.py", "main.py/x.py"])
def test_a_file_of_the_users_is_never_written_over(tmp_path: Path, path: str):
    (tmp_path / "main.py").write_text("mine")
    with pytest.raises(UserError, match=r"give another folder with --out"):
        put(tmp_path, {"a.py": "x", path: "y"})
    assert names(tmp_path) == ["main.py"]
    assert (tmp_path / "main.py").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_is_the_users_too(tmp_path: Path):
    (tmp_path / "main.py").mkdir()
    with pytest.raises(UserError, match=r"holds 'main.py'"):
        put(tmp_path, {"main.py": "y"})


def test_a_result_may_be_put_again_and_replaced_by_a_later_one(tmp_path: Path):
    put(tmp_path, {"main.py": "1", "b.py": "1"})
    put(tmp_path, {"main.py": "1", "b.py": "1"})
    put(tmp_path, {"main.py": "2", "b.py": "1"})
    assert (tmp_path / "main.py").read_text() == "2"
    assert conflicts(tmp_path, ["main.py", "b.py", "new.py"]) == []


def test_a_folder_holds_one_result_and_not_parts_of_two(tmp_path: Path):
    put(tmp_path, {"main.py": "1", "game/deep/board.py": "1", "game/mine.py": "1", "kept.py": "1"})
    (tmp_path / "game" / "notes.txt").write_text("the user's")
    (tmp_path / "kept.py").write_text("mended by hand")
    assert put(tmp_path, {"main.py": "2"}) == ["main.py"]
    assert names(tmp_path) == [LIST_NAME, "game/notes.txt", "kept.py", "main.py"]
    assert not (tmp_path / "game" / "deep").exists()
    assert (tmp_path / "kept.py").read_text() == "mended by hand"
    # What was removed is not ours any more, even if somebody writes the same again.
    (tmp_path / "game" / "mine.py").write_text("1")
    put(tmp_path, {"main.py": "3"})
    assert (tmp_path / "game" / "mine.py").exists()


@pytest.mark.parametrize("path", ["../diary.txt", "link/diary.txt"])
def test_a_list_that_somebody_else_wrote_removes_nothing_outside(tmp_path: Path, path: str):
    outside, folder = tmp_path / "outside", tmp_path / "outside" / "out"
    folder.mkdir(parents=True)
    (outside / "diary.txt").write_text("private")
    (folder / "link").symlink_to(outside)
    digest = hashlib.sha256(b"private").hexdigest()
    (folder / LIST_NAME).write_text(json.dumps({path: [digest]}))
    put(folder, {"main.py": "1"})
    assert (outside / "diary.txt").read_text() == "private"


def test_a_result_that_the_user_changed_is_the_users(tmp_path: Path):
    put(tmp_path, {"main.py": "1"})
    (tmp_path / "main.py").write_text("mended by hand")
    assert conflicts(tmp_path, ["main.py"]) == ["main.py"]
    with pytest.raises(UserError, match="would be written over"):
        put(tmp_path, {"main.py": "2"})


@pytest.mark.parametrize("content", ["{", "[]", '{"main.py": 3}', "\udcff"])
def test_a_damaged_list_makes_all_that_is_there_the_users(tmp_path: Path, content: str):
    put(tmp_path, {"main.py": "1"})
    (tmp_path / LIST_NAME).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match="would be written over"):
        put(tmp_path, {"main.py": "2"})


def test_a_crash_in_the_middle_leaves_whole_files_that_can_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put(tmp_path, {"a.py": "1", "b.py": "1"})
    replace, done = os.replace, list[str]()

    def crash(source: Path, target: Path) -> None:
        if len(done) == 2:
            raise OSError(28, "No space left on device", str(target))
        done.append(target.name)
        replace(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(UserError, match="cannot be written: No space left on device"):
        put(tmp_path, {"a.py": "2", "b.py": "2"})
    assert done == [LIST_NAME, "a.py"]
    assert names(tmp_path) == [LIST_NAME, "a.py", "b.py"]
    assert ((tmp_path / "a.py").read_text(), (tmp_path / "b.py").read_text()) == ("2", "1")
    monkeypatch.undo()
    put(tmp_path, {"a.py": "3", "b.py": "3"})
    assert (tmp_path / "b.py").read_text() == "3"


def test_the_names_of_our_own_files_are_kept(tmp_path: Path):
    with pytest.raises(UserError, match=r"begins with '\.plait-'"):
        put(tmp_path, {LIST_NAME: json.dumps({})})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"main.py": "1", "n" * 300 + ".py": "2"}, "is too long"),
        ({"data": "1", "data/x.py": "2"}, "has 'data' both as a file and as the folder of 'data/x.py'"),
    ],
)
def test_files_that_no_folder_can_take_are_told_in_one_line(tmp_path: Path, files: dict[str, str], said: str):
    with pytest.raises(UserError) as caught:
        put(tmp_path, files)
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert names(tmp_path) == []


def test_the_folder_itself_may_be_in_the_way(tmp_path: Path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UserError, match=r"out' cannot be written"):
        put(tmp_path / "out", {"main.py": "x"})


def test_a_result_with_names_that_cannot_be_written_is_handed_over_as_one_page(tmp_path: Path):
    code = Solution(product="code", files={"data": "1\n", "data/x.py": "2\n"})
    paths = deliver_as_page(tmp_path, load_domain("software", kit()), {"code": code}, "r")
    assert paths == [str(tmp_path / "RECORD.md"), str(tmp_path / "RESULT.md")]
    page = (tmp_path / "RESULT.md").read_text()
    assert page == "```text data\n1\n```\n\n```python data/x.py\n2\n```\n"


def test_statistics_count_files_and_lines_that_are_not_blank():
    code = Solution(product="code", files={"a.py": "x\n\n  \ny\n", "b.txt": "z"})
    assert statistics(code) == Statistics(files=2, lines=3)
    text = Solution(product="story", text="one\n\ntwo")
    assert statistics(text) == Statistics(files=1, lines=2)
