"""What becomes of a record of experience when it is learned again, used, or judged, and which goes first.

Pure functions of records; knows nothing of where they are kept.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from plait.experience.record import OWN, Experience, ExperienceStatus
from plait.experience.situation import kept_situation

FAILURES_TO_SUSPEND = 2
WEEK_SECONDS = 7 * 24 * 3600.0
SPAN_SECONDS = 1e11
"""More than any time of a record: what is worth more for its kind is so whatever its time."""
IN_USE: Sequence[ExperienceStatus] = ("active", "provisional")
_TRUST: Sequence[ExperienceStatus] = ("quarantined", "suspended", "provisional", "active")
"""From the least to the most."""


def learned_again(old: Experience, new: Experience) -> Experience:
    """Return what is kept where `old` is there and `new` was learned for the same goal with the same tools.

    The new one replaces the old and its counts go on; it has the status that it was learned with. So a
    provisional record becomes active when a succeeded run teaches the same, and a suspended one is used
    again, with its row of failures forgotten.

    But what is trusted less never takes the place of what is trusted more: an import that waits for approval
    cannot change a record in use, nor can what a failed run taught. Nor does another way to the same goal
    take the place of one that serves, unless that one was for another situation, which will not come again;
    see `_serves_better`. The old one then stays as it is. And no import
    lets an earlier one out of quarantine, which only the user or a success of one's own does.
    """
    less_trusted = _TRUST.index(new.status) < _TRUST.index(old.status)
    same_situation = kept_situation(old.content) == kept_situation(new.content)
    if less_trusted or (new.status == old.status and same_situation and _serves_better(old, new)):
        return old
    waits = old.status == "quarantined" and new.source != OWN
    return replace(
        new,
        id=old.id,
        status="quarantined" if waits else new.status,
        uses=old.uses,
        successes=old.successes,
        failures=old.failures,
        failures_in_a_row=0 if old.status == "suspended" else old.failures_in_a_row,
        last_used=old.last_used,
        approved=old.approved,
        vector=new.vector or old.vector,
    )


def _serves_better(old: Experience, new: Experience) -> bool:
    """Whether a record does more for its goal than a new one for the same would.

    A pipeline that calls its tools in another order than the new one does so where it served more often than
    it failed. A workflow does so too, and where it has fewer steps and did not fail more often than that.
    """
    if tuple(old.tools) == tuple(new.tools) and old.kind != "workflow":
        return False
    if old.successes != old.failures:
        return old.successes > old.failures
    return old.kind == "workflow" and _steps(old) < _steps(new)


def _steps(workflow: Experience) -> float:
    """Return how many steps a workflow has; one that cannot be read has more than any."""
    steps = workflow.content.get("steps")
    return len(steps) if isinstance(steps, list) else math.inf


def merged(one: Experience, other: Experience) -> Experience:
    """Return what is kept of two records for the same goal with the same tools, both of which have served.

    What is trusted more stays, of these what served more often, then the newer one; the counts add up.
    """
    first, second = sorted((one, other), key=_standing, reverse=True)
    return replace(
        first,
        uses=first.uses + second.uses,
        successes=first.successes + second.successes,
        failures=first.failures + second.failures,
        last_used=max(first.last_used, second.last_used),
        approved=first.approved or second.approved,
    )


def _standing(record: Experience) -> tuple[int, int, float, str]:
    return _TRUST.index(record.status), record.successes - record.failures, record.created, record.id


def counted(record: Experience, *, succeeded: bool, now: float) -> Experience:
    """Return a record after one more use.

    Only a pipeline is suspended: a workflow is a reference that others read critically. What waits in
    quarantine stays there, whatever came of a use.
    """
    in_a_row = 0 if succeeded else record.failures_in_a_row + 1
    status = record.status
    if status == "provisional" and succeeded:
        status = "active"
    elif status in IN_USE and in_a_row >= FAILURES_TO_SUSPEND:
        status = "suspended" if record.kind == "pipeline" else status
    return replace(
        record,
        status=status,
        uses=record.uses + 1,
        successes=record.successes + succeeded,
        failures=record.failures + (not succeeded),
        failures_in_a_row=in_a_row,
        last_used=now,
    )


def with_status(record: Experience, status: ExperienceStatus) -> Experience:
    """Return a record with a status that the user gave it.

    One that is made active begins without failures in a row.
    """
    approved = status == "active"
    in_a_row = 0 if approved else record.failures_in_a_row
    return replace(record, status=status, failures_in_a_row=in_a_row, approved=approved)


def worth(record: Experience) -> float:
    """Return what a record is worth to a memory that is full: that of the lowest goes first.

    In this order: what holds for one goal on one day only; what is not in use, suspended or quarantined;
    what failed more often than it served; what never served; what did. What the user approved stands one
    higher. Of these, first what was neither made nor used for longest, where each success counts as a week
    of youth and each failure as a week of age.
    """
    seen = max(record.created, record.last_used)
    age = seen + WEEK_SECONDS * (record.successes - record.failures)
    # A time that somebody made up must not lift a record above others.
    within = min(max(age, 0.0), SPAN_SECONDS - 1.0) if math.isfinite(age) else 0.0
    return _rank(record) * SPAN_SECONDS + within


def _rank(record: Experience) -> int:
    if kept_situation(record.content) is not None and not record.approved:
        return -1  # The day is over before a memory is full.
    if record.status not in IN_USE:
        return 0
    if record.failures > record.successes:
        return 1 + record.approved
    return 3 if record.successes or record.approved else 2
