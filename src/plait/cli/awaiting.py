"""What a run waits for right now, told from how far its story has come.

Knows nothing of terminals. The log holds what is done, never what is begun (but for effects), so this is
what the shape of a run says comes next.
"""

from collections.abc import Sequence

from plait.cli.story import RUNNING, Round, Story, Subtask, Try
from plait.cli.teams_words import doing
from plait.cli.words import count_text, seconds_text


def awaited(story: Story) -> list[tuple[str, float]]:
    """Return what the run waits for now, each with the time since when."""
    if story.status != RUNNING:
        return []
    if retried := story.retrying:
        pause = seconds_text(retried.delay_seconds)
        return [(f"waiting {pause} to ask again: {retried.reason}", story.since)]
    if story.teams is not None:
        return doing(story.teams) or [("ending the run", story.since)]
    if not story.rounds:
        return [("getting ready", story.started)]
    return _awaited_of_teams(story.rounds) or _awaited_in(story.rounds[-1])


def _awaited_of_teams(rounds: Sequence[Round]) -> list[tuple[str, float]]:
    """Return what the teams of the last round do, where there are several and none acts for all."""
    together = rounds[-1]
    teams = [each for each in rounds if each.team and each.number == together.number]
    if not teams or together.finished:
        return []
    since = max(each.since for each in teams)
    if meeting := next((each for each in together.meetings if each.finished is None), None):
        return [(f"{count_text(len(teams), 'team')} meet on the {meeting.phase}", meeting.since)]
    if not together.subtasks:
        return [(f"{count_text(len(teams), 'team')} plan", since)]
    if all(subtask.status == "todo" for subtask in together.subtasks) and together.agreed is None:
        return [(f"{count_text(len(teams), 'team')} rehearse the plan", since)]
    if all(subtask.status not in ("todo", "doing") for subtask in together.subtasks):
        return [(f"{count_text(len(teams), 'team')} answer", since)]
    return []


def _awaited_in(round: Round) -> list[tuple[str, float]]:
    if round.finished:
        return [("ending the run" if round.finished.passed else "starting the next round", round.since)]
    if not round.subtasks:
        return [(_asked("planner", "planning", round.planning), round.since)]
    doing = [subtask for subtask in round.subtasks if subtask.status == "doing"]
    if doing:
        many = len(doing) > 1
        return [(_doing(task) + (f" for {task.id}" if many else ""), task.since) for task in doing]
    if mending := [subtask for subtask in round.subtasks if subtask.rectifying and not subtask.rectified]:
        return [(_asked("planner", "mending the plan", task.rectifying), task.since) for task in mending]
    if all(subtask.status != "todo" for subtask in round.subtasks):
        return [(_asked("answer agent", "writing", round.answering), round.since)]
    return [("starting the next subtask", round.since)]


def _doing(subtask: Subtask) -> str:
    step = subtask.steps[-1] if subtask.steps else None
    if step is None or (step.use and not step.use.pending) or step.chosen.startswith("done("):
        return _asked("tool agent", "choosing", ())
    if step.use or step.chosen:
        return "calling " + (step.use.tool if step.use else step.chosen.split("(", 1)[0])
    return _asked("tool agent", "choosing", step.tries)


def _asked(role: str, verb: str, tries: Sequence[Try]) -> str:
    return f"{role} is {verb}" + (f" (try {len(tries) + 1})" if tries else "")
