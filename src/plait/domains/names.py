"""The names of the domains that come with Plait, and of the readings of software's quality.

Knows nothing of what is behind them.
"""

from typing import Literal, TypeAlias

from plait.task import TOOLS

BUILT_IN = ("software", "story")
"""Domains that come with Plait; each is a package with a `domain.toml` of the same form as a user's."""

NAMED = (TOOLS, *BUILT_IN)
"""What a user names; any other domain is a file."""

Reading: TypeAlias = Literal["official", "strict"]
"""Of software's quality: as the paper's scripts measure it, or with their flaws mended."""
