"""For which goal and in which situation alone a record holds that tells a way as it was gone.

The situation is all that a choice may rest on besides the goal and what was read. Knows nothing of how such
a way is made of a run, nor of memories.
"""

import json
from collections.abc import Mapping
from typing import Any

from plait.experience.pipelines.results import digest_of_result
from plait.journal import JSONObject

AS_IT_WAS = "as_it_was"
"""Where the content of a record says that it holds for this very goal, and in which situation."""
_KEY = "as it was: "


def exact_key(goal: str) -> str:
    """Return the key of a record that holds for these very words only."""
    return _KEY + goal.strip()


def situation_of(notes: str, settings: JSONObject) -> str:
    """Return a digest of what a choice may rest on besides the goal and what was read.

    Args:
        notes: What the tools say of the day and of themselves.
        settings: Of the agents, their model among them.
    """
    return digest_of_result(json.dumps([notes, settings], sort_keys=True, default=str))


def kept_situation(content: Mapping[str, Any]) -> str | None:
    """Return the situation of a record that holds for one goal only; None where it is of another kind."""
    found = content.get(AS_IT_WAS)
    return found if isinstance(found, str) else None
