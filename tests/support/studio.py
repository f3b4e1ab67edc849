"""Teams end to end: a small domain, and what a model replies that works in it, in stories and on programs.

What is replied follows from the request alone (its prompt and its seed), never from earlier requests, so
that runs of any timing, and killed ones, can be served. Teams with an even number write in more detail.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.commands import Commands, Said

from plait.models.protocol import Request
from plait.models.scripted import prompt
from plait.teams.ensemble import SEEDS_PER_TEAM

DOMAIN = str(Path(__file__).with_name("studio.toml"))
TASK = "Write a note about rain"
REMARKS = "\n# critique: It could be shorter.\n# score: 9"

NOTE = "The note, PLANNED, with every DETAIL of all teams, at some length."
"""What a merge makes."""

_SOLUTION = re.compile(r"^# Solution (\d+)", re.MULTILINE)
_GRADE = re.compile(r"^(.+): what is best and what is weakest\ngrade: 0 to (\d+)$", re.MULTILINE)
_ASKED = (
    "Plan the note",
    "Write the note",
    "Polish the note",
    "Outline the story",
    "Write the story",
    "Write the whole story again",
)
_PRODUCT = re.compile(rf"^({'|'.join(_ASKED)})", re.MULTILINE)


def reply(text: str, seed: int) -> str:
    """Return what a good model replies to a prompt."""
    remarks = REMARKS if '"# critique: "' in text else ""
    if "Compare the solutions." in text:
        count = max(int(number) for number in _SOLUTION.findall(text))
        points = "\n".join(f"Solution {n}\n+ strength {n}\n- weakness {n}" for n in range(1, count + 1))
        return points + remarks
    if "# Strengths and weaknesses" in text:
        story = "Once it rained, and all teams told of it, each in its own way, to the end."
        merged = story if story[:14] in text else NOTE
        return f"{merged}\n# changes: I took the detail from solution 2." + remarks
    if "reply AGREED" in text:
        return "AGREED" + remarks
    if "You grade a text" in text:
        return "\n".join(f"{name}: nothing\ngrade: {best}" for name, best in _GRADE.findall(text))
    return _written(text, team=seed // SEEDS_PER_TEAM + 1) + remarks


def _written(text: str, team: int) -> str:
    asked = _PRODUCT.findall(text)
    match asked[-1] if asked else "":
        case "Plan the note" | "Outline the story":
            return f"Rain falls; team {team} watches."
        case "Write the note":
            return f"The note of team {team}, PLANNED" + (
                ", with DETAIL." if team % 2 == 0 else ", in short."
            )
        case "Polish the note":
            return "The note, PLANNED, with DETAIL, POLISHED."
        case "Write the story" | "Write the whole story again":
            return f"Once it rained, and team {team} told of it to the end."
        case _:
            return f"Text of team {team}."


def respond(body: Mapping[str, Any]) -> str:
    """Reply to the body of a Chat Completions request."""
    return reply("\n".join(message["content"] for message in body["messages"]), int(body.get("seed") or 0))


def answer(request: Request) -> str:
    """Do the same for a `FunctionModel`."""
    return reply(prompt(request), request.settings.seed or 0)


def run(plait: Commands, base_url: str, *more: str, domain: str = DOMAIN) -> Said:
    """Run the task against an endpoint."""
    return plait("run", TASK, "--base-url", base_url, "--model", "m", "--domain", domain, *more)
