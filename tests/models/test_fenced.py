"""The fenced form: names, several files, and blocks that do not end where they should."""

import pytest

from plait.errors import ReplyError
from plait.models.fenced import normal_path, parse_files


@pytest.mark.parametrize(
    "text",
    [
        "```python hello.py\nx = 1\n```",
        "```hello.py\nx = 1\n```",
        "```python:hello.py\nx = 1\n```",
        '```python title="hello.py"\nx = 1\n```',
        "```python\n# hello.py\nx = 1\n```",
        "```python\n# File: ./hello.py\nx = 1\n```",
        "hello.py:\n```python\nx = 1\n```",
        "**hello.py**\n\n```python\nx = 1\n```",
        "### 1. `hello.py`\n```python\nx = 1\n```",
        "__Note__\n> 2. **File: `hello.py`**:\n```python\nx = 1\n```",
        "Filename: hello.py\n```python\nx = 1\n```",
        "- here:\n  ```python hello.py\n  x = 1\n  ```",
        "~~~python hello.py\nx = 1\n~~~",
        "```python hello.py\r\nx = 1\r\n```\r\n",
        "```python hello.py\nx = 1",
        "```python hello.py\nx = 1\n",
        "```python hello.py\nx = 1\n```\nRun it:\n```bash\npython hello.py\n```",
    ],
)
def test_a_file_is_found_however_it_is_named(text: str) -> None:
    assert parse_files(text) == {"hello.py": "x = 1\n"}


def test_several_files_keep_their_order_and_the_last_of_a_name_wins() -> None:
    text = "```a.py\n1\n```\n```css src/style.css\n/* b */\n```\n```./a.py\n\n2\n```\n```Makefile\nall:\n```"
    assert list(parse_files(text).items()) == [
        ("src/style.css", "/* b */\n"),
        ("a.py", "\n2\n"),
        ("Makefile", "all:\n"),
    ]


def test_content_is_kept_to_the_letter() -> None:
    content = "def f():\n\tx = '\x0c\u2028'\n\n    # note\n    return `x`\n"
    assert parse_files(f"```f.py\n{content}```") == {"f.py": content}


def test_a_name_keeps_its_underscores() -> None:
    assert parse_files("- **__init__.py**\n```python\nx\n```") == {"__init__.py": "x\n"}


@pytest.mark.parametrize("filler", ["_", "-", "*", "`", " ", "#", "1. ", "file "])
def test_a_long_line_before_a_block_is_read_at_once(filler: str) -> None:
    with pytest.raises(ReplyError, match="has no file name"):
        parse_files(f"{filler * 20_000}!\n```python\nx\n```")


def test_a_comment_that_is_no_name_stays() -> None:
    assert parse_files("a.py\n```python\n# run main\nx\n```") == {"a.py": "# run main\nx\n"}


def test_a_last_file_may_hold_blocks_and_a_longer_fence_may_hold_them_anywhere() -> None:
    readme = "# Use\n```bash\nrun\n```\nend\n"
    assert parse_files(f"```a.py\n1\n```\n```markdown README.md\n{readme}```") == {
        "a.py": "1\n",
        "README.md": readme,
    }
    assert parse_files(f"````README.md\n{readme}````\n```a.py\n1\n```") == {
        "README.md": readme,
        "a.py": "1\n",
    }


@pytest.mark.parametrize(
    "text",
    [
        "```python a.py\nx\n```python b.py\ny\n```",
        "```markdown README.md\n```bash\nrun\n```\n```\n```a.py\n1\n```",
        "```markdown README.md\n```bash\nrun\n```\nend",
    ],
)
def test_a_block_that_is_not_closed_before_the_next_is_told(text: str) -> None:
    with pytest.raises(ReplyError, match="is not closed before"):
        parse_files(text)


@pytest.mark.parametrize("text", ["", "def f(): ...", "```bash\nls\n```"])
def test_a_reply_without_files_is_told(text: str) -> None:
    with pytest.raises(ReplyError, match="There is no file"):
        parse_files(text)


@pytest.mark.parametrize(
    "text", ["```python\nx = 1\n```", "```a.py\n1\n```\nand\n```python\ny\n```", "```a.py\n1\n```\n```"]
)
def test_code_without_a_name_is_told(text: str) -> None:
    with pytest.raises(ReplyError, match="has no file name"):
        parse_files(text)


@pytest.mark.parametrize(
    "path",
    [
        "../a.py",
        "a/../../b.py",
        "/etc/passwd.txt",
        "C:\\a.py",
        "c:a.py",
        "~/a.py",
        "\\\\host\\a.py",
        "",
        ".",
        "a/",
        "a\0b.py",
        "a\x1b[2J.py",
        "a\ud800.py",
    ],
)
def test_a_path_outside_the_folder_is_refused(path: str) -> None:
    with pytest.raises(ReplyError, match="not a file inside the folder"):
        normal_path(path)


@pytest.mark.parametrize("path", ["../a.py", "/etc/cron.d/x.sh", "C:\\a.py", "..\\a.py", "~/a.py"])
def test_a_file_outside_the_folder_is_refused_and_not_overlooked(path: str) -> None:
    for text in (f"```python {path}\nx\n```", f"{path}:\n```python\nx\n```", f"```python\n# {path}\nx\n```"):
        with pytest.raises(ReplyError, match="not a file inside the folder"):
            parse_files(text)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a" * 300 + ".py", "is too long"),
        ("é" * 99 + ".py", "is too long"),
        ("/".join(["a" * 199] * 5) + ".py", "is too long"),
        (".plait-x.py", "begins with '.plait-'"),
        ("a/.Plait-files.json/b.py", "begins with '.plait-'"),
    ],
)
def test_a_name_that_no_folder_can_take_is_told_when_the_reply_is_read(path: str, said: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_files(f"```python {path}\nx\n```")
    assert said in caught.value.message
    assert len(caught.value.message) < 120


def test_long_names_that_can_be_written_are_taken() -> None:
    assert normal_path("a" * 200) == "a" * 200
    assert normal_path("a.plait-x.py") == "a.plait-x.py"


def test_paths_are_normalised() -> None:
    assert normal_path(".\\src//pkg\\./mod.py ") == "src/pkg/mod.py"
    assert normal_path(".github/workflows/ci.yml") == ".github/workflows/ci.yml"


def test_a_file_cannot_be_a_folder_too() -> None:
    with pytest.raises(ReplyError, match="both a file and the folder"):
        parse_files("```LICENSE\nx\n```\n```LICENSE/a.txt\ny\n```")
