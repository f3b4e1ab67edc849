"""The first program in every run: lays out the files, sets the limits, and becomes the command.

It runs as `python -I -S -c` on this text, inside the sandbox, and takes its orders from a file descriptor.
Knows nothing of Plait and imports only what starts fast. Whatever it cannot do ends it before the command
is run; the byte that it writes at the end of its work is the proof that all was done.
"""

import marshal
import os
import resource
import sys
from typing import Any

READY = b"."
UNFIT = "its files cannot be laid out: "
CANNOT_RUN = 127
PR_SET_PDEATHSIG = 1
SIGKILL = 9


def main() -> None:
    """Follow the orders in the file descriptor named by the first argument."""
    source = int(sys.argv[1])
    with os.fdopen(source, "rb") as file:
        orders = marshal.load(file)
    if orders["user"]:
        give_up_root(orders["user"])
    if orders["dies_with"]:
        die_with(orders["dies_with"])
    if orders["outside"] is not None:
        check_confined(orders["outside"])
    lay_out(orders)
    if orders["display"]:
        start_display(orders["display"])
    for name, value in orders["limits"].items():
        limit(name, value)
    os.write(orders["ready"], READY)
    become(orders["command"])


def give_up_root(user: int) -> None:
    """Go on as a user that owns nothing: the kernel counts no processes of root."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def die_with(parent: int) -> None:
    """Ask the kernel to end this process when the one that started it ends."""
    import ctypes  # slow to load, and only wanted outside a sandbox, where nothing else ends an orphan

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:
        sys.exit("the program that started this one has ended")


def lay_out(orders: "dict[str, Any]") -> None:
    """Make the folders, write the files, and go there."""
    os.makedirs(orders["home"], exist_ok=True)
    os.makedirs(orders["folder"])
    os.chdir(orders["folder"])
    try:
        for name, content in orders["files"].items():
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "xb") as file:
                file.write(content)
    except OSError as error:
        sys.exit(f"{UNFIT}{error.strerror}: {str(error.filename)[:80]!r}")


def check_confined(outside: "dict[str, str]") -> None:
    """End unless this really is a sandbox, whatever made it: `outside` are the namespaces to be out of."""
    shared = [name for name, there in outside.items() if os.readlink("/proc/self/ns/" + name) == there]
    if shared:
        sys.exit("not confined: shares namespaces with the system: " + ", ".join(shared))
    with open("/proc/self/status") as file:
        status = {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
    if int(status["CapEff"], 16) or int(status["CapPrm"], 16) or status["NoNewPrivs"] != "1":
        sys.exit("not confined: holds privileges")
    for folder in ("/", "/usr", "/etc", "/dev"):
        if os.access(folder, os.W_OK):
            sys.exit("not confined: can write to " + folder)


def start_display(server: str) -> None:
    """Start a display that nobody sees; without it the command says itself that it has none."""
    numbers, written = os.pipe()
    if os.fork() == 0:
        # The server is a grandchild, so that the command does not meet a child that it never had.
        if os.fork() == 0:
            serve_display(server, written)
        os._exit(0)
    os.wait()
    os.close(written)
    # The server writes the number and the end of the line one after the other, and wants both to be read.
    with os.fdopen(numbers) as file:
        number = file.readline().strip()
    if number:
        os.environ["DISPLAY"] = ":" + number


def serve_display(server: str, written: int) -> None:
    """Become the display server, which writes its number to `written` once it serves."""
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.set_inheritable(written, True)
    screen = ["-screen", "0", "1280x800x24"]
    try:
        os.execv(server, [server, "-displayfd", str(written), *screen, "-nolisten", "tcp"])
    except OSError:
        os._exit(CANNOT_RUN)


def limit(name: str, value: "tuple[int, int]") -> None:
    """Lower one limit, never raising what holds already."""
    kind = getattr(resource, "RLIMIT_" + name, None)
    if kind is None:
        return
    hard = resource.getrlimit(kind)[1]
    ceiling = value[1] if hard == resource.RLIM_INFINITY else min(value[1], hard)
    resource.setrlimit(kind, (min(value[0], ceiling), ceiling))


def become(command: "list[str]") -> None:
    """Run the command in the place of this program, with nothing open but its three streams."""
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    main()
