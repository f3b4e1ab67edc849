"""A story as a tree of lines, one line a happening, cut to the width of the terminal.

Knows nothing of live updates. The less room there is, the less detail is drawn: the plan and what is
under way stay, finished work folds first.
"""

from rich.text import Text
from rich.tree import Tree

from plait.cli.experience_words import ExperienceEvent, experience_line
from plait.cli.lines import BAD, MARKS, Detail, line
from plait.cli.meeting_lines import agreed_text, meeting_lines
from plait.cli.plan_words import rectified_text
from plait.cli.story import Happening, Place, Round, Step, Story, Subtask, ToolUse
from plait.cli.words import count_text, limits_text, score_text, usage_text, value_text
from plait.events import BudgetReached, DecisionMade, Gated, ModelRetried, Noted, StepDiverged
from plait.models.callform import format_call
from plait.task import Usage


def header(story: Story) -> list[Text]:
    """Return the task, the model, the budget, and how to take the run up again."""
    options = story.options
    lines = [
        line(("plait", "bold"), ("run", "bold"), (story.run_id, "bold cyan"), str(options.get("model", ""))),
        line(("task", "dim"), story.task),
    ]
    if limits := limits_text(options):
        lines.append(line(("budget", "dim"), limits))
    if story.status == "running":
        way_back = line(("stop with Ctrl-C, go on with", "dim"), f"plait resume {story.run_id}")
        way_back.no_wrap = False  # Cut before the id it would be of no use.
        lines.append(way_back)
    return lines


def footer(usage: Usage) -> Text:
    """Return what the run consumed so far, as a line."""
    return Text(usage_text(usage), style="dim", no_wrap=True, overflow="ellipsis")


def run_tree(story: Story, detail: Detail) -> Tree:
    """Return the rounds of a run with their plans, calls and answers."""
    tree = Tree(Text("rounds"), hide_root=True, guide_style="dim")
    for number, round in enumerate(story.rounds):
        last = number == len(story.rounds) - 1
        branch = tree.add(_round_line(round))
        _add_round(branch, round, detail if last or detail == Detail.FULL else Detail.PLAN)
    for place, event in story.happenings:
        if not isinstance(event, ModelRetried):
            tree.add(happening_line(place, event))
    return tree


def happening_line(place: Place, event: Happening) -> Text:
    """Return what is told beside the plan."""
    where = (place.label, "dim")
    if isinstance(event, ExperienceEvent):
        return line(("memory:", "cyan"), where, experience_line(event))
    match event:
        case BudgetReached():
            return line(("budget reached:", BAD), event.message)
        case DecisionMade():
            return line(("decided:", "yellow"), f"{event.decision} for {event.at}")
        case Noted():
            told = event.text
        case ModelRetried():
            told = f"try {event.attempt} failed: {event.reason}"
        case StepDiverged():
            told = "asked with other arguments than on record, and done anew"
    return line(("!", "yellow"), where, told)


def _round_line(round: Round) -> Text:
    name = f"team {round.team} in round {round.number}" if round.team else f"round {round.number}"
    if not round.number:
        name = f"team {round.team}" if round.team else "steps"
    if round.finished is None:
        return line((name, "bold"))
    return line((name, "bold"), ("passed", "green") if round.finished.passed else ("did not pass", "red"))


def _add_round(tree: Tree, round: Round, detail: Detail) -> None:
    for attempt in round.planning:
        if attempt.gate and (detail >= Detail.LAST_ROUND or not round.subtasks):
            tree.add(_gate_line("plan", attempt.gate))
    _add_meetings(tree, round, "plan", detail)
    if round.agreed:
        tree.add(line(MARKS["succeeded"], agreed_text(round.agreed)))
    for subtask in round.subtasks:
        _add_steps(tree.add(_subtask_line(subtask)), subtask, detail)
    for attempt in round.answering:
        if attempt.gate:
            tree.add(_gate_line("answer", attempt.gate))
    _add_meetings(tree, round, "answer", detail)
    if round.check is not None:
        right = bool(round.check.get("right"))
        verdict = ("right", "green") if right else ("wrong", "red")
        tree.add(line("check", verdict, "" if right else str(round.check.get("output", ""))))


