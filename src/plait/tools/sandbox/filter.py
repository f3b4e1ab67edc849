"""A filter of system calls: refuses doors into the kernel, and stores of memory that no limit counts.

Written as the instructions of classic BPF that `bwrap --seccomp` takes (linux/filter.h). Knows nothing of
sandboxes; it is a second wall, behind namespaces and without privileges.
"""

import platform
import struct
from collections.abc import Iterable
from errno import EAFNOSUPPORT, ENOSYS, EPERM

LOAD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Where they stand in `struct seccomp_data`."""

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Its number for the kernel's audit, and its column in the tables below."""

X32_CALLS = 0x40000000

REFUSED = {
    # Memory that belongs to no process: the watch on memory would not see it.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    # Parts of the kernel that no ordinary program needs, and through which others were taken over.
    "io_uring_setup": (425, 425),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "ptrace": (101, 117),
    "open_by_handle_at": (304, 265),
    # Namespaces and mounts.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "mount_setattr": (442, 442),
}
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)
NEW_NAMESPACES = 0x7E020000
"""The flags of clone that make namespaces, CLONE_NEWNS to CLONE_NEWNET."""
FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6 and netlink; vsock, for one, reaches out of a virtual machine past all namespaces."""


def filter_program(machine: str | None = None) -> bytes:
    """Return the filter for this kind of machine; empty where its numbers are not known here."""
    known = ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return b""
    architecture, column = known
    return b"".join(
        [
            _step(LOAD, ARCHITECTURE),
            *_unless(architecture, _refuse(EPERM)),
            _step(LOAD, NUMBER),
            *([_step(JUMP_ABOVE, X32_CALLS, 0, 1), _refuse(ENOSYS)] if column == 0 else []),
            *_when(
                CLONE3[column], [_refuse(ENOSYS)]
            ),  # its flags cannot be seen; libraries fall back on clone
            *(step for numbers in REFUSED.values() for step in _when(numbers[column], [_refuse(EPERM)])),
            *_when(CLONE[column], _no_namespaces()),
            *_when(SOCKET[column], _known_families(FAMILIES)),
            _step(RETURN, ALLOW),
        ]
    )


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _refuse(error: int) -> bytes:
    return _step(RETURN, REFUSE | error)


def _when(number: int, steps: list[bytes]) -> list[bytes]:
    """Return steps that are taken for one value only; they must end in a return."""
    return [_step(JUMP_EQUAL, number, 0, len(steps)), *steps]


def _unless(value: int, step: bytes) -> list[bytes]:
    return [_step(JUMP_EQUAL, value, 1, 0), step]


def _no_namespaces() -> list[bytes]:
    refuse_any = [_step(JUMP_BITS, NEW_NAMESPACES, 0, 1), _refuse(EPERM)]
    return [_step(LOAD, FIRST_ARGUMENT), *refuse_any, _step(RETURN, ALLOW)]


def _known_families(families: Iterable[int]) -> list[bytes]:
    allowed = [step for family in families for step in _when(family, [_step(RETURN, ALLOW)])]
    return [_step(LOAD, FIRST_ARGUMENT), *allowed, _refuse(EAFNOSUPPORT)]
