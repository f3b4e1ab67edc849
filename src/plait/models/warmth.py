"""Gives a slot what was read before of a prompt's stable beginning, and saves what is read first.

The meeting of slots, saved prefixes and the engine; knows nothing of replies. Nothing here may fail a
call: where a state cannot be written or read back, the engine reads the prompt as it would have anyway.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from plait.errors import ModelError
from plait.models.engine_client import EngineClient
from plait.models.engine_wire import USER_MARK, Ask, prefix_body, template_body
from plait.models.prefixes import PrefixFolder, Turn, Turns, prefix_key
from plait.models.slots import EngineSlot, Slots, shared_length
from plait.paths import prefixes_folder

LEAST_PREFIX_CHARACTERS = 256
"""About 60 tokens: less is read faster than it is looked up."""
_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Warmed:
    """A held slot and what it cost to warm it."""

    slot: EngineSlot
    started: float
    """When the slot was had, by `time.perf_counter`."""
    tokens_read: int = 0
    """Tokens of the prefix that were read just now, for this call."""


class Warmth:
    """The slots of one engine and what is saved for them; shared by all calls."""

    def __init__(self, slot_count: int, identity: str) -> None:
        self._slots = Slots(slot_count)
        self._turns = Turns()
        self._folder = PrefixFolder(prefixes_folder())
        self._identity = identity
        self._saved: dict[str, str | None] = {}
        """File name of each prefix that was looked up or read; None where it cannot be kept."""

    @asynccontextmanager
    async def slot(self, client: EngineClient, ask: Ask) -> AsyncGenerator[Warmed]:
        """Hold a slot that has read as much of the call as can be had without reading it again."""
        if len(ask.prefix) < LEAST_PREFIX_CHARACTERS:
            async with self._slots.hold(ask.text, lambda: 0) as slot:
                yield Warmed(slot=slot, started=time.perf_counter())
            return
        key = prefix_key(self._identity, ask.prefix)
        turn = await self._turns.take(key, lambda: key in self._saved)
        try:
            if turn is not None:
                await self._look_up(key, turn)
            async with self._slots.hold(
                ask.text, lambda: len(ask.prefix) if self._saved.get(key) else 0
            ) as slot:
                warmed = Warmed(slot=slot, started=time.perf_counter())
                if turn is not None and key not in self._saved:
                    await self._read_and_save(client, ask, key, warmed)
                    turn.finish()
                elif shared_length(slot.text, ask.text) < len(ask.prefix):
                    await self._restore(client, ask, key, slot)
                yield warmed
        finally:
            if turn is not None:
                turn.finish()

    async def _look_up(self, key: str, turn: Turn) -> None:
        name = await asyncio.to_thread(self._folder.find, key)
        if name is not None:
            self._saved[key] = name
            turn.finish()

    async def _read_and_save(self, client: EngineClient, ask: Ask, key: str, warmed: Warmed) -> None:
        part = self._folder.part_name(key)
        name = None
        try:
            if await self._read(client, ask, warmed, part):
                name = await asyncio.to_thread(self._folder.publish, key, part)
        except ModelError as error:
            _log.debug("prefix not saved: %s", error)
            self._folder.remove(part)
        self._saved[key] = name

    async def _read(self, client: EngineClient, ask: Ask, warmed: Warmed, part: str) -> bool:
        """Read the prefix into the slot; return whether its state was written."""
        slot = warmed.slot
        slot.text = ""
        rendered = str((await client.post("/apply-template", template_body(ask)))["prompt"])
        prompt, mark, _ = rendered.partition(USER_MARK)
        if not mark:
            return False
        timings = (await client.post("/completion", prefix_body(prompt, slot.id)))["timings"]
        slot.text, warmed.tokens_read = ask.prefix, int(timings["prompt_n"])
        tokens = warmed.tokens_read + int(timings["cache_n"])
        if not self._folder.has_room(tokens * client.engine.bytes_per_token):
            return False
        await client.post(f"/slots/{slot.id}?action=save", {"filename": part})
        return True

    async def _restore(self, client: EngineClient, ask: Ask, key: str, slot: EngineSlot) -> None:
        name = self._saved.get(key)
        if name is None:
            return
        slot.text = ""
        try:
            await client.post(f"/slots/{slot.id}?action=restore", {"filename": name})
        except ModelError as error:
            # Gone or damaged: read it anew, and save it with the next call that begins with it.
            _log.debug("prefix not restored: %s", error)
            self._folder.remove(name)
            self._saved.pop(key, None)
        else:
            slot.text = ask.prefix
