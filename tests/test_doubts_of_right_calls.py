"""No rule that reads a task speaks against a call that is right: WorkBench's, after plausible searches."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plait.bench.benchmarks.workbench import WORKBENCH
from plait.bench.methods.tools import OFFICE
from plait.bench.workbench import Call, parse_call
from plait.reflection.checks import Known, call_problems
from plait.reflection.dates import named_dates
from plait.reflection.doubts import doubts
from plait.reflection.meant import ids_of
from plait.reflection.phrases import topics
from plait.reflection.trajectory import Effects, Step
from plait.tools.office import DECLARATIONS, Office
from plait.tools.office.catalogue import TOOL_NOTES
from plait.tools.rendering import render
from plait.tools.sources import open_tools

DATA = Path(__file__).parent / "bench" / "data" / "workbench"
FEWEST = 130
"""Pairs of a right call and a search that finds what it is about; fewer would show little."""


def searches(query: str, call: Call, office: Office) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield what an agent may look for first: all, a person or the topic; at any time, a day, from now on."""
    find = DECLARATIONS["company_directory.find_email_address"].function
    people = [
        word for word in set(re.findall(r"[a-z]{3,}", query.lower())) if "@" in str(find(office, name=word))
    ]
    days = [day.isoformat() for day in named_dates(query, TOOL_NOTES).values()]
    for words in ("", *people, *topics(query)):
        sought = {"query": words} if words else {}
        for day in ("", *days):
            if call.tool.startswith("calendar."):
                bounds = {"time_min": "2023-11-30 00:00:00"} if "next" in query else {}
                bounds = {"time_min": f"{day} 00:00:00", "time_max": f"{day} 23:59:59"} if day else bounds
                yield "calendar.search_events", sought | bounds
            elif call.tool.startswith("email."):
                yield "email.search_emails", sought | ({"date_min": day, "date_max": day} if day else {})


def after(query: str, tool: str, arguments: Mapping[str, Any], office: Office) -> Known:
    """Return what is known after one search."""
    found = render(DECLARATIONS[tool].function(office, **arguments))
    step = Step(tool=tool, arguments=arguments, ok=True, observation=found, effect=False)
    dates = named_dates(query, TOOL_NOTES)
    texts = [query, query, found]
    return Known(task=query, texts=texts, notes=TOOL_NOTES, dates=dates, steps=[step], effects=Effects())


async def test_what_is_right_is_not_doubted(tmp_path: Path) -> None:
    office, seen, doubted = Office(tmp_path), 0, list[str]()
    calls = [(task.query, parse_call(task.gold[0])) for task in WORKBENCH.load(DATA) if len(task.gold) == 1]
    async with open_tools((OFFICE,), tmp_path) as toolset:
        tools = {tool.name: tool for tool in toolset.tools}
        for query, call in calls:
            for name, arguments in searches(query, call, office):
                known = after(query, name, arguments, office)
                ids, tool = ids_of(call.arguments), tools[call.tool]
                if not any(id in known.texts[2] for id in ids):
                    continue
                seen += 1
                found = doubts(tool, call.arguments, known, tools)
                made_up = [each for each in call_problems(tool, call.arguments, known) if "@" not in each]
                doubted += [f"{query}: {each}" for each in (*found, *made_up)]
    assert doubted == []
    assert seen >= FEWEST
