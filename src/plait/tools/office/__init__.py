"""An office to work in: calendar, e-mail, project board, customers, analytics and a directory.

The tools and tables of the WorkBench benchmark; they act on a copy of the tables in the run's folder.
"""

from plait.tools.office.catalogue import DECLARATIONS, TOOL_NOTES, toolset
from plait.tools.office.tables import Office

__all__ = ["DECLARATIONS", "TOOL_NOTES", "Office", "toolset"]
