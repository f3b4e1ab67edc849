"""Reads files from a model hub over HTTP, from wherever one left off.

Knows nothing of models or sums. A hub that cannot be reached costs a few seconds once in a process.
"""

import os
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any

DEFAULT_HUB = "https://huggingface.co"
CONNECT_SECONDS = 5.0
STALL_SECONDS = 20.0
_CHUNK_BYTES = 1 << 20
_unreachable: set[str] = set()


class HubError(Exception):
    """The hub did not give the file; the text says why in one line."""


class StallError(HubError):
    """The hub broke off in the middle; another try may go on from there."""


def hub_base() -> str:
    """Return the hub's base URL; PLAIT_MODEL_HUB names another."""
    return os.environ.get("PLAIT_MODEL_HUB", "").strip().rstrip("/") or DEFAULT_HUB


def read_from_hub(path: str, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of a file, each with its place in it, from `offset` on where the hub can do that.

    Raises:
        HubError: the hub cannot be reached or does not have the file.
        StallError: it broke off.
    """
    base = hub_base()
    if base in _unreachable:
        raise HubError(f"{base} could not be reached a moment ago")
    response = _open(base, path, offset)
    at = offset if response.status == 206 else 0
    # Reading in pieces, `http.client` takes a lost connection for the end.
    end = at + (response.length or 0)
    with response:
        while True:
            try:
                chunk = response.read(_CHUNK_BYTES)
            except (OSError, HTTPException) as error:
                raise StallError(f"{base} broke off after {at} bytes: {_reason(error)}") from error
            if not chunk:
                if at < end:
                    raise StallError(f"{base} broke off after {at} of {end} bytes")
                return
            yield at, chunk
            at += len(chunk)


def _open(base: str, path: str, offset: int) -> HTTPResponse:
    request = urllib.request.Request(f"{base}/{path}", headers={"User-Agent": "plait"})
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    answers: queue.Queue[Any] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(request, timeout=STALL_SECONDS))
        except (OSError, ValueError, HTTPException) as error:
            answers.put(error)

    # Looking up a name has no time limit of its own; a thread that nobody waits for gives it one.
    threading.Thread(target=ask, name="plait-hub", daemon=True).start()
    try:
        answer = answers.get(timeout=CONNECT_SECONDS)
    except queue.Empty:
        _unreachable.add(base)
        raise HubError(f"{base} did not answer within {CONNECT_SECONDS:g} s") from None
    if isinstance(answer, urllib.error.HTTPError):
        answer.close()
        raise HubError(f"{base} answered HTTP {answer.code} for {path!r}")
    if isinstance(answer, Exception):
        _unreachable.add(base)
        raise HubError(f"{base} cannot be reached: {_reason(answer)}") from answer
    return answer


def _reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None) or error
    return " ".join(str(getattr(inner, "strerror", None) or inner).split()) or type(error).__name__
