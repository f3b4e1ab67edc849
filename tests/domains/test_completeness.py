"""Placeholders in programs, as the paper's scripts see them and as they are."""

import pytest

from plait.domains.software.completeness import official, strict


@pytest.mark.parametrize(
    ("code", "share"),
    [
        ("print('hello')", 1),
        ("def f():\n    pass", 0),
        ("# TODO: more", 0),
        ("x = 'Todos'", 0),
        ("bypass = 1", 0),
        ("passing = True", 0),
        ("compass()", 0),
        # The scripts let these words off, whatever else is in their line.
        ("password = input()", 1),
        ("print('passed')", 1),
        ("passengers = []", 1),
        ("check(passes)", 1),
        ("password = None; pass", 1),
        ("raise NotImplementedError", 1),
        ("def f():\n    ...", 1),
    ],
)
def test_the_official_reading_looks_for_words(code: str, share: float):
    assert official({"main.py": code}) == share


def test_one_placeholder_makes_a_whole_program_officially_incomplete():
    assert official({"a.py": "x = 1", "b.py": "y = 2", "c.py": "def f(): pass"}) == 0
    assert official({"a.py": "x = 1", "notes.txt": "todo: pass"}) == 1


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    pass",
        "def f():\n    ...",
        "def f():\n    'Does it.'",
        "def f():\n    '''Does it.'''\n    raise NotImplementedError",
        "async def f():\n    raise NotImplementedError('later')",
        "class C:\n    pass",
        "def f():\n    # TODO: write this\n    return 1",
        "def f():\n    return 1  # Placeholder for the real thing",
        "def f():\n    # ... rest of the code\n    return 1",
        "def f():\n    #TODO(me): mend it\n    return 1",
        "def f():\n    ## FIXME\n    return 1",
        "def f():\n    # XXX\n    return 1",
        "def f():\n    # Your code here\n    return 1",
        "def f():\n    # Add your code here\n    return 1",
        "def f():\n    # Add more code here to start the game\n    return 1",
        "def f():\n    # Not implemented yet.\n    return 1",
        "def f():\n    # [The rest of the code]\n    return 1",
        "def f():\n    return 50  # Example number for simplicity",
        "def f():\n    return g(10)  # Replace with actual number input",
        "def f():\n    # Score is fixed for now\n    return 1",
        "def f():\n    # Here we just count; in a real application this would ask the server\n    return 1",
    ],
)
def test_a_placeholder_is_strictly_half_of_a_file_with_one_unit(code: str):
    found = strict({"main.py": code})
    assert found.share == 0.5
    [finding] = found.findings
    assert finding.startswith("main.py, line ")


@pytest.mark.parametrize(
    "code",
    [
        "bypass = 1\nprint('todo list', 'pass the ball')",
        "class Lost(Exception):\n    pass",
        "from abc import abstractmethod\nclass A(Base):\n    @abstractmethod\n    def f(self): ...",
        "import abc\nclass A(Base):\n    @abc.abstractmethod\n    def f(self): pass",
        "from typing import Protocol\nclass P(Protocol):\n    def f(self) -> int: ...",
        "def f():\n    try:\n        return 1\n    except OSError:\n        pass",
        "# The password is asked for twice.\nx = 1",
        "entry.insert(0, 'x')  # set the placeholder text",
        "x = '\\d'",
        "class H(http.server.BaseHTTPRequestHandler):\n    def log_message(self, *words):\n        pass",
        "# Add a todo to the list\nx = 1",
        "x = 1  # first todo",
        "# todo: a line of the list, as the user wrote it\nx = 1",
        "# The list of TODO items\nx = 1",
        "# TODOS are kept here\nx = 1",
        "# Compare your code with the secret one\nx = 1",
        "# Not implemented commands are told to the user\nx = 1",
        "# Show the remaining code letters\nx = 1",
        "# Rest of the code word is hidden\nx = 1",
        "# Replace with the next word\nx = 1",
        "# Show an example, for those who are new\nx = 1",
        "# As in a real game, the dealer stops at 17\nx = 1",
    ],
)
def test_what_only_looks_like_a_placeholder_is_strictly_none(code: str):
    found = strict({"main.py": code})
    assert (found.share, found.findings) == (1, [])


@pytest.mark.parametrize(
    ("base", "body"),
    [
        ("ABC", "pass"),
        ("Own", "pass"),
        ("Window", "'Later.'"),
        ("Window", "..."),
        ("Window", "raise NotImplementedError"),
    ],
)
def test_only_a_method_that_silences_a_class_from_elsewhere_may_pass(base: str, body: str):
    code = f"class Own:\n    x = 1\nclass C({base}):\n    x = 1\n    def f(self):\n        {body}"
    [finding] = strict({"main.py": code}).findings
    assert "function 'f' has no body yet" in finding


def test_the_strict_share_counts_files_classes_and_functions():
    game = "class Game:\n    def start(self):\n        pass\n\n    def stop(self):\n        return 1\n"
    found = strict({"main.py": "x = 1\n", "game.py": game})
    assert found.share == pytest.approx(4 / 5)  # two files, a class and two functions; one is hollow
    assert found.findings == ["game.py, line 2: function 'start' has no body yet: write it."]


def test_two_placeholders_in_one_function_count_once():
    found = strict({"main.py": "def f():\n    # TODO one\n    # TODO two\n    pass\n"})
    assert found.share == 0.5
    assert len(found.findings) == 3


def test_a_comment_outside_of_functions_is_the_files_own():
    assert strict({"main.py": "x = 1\n# TODO: the rest\n\ndef f():\n    return 1\n"}).share == 0.5


@pytest.mark.parametrize("code", ["def f(:", "x = 1\n\tif", "\0", "(" * 500 + ")" * 500])
def test_a_file_that_is_no_python_is_not_complete(code: str):
    assert strict({"main.py": code}).share == 0


@pytest.mark.parametrize(
    ("code", "share"),
    [
        ("x = " + "+".join("1" * 1500), 1),
        ("class A(" + "b" + "()" * 1500 + "): pass", 1),
        ("x = " + "+".join("1" * 200_000), 0),
    ],
)
def test_a_program_of_any_depth_is_read_or_counts_as_no_python(code: str, share: float):
    assert strict({"main.py": code}).share == share


def test_comments_are_found_where_lines_end_in_a_carriage_return():
    found = strict({"main.py": "if 1:\n\r\tx = (1,\n 2)\n# TODO: y\n"})
    assert (found.share, len(found.findings)) == (0, 1)


def test_a_file_that_only_goes_on_is_read():
    assert strict({"main.py": "\\\r\n"}).share == 1


def test_an_empty_file_is_a_placeholder_but_a_packages_own_is_not():
    assert strict({"main.py": "x = 1", "a/__init__.py": ""}).share == 1
    found = strict({"main.py": "x = 1", "game.py": "\n"})
    assert (found.share, found.findings) == (0.5, ["game.py is empty: write it."])


def test_a_program_without_python_is_worth_nothing():
    assert strict({"README.md": "x"}).share == 0
