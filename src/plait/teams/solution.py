"""What teams make and how good it is: the values every part of the strand hands around.

Knows nothing of domains: a solution is text, or files, and a domain's `Quality` rates it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from plait.journal import Journal


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What a phase yields (Croto, section 3): text, or files by their relative path."""

    product: str
    """What it is a version of, for instance `code`: phases that write the same product improve it."""
    text: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    by: str = ""
    """Who made it: `team-2`, or `coding/level-1/group-2` for a merged one."""

    @property
    def digest(self) -> str:
        """The first 16 hexadecimal digits of the content's sha256; equal content has equal digests."""
        content = orjson.dumps([self.text, sorted(self.files.items())])
        return hashlib.sha256(content).hexdigest()[:16]

    def shown(self) -> str:
        """Return the content as prompts show it: the text, or each file in a named code block."""
        blocks = [_block(path, content) for path, content in self.files.items()]
        return "\n\n".join([self.text, *blocks] if self.text else blocks)

    def as_json(self) -> dict[str, Any]:
        """Return the solution as it is recorded."""
        return {"product": self.product, "text": self.text, "files": dict(self.files), "by": self.by}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Solution":
        """Return the solution that `as_json` gave."""
        return cls(**value)


@dataclass(frozen=True, kw_only=True)
class Rating:
    """How good a solution is, by its domain's measures."""

    quality: float
    """On the domain's scale; higher is better."""
    dimensions: Mapping[str, float] = field(default_factory=dict[str, float])
    findings: Sequence[str] = ()
    """What is wrong with it, written for the agents that will mend it."""

    def as_json(self) -> dict[str, Any]:
        """Return the rating as it is recorded."""
        return {
            "quality": self.quality,
            "dimensions": dict(self.dimensions),
            "findings": list(self.findings),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Rating":
        """Return the rating that `as_json` gave."""
        return cls(**value)


class Quality(Protocol):
    """How a domain rates solutions; it also finds what reviews and tests look at."""

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        """Rate one solution; every model call and every run of a program in it is a recorded step.

        Steps are named relative to `journal`, which is a place of its own for this rating.

        Raises:
            BudgetExhausted, ModelError: as `ask`.
        """
        ...


def _block(path: str, content: str) -> str:
    # A file may hold code blocks itself, as manuals do.
    fence = "````" if "```" in content else "```"
    ending = "" if content.endswith("\n") or not content else "\n"
    return f"{fence}{opening(path)}\n{content}{ending}{fence}"


def opening(path: str) -> str:
    """Return what follows the fence that opens the block of a file: its language and its path."""
    return f"{'python' if path.endswith('.py') else 'text'} {path}"
