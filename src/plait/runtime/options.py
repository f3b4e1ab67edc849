"""The options of a run: everything that decides what it does, as one JSON-able value.

Recorded with the run, so that `resume` goes on with the same and `fork` changes single ones. Knows
nothing of the command line, which has one flag per field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from plait.agents.gate import GateSettings
from plait.errors import UserError
from plait.experience.record import DEFAULT_MEMORY, MEMORY_NAME
from plait.experience.settings import EXPERIENCE, ExperienceSettings, consolidation
from plait.experience.settings import SWITCHES as EXPERIENCE_SWITCHES
from plait.models.addresses import check_address
from plait.models.budget import Limits
from plait.models.catalogue import DEFAULT_CHAT_MODEL
from plait.reflection.settings import (
    ANSWER_THRESHOLD,
    DEFAULT_ROUNDS,
    DEFAULT_STEPS,
    PLANNER_THRESHOLD,
    TOOL_THRESHOLD,
    ReflectionSettings,
)
from plait.reflection.settings import SWITCHES as REFLECTION_SWITCHES
from plait.runtime.percentiles import THRESHOLDS, known, percent_of
from plait.runtime.shapes import first_misfit
from plait.runtime.team_options import (
    FILE_ENDING,
    PAPER,
    PHASE_GATE,
    PRESETS,
    TeamOptions,
    check_domain,
    defaults_of,
    is_generation,
    without_teams,
)
from plait.task import TOOLS
from plait.teams.settings import TEAM_SWITCHES

DEFAULT_MODEL = f"local:{DEFAULT_CHAT_MODEL}"
SWITCHES = (*REFLECTION_SWITCHES, PHASE_GATE, *TEAM_SWITCHES, *EXPERIENCE_SWITCHES)
"""What `--no-...` can switch off, in all strands."""
DEFAULT_MAX_EFFECTS = 50
MAX_SEED = 2**31 - 1
"""So that what is added for rounds, tries and teams still fits what any engine takes."""
SEQUENCES = ("tools", "files", "allow", "deny", "without", "temperatures", "phases", "leave_out")
"""Options that are sequences."""
TOOLS_ONLY = ("tools", "check", "returns", "function_calling", "dry_run", "consolidate")
"""Options that mean nothing where teams make something."""
MAKING_ONLY = ("leave_out",)
"""Options that tool tasks do not take."""
NOTED = ("check_folder", "tools_folder", "unpriced")
"""Options that nobody says: they are noted when a run begins."""


OF_AGENTS = frozenset(
    {"model", "temperature", "seed", "rounds", "steps", "function_calling", "without", "prompts", "preset"}
    | {"planner_threshold", "tool_threshold", "answer_threshold", "check", "returns"}
    | {"teams", "temperatures", "group_size", "prune_share", "analyse_merged", "phase_threshold"}
)
"""Options by which agents may choose otherwise."""


@dataclass(frozen=True, kw_only=True)
class Options(TeamOptions):
    """Every option of `plait run`, with its default in a tool task."""

    domain: str = TOOLS
    """`tools`, `software`, `story`, or the path of a domain file."""
    tools: Sequence[str] = ()
    """Sources: `pkg.module`, `file.py`, an MCP configuration, an OpenAPI document."""
    files: Sequence[str] = ()
    """Input files; their text goes into the prompt."""
    out: str = ""
    """Folder the tools work in, or the result is put in; empty: the run's own folder."""
    model: str = DEFAULT_MODEL
    base_url: str = ""
    temperature: float = 0.2
    seed: int = 0
    max_calls: int = Limits.calls
    max_tokens: int = Limits.tokens
    max_usd: float = Limits.usd
    max_seconds: float = Limits.seconds
    yes: bool = False
    """Allow effects without asking."""
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    max_effects: int = DEFAULT_MAX_EFFECTS
    dry_run: bool = False
    check: str = ""
    """A command that says by its exit status whether the answer is right."""
    check_folder: str = ""
    """Where it is run; empty: where the process is."""
    tools_folder: str = ""
    """Where modules of tools are looked for; empty: where the process is."""
    unpriced: bool = False
    """Whether the model has no known price, so that `max_usd` does not bind."""
    without: Sequence[str] = ()
    """What is off, of `SWITCHES`."""
    function_calling: bool = False
    rounds: int = DEFAULT_ROUNDS
    steps: int = DEFAULT_STEPS
    planner_threshold: float | str = PLANNER_THRESHOLD
    tool_threshold: float | str = TOOL_THRESHOLD
    answer_threshold: float | str = ANSWER_THRESHOLD
    """A score, or until the run starts a percentile of those on record, such as `p85`."""
    memory: str = DEFAULT_MEMORY
    """Name of the memory that experience is recalled from and stored in."""
    consolidate: str = ""
    """Who makes pipelines of what worked: compiled or model; empty: compiled, and model in the preset."""
    prompts: str = ""
    """Folder with the user's own prompt files."""
    returns: Mapping[str, Any] | None = None
    """JSON schema of the answer; None for text."""

    def __post_init__(self) -> None:
        check_lists(vars(self))
        if misfit := first_misfit(type(self), vars(self)):
            raise UserError(f"the option {misfit} cannot be {getattr(self, misfit)!r}: it is of another type")
        check_domain(self.domain)
        if not 0 <= self.temperature <= 2:
            raise UserError(f"--temperature must be between 0 and 2, not {self.temperature!r}")
        if not 0 <= self.seed <= MAX_SEED:
            raise UserError(f"--seed must be between 0 and {MAX_SEED}, not {self.seed!r}")
        if self.max_effects < 0:
            raise UserError(f"--max-effects must be 0 or more, not {self.max_effects!r}")
        if self.base_url:
            check_address(self.base_url)
        if not MEMORY_NAME.fullmatch(self.memory):
            raise UserError(
                f"--memory {self.memory!r} must be letters, digits, dots, dashes or underscores, 64 at most"
            )
        self.limits()
        self._check_strands()

    def _check_strands(self) -> None:
        if unknown := [name for name in self.without if name not in SWITCHES]:
            raise UserError(f"unknown switch {unknown[0]!r}; there are: {', '.join(SWITCHES)}")
        if self.preset and self.preset not in PRESETS:
            raise UserError(f"--preset {self.preset!r} is unknown; there is: {', '.join(PRESETS)}")
        for option in THRESHOLDS:
            if isinstance(threshold := getattr(self, option), str):
                percent_of(option, threshold)
        self.reflection()
        self.team_settings(self.without)
        self.phase_gate(self.without)
        self.quality_reading()
        self.recalled()
        if not is_generation(self.domain):
            if self.leave_out:
                raise UserError(
                    f"--leave-out is for what teams make: no phase of --domain {TOOLS} is optional"
                )
            return
        for name in TOOLS_ONLY:
            if getattr(self, name):
                flag = name.replace("_", "-")
                raise UserError(f"--{flag} is for --domain {TOOLS}, not for {self.domain!r}: leave it out")

    def check_files(self) -> None:
        """Check what must be there when a run begins; a run that goes on has it on record.

        Raises:
            UserError: an input file, the domain file or the folder of prompts is not there.
        """
        if self.domain.endswith(FILE_ENDING) and not Path(self.domain).is_file():
            raise UserError(f"--domain {self.domain!r}: there is no such file")
        for file in self.files:
            if not Path(file).is_file():
                raise UserError(f"input file {file!r} does not exist")
        if self.prompts and not Path(self.prompts).is_dir():
            raise UserError(f"--prompts {self.prompts!r} is no folder; name the folder with your own prompts")

    def prompts_folder(self) -> Path | None:
        """Return the folder with the user's own prompts, or None.

        Raises:
            UserError: it is not there (any more); Plait's own prompts never stand in for it unasked.
        """
        if not self.prompts:
            return None
        folder = Path(self.prompts)
        if not folder.is_dir():
            raise UserError(
                f"--prompts {self.prompts!r} is no folder: put it back, or fork the run with other --prompts"
                " ('' for Plait's own)"
            )
        return folder

    def limits(self) -> Limits:
        """Return the budget's limits."""
        return Limits(
            calls=self.max_calls, tokens=self.max_tokens, usd=self.max_usd, seconds=self.max_seconds
        )

    def reflection(self) -> ReflectionSettings:
        """Return the settings of the reflection strand."""
        return ReflectionSettings(
            planner=GateSettings(threshold=known(self.planner_threshold, PLANNER_THRESHOLD)),
            tool=GateSettings(threshold=known(self.tool_threshold, TOOL_THRESHOLD)),
            answer=GateSettings(threshold=known(self.answer_threshold, ANSWER_THRESHOLD), revises=False),
            function_calling=self.function_calling,
            rounds=self.rounds,
            steps=self.steps,
        ).without([name for name in self.without if name in REFLECTION_SWITCHES])

    @property
    def experience(self) -> bool:
        """Whether the run recalls and stores experience.

        What teams make has none in either paper, so that it has none with the preset of the paper.
        """
        beyond = self.preset == PAPER and is_generation(self.domain)
        return EXPERIENCE not in self.without and not beyond

    def recalled(self) -> ExperienceSettings:
        """Return what the run recalls, and who makes its pipelines; it stores whatever is off there."""
        maker = consolidation(self.consolidate, unsaid="model" if self.preset == PAPER else "compiled")
        return ExperienceSettings(lessons=self.preset != PAPER, consolidation=maker).without(self.without)

    def of_agents(self) -> dict[str, Any]:
        """Return what decides how agents choose, as opposed to how far they go and where they work."""
        return {name: value for name, value in self.as_json().items() if name in OF_AGENTS}

    def as_json(self) -> dict[str, Any]:
        """Return the options as they are recorded."""
        value = asdict(self)
        return {name: list(item) if name in SEQUENCES else item for name, item in value.items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Options":
        """Return recorded options.

        Raises:
            UserError: an option is invalid, or this version does not know it.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(value) - known):
            raise UserError(f"the run has options this version does not know: {', '.join(unknown)}")
        check_lists(value)
        fitting: dict[str, Any] = {
            name: tuple(item) if name in SEQUENCES else item for name, item in value.items()
        }
        return cls(**fitting)

    def changed(self, changes: Mapping[str, Any]) -> "Options":
        """Return these options with some changed."""
        return replace(self, **changes)


def chosen(said: Mapping[str, Any]) -> Options:
    """Return the options of a new run: what was said, over what its domain has by default.

    Raises:
        UserError: an option is invalid.
    """
    said = without_teams(said)
    return Options(**{**defaults_of(said.get("domain", TOOLS), said.get("preset", "")), **said})


def check_lists(values: Mapping[str, Any]) -> None:
    """Refuse a single value where a list is asked for; a text would be read as its letters.

    Raises:
        UserError: there is one.
    """
    for name in SEQUENCES:
        value = values.get(name)
        if isinstance(value, str | bytes | PathLike):
            raise UserError(f"{name} must be a list, not {value!r}: put it into brackets, [{value!r}]")
