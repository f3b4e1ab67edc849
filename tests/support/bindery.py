"""A task whose first part fails until it is split, and what a model that solves it replies.

Uses the notebook's tools. What is replied follows from the place that a prompt asks for and the calls in it,
never from earlier requests, so that runs that were broken off can be served too.
"""

import re

from tests.support.notebook import REMARKS

from plait.models.protocol import Request
from plait.models.scripted import prompt

TASK = "Fill the covers and the spine of the notebook"
PLAN = "1. Fill the covers\n2. Fill the spine (independent)\n3. Look at all (after 1)"
SPLIT = "split\n1. Fill the front cover => line 2 is written\n2. Fill the back cover"
ANSWER = "Lines 1, 2, 3 and 5 are written."
WRITES = [1, 2, 3, 5]
MODEL_CALLS = 16
"""A plan, a call and three replies that are none, a second opinion, a split, two calls for each of three
leaves, two for the last look, an answer."""

_WORK = re.compile(r"^# Work on ([\w-]+):|^# Subtask", re.MULTILINE)
_MADE = re.compile(r"^(write_line|read_page)\(number=(\d)\)$", re.MULTILINE)
_CALLS = {"1": "write_line(number=1)", "1-1": "write_line(number=2)", "1-2": "write_line(number=3)"}
_CALLS |= {"2": "write_line(number=5)", "3": "read_page(number=4)"}


def answer(request: Request) -> str:
    """Reply to one request."""
    text = prompt(request)
    last = request.messages[-1].content
    if "A colleague was asked" in text:
        return "no"
    if "# Your answer to the user" in text:
        return ANSWER + REMARKS
    if "Failed: 1. Fill the covers" in last:
        return SPLIT + REMARKS
    work = _WORK.search(text)
    if work is None:
        return PLAN + REMARKS
    leaf = work[1]
    # Calls that are turns of the leaf's own, and not results of what came before it.
    own = [message.content for message in request.messages if message.role == "assistant"]
    if not _MADE.search("\n".join(own)):
        return _CALLS[leaf] + REMARKS
    return "I do not know." if leaf == "1" else f'done(result="part {leaf} is over")' + REMARKS
