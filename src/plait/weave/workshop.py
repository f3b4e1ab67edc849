"""What the weave works with and what comes of it, as values; and the text of a task.

Knows nothing of how a task is run.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plait.agents.gate import GateSettings
from plait.errors import UserError
from plait.experience.record import DEFAULT_MEMORY, Memory
from plait.experience.settings import ExperienceSettings
from plait.models.budget import Budget
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel, Settings
from plait.reflection.settings import ReflectionSettings
from plait.task import Status
from plait.teams.chain import Domain
from plait.teams.settings import TeamSettings
from plait.teams.solution import Rating, Solution
from plait.tools.executor import Executor
from plait.tools.tool import Tool
from plait.verdict import Check

FILE_CHARACTERS = 20_000
"""Of each input file at most this much goes into the prompt, and the prompt says what is missing."""

MERGE_THRESHOLD = 8.0
"""Score at which a merge of plans or answers passes, where nothing else is said."""


def _never(_: Rating) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Making:
    """What teams make, and how."""

    domain: Domain
    teams: TeamSettings
    gate: GateSettings
    """Of every agent of every phase, and of the aggregate agent."""
    falls_short: Callable[[Rating], str] = _never
    """Says of a rating in a line why such a result is not what was asked for; empty where it may be."""
    best: float | None = None
    """The highest quality on the domain's scale; None where that is not known."""


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Everything a run works with."""

    model: LanguageModel
    budget: Budget
    tools: Sequence[Tool]
    notes: str
    executor: Executor
    reflection: ReflectionSettings
    embedder: Embedder | None = None
    """Chooses candidates where there are many tools; without it all are offered."""
    settings: Settings = Settings()
    prompts: Path | None = None
    """Folder with the user's own prompts."""
    check: Check | None = None
    """The user's own oracle."""
    making: Making | None = None
    """What teams make; None for a tool task."""
    teams: TeamSettings = TeamSettings()
    """Of a tool task."""
    gate: GateSettings = GateSettings(threshold=MERGE_THRESHOLD)
    """Of the aggregate agent in a tool task's meetings."""
    memory: Memory | None = None
    """Experience of earlier runs; None: what they learned is not used."""
    memory_name: str = DEFAULT_MEMORY
    situation: str = ""
    """Digest of the notes and of what decides how agents choose."""
    recalls: ExperienceSettings = ExperienceSettings()
    """What of it is used."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended, as far as the strands know."""

    status: Status
    message: str
    """Why it did not succeed; empty when it did."""
    answer: Any
    score: float | None
    """Of the answer agent, or the quality of what was made."""
    products: Mapping[str, Solution] = field(default_factory=dict[str, Solution])
    """What teams made, by name."""


def task_text(text: str, files: Sequence[Path]) -> str:
    """Return a task with its input files, each delimited as data and cut at a stated size.

    Raises:
        UserError: a file cannot be read.
    """
    blocks = [text.strip()]
    for file in files:
        try:
            content = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UserError(f"input file {str(file)!r} cannot be read: {error.strerror}") from error
        left = len(content) - FILE_CHARACTERS
        cut = f"\n[cut: {left} more characters]" if left > 0 else ""
        # What a file holds is data: it cannot end its own delimiter.
        held = re.sub(r"</(?=\s*file)", "<\\\\/", content[:FILE_CHARACTERS], flags=re.IGNORECASE)
        blocks.append(f'<file name="{file.name}">\n{held}{cut}\n</file>')
    return "\n\n".join(blocks)
