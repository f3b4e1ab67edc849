"""What becomes of a record of experience when it is learned again, used, or judged by the user.

Pure functions from a record to a record; knows nothing of where it is kept.
"""

from collections.abc import Sequence
from dataclasses import replace

from plait.experience.record import Experience, ExperienceStatus

OWN = "own"
FAILURES_TO_SUSPEND = 2
_TRUST: Sequence[ExperienceStatus] = ("quarantined", "suspended", "provisional", "active")
"""From the least to the most."""


def learned_again(old: Experience, new: Experience) -> Experience:
    """Return what is kept where `old` is there and `new` was learned for the same goal with the same tools.

    The new one replaces the old and its counts go on; it has the status that it was learned with. So a
    provisional record becomes active when a succeeded run teaches the same, and a suspended one is used
    again, with its row of failures forgotten.

    But what is trusted less never takes the place of what is trusted more: an import that waits for approval
    cannot change a record in use, nor can what a failed run taught. The old one then stays as it is. And no
    import lets an earlier one out of quarantine, which only the user or a success of one's own does.
    """
    if _TRUST.index(new.status) < _TRUST.index(old.status):
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
        vector=new.vector or old.vector,
    )


def counted(record: Experience, *, succeeded: bool, now: float) -> Experience:
    """Return a record after one more use.

    Only a pipeline is suspended: a workflow is a reference that others read critically. What waits in
    quarantine stays there, whatever came of a use.
    """
    in_a_row = 0 if succeeded else record.failures_in_a_row + 1
    status = record.status
    if status == "provisional" and succeeded:
        status = "active"
    elif status in ("active", "provisional") and in_a_row >= FAILURES_TO_SUSPEND:
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
    """Return a record with a status; one that is made active begins without failures in a row."""
    in_a_row = 0 if status == "active" else record.failures_in_a_row
    return replace(record, status=status, failures_in_a_row=in_a_row)