def _add_meetings(tree: Tree, round: Round, phase: str, detail: Detail) -> None:
    for meeting in round.meetings:
        if meeting.phase == phase:
            for text in meeting_lines(meeting, detail):
                tree.add(text)


def _subtask_line(subtask: Subtask) -> Text:
    mark, style = MARKS.get(subtask.status, MARKS["todo"])
    after = f"(after {', '.join(subtask.depends_on)})" if subtask.depends_on else ""
    milestone = f"=> {subtask.milestone}" if subtask.milestone else ""
    goal_style = "dim" if subtask.status in ("todo", "skipped") else ""
    goal = (subtask.goal, goal_style)
    return line((mark, style), (subtask.id, "bold"), goal, (milestone, "dim"), (after, "dim"))


def _add_steps(tree: Tree, subtask: Subtask, detail: Detail) -> None:
    under_way = subtask.status == "doing"
    if detail < Detail.LAST_ROUND and not (under_way and detail > Detail.PLAN):
        return
    steps = subtask.steps if detail > Detail.LAST_STEP else subtask.steps[-1:]
    if hidden := len(subtask.steps) - len(steps):
        tree.add(line((f"… {count_text(hidden, 'earlier step')}", "dim")))
    for step in steps:
        _add_step(tree, step)
    if subtask.loop:
        tree.add(line(("loop broken:", "red"), f"{subtask.loop.call} came {subtask.loop.times} times"))
    if subtask.result and subtask.status in ("failed", "split", "skipped"):
        tree.add(line((subtask.result, "red")))
    for attempt in subtask.rectifying:
        if attempt.gate and attempt.gate.verdict in ("revised", "failed"):
            tree.add(_gate_line("planner", attempt.gate))
    if subtask.rectified:
        tree.add(line(("planner:", "yellow"), rectified_text(subtask.rectified)))


def _add_step(tree: Tree, step: Step) -> None:
    for attempt in step.tries:
        if attempt.gate and attempt.gate.verdict in ("revised", "failed"):
            tree.add(_gate_line("", attempt.gate))
    if step.use is None and not step.chosen:
        return
    call = format_call(step.use.tool, step.use.arguments) if step.use else step.chosen
    branch = tree.add(line(_step_mark(step), (score_text(step.score), "magenta"), call))
    if step.approval and not step.approval.allowed:
        branch.add(line((f"not allowed ({step.approval.by})", "yellow")))
    if step.use and not step.use.pending:
        branch.add(line(("→", "dim"), (_observation(step.use), "" if step.use.ok else "red")))


def _step_mark(step: Step) -> tuple[str, str]:
    if step.use is None:
        return MARKS["succeeded"] if step.chosen.startswith("done(") else MARKS["skipped"]
    if step.use.pending:
        return MARKS["doing"]
    return MARKS["succeeded" if step.use.ok else "failed"]


def _observation(use: ToolUse) -> str:
    return "assumed done by the user; its result is not known" if use.assumed else use.text


def _gate_line(name: str, gate: Gated) -> Text:
    why = "; ".join(gate.problems) or gate.critique
    shown = "" if isinstance(gate.output, list) else value_text(gate.output or "")
    if gate.verdict == "passed":
        return line(MARKS["succeeded"], name, (score_text(gate.score), "magenta"), shown)
    verdict = {"revised": "↻", "closed": "✘", "failed": "✘", "forced": "✔"}[gate.verdict]
    style = "yellow" if gate.verdict in ("revised", "forced") else "red"
    word = {"closed": "too weak:", "forced": "let through:"}.get(gate.verdict, f"{gate.verdict}:")
    return line((verdict, style), name, (score_text(gate.score), "magenta"), (word, style), why)
