"""The embedded engine: llama.cpp in this process, one per model file, shared by all agents.

Knows nothing of agents or runs.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from plait.errors import ModelError, UserError
from plait.models.paths import models_folder
from plait.models.protocol import (
    FunctionCalling,
    Grammar,
    LanguageModel,
    Reply,
    Request,
    TokenUsage,
    Typed,
)

_engines: dict[Path, Any] = {}
_lock = threading.Lock()


def _start(path: Path) -> Any:
    import xllamacpp

    with _lock:
        if path not in _engines:
            parameters = xllamacpp.CommonParams()
            parameters.model.path = str(path)
            parameters.n_parallel = 4
            parameters.n_ctx = 4 * 8192
            parameters.cpuparams.n_threads = 2
            parameters.warmup = False
            parameters.ui = False
            parameters.verbosity = 1
            parameters.cache_ram_mib = 1024
            _engines[path] = xllamacpp.Server(parameters)
        return _engines[path]


def _body(request: Request) -> dict[str, Any]:
    settings = request.settings
    body: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    if settings.stop:
        body["stop"] = list(settings.stop)
    match request.form:
        case Typed(schema=schema, name=name):
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": dict(schema), "strict": True},
            }
        case Grammar(gbnf=gbnf):
            body["grammar"] = gbnf
        case FunctionCalling(tools=tools):
            body["tools"] = [{"type": "function", "function": dict(tool)} for tool in tools]
            body["tool_choice"] = "required"
        case _:
            pass
    return body


def _reply(answer: Mapping[str, Any], seconds: float) -> Reply:
    choice = answer["choices"][0]
    usage = answer["usage"]
    return Reply(
        text=choice["message"].get("content") or "",
        finish=choice["finish_reason"],
        usage=TokenUsage(
            input_tokens=usage["prompt_tokens"],
            cached_input_tokens=usage["prompt_tokens_details"]["cached_tokens"],
            output_tokens=usage["completion_tokens"],
            seconds=seconds,
        ),
    )


class _Local:
    takes_grammar = True

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path

    async def complete(self, request: Request) -> Reply:
        server = await asyncio.to_thread(_start, self._path)
        started = time.monotonic()
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            url = f"{server.listening_address}/v1/chat/completions"
            async with session.post(url, json=_body(request)) as response:
                answer = await response.json()
                if response.status != 200:
                    raise ModelError(f"The embedded engine refused a call to {self.name}: {answer}")
        return _reply(answer, time.monotonic() - started)

    async def aclose(self) -> None:
        return None


def local_model(name: str) -> LanguageModel:
    """Return the embedded model of that name, for instance `local:qwen2.5-coder-1.5b`."""
    short = name.removeprefix("local:")
    path = models_folder() / f"{short}.gguf"
    if not path.is_file():
        raise UserError(f"No embedded model {name!r}: there is no {str(path)!r}.")
    return _Local(f"local:{short}", path)
