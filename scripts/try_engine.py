"""Have the embedded model read and write a little, and say how fast; an engine may die of it."""

import asyncio
import sys
import time

from plait.errors import PlaitError
from plait.models.protocol import Message, Reply, Request, Settings
from plait.models.resolve import resolve_model
from plait.runtime.options import DEFAULT_MODEL

READ_WORDS = 300
WRITTEN_TOKENS = 64


async def main() -> int:
    """Print tokens a second; return the exit status."""
    model = resolve_model(DEFAULT_MODEL)

    async def timed(text: str, most: int) -> tuple[Reply, float]:
        settings = Settings(temperature=0.0, max_tokens=most)
        started = time.perf_counter()
        reply = await model.complete(
            Request(messages=(Message(role="user", content=text),), settings=settings)
        )
        return reply, time.perf_counter() - started

    try:
        await timed("Say yes.", 1)  # Loading is not part of it.
        words = " ".join(str(number) for number in range(READ_WORDS))
        read, reading = await timed(f"Which number is missing? {words}", 1)
        written, writing = await timed("Write a long story about a lighthouse.", WRITTEN_TOKENS)
    except PlaitError as error:
        print(f"engine: {error.message}", file=sys.stderr)
        return 1
    finally:
        await model.aclose()
    new = read.usage.input_tokens - read.usage.cached_input_tokens
    reads, writes = new / reading, written.usage.output_tokens / writing
    print(f"engine: reads {reads:.0f} tokens a second, writes {writes:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
