"""What belongs to a program that is handed over: its manual and the libraries it needs.

Knows nothing of folders.
"""

from collections.abc import Collection, Mapping

from plait.domains.software.program import requirements
from plait.teams.solution import Solution

MANUAL, REQUIREMENTS = "MANUAL.md", "requirements.txt"
MANUAL_PRODUCT = "manual"


def with_belongings(files: Mapping[str, str], products: Mapping[str, Solution]) -> dict[str, str]:
    """Return a program's files with MANUAL.md, where a manual was written, and requirements.txt.

    Where the program has a MANUAL.md of its own, that stays, and the other gets a name beside it.

    A requirements.txt of the program's own stays; else it lists the libraries that the code imports, and
    is empty where it imports none.
    """
    whole = {REQUIREMENTS: requirements(files), **files}
    manual = products.get(MANUAL_PRODUCT)
    if manual is not None and manual.text.strip():
        whole[free_name(MANUAL, files)] = manual.text.strip() + "\n"
    return whole


def free_name(name: str, files: Collection[str]) -> str:
    """Return a name that no file and no folder of these has, also where capitals make no difference."""
    taken = {path.partition("/")[0].casefold() for path in files}
    stem, dot, suffix = name.partition(".")
    others = (f"{stem}-{number}{dot}{suffix}" for number in range(2, len(taken) + 3))
    return next(each for each in (name, *others) if each.casefold() not in taken)
