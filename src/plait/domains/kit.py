"""What the qualities of domains need from outside: a place to run programs, an embedder, a judge.

Knows nothing of where these come from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plait.agents.agent import Agent
from plait.agents.gate import GateSettings
from plait.domains.names import Reading
from plait.models.embeddings import Embedder
from plait.tools.sandbox.ran import Runner


@dataclass(frozen=True, kw_only=True)
class Kit:
    """Everything a domain's quality works with."""

    judge: Agent
    """Reads texts and grades them."""
    gate: GateSettings
    """The judge's gate: how often a reply that cannot be read is asked again."""
    runner: Callable[[], Runner] | None = None
    """Gives the place where programs are run, when the first one is; None: they are not run."""
    embedder: Embedder | None = None
    """Compares texts by meaning; None: they are not compared."""
    prompts: Path | None = None
    """Folder with the user's own prompts."""
    reading: Reading = "strict"
