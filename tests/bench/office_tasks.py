"""A task of the office with its right call, one that is done by doing nothing, and what models reply."""

from dataclasses import replace

from plait.bench.methods.tools import OFFICE
from plait.bench.workbench import WorkbenchTask
from plait.runtime.options import Options

OPTIONS = Options(tools=(OFFICE,), yes=True)
RIGHT = 'calendar.delete_event(event_id="00000256")'
WRONG = 'calendar.delete_event(event_id="00000257")'
DONE = 'done(result="It is deleted.")'
DELETE = WorkbenchTask(
    query="Delete my first meeting on December 13",
    gold=['calendar.delete_event.func(event_id="00000256")'],
    phrasing="",
    template="",
    domains=["calendar"],
    file="calendar.csv",
    index=0,
)
LEAVE = replace(DELETE, query="Delete my meetings on the moon", gold=[], index=1)
