"""What Python callers may say of a run, as types: every keyword of `solve`, `stream` and `resume`.

Names only; `solving` turns them into options.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

from plait.events import Record
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel
from plait.runtime.log import RunLog
from plait.teams.chain import Domain
from plait.tools.tool import Tool

Approve = Callable[[Tool, Mapping[str, Any]], bool | Awaitable[bool]]
"""Asked about one effect, with the tool and the arguments of the call; sync or async."""


class LimitOptions(TypedDict, total=False):
    """How far a run may go, where its model is, and who watches; also for a run that is resumed."""

    max_calls: int
    """Model calls at most."""
    max_tokens: int
    """Input and output tokens at most."""
    max_usd: float
    max_seconds: float
    yes: bool
    """Allow all effects without asking."""
    allow: Sequence[str]
    """Names of tools whose effects are allowed, or patterns such as `calendar.*`."""
    deny: Sequence[str]
    """Names or patterns of tools that are never called."""
    max_effects: int
    base_url: str
    """A Chat Completions endpoint of your own."""
    model: str | LanguageModel
    """A name, or a model of your own such as `ScriptedModel`; the caller closes the latter."""
    on_event: Callable[[Record], None]
    """Called with every record, in order, in the run's own loop: be quick."""
    approve: Approve
    embedder: Embedder
    """Compares texts by meaning, instead of the local embedder: tools with a subtask where there are many,
    programs with what was asked for."""
    log: RunLog
    """An open run log; without it the one of the data folder is opened and closed."""


class ResumeOptions(LimitOptions, total=False):
    """What a run that is taken up again is given."""

    domain: Domain
    """The domain of the run, again, where it was an object of yours; a named one is on record."""


class TeamOptions(TypedDict, total=False):
    """How teams work."""

    teams: int
    """How many work on the same task at once; without it one, and 4 where something is made."""
    temperatures: Sequence[float]
    """One per team, repeated as needed."""
    phases: Sequence[str]
    """Only these phases of the chain."""
    leave_out: Sequence[str]
    """Optional phases that single teams do without: `2:code review,manual` for team 2."""
    group_size: int
    """Solutions merged at once."""
    prune_share: float
    """Share of the lowest rated solutions that is dropped, from 8 solutions on."""
    analyse_merged: bool
    """List strengths and weaknesses of merged solutions too; a call more at each further level."""
    stall_seconds: float
    """Seconds without a step that ends, after which a team or a merge is given up."""
    phase_threshold: float
    reading: str
    """How quality is measured: `strict`, or `official` as in the paper."""
    preset: str
    """`paper`: without all that goes beyond the paper."""
    sandbox: bool
    """False: programs that teams wrote run without isolation, and can do whatever you can."""


class SolveOptions(LimitOptions, TeamOptions, total=False):
    """Everything that decides what a new run does; a name stands for the flag of `plait run`."""

    domain: str | PathLike[str] | Domain
    """`tools`, `software`, `story`, the path of a domain file, or a domain of your own."""
    files: Sequence[str | PathLike[str]]
    """Input files; their text goes into the prompt."""
    out: str
    """Folder for the tools to work in, or for what is made; without it the run's own."""
    temperature: float
    seed: int
    dry_run: bool
    """Plan and read, but change nothing."""
    check: str
    """A command that says by its exit status whether the answer is right."""
    without: Sequence[str]
    """What is switched off, for instance `tool-gate`, `elitism` or `planning-experience`."""
    function_calling: bool
    rounds: int
    steps: int
    planner_threshold: float | str
    """A score from 0 to 10, or a percentile of those on record such as `p85`; so are the next two."""
    tool_threshold: float | str
    answer_threshold: float | str
    memory: str
    """Name of the memory to recall from and to store in."""
    consolidate: str
    """Who makes pipelines of what worked: `compiled`, which asks no model, or `model` as in the paper."""
    prompts: str
    """Folder with prompts of your own."""
    settings: str | PathLike[str]
    """A settings file; what is given here goes before it. Without it no file is read."""
