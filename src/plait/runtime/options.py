"""The options of a run: everything that decides what it does, as one JSON-able value.

Recorded with the run, so that `resume` goes on with the same and `fork` changes single ones. Knows
nothing of the command line, which has one flag per field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from plait.agents.gate import GateSettings
from plait.errors import UserError
from plait.models.budget import Limits
from plait.reflection.settings import (
    ANSWER_THRESHOLD,
    DEFAULT_ROUNDS,
    DEFAULT_STEPS,
    PLANNER_THRESHOLD,
    TOOL_THRESHOLD,
    ReflectionSettings,
)
from plait.tools.arguments import inline

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"
DOMAINS = ("tools",)
DEFAULT_MAX_EFFECTS = 50
SEQUENCES = ("tools", "files", "allow", "deny", "without")
"""Options that are sequences of text."""
FILE_ENDINGS = (".py", ".json", ".yaml", ".yml")
"""By these a source of tools is known to be a file."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Every option of `plait run`, with its default."""

    domain: str = "tools"
    tools: Sequence[str] = ()
    """Sources: `pkg.module`, `file.py`, an MCP configuration, an OpenAPI document."""
    files: Sequence[str] = ()
    """Input files; their text goes into the prompt."""
    out: str = ""
    """Folder the tools work in; empty: the run's own folder."""
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
    without: Sequence[str] = ()
    """Parts of reflection that are off, as in `ReflectionSettings.without`."""
    function_calling: bool = False
    rounds: int = DEFAULT_ROUNDS
    steps: int = DEFAULT_STEPS
    planner_threshold: float = PLANNER_THRESHOLD
    tool_threshold: float = TOOL_THRESHOLD
    answer_threshold: float = ANSWER_THRESHOLD
    prompts: str = ""
    """Folder with the user's own prompt files."""
    returns: Mapping[str, Any] | None = None
    """JSON schema of the answer; None for text."""

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise UserError(f"--domain {self.domain!r} is unknown; there is: {', '.join(DOMAINS)}")
        if not 0 <= self.temperature <= 2:
            raise UserError(f"--temperature must be between 0 and 2, not {self.temperature!r}")
        if self.max_effects < 0:
            raise UserError(f"--max-effects must be 0 or more, not {self.max_effects!r}")
        self.limits()
        self.reflection()

    def check_files(self) -> None:
        """Check what must be there when a run begins; a run that goes on has it on record.

        Raises:
            UserError: an input file or the folder of prompts is not there.
        """
        for file in self.files:
            if not Path(file).is_file():
                raise UserError(f"input file {file!r} does not exist")
        if self.prompts and not Path(self.prompts).is_dir():
            raise UserError(f"--prompts {self.prompts!r} is no folder")

    def limits(self) -> Limits:
        """Return the budget's limits."""
        return Limits(
            calls=self.max_calls, tokens=self.max_tokens, usd=self.max_usd, seconds=self.max_seconds
        )

    def reflection(self) -> ReflectionSettings:
        """Return the settings of the reflection strand."""
        return ReflectionSettings(
            planner=GateSettings(threshold=self.planner_threshold),
            tool=GateSettings(threshold=self.tool_threshold),
            answer=GateSettings(threshold=self.answer_threshold, revises=False),
            function_calling=self.function_calling,
            rounds=self.rounds,
            steps=self.steps,
        ).without(self.without)

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
        fitting: dict[str, Any] = {
            name: tuple(item) if name in SEQUENCES else item for name, item in value.items()
        }
        return cls(**fitting)

    def changed(self, changes: Mapping[str, Any]) -> "Options":
        """Return these options with some changed."""
        return replace(self, **changes)


def anchored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return options, or some of them, with absolute paths, so that they mean the same in any folder."""
    changed = dict(values)
    for name in ("files", "tools"):
        if name in changed:
            changed[name] = tuple(_absolute(item, always=name == "files") for item in changed[name])
    for name in ("out", "prompts"):
        if changed.get(name):
            changed[name] = _absolute(changed[name], always=True)
    return changed


def schema_of_answer(value: Any) -> dict[str, Any]:
    """Return a JSON schema for answers, without references.

    Raises:
        UserError: it is no JSON schema.
    """
    # A tenth of a second to import, which runs with an answer in words need not pay.
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(value, Mapping):
        raise UserError(f"the schema of the answer must be a JSON object, not {value!r}")
    schema = cast("Mapping[str, Any]", value)
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        raise UserError(f"the schema of the answer is no JSON schema: {error.message}") from error
    # It becomes a part of larger schemas, where a reference would lead elsewhere.
    return inline(schema)


def _absolute(name: str, *, always: bool) -> str:
    is_path = always or ("://" not in name and name.endswith(FILE_ENDINGS))
    return str(Path(name).expanduser().absolute()) if is_path else name
