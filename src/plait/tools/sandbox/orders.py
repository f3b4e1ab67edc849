"""What the launcher is told: files, limits and command, packed into a file that has no name.

Knows nothing of who reads it. File names come from a model, so each is checked to stay in its folder.
"""

import fcntl
import marshal
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plait.tools.sandbox import launch
from plait.tools.sandbox.ran import KIB, MIB, ProgramLimits, SandboxError, UnfitProgram

LAUNCHER = Path(launch.__file__).read_text(encoding="utf-8")
OPEN_FILES = 256
STACK_BYTES = 8 * MIB


@dataclass(frozen=True, kw_only=True)
class Orders:
    """Everything the launcher does before it becomes the command."""

    command: Sequence[str]
    files: Mapping[str, str]
    limits: ProgramLimits
    folder: str
    home: str
    ready: int
    """The file descriptor on which the launcher says that all is done."""
    most_processes: int | None
    """For the kernel, which may count those of the user elsewhere too; None leaves it as it is."""
    user: int = 0
    """Whom to become; 0 stays."""
    outside: Mapping[str, str] | None = None
    """The namespaces that the launcher must not find itself in; None checks nothing."""
    display: str = ""
    """The program of a virtual display; empty starts none."""
    dies_with: int = 0
    """The process whose end must end the command; 0 where the sandbox sees to that."""

    def packed(self) -> bytes:
        """Return the orders as the launcher reads them.

        Raises:
            UnfitProgram: a file's name leads out of the folder, or the files are too large.
        """
        files = {checked_name(name): text.encode(errors="replace") for name, text in self.files.items()}
        size = sum(map(len, files.values()))
        if size > self.limits.disk_bytes:
            raise UnfitProgram(
                f"the program's files take {size} bytes, more than the {self.limits.disk_bytes} it may write",
                "raise disk_bytes, or leave some of them out",
            )
        return marshal.dumps(
            {
                "command": [str(part) for part in self.command],
                "files": files,
                "limits": kernel_limits(self.limits, self.most_processes),
                "folder": self.folder,
                "home": self.home,
                "ready": self.ready,
                "user": self.user,
                "outside": None if self.outside is None else dict(self.outside),
                "display": self.display,
                "dies_with": self.dies_with,
            }
        )


def kernel_limits(limits: ProgramLimits, most_processes: int | None) -> dict[str, tuple[int, int]]:
    """Return what the kernel itself enforces on each process: soft and hard value by name."""
    kernel = {
        # The signal at the soft limit tells this end from others; the hard one ends who ignores it.
        "CPU": (limits.cpu_seconds, limits.cpu_seconds + 1),
        # Data, not address space: runtimes reserve far more addresses than they use.
        "DATA": (limits.memory_bytes, limits.memory_bytes),
        "STACK": (STACK_BYTES, STACK_BYTES),
        "FSIZE": (limits.disk_bytes, limits.disk_bytes),
        "NOFILE": (OPEN_FILES, OPEN_FILES),
        "CORE": (0, 0),
        "MEMLOCK": (64 * KIB, 64 * KIB),
        "MSGQUEUE": (0, 0),
    }
    if most_processes is not None:
        kernel["NPROC"] = (most_processes, most_processes)
    return kernel


def checked_name(name: str) -> str:
    """Return a file's name in its shortest form.

    Raises:
        UnfitProgram: it is not the relative path of a file inside the folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts or name.endswith("/"):
        raise UnfitProgram(
            f"{name!r} is not the name of a file inside the program's folder",
            "give a relative path without '..'",
        )
    return str(path)


def nameless_file(data: bytes) -> int:
    """Return a file descriptor, at its start, of a file that holds `data` and vanishes when closed.

    Raises:
        SandboxError: the system gives no such file.
    """
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            file.seek(0)
            return os.dup(file.fileno())
    try:
        descriptor = os.memfd_create("plait", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        raise SandboxError(
            f"no file in memory can be made: {error.strerror}", "run Plait where memfd_create is allowed"
        ) from error
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    # Sealed, it is no room that a program could write to beside its folder.
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
