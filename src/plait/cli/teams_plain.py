"""What teams do, as plain lines: one per happening.

Knows nothing of places in a run; each event names its team itself.
"""

from plait.cli.meeting_lines import agreed_text
from plait.cli.teams_words import below, rating_text, size_text
from plait.cli.words import count_text
from plait.events import (
    ActionsAgreed,
    Event,
    GroupsFormed,
    Instructed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    PhaseFinished,
    PhaseStarted,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)
from plait.runtime.teams_story import pruned_text


def team_place(path: str) -> str:
    """Return the team and phase, or the merge, that a path of teams leads to; empty for any other path."""
    parts = [part for part in path.split("!", 1)[0].split("/")[1:] if not part.startswith("round-")]
    if parts and parts[0].startswith("team-"):
        return " ".join(parts[:2])
    merging = [part for part in parts if part.startswith(("level-", "group-"))]
    return " ".join([parts[0], *merging]) if merging else ""


def team_line(event: Event) -> str:
    """Return what an event of teams says; empty for every other event."""
    match event:
        case TeamStarted():
            return f"{event.team} starts, temperature {event.temperature:g}: {', '.join(event.phases)}"
        case PhaseStarted():
            return f"{event.team} {event.phase}: {event.instructor} and {event.assistant}"
        case Instructed():
            said = "agreed" if event.agreed else event.instruction
            return f"{event.team} {event.phase}: {event.by}, round {event.round}: {said}"
        case PhaseFinished():
            rounds = count_text(event.rounds, "round")
            return f"{event.team} {event.phase} done: {size_text(event)}, {rounds}"
        case TeamDropped():
            return f"{event.team} dropped in {event.phase}: {event.reason}"
        case TeamFinished():
            return f"{event.team} {'closed, another team goes on' if event.closed else 'finished'}"
        case _:
            return _meeting_line(event)


def _meeting_line(event: Event) -> str:
    match event:
        case MeetingStarted():
            return f"meeting after {event.phase}: {', '.join(event.teams)}"
        case SolutionRated():
            return f"rated {event.by}: {rating_text(event)}"
        case SolutionPruned():
            return f"pruned {event.by}: {pruned_text(event)}"
        case GroupsFormed():
            return f"level {event.level}: {' | '.join(' + '.join(group) for group in event.groups)}"
        case SolutionsMerged() if event.failed:
            return f"not merged {' + '.join(event.inputs)}: {event.failed}; the best stands"
        case SolutionsMerged():
            return f"merged {' + '.join(event.inputs)}: {event.changes}"
        case MergeRefused():
            worse = below(event)
            return f"merge refused, {worse}: {event.best} stands"
        case ActionsAgreed():
            return agreed_text(event)
        case MeetingFinished():
            return f"meeting after {event.phase} over: all are given the solution of {event.by}"
        case _:
            return ""
