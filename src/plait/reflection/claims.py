"""Whether an answer says that something was changed where nothing was: small models report what was asked.

English, and only of the first person: "The meeting was cancelled" may be what a tool says of another day.
"""

import re
from collections.abc import Iterable, Mapping

from plait.reflection.milestones import ALIKE, CHANGES, asks_for_change, tool_verbs
from plait.reflection.requests import unquoted
from plait.reflection.trajectory import Trajectory
from plait.tools.tool import Tool

NOT_DONE = "nothing was changed, so the answer must not say that it was: say what was found, and why"
_PAST = {
    **{"buy": "bought", "give": "gave", "make": "made", "pay": "paid", "put": "put", "send": "sent"},
    **{"set": "set", "write": "wrote", "cancel": "cancell?ed", "reply": "replied", "submit": "submitted"},
}
_ALIKE = (*ALIKE, frozenset({"forward", "send"}))
_START = r"(?:^|[.!?]\s+|\n|,? and )"
_BETWEEN = r"(?:(?: have|'ve|\u2019ve)?(?: (?:already|also|just|now|successfully|then))*)"


def problems(task: str, answer: str, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[str]:
    """Return what is wrong with an answer that tells of a change in a run that made none.

    Args:
        task: What was asked for.
        answer: The text.
        trajectory: With the steps that were taken over from earlier rounds.
        tools: All tools, by their names: what their names say is what can be claimed.
    """
    steps = [step for run in trajectory.runs.values() for step in run.steps]
    changed = any(step.effect and (step.ok or step.unknown) for step in steps)
    if changed or trajectory.changed_before or not asks_for_change(task, tools):
        return []
    return [NOT_DONE] if _claims(unquoted(answer), tool_verbs(tools) & CHANGES) else []


def _claims(answer: str, verbs: Iterable[str]) -> bool:
    """Whether an answer says `I deleted`, or the like, of something."""
    meant = set(verbs)
    meant |= {verb for alike in _ALIKE if alike & meant for verb in alike}
    done = "|".join(_PAST.get(verb) or re.escape(verb.removesuffix("e")) + "ed" for verb in sorted(meant))
    claim = rf"{_START}I{_BETWEEN} (?:{done})\b(?! (?:0|neither|no|none|not|nothing|the following|up|zero)\b)"
    return bool(meant) and re.search(claim, answer) is not None
