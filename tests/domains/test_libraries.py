"""What a program cannot import: whose fault that is, and what the machine lacks to tell."""

import pytest
from tests.domains.kits import FakeRunner, failing, kit
from tests.support.memory_journal import Memory, MemoryJournal

from plait.domains.software.execution import TrialRun, faults
from plait.domains.software.libraries import names_library
from plait.domains.software.quality import SoftwareQuality
from plait.events import Noted
from plait.teams.solution import Rating, Solution


async def rated(task: str, missing: str, files: dict[str, str], memory: Memory) -> Rating:
    runner = FakeRunner(silent=failing(f"ModuleNotFoundError: No module named '{missing}'"))
    quality = SoftwareQuality(kit(runner=runner))
    return await quality.rate(MemoryJournal(memory), task, Solution(product="code", files=files))


@pytest.mark.parametrize(
    ("task", "missing", "why"),
    [
        ("Snake with Pygame", "pygame", "the library 'pygame' is not installed where programs are tried"),
        ("Mirror a picture (opencv)", "cv2", "the library 'cv2' is not installed"),
        ("Snake", "_tkinter", "the Python that programs are tried with was built without '_tkinter'"),
    ],
)
async def test_where_the_machine_lacks_something_it_is_not_known_whether_a_program_starts(
    task: str, missing: str, why: str
):
    memory = Memory()
    rating = await rated(task, missing, {"main.py": f"import {missing}\n"}, memory)
    assert set(rating.dimensions) == {
        "official_completeness",
        "official_quality",
        "strict_completeness",
        "strict_quality",
    }
    assert rating.findings == []
    [note] = memory.of(Noted)
    assert note.text.startswith(f"The program's run cannot be told: {why}")


@pytest.mark.parametrize(
    ("task", "missing", "files"),
    [
        ("Snake", "pygame", {}),
        ("An arcade game", "arcade", {}),
        ("A number guessing game", "game", {}),
        ("Beep", "winsound", {}),
        ("Use the board library", "board", {"game/board.py": "x = 1\n"}),
    ],
)
async def test_what_a_program_should_do_without_is_its_own_fault(
    task: str, missing: str, files: dict[str, str]
):
    memory = Memory()
    rating = await rated(task, missing, {"main.py": f"import {missing}\n", **files}, memory)
    assert rating.dimensions["strict_executability"] == 0
    assert len(rating.findings) == 1
    assert memory.of(Noted) == []


def test_a_part_of_python_for_windows_is_not_to_be_written():
    trial = TrialRun(
        main="main.py", silent=failing("ModuleNotFoundError: No module named 'msvcrt'"), typed=None
    )
    [finding] = faults({"main.py": "import msvcrt\n"}, trial)
    assert finding.endswith("it is there on Windows alone; do without it, or import it only there")


@pytest.mark.parametrize(
    ("task", "name", "named"),
    [
        ("Draw with matplotlib.", "matplotlib", True),
        ("Draw with Pillow.", "PIL", True),
        ("Use scikit-learn", "sklearn", True),
        ("Read mysqlx", "mysql", False),
        ("An arcade game with the arcade library", "arcade", True),
        ("Handle requests of guests", "requests", False),
        ("Draw letters with the package pyfiglet", "pyfiglet", True),
        ("Draw letters with pyfiglet", "pyfiglet", False),
    ],
)
def test_the_libraries_that_a_task_names(task: str, name: str, named: bool):
    assert names_library(task, name) == named
