"""All 27 office tools, and the facts an agent is told with them.

Knows nothing of runs or models. Names, parameters and behaviour are those of the WorkBench benchmark
(https://github.com/olly-styles/WorkBench, commit 42f1b6dc18986f47701ca83de2d63dd4f95c59a0).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.tools.office import analytics, calendar, customers, directory, email, project_management
from plait.tools.office.declaration import Declaration
from plait.tools.office.tables import Office
from plait.tools.tool import Tool

TOOL_NOTES = (
    "Today is Thursday 2023-11-30 and the time is 2023-11-30 00:00:00; tomorrow is Friday 2023-12-01. "
    "Meetings must not start before 09:00 or end after 18:00."
)
"""What every agent with these tools has to know."""

DECLARATIONS: Mapping[str, Declaration] = {
    declaration.name: declaration
    for area in (directory, calendar, email, analytics, project_management, customers)
    for declaration in area.TOOLS
}
"""Every tool by its name."""


def toolset(folder: Path) -> Sequence[Tool]:
    """Return the 27 tools over the tables in `folder`; what is missing there starts as packaged."""
    office = Office(folder)
    return [declaration.tool(office) for declaration in DECLARATIONS.values()]
