"""Starts a program, keeps what it says up to a limit, and ends it and all it started when a limit is reached.

Knows nothing of how the program is confined: it is given the command, and a look at it from outside.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from plait.tools.sandbox.ran import ProgramLimits, StoppedBy
from plait.tools.sandbox.watch import family, memory_bytes

CHUNK_BYTES = 1 << 16
LOOK_SECONDS = 0.05
LAST_WORDS_SECONDS = 2
CPU_STATUSES = (128 + signal.SIGXCPU, -signal.SIGXCPU)


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a program is started."""

    command: Sequence[str]
    environment: Mapping[str, str]
    pass_fds: Sequence[int]
    spare_processes: int
    """Those of ours beside the program's."""
    look: Callable[[Sequence[int]], StoppedBy]
    """Looks at the program's processes for what only the one who started it can know."""


@dataclass(frozen=True, kw_only=True)
class ProcessEnd:
    """How it ended; the exit status is that of the first process, as `subprocess` gives it."""

    returncode: int
    stdout: bytes
    stderr: bytes
    stopped_by: StoppedBy
    seconds: float


class Leash:
    """Holds a process and all that it started; the first reason to end it is kept."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.stopped_by: StoppedBy = ""

    def stop(self, reason: StoppedBy) -> None:
        """End everything because of a limit."""
        self.stopped_by = self.stopped_by or reason
        self.kill()

    def kill(self) -> None:
        """End the process, its group and its descendants."""
        members = family(self.process.pid) if self.process.returncode is None else []
        # The group has the number of the process, which is not given away while the group has members.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for member in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)


class Capture:
    """Reads one stream to its end and keeps no more of it than is allowed."""

    def __init__(self, descriptor: int, most_bytes: int, on_overflow: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._most_bytes = most_bytes
        self._on_overflow = on_overflow
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    @property
    def kept(self) -> bytes:
        """What was read, cut at the limit."""
        return bytes(self._kept)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            chunk = os.read(self._descriptor, CHUNK_BYTES)
            room = self._most_bytes - len(self._kept)
            self._kept += chunk[:room]
            if len(chunk) > room:
                self._on_overflow()
            if not chunk:
                self.close()

    def close(self) -> None:
        """Read no more."""
        if not self.ended.is_set():
            self._loop.remove_reader(self._descriptor)
            self.ended.set()


class Feed:
    """Writes a program's input as fast as it reads, or until it reads no more."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        self._descriptor = descriptor
        self._left = memoryview(data)
        self._loop = asyncio.get_running_loop()
        self._open = True
        os.set_blocking(descriptor, False)
        self._loop.add_writer(descriptor, self._write)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._descriptor, self._left[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self.close()

    def close(self) -> None:
        """Write no more; the program reads an end of file."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)


async def supervise(start: Start, stdin: bytes, limits: ProgramLimits) -> ProcessEnd:
    """Run a program to its end or a limit; nothing that it started in its group is left.

    Raises:
        OSError: it could not be started.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    process, streams = _spawn(start)
    leash = Leash(process)
    overflow = partial(leash.stop, "output_bytes")
    captures = [Capture(descriptor, limits.output_bytes, overflow) for descriptor in streams[1:]]
    feed = Feed(streams[0], stdin)
    clock = loop.call_later(limits.wall_seconds, leash.stop, "wall_seconds")
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(start, leash, limits))
            await _exit_of(process)
            watching.cancel()
        leash.kill()
        await _last_words(captures)
    finally:
        clock.cancel()
        leash.kill()
        feed.close()
        for capture, descriptor in zip(captures, streams[1:], strict=True):
            capture.close()
            os.close(descriptor)
        process.wait()
    if not leash.stopped_by and process.returncode in CPU_STATUSES:
        leash.stopped_by = "cpu_seconds"
    return ProcessEnd(
        returncode=process.returncode,
        stdout=captures[0].kept,
        stderr=captures[1].kept,
        stopped_by=leash.stopped_by,
        seconds=loop.time() - began,
    )


def _spawn(start: Start) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Start the program in a session of its own; return it with our ends of its three streams."""
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    ours_err, theirs_err = os.pipe()
    ours = (ours_in, ours_out, ours_err)
    try:
        process = subprocess.Popen(
            start.command,
            stdin=theirs_in,
            stdout=theirs_out,
            stderr=theirs_err,
            env=dict(start.environment),
            pass_fds=start.pass_fds,
            cwd="/",
            start_new_session=True,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in (theirs_in, theirs_out, theirs_err):
            os.close(descriptor)
    return process, ours


async def _exit_of(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has ended."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux
        while process.poll() is None:  # noqa: ASYNC110 (there is nothing else to wait for)
            await asyncio.sleep(LOOK_SECONDS)
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


async def _watch(start: Start, leash: Leash, limits: ProgramLimits) -> None:
    """Look at the processes again and again, and stop them once they hold too much."""
    while True:
        members = family(leash.process.pid)
        if len(members) > limits.processes + start.spare_processes:
            leash.stop("processes")
        elif memory_bytes(members, limits.memory_bytes) > limits.memory_bytes:
            leash.stop("memory_bytes")
        elif reason := start.look(members):
            leash.stop(reason)
        await asyncio.sleep(LOOK_SECONDS)


async def _last_words(captures: Sequence[Capture]) -> None:
    """Read what is still in the pipes; a process that left its group may hold them open for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            for capture in captures:
                await capture.ended.wait()
