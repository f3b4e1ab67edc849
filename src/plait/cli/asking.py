"""Ask the user at a terminal: whether that can be done, and a question that only a new answer answers.

Knows nothing of what is asked.
"""

import asyncio
import sys


def can_ask() -> bool:
    """Tell whether there is somebody who sees a question and can answer it."""
    # A process started without one of them has None in its place.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


async def confirmed(question: str) -> bool:
    """Ask on standard error until yes or no; the end of the input is a no.

    Ctrl-C ends the question like everything else, as no thread waits for it.
    """
    loop = asyncio.get_running_loop()
    while True:
        forget_typed()
        print(f"{question} [y/n]: ", end="", file=sys.stderr, flush=True)
        readable = asyncio.Event()
        loop.add_reader(sys.stdin, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(sys.stdin)
        line = sys.stdin.readline()
        said = line.strip().lower()
        if said in ("y", "yes"):
            return True
        if said in ("n", "no") or not line:
            return False


def forget_typed() -> None:
    """Drop what was typed so far: it cannot be meant for a question that is shown only now."""
    try:
        import termios
    except ImportError:  # Windows has none.
        return
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
