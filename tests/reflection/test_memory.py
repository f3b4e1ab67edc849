"""The two memories: what they take in, show and forget, and that the log hears of it."""

from tests.support.memory_journal import Memory, MemoryJournal

from plait.events import MemoryCleared, MemoryWritten
from plait.reflection.memory import (
    ENTRY_CHARACTERS,
    LONG_TERM_ROUNDS,
    SHORT_TERM_ENTRIES,
    LongTermMemory,
    ShortTermMemory,
)


def test_entries_are_kept_in_order_and_logged_until_cleared() -> None:
    log = Memory()
    memory = ShortTermMemory()
    memory.write(MemoryJournal(log), "one")
    memory.write(MemoryJournal(log), "two")
    assert memory.entries == ["one", "two"]
    memory.clear(MemoryJournal(log))
    assert memory.entries == []
    assert [event for _, event in log.events] == [
        MemoryWritten(memory="short_term", entry="one"),
        MemoryWritten(memory="short_term", entry="two"),
        MemoryCleared(memory="short_term", entries=2),
    ]


def test_the_same_failure_is_remembered_once() -> None:
    log = Memory()
    memory = ShortTermMemory()
    for _ in range(2):
        memory.write(MemoryJournal(log), "x" * (ENTRY_CHARACTERS + 5))
    assert [len(entry) for entry in memory.entries] == [ENTRY_CHARACTERS]
    assert len(log.events) == 1


def test_the_latest_entries_are_shown() -> None:
    journal = MemoryJournal(Memory())
    short, long = ShortTermMemory(), LongTermMemory()
    for number in range(10):
        short.write(journal, f"entry {number}")
        long.write(journal, f"round {number}")
    assert list(short.entries) == [f"entry {number}" for number in range(10 - SHORT_TERM_ENTRIES, 10)]
    assert list(long.entries) == [f"round {number}" for number in range(10 - LONG_TERM_ROUNDS, 10)]


def test_long_term_memory_keeps_rounds_whole_until_the_task_ends() -> None:
    log = Memory()
    memory = LongTermMemory()
    memory.write(MemoryJournal(log), "x" * 5_000)
    memory.clear(MemoryJournal(log))
    assert [event for _, event in log.events] == [
        MemoryWritten(memory="long_term", entry="x" * 5_000),
        MemoryCleared(memory="long_term", entries=1),
    ]
    assert memory.entries == []


def test_a_memory_that_is_off_takes_nothing_in_and_has_nothing_to_clear() -> None:
    log = Memory()
    for memory in (ShortTermMemory(enabled=False), LongTermMemory(enabled=False)):
        memory.write(MemoryJournal(log), "one")
        assert memory.entries == []
        memory.clear(MemoryJournal(log))
    assert log.events == []
