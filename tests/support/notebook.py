"""A task end to end: its tools, and what a model that solves it in eleven calls replies.

The tools append to the file NOTEBOOK, written through to the disk; NOTEBOOK_FATAL, such as `before 3` or
`after 3`, names a line in whose midst the process kills itself. What is replied follows from the calls
in a prompt alone, never from its wording or from earlier requests, so that killed runs can be served too.
"""

import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.models.protocol import Request
from plait.models.scripted import prompt
from plait.tools.functions import tool

SOURCE = str(Path(__file__))
TASK = "Fill the pages of the notebook"
ANSWER = "Lines 1, 3, 5 and 7 are written."
MODEL_CALLS = 11
"""A plan, seven calls, `done` for each of two subtasks, an answer: and so 10 before the answer."""
WRITES = (1, 3, 5, 7)
PARTS = ("PART-ONE", "PART-TWO")
LAST_OF_PART = {4: "PART-ONE", 7: "PART-TWO"}
PLAN = "1. PART-ONE is pages 1 to 4\n2. PART-TWO is pages 5 to 7"
REMARKS = "\n# critique: As asked.\n# score: 10"

_CALL = re.compile(r"(?:write_line|read_page)\(number=(\d)\)")


@tool
def write_line(number: int) -> str:
    """Write a line into the notebook."""
    _die_at(f"before {number}")
    descriptor = os.open(os.environ["NOTEBOOK"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{number}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)
    _die_at(f"after {number}")
    return f"line {number} is written"


@tool(effect="reads")
def read_page(number: int) -> str:
    """Read a page of the notebook."""
    return f"page {number} is white"


def _die_at(moment: str) -> None:
    if os.environ.get("NOTEBOOK_FATAL") == moment:
        os.kill(os.getpid(), signal.SIGKILL)


def reply(text: str) -> str:
    """Return what a good model replies to a prompt."""
    if PARTS[0] not in text:
        return PLAN + REMARKS
    made = max((int(number) for number in _CALL.findall(text)), default=0)
    part = LAST_OF_PART.get(made)
    if part is None or (part == PARTS[0] and f"{part} is over" in text):
        name = "write_line" if made + 1 in WRITES else "read_page"
        return f"{name}(number={made + 1})" + REMARKS
    if f"{part} is over" in text:
        return ANSWER + REMARKS
    return f'done(result="{part} is over")' + REMARKS


def respond(body: Mapping[str, Any]) -> str:
    """Do the same for the body of a Chat Completions request."""
    return reply("\n".join(message["content"] for message in body["messages"]))


def answer(request: Request) -> str:
    """Do the same for a `FunctionModel`."""
    return reply(prompt(request))


def lines(notebook: Path) -> list[int]:
    """Return the lines that were really written, in order."""
    return [int(line) for line in notebook.read_text().split()] if notebook.exists() else []
