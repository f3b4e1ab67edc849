"""The record that lies beside what teams made: who contributed what, as a page of Markdown.

A pure function of a run's records and its products; knows nothing of folders or terminals.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.events import Record, SolutionRated, SolutionsMerged
from plait.models.ledger import usage_of
from plait.runtime.teams_story import Dialogue, Level, Meeting, Team, TeamsStory, pruned_text
from plait.runtime.teams_telling import latest, tell_teams
from plait.teams.solution import Solution

CELL_CHARACTERS = 200


def record_page(task: str, records: Sequence[Record], products: Mapping[str, Solution]) -> str:
    """Return the page.

    Args:
        task: What was asked for.
        records: Of the run, as far as it is on record.
        products: What was made, by name.
    """
    story = tell_teams(latest(records)) or TeamsStory()
    usage = usage_of(records)
    tokens = usage.input_tokens + usage.output_tokens
    lines = ["# How this came about", "", *_quoted(task), ""]
    lines += [f"{usage.model_calls:,} model calls, {tokens:,} tokens, {usage.seconds:,.0f} seconds.", ""]
    lines += _teams(story)
    for meeting in story.meetings:
        lines += _meeting(meeting)
    lines += _origins(story, products)
    return "\n".join(lines).rstrip() + "\n"


def _teams(story: TeamsStory) -> list[str]:
    lines = ["## Teams", "", "| team | temperature | phase | rounds | result |", "|---|---|---|---|---|"]
    for team in story.teams:
        for number, dialogue in enumerate(team.dialogues):
            name = f"{team.name} | {team.temperature:g}" if number == 0 else " | "
            lines.append(f"| {name} | {dialogue.phase} | {dialogue.round} | {_yield(team, dialogue)} |")
        lines += [f"|  |  | {_ending(team)} |  |  |"] if _ending(team) else []
    return [*lines, ""]


def _yield(team: Team, dialogue: Dialogue) -> str:
    finished = dialogue.finished
    if finished is None:
        return "not finished"
    size = f"{finished.characters:,} characters"
    if finished.files:
        size = ", ".join(f"{path} ({lines} lines)" for path, lines in finished.files.items())
    rating = team.ratings.get(finished.digest)
    quality = f"; quality {rating.quality:.2f}" if rating else ""
    return _cell(f"{finished.product}: {size}{quality}{'; not agreed' if dialogue.disagreed else ''}")


def _ending(team: Team) -> str:
    if team.dropped is not None:
        return _cell(f"dropped in {team.dropped.phase}: {team.dropped.reason}")
    return "closed: another team went on" if team.finished and team.finished.closed else ""


def _meeting(meeting: Meeting) -> list[str]:
    lines = [f"## Meeting after {meeting.phase}", "", f"{', '.join(meeting.teams)} met.", ""]
    rated = [rating for by, rating in meeting.ratings.items() if by in meeting.teams]
    lines += [f"- {rating.by}: {_rating(rating)}" for rating in rated]
    for each in meeting.pruned:
        lines.append(f"- {each.by} was pruned ({'quality ' if each.rated else ''}{pruned_text(each)}).")
    for level in meeting.levels:
        for merge in level.merges:
            lines += ["", *_merge(merge, level, meeting)]
    if meeting.finished is not None:
        lines += ["", f"All of them were given the solution of {meeting.finished.by}."]
    return [*lines, ""]


def _merge(merge: SolutionsMerged, level: Level, meeting: Meeting) -> list[str]:
    lines = [f"### {merge.by}: {' + '.join(merge.inputs)}", ""]
    for each in merge.analysis:
        lines += [f"- {each.get('by', '')}: {_points(each)}"]
    if merge.changes:
        lines += ["", *_quoted(merge.changes)]
    if merge.failed:
        return [*lines, "", f"Not merged: {_cell(merge.failed)}. The best of them stands."]
    rating = meeting.ratings.get(merge.by)
    lines += ["", f"Merged: {_rating(rating)}."] if rating else []
    refused = level.refused.get(merge.by)
    if refused is not None:
        lines.append(f"Refused: {refused.best} with {refused.best_quality:.2f} is better and stands.")
    return lines


def _points(analysis: Mapping[str, Any]) -> str:
    strengths, weaknesses = analysis.get("strengths", ()), analysis.get("weaknesses", ())
    parts = [f"+ {_cell(str(each))}" for each in strengths] + [f"- {_cell(str(each))}" for each in weaknesses]
    return "; ".join(parts)


def _rating(rating: SolutionRated) -> str:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in rating.dimensions.items())
    return f"quality {rating.quality:.2f}" + (f" ({parts})" if parts else "")


def _origins(story: TeamsStory, products: Mapping[str, Solution]) -> list[str]:
    """Return where the files of the last meeting's solution came from, and who changed them since."""
    sources = file_sources(story)
    files = {path for product in products.values() for path in product.files}
    lines = [f"- {path}: {sources[path]}" for path in sorted(files) if path in sources]
    changed = changed_since(story)
    if changed:
        lines.append(f"- changed since: {', '.join(changed)}")
    return ["## Where the files came from", "", *lines] if files and lines else []


def file_sources(story: TeamsStory) -> dict[str, str]:
    """Return for each file of the last meeting's solution who wrote it: a team, or a merge of some."""
    meeting = next((each for each in reversed(story.meetings) if each.finished), None)
    if meeting is None or meeting.finished is None:
        return {}
    merges = {merge.by: merge for level in meeting.levels for merge in level.merges}
    top = merges.get(meeting.finished.by)
    if top is not None:
        return {path: _source(path, top, merges) for path in top.origins}
    dialogue = next((t.dialogue(meeting.phase) for t in story.teams if t.name == meeting.finished.by), None)
    finished = dialogue.finished if dialogue else None
    return dict.fromkeys(finished.files, meeting.finished.by) if finished else {}


def _source(path: str, merge: SolutionsMerged, merges: Mapping[str, SolutionsMerged]) -> str:
    origin = merge.origins.get(path, "merged")
    if origin == "merged":
        return f"merged from {' and '.join(_makers(merge, merges))}"
    return _source(path, merges[origin], merges) if origin in merges else origin


def _makers(merge: SolutionsMerged, merges: Mapping[str, SolutionsMerged]) -> list[str]:
    """Return the teams whose solutions went into a merge, through all its levels."""
    makers = [_makers(merges[each], merges) if each in merges else [each] for each in merge.inputs]
    return list(dict.fromkeys(maker for each in makers for maker in each))


def changed_since(story: TeamsStory) -> list[str]:
    """Return the phases after the last meeting that changed its solution, each with its team."""
    meeting = next((each for each in reversed(story.meetings) if each.finished), None)
    if meeting is None or meeting.finished is None:
        return []
    changed: list[str] = []
    for team in story.teams:
        digest = meeting.finished.digest
        after = False
        for dialogue in team.dialogues:
            finished = dialogue.finished
            if (
                after
                and finished
                and _is_result(story, finished.product, meeting)
                and finished.digest != digest
            ):
                changed.append(f"{team.name} in {dialogue.phase}")
                digest = finished.digest
            after = after or dialogue.phase == meeting.phase
    return changed


def _is_result(story: TeamsStory, product: str, meeting: Meeting) -> bool:
    dialogues = (team.dialogue(meeting.phase) for team in story.teams)
    return any(each and each.finished and each.finished.product == product for each in dialogues)


def _quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.strip().splitlines()]


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= CELL_CHARACTERS else f"{line[: CELL_CHARACTERS - 1]}…"
