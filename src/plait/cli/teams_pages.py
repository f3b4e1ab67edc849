"""What `plait show` prints of teams: their phases and dialogues, the meetings, and who wrote what.

Knows nothing of databases; everything is written through a `Sheet`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.cli.meeting_lines import agreed_text
from plait.cli.sheet import Sheet, write_gate, write_prompt
from plait.cli.story import ModelCall
from plait.cli.teams_words import best_first, dialogue_text, dimensions_text, group_text, rating_text
from plait.cli.words import one_line
from plait.events import ActionsAgreed, Gated, Instructed, SolutionRated, SolutionsMerged
from plait.runtime.record_page import changed_since, file_sources
from plait.runtime.teams_story import Dialogue, Level, Meeting, Team, TeamsStory, pruned_text

OUTPUT_CHARACTERS = 300


def write_teams(sheet: Sheet, story: TeamsStory, calls: Sequence[ModelCall]) -> None:
    """Write teams and meetings.

    Args:
        sheet: Where to.
        story: What happened.
        calls: Every model call of the run, for a sheet with prompts.
    """
    for team in story.teams:
        sheet.gap()
        _write_team(sheet, team, calls)
    for meeting in story.meetings:
        sheet.gap()
        _write_meeting(sheet, meeting, calls)
    if story.results:
        sheet.gap()
        for rating in best_first(story.results):
            _write_rating(sheet, 0, "at the end: ", rating)
    _write_sources(sheet, story)


def _write_team(sheet: Sheet, team: Team, calls: Sequence[ModelCall]) -> None:
    sheet.write(0, f"{team.name}, temperature {team.temperature:g}: {', '.join(team.phases)}", "bold")
    for dialogue in team.dialogues:
        _write_dialogue(sheet, dialogue, calls)
    if team.dropped is not None:
        sheet.write(1, f"dropped in {team.dropped.phase}: {team.dropped.reason}", "red")
    elif team.finished is not None and team.finished.closed:
        sheet.write(1, "closed: another team carries the merged solution on", "dim")


def _write_dialogue(sheet: Sheet, dialogue: Dialogue, calls: Sequence[ModelCall]) -> None:
    sheet.write(1, f"{dialogue.phase}: {dialogue.instructor} and {dialogue.assistant}", "bold")
    for happening in dialogue.happenings:
        match happening:
            case Gated():
                # What the instructor says follows as its word.
                _write_reply(sheet, happening, output=happening.role != dialogue.instructor)
            case Instructed():
                _write_instruction(sheet, dialogue, happening)
            case SolutionRated():
                _write_rating(sheet, 2, "rated ", happening)
    if dialogue.finished is not None:
        agreed = ", not agreed" if dialogue.disagreed else ""
        sheet.write(2, f"{dialogue.finished.product}: {dialogue_text(dialogue)}{agreed}", "green")
    _write_prompts(sheet, dialogue.place, calls)


def _write_reply(sheet: Sheet, gate: Gated, *, output: bool) -> None:
    sheet.write(2, f"{gate.role}:")
    write_gate(sheet, 3, gate)
    if output and (text := _output(gate.output)):
        sheet.write(4, text, "cyan")


def _output(output: Any) -> str:
    """Return what left the gate, without the digest that names it."""
    if isinstance(output, Mapping):
        value: Mapping[str, Any] = output  # pyright: ignore[reportUnknownVariableType]
        return ", ".join(value.get("files", ())) or one_line(str(value.get("text", "")), OUTPUT_CHARACTERS)
    return str(output or "")


def _write_instruction(sheet: Sheet, dialogue: Dialogue, said: Instructed) -> None:
    who = dialogue.instructor if said.by == "instructor" else said.by
    if said.agreed:
        sheet.write(2, f"{who}: agreed", "green")
    else:
        sheet.write(2, f"{who}: {said.instruction}", "yellow")


def _write_rating(sheet: Sheet, level: int, head: str, rating: SolutionRated) -> None:
    parts = dimensions_text(rating)
    sheet.write(level, f"{head}{rating.by}: {rating_text(rating)}" + (f" ({parts})" if parts else ""))
    for finding in rating.findings:
        sheet.write(level + 1, f"finding: {finding}", "dim")


def write_meetings(sheet: Sheet, meetings: Sequence[Meeting], phase: str, calls: Sequence[ModelCall]) -> None:
    """Write the meetings after a phase."""
    for meeting in meetings:
        if meeting.phase == phase:
            _write_meeting(sheet, meeting, calls)


def write_agreed(sheet: Sheet, agreed: ActionsAgreed) -> None:
    """Write what teams agreed to do, and what the others would do."""
    sheet.write(0, agreed_text(agreed), "bold")
    for call in agreed.calls:
        sheet.write(1, call, "green")
    for other in agreed.others:
        sheet.write(1, f"{other['team']} would: {'; '.join(other['calls']) or 'change nothing'}", "yellow")


def _write_meeting(sheet: Sheet, meeting: Meeting, calls: Sequence[ModelCall]) -> None:
    sheet.write(0, f"meeting after {meeting.phase}: {', '.join(meeting.teams)}", "bold")
    for by, rating in meeting.ratings.items():
        if by in meeting.teams:
            _write_rating(sheet, 1, "rated ", rating)
    for pruned in meeting.pruned:
        sheet.write(1, f"pruned: {pruned.by} ({pruned_text(pruned)})", "yellow")
    for level in meeting.levels:
        sheet.write(1, f"level {level.number}: {' | '.join(' + '.join(group) for group in level.groups)}")
        for merge in level.merges:
            _write_merge(sheet, merge, level, meeting)
    if meeting.finished is not None:
        sheet.write(1, f"all are given the solution of {meeting.finished.by}", "green")
    _write_prompts(sheet, meeting.place, calls)


def _write_merge(sheet: Sheet, merge: SolutionsMerged, level: Level, meeting: Meeting) -> None:
    text, mark = group_text(merge.inputs, merge, level, meeting)
    sheet.write(2, f"{merge.by}: {text}", "green" if mark == "succeeded" else "yellow")
    for each in merge.analysis:
        sheet.write(3, f"{each.get('by', '')}")
        for strength in each.get("strengths", ()):
            sheet.write(4, f"+ {strength}", "green")
        for weakness in each.get("weaknesses", ()):
            sheet.write(4, f"- {weakness}", "red")
    if merge.changes:
        sheet.write(3, f"changes: {merge.changes}")
    for path, origin in merge.origins.items():
        sheet.write(3, f"{path}: {'merged' if origin == 'merged' else f'of {origin}'}", "dim")
    if rating := meeting.ratings.get(merge.by):
        _write_rating(sheet, 3, "rated ", rating)


def _write_prompts(sheet: Sheet, place: str, calls: Sequence[ModelCall]) -> None:
    if sheet.prompts:
        for call in calls:
            if call.path.startswith(f"{place}/"):
                sheet.write(2, call.path, "dim")
                write_prompt(sheet, 2, call, sheet.prompts)


def _write_sources(sheet: Sheet, story: TeamsStory) -> None:
    sources = file_sources(story)
    if not sources:
        return
    sheet.gap()
    sheet.write(0, "where the files came from", "bold")
    for path, source in sorted(sources.items()):
        sheet.write(1, f"{path}: {source}")
    if changed := changed_since(story):
        sheet.write(1, f"changed since: {', '.join(changed)}")
