"""A few programs that are really run, in the sandbox where there is one, else as the user's own."""

import pytest
from tests.domains.kits import kit
from tests.support.memory_journal import Memory, MemoryJournal

from plait.domains.quoting import NOTE
from plait.domains.software.quality import SoftwareQuality
from plait.errors import PlaitError
from plait.teams.solution import Solution
from plait.tools.sandbox import Runner, sandbox, unconfined


def runner() -> Runner:
    try:
        return sandbox()
    except PlaitError:
        # These programs are our own, and harmless.
        return unconfined()


GUESSING = """
import random

def main():
    secret = random.randint(1, 3)
    while int(input("Your guess: ")) != secret:
        print("no")
    print("yes")

main()
"""


@pytest.mark.parametrize(
    ("files", "official", "strict", "finding"),
    [
        ({"main.py": GUESSING}, 1, 1, ""),
        (
            {"main.py": "import sys\nsys.exit('no data')\n"},
            1,
            0,
            f"`python main.py` ends with status 1. {NOTE}\n<output>\nno data\n</output>",
        ),
        (
            {
                "game/__main__.py": "from .engine import play\nplay()\n",
                "game/engine.py": "def play():\n    return scor\n",
            },
            1,
            0,
            f"`python -m game` stops with an error. {NOTE}\n<output>\nNameError: name 'scor' is not defined\n"
            "  game/__main__.py, line 2: play()\n  game/engine.py, line 2, in play: return scor\n</output>",
        ),
        ({"main.py": "import curses\ncurses.wrapper(lambda screen: screen.getch())\n"}, 1, 1, ""),
        (
            {"main.py": "from game import play\nplay()\n", "game.py": "def play():\n    return scor\n"},
            0,
            0,
            f"`python main.py` stops with an error. {NOTE}\n<output>\nNameError: name 'scor' is not defined\n"
            "  main.py, line 2: play()\n  game.py, line 2, in play: return scor\n</output>",
        ),
        (
            {"main.py": "import libraryofnobody\n"},
            0,
            0,
            "`python main.py` cannot import 'libraryofnobody': it is no file of the program and no part of "
            "Python; write libraryofnobody.py or do without it",
        ),
        (
            {"main.py": "name = input()\nprint(name.shout())\n"},
            1,
            0,
            f"`python main.py`, given 1, 2, 3, ... to read, stops with an error. {NOTE}\n<output>\n"
            "AttributeError: 'str' object has no attribute 'shout'\n  main.py, line 2: print(name.shout())\n"
            "</output>",
        ),
    ],
)
async def test_programs_are_really_run(files: dict[str, str], official: float, strict: float, finding: str):
    quality = SoftwareQuality(kit(runner=runner))
    rating = await quality.rate(MemoryJournal(Memory()), "a task", Solution(product="code", files=files))
    assert rating.dimensions["official_executability"] == official
    assert rating.dimensions["strict_executability"] == strict
    assert list(rating.findings) == ([finding] if finding else [])
