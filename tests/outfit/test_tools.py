"""The tools of a run: agents are told what day it was when it began."""

from datetime import date

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.outfit import tools
from plait.outfit.tools import pinned
from plait.reflection.dates import today_of
from plait.runtime.options import Options
from plait.tools.sources import Toolset


class _Monday(date):
    @classmethod
    def today(cls) -> "_Monday":
        return cls(2026, 11, 23)


class _Tuesday(date):
    @classmethod
    def today(cls) -> "_Tuesday":
        return cls(2026, 11, 24)


async def noted(notes: str, memory: Memory) -> str:
    toolset = Toolset(tools=(), notes=notes)
    return (await pinned(MemoryJournal(memory), toolset, Options())).notes


async def test_agents_are_told_what_day_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "date", _Monday)
    said = await noted("Loans last a week.", Memory())
    assert said == "Today is Monday, 2026-11-23.\nLoans last a week."
    assert today_of(said) == date(2026, 11, 23)


async def test_notes_that_say_what_day_it_is_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "date", _Monday)
    assert await noted("Today is Thursday 2023-11-30.", Memory()) == "Today is Thursday 2023-11-30."


async def test_a_run_that_goes_on_another_day_keeps_the_day_on_which_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Memory()
    monkeypatch.setattr(tools, "date", _Monday)
    began = await noted("", memory)
    monkeypatch.setattr(tools, "date", _Tuesday)
    assert await noted("", memory) == began
