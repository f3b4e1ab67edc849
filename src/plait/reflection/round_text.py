"""A plan and a round as text, for prompts and for long-term memory.

Knows nothing of who reads it.
"""

from plait.reflection.plan import Plan
from plait.reflection.trajectory import SHOWN_CHARACTERS, Trajectory, one_line, shown

GONE_ON = "-> this way did not do; what follows took its place"


def plan_text(plan: Plan) -> str:
    """Return a plan as numbered lines."""
    return "\n".join(f"{subtask.id}. {subtask.goal}" for subtask in plan.subtasks)


def trajectory_text(trajectory: Trajectory, *, remarks: bool = False) -> str:
    """Return a round as text: every subtask with its calls, results and how it ended.

    With `remarks` the agents' own thoughts, critiques and scores too: that is what long-term memory keeps.
    Whoever writes the answer does better without: small models copy thoughts into it, and the head of an only
    subtask.
    """
    blocks = [trajectory.remarks] if remarks and trajectory.remarks else []
    most = SHOWN_CHARACTERS // max(1, len(trajectory.runs))
    for run in trajectory.runs.values():
        after = f" (after {', '.join(run.subtask.depends_on)})" if run.subtask.depends_on else ""
        only = len(trajectory.runs) == 1 and not remarks
        head = "" if only else f"Subtask {run.subtask.id}: {run.subtask.goal}{after}"
        own = [f"{step.call}: {step.critique} (score {step.score})" for step in run.steps if step.critique]
        tail = f"-> {run.status}" + (f": {one_line(run.result)}" if run.result else "")
        # Whoever writes the answer need not know of a try that others made good.
        tail = GONE_ON if run.replaced and not remarks else tail
        parts = (head, shown(run.steps, most, thoughts=remarks), *(own if remarks else ()), tail)
        blocks.append("\n".join(part for part in parts if part))
    return "\n\n".join(blocks)
