"""Task files of programs and stories in the form of the real ones, and a model that makes both.

What is replied follows from the prompt and the seed alone; how good a program or story is, from its seed.
"""

import re
from pathlib import Path

from plait.models.protocol import Request
from plait.models.scripted import prompt
from plait.teams.ensemble import SEEDS_PER_TEAM

_GRADE = re.compile(r"^(.+): what is best and what is weakest\ngrade: 0 to (\d+)$", re.MULTILINE)
_LENGTH = re.compile(r"It rained for (\d+) days")
PROGRAMS = (
    "def main():\n    pass\n\nmain()\n",
    "def main():\n    print('rain')\n\nmain()\n",
    "drip('rain')\n",
)
"""What teams 1, 2 and 3 write: one that does nothing, one that is fine, and one that does not run."""


def software_table(folder: Path) -> Path:
    """Write a table of three programs of two categories."""
    file = folder / "srdd.csv"
    file.write_text(
        "Name,Description,Category\n"
        'Rain_Teller,"Tells, once, that it rains.",Weather\n'
        "Sun_Teller,Tells that the sun shines.,Weather\n"
        "Adder,Adds two numbers.,Numbers\n",
        encoding="utf-8",
    )
    return file


def story_file(folder: Path) -> Path:
    """Write a file of three stories."""
    file = folder / "stories.jsonl"
    lines = [
        f'{{"id": {number}, "title": "Day {number}", "story": "It was day {number}. It rained."}}\n'
        for number in range(3)
    ]
    file.write_text("".join(lines), encoding="utf-8")
    return file


def made(text: str, seed: int) -> str:
    """Return what a model replies that makes programs and stories."""
    team = seed // SEEDS_PER_TEAM + 1
    remarks = "\n# critique: fine\n# score: 9" if '"# critique: "' in text else ""
    if "reply AGREED" in text:
        return "AGREED" + remarks
    if "You grade a text" in text:
        days = _LENGTH.search(text)
        grade = min(4, int(days[1])) if days else 1
        return "\n".join(f"{name}: fair\ngrade: {grade}" for name, _ in _GRADE.findall(text))
    if "Compare the solutions." in text:
        return "Solution 1\n+ it rains\n- it is short\nSolution 2\n+ it rains\n- it is short" + remarks
    if "code block of its own" in text:
        return f"```python main.py\n{PROGRAMS[(team - 1) % len(PROGRAMS)]}```" + remarks
    return f"It rained for {team} days, and then it was over." + remarks


def answer(request: Request) -> str:
    """Do the same for a `FunctionModel`."""
    return made(prompt(request), request.settings.seed or 0)
