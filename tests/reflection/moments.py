"""Steps, tools and what is known, for the tests of checks, doubts and mended searches."""

from datetime import date
from typing import Any

from plait.reflection.checks import Known
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

NO_DATES: dict[str, date] = {}
DATES = {"December 18": date(2023, 12, 18)}


def tool(effect: Any = "reads", **properties: Any) -> Tool:
    async def run(_: Any) -> str:
        return ""

    parameters = {"type": "object", "properties": properties}
    return Tool(name="loans", description="", parameters=parameters, effect=effect, run=run, source="tests")


def step(
    arguments: dict[str, Any], observation: str = "found", *, ok: bool = True, effect: bool = False
) -> Step:
    return Step(tool="loans", arguments=arguments, ok=ok, observation=observation, effect=effect)


def known(
    *texts: str, notes: str = "", dates: dict[str, date] = NO_DATES, steps: list[Step] | None = None
) -> Known:
    task = texts[0] if texts else ""
    return Known(task=task, texts=texts, notes=notes, dates=dates, steps=steps or [], effects=Effects())
