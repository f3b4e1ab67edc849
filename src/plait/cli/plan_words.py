"""A plan in words: its lines, and what became of it after a subtask failed.

Knows nothing of terminals.
"""

from collections.abc import Iterator, Sequence

from plait.events import Data, PlanRectified


def plan_lines(subtasks: Sequence[Data]) -> Iterator[str]:
    """Return the lines of a plan as events tell it: id, goal, milestone, and what each comes after."""
    for item in subtasks:
        milestone = f" => {item['milestone']}" if item.get("milestone") else ""
        after = ", ".join(str(id) for id in item.get("depends_on", ()))
        yield f"plan {item['id']}: {item['goal']}{milestone}" + (f" (after {after})" if after else "")


def rectified_text(event: PlanRectified) -> str:
    """Return what became of a plan after a subtask of it failed."""
    ids = ", ".join(str(subtask["id"]) for subtask in event.subtasks)
    match event.operation:
        case "split":
            return f"{event.subtask} is split into {ids}"
        case "add":
            return f"{ids} in place of {event.subtask}"
        case "delete":
            return f"the plan goes on without {', '.join(event.deleted)}"
        case "give_up":
            return f"{event.subtask} is given up"
