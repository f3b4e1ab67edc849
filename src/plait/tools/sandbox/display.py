"""Windows without a screen: drivers that draw into memory, and a virtual display where one is installed.

Knows nothing of how programs are run.
"""

import re
import shutil
from collections.abc import Mapping
from functools import cache

ENVIRONMENT: Mapping[str, str] = {
    "SDL_VIDEODRIVER": "dummy",
    "SDL_AUDIODRIVER": "dummy",
    "MPLBACKEND": "Agg",
    "QT_QPA_PLATFORM": "offscreen",
}
"""What makes pygame, matplotlib and Qt draw into memory."""

WANTS_DISPLAY = re.compile(
    r"^\s*(?:import|from)\s+(?:tkinter|turtle|customtkinter|pyglet|arcade|kivy|wx|gi|pyautogui|easygui)\b",
    re.MULTILINE,
)
"""An import of something that cannot draw into memory by a variable alone."""

LACKS_DISPLAY = re.compile(
    r"no display name and no \$DISPLAY"
    r"|(?:could ?n[o']t|cannot|unable to|failed to) (?:connect to|open) .{0,20}display"
    r"|NoSuchDisplay|no X11? display|No available video device|DisplayConnectionError",
    re.IGNORECASE,
)
"""How programs say that they found no display."""


@cache
def display_server() -> str:
    """Return the program of a virtual display; empty where none is installed."""
    return shutil.which("Xvfb", path="/usr/bin:/usr/local/bin") or ""


def wants_display(files: Mapping[str, str]) -> bool:
    """Whether a program opens windows that need a display."""
    return any(WANTS_DISPLAY.search(text) for text in files.values())


def lacked_display(exit_status: int | None, stderr: str) -> bool:
    """Whether a program failed for want of a display."""
    return bool(exit_status) and LACKS_DISPLAY.search(stderr) is not None
