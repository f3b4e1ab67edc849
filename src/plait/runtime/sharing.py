"""Equal requests of one run at temperature 0 are made once: one reply answers for all of them.

Nothing is drawn there, so nothing differs. Equal is what the model would get: prompt, form and settings,
of the same model; but not who asks, nor the seed, by which only draws differ. Requests at a higher
temperature are never shared: their replies are meant to differ. Knows nothing of databases.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from plait.journal import JSON, JSONObject, StepKind
from plait.runtime.codec import canonical_hash

ASKED = ("model", "form", "prompt")
"""Arguments of a model call that say what is asked of whom."""
DRAWN_BY = "seed"


class Sharing:
    """The replies of one run that answer for equal requests."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, JSON]] = {}
        self._under_way: dict[str, asyncio.Future[None]] = {}

    def note(self, path: str, kind: StepKind, args: Mapping[str, Any], result: JSON) -> None:
        """Take what is on record of a step."""
        if key := _key(kind, args):
            self._known.setdefault(key, (path, result))

    async def once(
        self, path: str, kind: StepKind, args: JSONObject, ask: Callable[[], Awaitable[JSON]]
    ) -> tuple[JSON, str]:
        """Return the result of a step, and the path of the step whose it is where that is another.

        A step that fails answers for none: who waited for it asks then.

        Args:
            path: Of the step.
            kind: Of the step; only model calls are shared.
            args: Its arguments, as they are stored.
            ask: Does the step.
        """
        key = _key(kind, args)
        if not key:
            return await ask(), ""
        while key not in self._known and key in self._under_way:
            await asyncio.wait([self._under_way[key]])
        if key in self._known:
            path, result = self._known[key]
            return result, path
        self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            result = await ask()
            self._known[key] = (path, result)
        finally:
            self._under_way.pop(key).set_result(None)
        return result, ""


def _key(kind: StepKind, args: Mapping[str, Any]) -> str:
    """Return what is equal for equal requests; empty where replies are drawn."""
    settings = args.get("settings")
    if kind != "model" or "prompt" not in args or not isinstance(settings, Mapping):
        return ""
    drawn = cast("Mapping[str, object]", settings)
    if drawn.get("temperature") != 0:
        return ""
    held = {name: value for name, value in drawn.items() if name != DRAWN_BY}
    return canonical_hash([[args.get(name) for name in ASKED], held])
