"""Saved prefix states on disk, and waiting for one that is being read."""

import asyncio
import os
from pathlib import Path

import pytest

from plait.models.prefixes import PrefixFolder, Turns, prefix_key


def keep(folder: PrefixFolder, key: str, content: bytes, age_seconds: float = 0) -> str:
    part = folder.part_name(key)
    (folder.folder / part).write_bytes(content)
    name = folder.publish(key, part)
    assert name is not None
    when = (folder.folder / name).stat().st_mtime - age_seconds
    os.utime(folder.folder / name, (when, when))
    return name


def test_a_published_state_is_found_by_its_key_only(tmp_path: Path) -> None:
    folder = PrefixFolder(tmp_path)
    name = keep(folder, "a" * 32, b"state")
    assert folder.find("a" * 32) == name
    assert folder.find("b" * 32) is None
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_key_depends_on_engine_and_prefix() -> None:
    keys = {prefix_key("model 1", "rules"), prefix_key("model 2", "rules"), prefix_key("model 1", "rules.")}
    assert len(keys) == 3
    assert prefix_key("model 1", "rules") in keys


@pytest.mark.parametrize("damaged", [b"", b"stat", b"stare", b"state and more"])
def test_a_damaged_state_is_removed_and_not_found(tmp_path: Path, damaged: bytes) -> None:
    folder = PrefixFolder(tmp_path)
    name = keep(folder, "a" * 32, b"state")
    (tmp_path / name).write_bytes(damaged)
    assert folder.find("a" * 32) is None
    assert list(tmp_path.iterdir()) == []


def test_the_least_recently_used_go_beyond_the_limit(tmp_path: Path) -> None:
    folder = PrefixFolder(tmp_path, limit_bytes=250)
    oldest = keep(folder, "a" * 32, b"x" * 100, age_seconds=300)
    older = keep(folder, "b" * 32, b"x" * 100, age_seconds=200)
    assert folder.find("a" * 32) == oldest  # used now, so that the other is the older one
    newest = keep(folder, "c" * 32, b"x" * 100)
    assert {file.name for file in tmp_path.iterdir()} == {oldest, newest}
    assert folder.find("b" * 32) is None
    assert not (tmp_path / older).exists()


def test_a_state_beyond_the_whole_limit_is_not_kept(tmp_path: Path) -> None:
    folder = PrefixFolder(tmp_path, limit_bytes=10)
    (tmp_path / "p.part").write_bytes(b"x" * 11)
    assert folder.publish("a" * 32, "p.part") is None
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_after_an_hour(tmp_path: Path) -> None:
    folder = PrefixFolder(tmp_path)
    for name, age in (("old.part", 4000), ("young.part", 10)):
        (tmp_path / name).write_bytes(b"half")
        when = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (when, when))
    folder.trim()
    assert [file.name for file in tmp_path.iterdir()] == ["young.part"]


def test_publishing_a_lost_part_is_no_error(tmp_path: Path) -> None:
    assert PrefixFolder(tmp_path).publish("a" * 32, "gone.part") is None


def test_room_is_asked_of_the_disk(tmp_path: Path) -> None:
    assert PrefixFolder(tmp_path).has_room(1)
    assert not PrefixFolder(tmp_path).has_room(1 << 60)


async def test_one_reads_and_the_others_wait() -> None:
    turns, settled = Turns(), set[str]()
    first = await turns.take("k", lambda: "k" in settled)
    assert first is not None
    waiting = [asyncio.create_task(turns.take("k", lambda: "k" in settled)) for _ in range(3)]
    elsewhere = await turns.take("other", lambda: False)
    assert elsewhere is not None
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    settled.add("k")
    first.finish()
    assert await asyncio.gather(*waiting) == [None] * 3


async def test_when_reading_failed_the_next_one_reads() -> None:
    turns = Turns()
    first = await turns.take("k", lambda: False)
    waiting = [asyncio.create_task(turns.take("k", lambda: False)) for _ in range(2)]
    await asyncio.sleep(0)
    assert first is not None
    first.finish()
    done, pending = await asyncio.wait(waiting, timeout=1, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(pending)) == (1, 1)
    (second,) = [task.result() for task in done]
    assert second is not None
    second.finish()
    await asyncio.gather(*pending)


async def test_a_waiter_that_is_cancelled_leaves_the_others_waiting() -> None:
    turns, settled = Turns(), set[str]()
    first = await turns.take("k", lambda: "k" in settled)
    gone, stays = [asyncio.create_task(turns.take("k", lambda: "k" in settled)) for _ in range(2)]
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    assert gone.cancelled()
    assert not stays.done()
    assert first is not None
    settled.add("k")
    first.finish()
    assert await stays is None
