"""The folder of a fork: it comes to the state at the fork, whatever happened on the way."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.errors import UserError
from plait.events import Record, RunStarted, StepRecorded
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.folder import refill_of
from plait.outfit.hands import Hands
from plait.paths import runs_folder
from plait.runner import fork, resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Result
from plait.tools.functions import from_function, tool
from plait.tools.sources import Toolset

TOOLS = """
import asyncio
from plait.errors import ToolError
from plait.tools.functions import tool

def toolset(folder):
    file = folder / "numbers.txt"

    @tool
    async def put(number: int) -> str:
        "Put a number."
        with file.open("a") as stream:
            stream.write(f"{number}\\n")
        if number == 1:
            raise ToolError("1 is not allowed")
        if (folder.parent / "hang").exists():
            (folder.parent / "hang").unlink()
            await asyncio.Event().wait()
        if (folder.parent / "broken").exists():
            raise ToolError("it is broken")
        return f"put {number}"

    return [put]
"""
REMARKS = "\n# critique: As asked.\n# score: 10"


def answer(request: Request) -> str:
    text = prompt(request)
    tail = "\n".join(message.content for message in request.messages[1:])
    if "You are the planner" in text:
        return "1. put 1 and then put 2" + REMARKS
    if "You are the tool agent" not in text:
        return "It is done." + REMARKS
    if "put 2\n</result>" in tail:
        return 'done(result="put")' + REMARKS
    return ("put(number=2)" if "not allowed" in tail else "put(number=1)") + REMARKS


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


@pytest.fixture
def source(tmp_path: Path) -> str:
    file = tmp_path / "numbers.py"
    file.write_text(TOOLS, encoding="utf-8")
    return str(file)


def hands(log: RunLog) -> Hands:
    return Hands(model=FunctionModel(answer), log=log)


async def first_run(log: RunLog, source: str, tmp_path: Path) -> Result:
    options = Options(tools=(source,), yes=True, rounds=1, out=str(tmp_path / "first"))
    result = await start("put 1 and then put 2", options, hands(log))
    assert (tmp_path / "first" / "numbers.txt").read_text() == "1\n2\n"
    return result


async def test_what_a_run_made_or_changed_is_listed_and_nothing_else(log: RunLog, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    for name in ("old.txt", "changed.txt", "deep/old.txt"):
        (out / name).touch()

    @tool
    def put(number: int) -> str:
        """Put a number."""
        for name in ("new.txt", "deep/new.txt", "changed.txt", "mcp-server.log", "deep/er"):
            (out / name).write_text(str(number))
        (out / "link").symlink_to("nowhere")
        return "put 2"

    lent = Hands(tools=[put], model=FunctionModel(answer), log=log)
    options = Options(yes=True, rounds=1, max_calls=2, out=str(out))
    first = await start("put 1 and then put 2", options, lent)
    made = [str(out / name) for name in ("changed.txt", "deep/er", "deep/new.txt", "new.txt")]
    assert list(first.artifacts) == made
    result = await resume(first.run_id, lent, changes={"max_calls": 9})
    assert result.status == "succeeded"
    assert {str(out / "new.txt"), str(out / "deep" / "new.txt")} <= set(result.artifacts)

    own = await fork(first.run_id, "round-1", {"max_calls": 9}, lent)
    assert list(own.artifacts) == []


async def test_an_effect_that_failed_may_fail_again(log: RunLog, source: str, tmp_path: Path) -> None:
    first = await first_run(log, source, tmp_path)
    result = await fork(first.run_id, "round-1/answer", {"out": str(tmp_path / "forked")}, hands(log))
    assert result.answer == "It is done."
    assert (tmp_path / "forked" / "numbers.txt").read_text() == "1\n2\n"


@pytest.mark.parametrize(
    ("result", "applied"),
    [
        ({"ok": True, "text": "done", "cut": False, "shared": False}, 1),
        ({"ok": False, "text": "not done", "cut": False, "shared": False, "refused": "--deny"}, 0),
        ({"ok": True, "text": "dry run", "cut": False, "shared": False, "refused": "--dry-run"}, 0),
        (None, 1),
    ],
)
async def test_an_effect_that_was_refused_is_not_done_for_the_fork(result: Any, applied: int) -> None:
    done: list[int] = []

    @tool
    def put(number: int) -> None:
        """Put a number."""
        done.append(number)

    args = {"tool": "put", "arguments": {"number": 7}}
    effect = StepRecorded(step="effect", args=args, args_hash="", result=result, seconds=0.0)
    started = RunStarted(task="t", options={}, version="1", forked_from="first")
    records = [
        Record(run_id="f", sequence=at, path=path, revision=0, epoch=1, at=0.0, event=event)
        for at, (path, event) in enumerate([("run!run_started!0", started), ("run/do", effect)])
    ]
    refill = refill_of("f", records)
    assert refill is not None
    tools = [from_function(put, source="tests")]
    await refill.apply(MemoryJournal(Memory()), Toolset(tools=tools, in_folder=frozenset({"put"})))
    assert done == [7] * applied


async def test_an_effect_that_was_done_may_not_fail(log: RunLog, source: str, tmp_path: Path) -> None:
    first = await first_run(log, source, tmp_path)
    (tmp_path / "broken").touch()
    with pytest.raises(UserError, match="put cannot be applied again for the fork: it is broken"):
        await fork(first.run_id, "round-1/answer", {"out": str(tmp_path / "forked")}, hands(log))


@pytest.mark.parametrize("out", ["forked", ""])
async def test_a_fork_that_stopped_before_its_folder_was_ready_goes_on(
    log: RunLog, source: str, tmp_path: Path, out: str
) -> None:
    first = await first_run(log, source, tmp_path)
    folder = tmp_path / out if out else runs_folder() / "the-fork"
    folder.parent.mkdir(exist_ok=True, parents=True)
    (folder.parent / "hang").touch()
    changes = {"out": str(folder)} if out else {}
    stopped = asyncio.create_task(
        fork(first.run_id, "round-1/answer", changes, hands(log), new_id="the-fork")
    )
    while (folder.parent / "hang").exists():
        await asyncio.sleep(0.01)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    (folder / "precious").touch()

    result = await resume("the-fork", hands(log))
    assert result.answer == "It is done."
    assert (folder / "numbers.txt").read_text() == "1\n2\n"
    if out:
        (kept,) = (runs_folder() / "the-fork").glob("aside-*")
        assert sorted(path.name for path in kept.iterdir()) == ["numbers.txt", "precious"]
