"""A small local Chat Completions endpoint, well behaved or not, for tests and benchmarks.

In a test it runs in the test's own loop and answers from a list, then with a default:

    async with Endpoint([rate_limited("0"), says("fine")]) as endpoint:
        ... endpoint.base_url, endpoint.bodies, endpoint.most_at_once

For benchmarks and for runs that are killed it is a process of its own, which prints its base URL and
tells its counts at `/stats`:

    python -m tests.support.endpoint --latency 0.1 [--reply TEXT | --respond module:function]
"""

import argparse
import asyncio
import contextlib
import importlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson
from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Respond = Callable[[dict[str, Any]], str]
"""From the body of a request to the text of the reply."""


def completion(
    text: str | None = "ok", *, finish: str = "stop", message: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """The JSON of a reply; `message` adds to its message, `more` to the whole."""
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **(message or {})},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        **more,
    }


def _json(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(data), status=status, headers=headers, content_type="application/json"
    )


def answers(data: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Answer with this JSON."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return _json(data, status, headers)

    return answer


def says(text: str, **more: Any) -> Answer:
    """Answer with this text."""
    return answers(completion(text, **more))


def fails(status: int, message: str = "failed", *, headers: dict[str, str] | None = None) -> Answer:
    """Answer with an error, in the usual shape."""
    return answers({"error": {"message": message}}, status=status, headers=headers)


def rate_limited(retry_after: str) -> Answer:
    """Answer 429 with a Retry-After."""
    return fails(429, "slow down", headers={"Retry-After": retry_after})


def says_raw(content: bytes, content_type: str = "application/json") -> Answer:
    """Answer with these bytes, JSON or not."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=content_type)

    return answer


async def half_a_body(request: web.Request) -> web.StreamResponse:
    """Promise a whole body, send half of it and hang up."""
    whole = orjson.dumps(completion("a reply that will not arrive whole"))
    response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
    response.content_type = "application/json"
    await response.prepare(request)
    await response.write(whole[: len(whole) // 2])
    return hang_up(request, response)


async def closes(request: web.Request) -> web.StreamResponse:
    """Hang up without a word."""
    return hang_up(request, web.Response())


def hang_up(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Cut the connection at once."""
    assert request.transport is not None
    request.transport.abort()
    return response


async def hangs(_: web.Request) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


class Endpoint:
    """A server on a free port of this machine; it keeps what it was asked."""

    def __init__(
        self,
        script: Sequence[Answer] = (),
        *,
        latency: float = 0.0,
        respond: Respond | None = None,
        keep_bodies: bool = True,
    ) -> None:
        self.base_url = ""
        self.requests = 0
        self.most_at_once = 0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script = list(script)
        self._latency = latency
        self._respond = respond or (lambda _: "ok")
        self._keep = keep_bodies
        self._now = 0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> "Endpoint":
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_post("/v1/chat/completions", self._answer)
        application.router.add_get("/stats", self._stats)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        arrived = time.perf_counter()
        self.requests += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            body = orjson.loads(await request.read())
            if self._keep:
                self.bodies.append(body)
                self.headers.append(dict(request.headers))
            # Latency counts from the arrival, so that reading a body is part of it, as at a real endpoint.
            if self._latency:
                await asyncio.sleep(max(0.0, self._latency - (time.perf_counter() - arrived)))
            if self._script:
                return await self._script.pop(0)(request)
            return _json(completion(self._respond(body)))
        finally:
            self._now -= 1

    async def _stats(self, _: web.Request) -> web.StreamResponse:
        return _json({"requests": self.requests, "most_at_once": self.most_at_once})


async def _serve(latency: float, respond: Respond) -> None:
    async with Endpoint(latency=latency, respond=respond, keep_bodies=False) as endpoint:
        print(endpoint.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A local Chat Completions endpoint.")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds until each answer")
    parser.add_argument("--reply", default="ok", help="the text of every reply")
    parser.add_argument("--respond", help="module:function from a request's body to the reply's text")
    options = parser.parse_args()

    def always(_: dict[str, Any]) -> str:
        return options.reply

    respond: Respond = always
    if options.respond:
        module, _, function = options.respond.partition(":")
        respond = getattr(importlib.import_module(module), function)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options.latency, respond))


if __name__ == "__main__":
    main()
