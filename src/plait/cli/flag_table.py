"""The table of flags: what each sets, in the groups that the help shows.

Knows nothing of how flags are read; `flags` makes parameters of commands from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One flag: the option it sets, its type and its help."""

    option: str
    kind: Any
    help: str
    name: str = ""
    """With its dashes, where it is not the option's own name."""
    metavar: str = ""
    each: Callable[[str], Any] | None = None
    """Where several values come as one text with commas: what reads one of them."""
    default: str = ""
    """What the help tells of what holds where it is not said; empty: the option's own default."""
    panel: str = ""
    """Heading in the help under which it stands."""


WHAT = "What is done, and with what"
MODEL = "The model"
LIMITS = "Limits"
EFFECTS = "What may change the world"
REFLECTION = "Reflection"
TEAMS = "Teams"
EXPERIENCE = "Experience"

FLAGS = (
    Flag(
        option="domain",
        kind=str,
        help="What is made: tools, software, story, or a domain file.",
        metavar="NAME",
        panel=WHAT,
    ),
    Flag(
        option="tools",
        kind=list[str],
        help="Tools: pkg.module, file.py, an MCP configuration or an OpenAPI document. Repeatable.",
        metavar="SOURCE",
        panel=WHAT,
    ),
    Flag(
        option="files",
        kind=list[str],
        name="--file",
        help="Input file. Repeatable.",
        metavar="FILE",
        panel=WHAT,
    ),
    Flag(
        option="out",
        kind=str,
        help="Folder for the tools to work in, or for what is made.",
        metavar="DIR",
        panel=WHAT,
    ),
    Flag(option="prompts", kind=str, help="Folder with prompts of your own.", metavar="DIR", panel=WHAT),
    Flag(option="model", kind=str, help="Model, for instance ollama:qwen3.", metavar="NAME", panel=MODEL),
    Flag(
        option="base_url",
        kind=str,
        help="A Chat Completions endpoint of your own.",
        metavar="URL",
        panel=MODEL,
    ),
    Flag(option="temperature", kind=float, help="How freely replies are drawn, 0 to 2.", panel=MODEL),
    Flag(option="seed", kind=int, help="Seed of every reply.", panel=MODEL),
    Flag(option="max_calls", kind=int, help="Model calls at most.", panel=LIMITS),
    Flag(option="max_tokens", kind=int, help="Tokens at most, input and output.", panel=LIMITS),
    Flag(option="max_usd", kind=float, help="US dollars at most.", panel=LIMITS),
    Flag(option="max_seconds", kind=float, help="Seconds at most.", panel=LIMITS),
    Flag(option="yes", kind=bool, help="Allow effects without asking.", panel=EFFECTS),
    Flag(
        option="allow",
        kind=list[str],
        help="Allow effects of this tool, or pattern.",
        metavar="TOOL",
        panel=EFFECTS,
    ),
    Flag(
        option="deny", kind=list[str], help="Never call this tool, or pattern.", metavar="TOOL", panel=EFFECTS
    ),
    Flag(option="max_effects", kind=int, help="Effects at most.", panel=EFFECTS),
    Flag(option="dry_run", kind=bool, help="Plan and read, but change nothing.", panel=EFFECTS),
    Flag(
        option="sandbox",
        kind=bool,
        name="--sandbox/--no-sandbox",
        help="Whether programs that teams wrote run isolated; without, they can do whatever you can.",
        panel=EFFECTS,
    ),
    Flag(
        option="check",
        kind=str,
        help="Command that says by its status whether the answer is right.",
        panel=REFLECTION,
    ),
    Flag(
        option="function_calling",
        kind=bool,
        help="Choose tools by the provider's function calling.",
        panel=REFLECTION,
    ),
    Flag(
        option="rounds",
        kind=int,
        help="Rounds of plan, act, answer, or of one phase, at most.",
        panel=REFLECTION,
    ),
    Flag(option="steps", kind=int, help="Tool calls in one subtask at most.", panel=REFLECTION),
    Flag(
        option="planner_threshold",
        kind=str,
        help="Score at which a plan passes, 0 to 10, or p85: 85th percentile of those on record.",
        metavar="SCORE",
        panel=REFLECTION,
    ),
    Flag(
        option="tool_threshold",
        kind=str,
        help="Score at which a call passes, 0 to 10, or p85: 85th percentile of those on record.",
        metavar="SCORE",
        panel=REFLECTION,
    ),
    Flag(
        option="answer_threshold",
        kind=str,
        help="Score at which an answer passes, 0 to 10, or p85: 85th percentile of those on record.",
        metavar="SCORE",
        panel=REFLECTION,
    ),
    Flag(
        option="memory",
        kind=str,
        help="Memory to recall from and to store in.",
        metavar="NAME",
        panel=EXPERIENCE,
    ),
    Flag(
        option="consolidate",
        kind=str,
        help="Who makes pipelines of what worked: compiled (no model is asked), or model as in the paper.",
        metavar="HOW",
        panel=EXPERIENCE,
    ),
    Flag(option="teams", kind=int, help="Teams that work on the same task at once, 1 to 64.", panel=TEAMS),
    Flag(
        option="temperatures",
        kind=str,
        each=float,
        help="Temperature of each team; fewer are repeated.",
        metavar="T,T,...",
        default="0.2,0.2,0.4,0.4",
        panel=TEAMS,
    ),
    Flag(
        option="phases",
        kind=str,
        each=str,
        help="Only these phases, for instance coding,manual.",
        metavar="PHASE,...",
        panel=TEAMS,
    ),
    Flag(
        option="leave_out",
        kind=list[str],
        help="Phases a team does without, for instance '2:code review'. Repeatable.",
        metavar="TEAM:PHASE,...",
        panel=TEAMS,
    ),
    Flag(option="group_size", kind=int, help="Solutions merged at once.", panel=TEAMS),
    Flag(
        option="prune_share",
        kind=float,
        help="Share of the lowest rated solutions that 8 or more drop.",
        panel=TEAMS,
    ),
    Flag(
        option="analyse_merged",
        kind=bool,
        help="List strengths and weaknesses of merged solutions too; a call more at each further level.",
        panel=TEAMS,
    ),
    Flag(
        option="stall_seconds",
        kind=float,
        help="Seconds without a step that ends, after which a team or a merge is given up.",
        panel=TEAMS,
    ),
    Flag(
        option="phase_threshold",
        kind=float,
        help="Score at which a reply in a phase passes, 0 to 10.",
        panel=TEAMS,
    ),
    Flag(
        option="reading",
        kind=str,
        help="How quality is measured: strict, or official as in the paper.",
        metavar="NAME",
        panel=TEAMS,
    ),
    Flag(
        option="preset",
        kind=str,
        help="paper: as the papers do it, gates apart.",
        metavar="NAME",
        panel=TEAMS,
    ),
)
"""Every flag that sets an option, in the order of the help."""

SWITCH_WORDS: Mapping[str, str] = {
    "reflection": "all reflection",
    "teams": "all teams but one, which meets nobody",
    "phase-gate": "the gates of phases and merges",
    "prune": "dropping the lowest rated solutions",
    "partition": "groups; all solutions are merged at once",
    "role": "the role of the agent that merges",
    "elitism": "refusing a merge that is worse than its best input",
    "rectification": "mending the plan where a part of it fails",
    "experience": "recalling and storing experience",
    "planning-experience": "workflows as references and lessons as warnings; it still learns",
    "execution-experience": "doing again without a model what worked; it still learns",
}
"""What a switch is about, where its name does not say it."""

TEAM_SWITCH_NAMES = ("phase-gate", "prune", "partition", "role", "elitism")
