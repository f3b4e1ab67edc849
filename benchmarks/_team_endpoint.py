"""A Chat Completions endpoint for runs of teams, as a process of its own: it prints its base URL.

Its latency follows from the reply alone (so many seconds a call, and so many a token), and any number of
calls is answered at once. Tokens are estimated, and a prompt's beginning counts as cached where an answered
request began with the same, as at engines with a prefix cache. Knows nothing of what is replied.

    python -m benchmarks._team_endpoint --per-call 1 [--per-token 0.01] [--agree-at-once] [--unfinished]
"""

import argparse
import asyncio
import contextlib
from hashlib import sha256
from typing import Any

import orjson
from aiohttp import web
from benchmarks._team_voices import Voices

CHARACTERS_PER_TOKEN = 4
BLOCK_CHARACTERS = 64
"""Of which a prefix cache keeps whole blocks only: 16 tokens."""


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def latency(reply: str, per_call: float, per_token: float) -> float:
    """Return the seconds until this reply is answered."""
    return per_call + per_token * tokens(reply)


class PrefixCache:
    """Knows the blocks that answered prompts began with."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def cached_characters(self, prompt: str) -> int:
        """Return how much of the beginning of a prompt is known."""
        count = 0
        for digest in _blocks(prompt):
            if digest not in self._known:
                break
            count += BLOCK_CHARACTERS
        return count

    def keep(self, prompt: str) -> None:
        """Remember a prompt."""
        self._known.update(_blocks(prompt))


def _blocks(prompt: str) -> list[bytes]:
    """Return a digest of each beginning of whole blocks."""
    running = sha256()
    digests: list[bytes] = []
    for start in range(0, len(prompt) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS):
        running.update(prompt[start : start + BLOCK_CHARACTERS].encode())
        digests.append(running.digest())
    return digests


class TeamEndpoint:
    """Answers requests with what the voices say."""

    def __init__(self, voices: Voices, per_call: float, per_token: float) -> None:
        self._voices = voices
        self._per_call = per_call
        self._per_token = per_token
        self._cache = PrefixCache()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request when its time has come."""
        loop = asyncio.get_running_loop()
        arrived = loop.time()
        body = orjson.loads(await request.read())
        prompt = "\0".join(f"{message['role']}\0{message['content']}" for message in body["messages"])
        cached = self._cache.cached_characters(prompt)
        text = self._voices.reply(body)
        # Counted from the arrival, so that reading a body is part of it, as at a real endpoint.
        due = arrived + latency(text, self._per_call, self._per_token)
        await asyncio.sleep(max(0.0, due - loop.time()))
        self._cache.keep(prompt)
        return web.Response(
            body=orjson.dumps(_completion(text, tokens(prompt), cached // CHARACTERS_PER_TOKEN)),
            content_type="application/json",
        )


def _completion(text: str, read: int, cached: int) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": tokens(text),
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


async def _serve(endpoint: TeamEndpoint) -> None:
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_post("/v1/chat/completions", endpoint.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A local endpoint for runs of teams.")
    parser.add_argument("--per-call", type=float, default=0.0, help="seconds of each call")
    parser.add_argument("--per-token", type=float, default=0.0, help="seconds of each token of a reply")
    parser.add_argument("--agree-at-once", action="store_true", help="instructors want no change")
    parser.add_argument("--unfinished", action="store_true", help="programs lack a body at first")
    options = parser.parse_args()
    voices = Voices(changes=not options.agree_at_once, unfinished=options.unfinished)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(TeamEndpoint(voices, options.per_call, options.per_token)))


if __name__ == "__main__":
    main()
