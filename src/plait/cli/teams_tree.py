"""Teams as they are drawn live: side by side where the terminal is wide enough, else one below the other.

Knows nothing of live updates. Meetings stand below the teams, a line a happening; the less room there is,
the fewer of their lines are drawn.
"""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.cli.lines import MARKS, Detail, line
from plait.cli.meeting_lines import meeting_lines
from plait.cli.teams_words import best_first, dialogue_text, rating_text
from plait.runtime.teams_story import Dialogue, Team, TeamsStory

COLUMN_CHARACTERS = 24
"""A narrower column per team would cut most of what is in it."""
GAP_CHARACTERS = 2
BRANCH = "  "


def teams_picture(story: TeamsStory, detail: Detail, width: int) -> RenderableType:
    """Return the teams and their meetings, as wide as the terminal at most."""
    meetings = [text for meeting in story.meetings for text in meeting_lines(meeting, detail)]
    return Group(_teams(story, detail, width), *meetings, *_result(story))


def _result(story: TeamsStory) -> list[Text]:
    return [line(("result", "bold"), rating_text(rating)) for rating in best_first(story.results)[:1]]


def _teams(story: TeamsStory, detail: Detail, width: int) -> RenderableType:
    count = len(story.teams)
    if count and (width - GAP_CHARACTERS * (count - 1)) // count >= COLUMN_CHARACTERS:
        return _columns(story)
    if detail > Detail.PLAN:
        return Group(*(_row(team) for team in story.teams))
    living = [team for team in story.teams if not team.over]
    over = len(story.teams) - len(living)
    return Group(*(_row(team) for team in living), *([line((f"… {over} done", "dim"))] if over else []))


def _columns(story: TeamsStory) -> Table:
    """Return a column per team and a row per phase."""
    table = Table.grid(padding=(0, GAP_CHARACTERS, 0, 0), expand=True)
    for _ in story.teams:
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_row(*(_name(team) for team in story.teams))
    for phase in story.phases:
        table.add_row(*(_cell(team, phase) for team in story.teams))
    if any(team.over for team in story.teams):
        table.add_row(*(_ending(team) for team in story.teams))
    return table


def _name(team: Team) -> Text:
    return line((team.name, "bold"), (f"t={team.temperature:g}", "dim"))


def _cell(team: Team, phase: str) -> Text:
    if phase not in team.phases:
        return Text("")
    dialogue = team.dialogue(phase)
    if dialogue is None:
        return line(MARKS["skipped" if team.over else "todo"], (phase, "dim"))
    return line(_mark(team, dialogue), phase, (dialogue_text(dialogue), "dim"))


def _row(team: Team) -> Text:
    """Return a team as one line: what it is at, or how it ended; then how far it came."""
    done = [each.phase for each in team.dialogues if each.finished is not None]
    current = team.current
    if team.dropped is not None:
        return line((team.name, "bold"), MARKS["failed"], f"dropped: {team.dropped.reason}")
    told = f"{current.phase} {dialogue_text(current)}" if current else _ending(team).plain or "waiting"
    mark = MARKS["succeeded" if team.finished else "doing" if current else "todo"]
    return line((team.name, "bold"), mark, told, (f"{len(done)}/{len(team.phases)} phases", "dim"))


def _mark(team: Team, dialogue: Dialogue) -> tuple[str, str]:
    if dialogue.finished is not None:
        return MARKS["succeeded"]
    return MARKS["failed" if team.dropped else "skipped" if team.over else "doing"]


def _ending(team: Team) -> Text:
    if team.dropped is not None:
        return line(("dropped:", "red"), team.dropped.reason)
    if team.finished is not None:
        return line(
            ("closed" if team.finished.closed else "finished", "dim" if team.finished.closed else "green")
        )
    return Text("")
