"""Local models: a name becomes a language model that runs on this machine.

Brings together the catalogue, the running engine and what it has read already. Knows nothing of agents.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from weakref import WeakKeyDictionary

from plait.models.catalogue import CatalogueEntry, find_chat_model
from plait.models.engine_client import EngineClient
from plait.models.engine_wire import ask_of
from plait.models.fetch import provide
from plait.models.llama import Engine, Engines, require_engine
from plait.models.protocol import LanguageModel, Reply, Request
from plait.models.sessions import release
from plait.models.warmth import Warmth

PREFIX = "local:"
KEEP_ENGINE_SECONDS = 60.0
"""How long an engine that no model holds is kept for the next task."""
_engines = Engines(KEEP_ENGINE_SECONDS)
_warmth: WeakKeyDictionary[Engine, Warmth] = WeakKeyDictionary()
_warmth_lock = threading.Lock()


def local_model(name: str) -> LanguageModel:
    """Return the local model of that name, for instance `local:qwen2.5-coder-1.5b`.

    Nothing is fetched or started before the first call.

    Raises:
        UserError: there is no such model.
    """
    return LocalModel(find_chat_model(name.removeprefix(PREFIX)))


def stop_engines() -> None:
    """Stop all engines of this process now; otherwise they stop when it ends."""
    _engines.stop_all()


class LocalModel:
    """A language model that runs in the embedded engine."""

    def __init__(self, entry: CatalogueEntry) -> None:
        self._entry = entry
        self._lock = threading.Lock()
        self._starting: Future[Engine] | None = None

    @property
    def name(self) -> str:
        return PREFIX + self._entry.name

    @property
    def takes_grammar(self) -> bool:
        return True

    async def complete(self, request: Request) -> Reply:
        """Answer one request; see `LanguageModel.complete`.

        Raises:
            UserError: the model cannot be fetched or loaded.
        """
        engine = await self._engine()
        ask = ask_of(request)
        client = EngineClient(engine, self)
        async with _warmth_of(engine).slot(client, ask) as warmed:
            slot = warmed.slot
            slot.text = ""  # after a failure it is not known what the slot holds
            reply = await client.chat(ask, request, slot.id)
            slot.text = f"{ask.text}assistant\n{reply.text}"
            seconds = time.perf_counter() - warmed.started
        # What was read to save it was not cached before this call, though the reply finds it in the cache.
        cached = max(0, reply.usage.cached_input_tokens - warmed.tokens_read)
        return replace(reply, usage=replace(reply.usage, cached_input_tokens=cached, seconds=seconds))

    async def aclose(self) -> None:
        """Let go of the engine, which stops a while after the last model let go of it."""
        with self._lock:
            self._starting = None
        _engines.release(self)
        await release(self)

    async def _engine(self) -> Engine:
        with self._lock:
            starting = self._starting
            if starting is None or _is_over(starting):
                starting = self._starting = _in_thread(self._start)
        # Giving up one call must not stop the start that others wait for.
        return await asyncio.shield(asyncio.wrap_future(starting))

    def _start(self) -> Engine:
        require_engine()
        provide(self._entry)
        return _engines.get(self._entry.name, self._entry.file, self)


def _warmth_of(engine: Engine) -> Warmth:
    with _warmth_lock:
        if engine not in _warmth:
            _warmth[engine] = Warmth(engine.size.slots, engine.identity)
        return _warmth[engine]


def _is_over(starting: "Future[Engine]") -> bool:
    """Return whether the start failed, or the engine has ended since."""
    return starting.done() and (
        starting.cancelled() or starting.exception() is not None or not starting.result().running
    )


def _in_thread(run: Callable[[], Engine]) -> "Future[Engine]":
    """Run in a thread of its own: loading takes seconds and must not hold a worker that others need."""
    future: Future[Engine] = Future()

    def work() -> None:
        try:
            engine = run()
        except BaseException as error:  # handed to whoever waits
            future.set_exception(error)
        else:
            future.set_result(engine)

    threading.Thread(target=work, name="plait-engine-start", daemon=True).start()
    return future
