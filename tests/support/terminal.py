"""A pseudo terminal, and somebody at it who answers every question that is shown."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread

import pytest

QUESTION = "[y/n]: "


@dataclass(kw_only=True)
class Terminal:
    """What was shown, and what is typed at each question; at one too many it is no."""

    answers: list[str]
    shown: str = ""
    _master: int = field(default=-1, repr=False)

    def type(self, text: str) -> None:
        """Type, whether or not something was asked."""
        os.write(self._master, text.encode())

    def attend(self) -> None:
        """Answer until nobody holds the other end any more."""
        answered = 0
        while True:
            try:
                self.shown += os.read(self._master, 4096).decode()
            except OSError:
                return
            while self.shown.count(QUESTION) > answered:
                answered += 1
                self.type(self.answers.pop(0) if self.answers else "n\n")


@contextmanager
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *answers: str, early: str = "") -> Generator[Terminal]:
    """Make standard input and standard error a terminal.

    Args:
        monkeypatch: Puts the streams back.
        answers: What is typed at each question.
        early: What is typed before anything is shown.
    """
    master, slave = os.openpty()
    terminal = Terminal(answers=list(answers), _master=master)
    attendant = Thread(target=terminal.attend, daemon=True)
    with (
        monkeypatch.context() as patch,
        os.fdopen(slave, "r") as keyboard,
        open(os.dup(slave), "w", encoding="utf-8") as screen,
    ):
        patch.setattr(sys, "stdin", keyboard)
        patch.setattr(sys, "stderr", screen)
        patch.setenv("NO_COLOR", "1")
        terminal.type(early)
        attendant.start()
        yield terminal
    attendant.join()
    os.close(master)
