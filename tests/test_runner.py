"""The runner at its edges: what is left of runs that could not begin, were cancelled or lost an effect."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support import notebook

from plait import carrying, runner, weave
from plait.errors import ModelError, UserError
from plait.events import EffectIntended, Record, RunFinished
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.hands import Hands
from plait.paths import runs_folder
from plait.replaying import canonical, replay
from plait.runner import fork, resume, start
from plait.runtime.journal import RunJournal
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.places import anchored
from plait.runtime.report import result_json
from plait.task import Result
from plait.tools import executor
from plait.tools.executor import UNKNOWN_RESULT
from plait.tools.functions import tool
from plait.weave.workshop import Outcome

YES = Options(yes=True)
FUNCTIONS = (notebook.write_line, notebook.read_page)


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return file


@pytest.fixture(autouse=True)
def own_modules() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("my_tools", "their")):
            del sys.modules[name]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


def hands(log: RunLog, model: Callable[[Request], Any] = notebook.answer, **more: Any) -> Hands:
    return Hands(**{"tools": FUNCTIONS, "model": FunctionModel(model), "log": log, **more})


@pytest.mark.parametrize("task", ["", "  \n"])
async def test_an_empty_task(task: str, log: RunLog):
    with pytest.raises(UserError, match="the task is empty"):
        await start(task, YES, hands(log))
    assert log.runs() == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (Options(tools=("no.such.module",)), "there is no module 'no.such.module'"),
        (Options(files=("missing.txt",)), "missing.txt' does not exist"),
        (Options(prompts="missing"), "missing' is no folder"),
    ],
)
async def test_a_run_that_cannot_begin_leaves_nothing_behind(options: Options, line: str, log: RunLog):
    with pytest.raises(UserError, match=line):
        await start(notebook.TASK, options, hands(log))
    assert log.runs() == []
    assert not runs_folder().exists() or list(runs_folder().iterdir()) == []


async def test_a_run_that_did_something_before_any_model_was_asked_stays_on_record(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    async def does_and_fails(_: RunLog, journal: RunJournal, lent: Hands) -> Result:
        async def send(_: object) -> str:
            return "sent"

        await journal.call("send", send, {"to": "dana"}, kind="effect")
        await journal.close()
        raise UserError("the prompt 'answer' does not fit")

    monkeypatch.setattr(runner, "carry", does_and_fails)
    with pytest.raises(UserError):
        await start(notebook.TASK, YES, hands(log))
    (run,) = log.runs()
    assert any(isinstance(record.event, EffectIntended) for record in log.records(run.run_id))


async def test_a_run_whose_model_fails_can_be_resumed(log: RunLog):
    def once(request: Request) -> Any:
        text = notebook.answer(request)
        return ModelError("it is gone") if text.startswith("read_page") else text

    with pytest.raises(ModelError, match="it is gone"):
        await start(notebook.TASK, YES, hands(log, once))
    (run,) = log.runs()
    assert run.status == "interrupted"
    model = FunctionModel(notebook.answer)
    result = await resume(run.run_id, Hands(tools=FUNCTIONS, model=model, log=log))
    assert result.answer == notebook.ANSWER
    assert len(model.requests) == notebook.MODEL_CALLS - 2


async def test_a_cancelled_run_is_recorded_with_what_it_did(log: RunLog, written: Path):
    async def hang(request: Request) -> Any:
        text = notebook.answer(request)
        if text.startswith("write_line(number=3)"):
            await asyncio.Event().wait()
        return text

    seen = asyncio.Event()
    run = asyncio.create_task(
        start(notebook.TASK, YES, hands(log, hang, on_event=lambda r: "step-2/act" in r.path and seen.set()))
    )
    await seen.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    (summary,) = log.runs()
    assert (summary.status, summary.live) == ("cancelled", False)
    ended = log.records(summary.run_id)[-1].event
    assert isinstance(ended, RunFinished)
    assert ended.result["usage"]["model_calls"] == 3
    result = await resume(summary.run_id, hands(log))
    assert result.answer == notebook.ANSWER
    assert notebook.lines(written) == list(notebook.WRITES)


async def test_a_run_that_is_cancelled_when_it_is_done_keeps_its_outcome(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    loop, done, read = asyncio.get_running_loop(), False, log.records

    async def run_task(*args: Any) -> Outcome:
        nonlocal done
        outcome = await weave.run_task(*args)
        done = True
        return outcome

    def cancelling(run_id: str) -> list[Record]:
        async def cancel() -> None:
            run.cancel()
            await asyncio.sleep(0)  # Whoever waits for the records learns of it before they are there.

        if done:
            asyncio.run_coroutine_threadsafe(cancel(), loop).result()
        return read(run_id)

    monkeypatch.setattr(carrying, "run_task", run_task)
    monkeypatch.setattr(log, "records", cancelling)
    run = asyncio.create_task(start(notebook.TASK, YES, hands(log)))
    with pytest.raises(asyncio.CancelledError):
        await run
    (summary,) = log.runs()
    assert (summary.status, summary.live) == ("succeeded", False)
    ended = [each.event for each in read(summary.run_id) if isinstance(each.event, RunFinished)]
    assert [event.result["answer"] for event in ended] == [notebook.ANSWER]


@pytest.mark.parametrize("done", [True, False])
async def test_an_effect_in_doubt_ends_as_a_result_and_is_settled(
    done: bool, log: RunLog, written: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(executor, "GRACE_SECONDS", 0.01)
    under_way = asyncio.Event()

    @tool(name="write_line")
    async def slow(number: int) -> str:
        """Write a line, and hang at the third."""
        if number != 3 or done:
            notebook.write_line(number)
        if number == 3:
            under_way.set()
            await asyncio.Event().wait()
        return "written"

    run = asyncio.create_task(start(notebook.TASK, YES, hands(log, tools=(slow, notebook.read_page))))
    await under_way.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    run_id = log.runs()[0].run_id
    assert isinstance(log.records(run_id)[-2].event, EffectIntended)

    result = await resume(run_id, hands(log))
    assert result.status == "needs_decision"
    assert "effect in doubt" in result.message
    model = FunctionModel(notebook.answer)
    lent = replace(hands(log), model=model)
    result = await resume(run_id, lent, decision="assume-done" if done else "retry")
    assert result.answer == notebook.ANSWER
    assert done == any(UNKNOWN_RESULT in prompt(request) for request in model.requests)
    assert notebook.lines(written) == list(notebook.WRITES)


async def test_tools_of_the_run_must_be_there_again(log: RunLog):
    first = await start(notebook.TASK, Options(), hands(log))
    with pytest.raises(UserError, match="tools that are not there now: write_line"):
        await resume(first.run_id, hands(log, tools=(notebook.read_page,)))
    assert (await resume(first.run_id, hands(log), changes={"yes": True})).answer == notebook.ANSWER


async def test_two_calls_cannot_take_up_one_run(log: RunLog):
    first = await start(notebook.TASK, Options(), hands(log))
    journal = await log.resume(first.run_id)
    with pytest.raises(UserError, match="is running"):
        await resume(first.run_id, hands(log))
    await journal.close()


async def test_paths_mean_the_same_in_another_folder(
    tmp_path: Path, log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    shutil.copy(notebook.SOURCE, tmp_path / "my.py")
    monkeypatch.chdir(tmp_path)
    lent = Hands(model=FunctionModel(notebook.answer), log=log)
    first = await start(notebook.TASK, Options(tools=("my.py",), out="made"), lent)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    result = await resume(first.run_id, lent, changes={"yes": True})
    assert result.answer == notebook.ANSWER
    assert (tmp_path / "made").is_dir()


def test_only_paths_are_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    given = {"tools": ("pkg.module", "http://localhost/a.json", "a.py"), "seed": 1, "out": "", "files": ["f"]}
    assert anchored(given) == {
        "tools": ("pkg.module", "http://localhost/a.json", str(tmp_path / "a.py")),
        "seed": 1,
        "out": "",
        "files": (str(tmp_path / "f"),),
        "tools_folder": str(tmp_path),
    }
    assert anchored({"check": "make", "check_folder": "/there"})["check_folder"] == "/there"
    assert anchored({"tools": ["a.py"], "check": "make"})["check_folder"] == str(tmp_path)
    assert "tools_folder" not in anchored({"tools": ["a.py"], "check": "make"})


async def test_a_check_and_modules_of_tools_are_those_of_where_the_run_began(
    tmp_path: Path, log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    shutil.copy(notebook.SOURCE, tmp_path / "here" / "my_tools.py")
    (tmp_path / "here" / "right").touch()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "my_tools.py").write_text("raise RuntimeError('the wrong one')")
    lent = Hands(model=FunctionModel(notebook.answer), log=log)
    monkeypatch.chdir(tmp_path / "here")
    options = Options(tools=("my_tools",), yes=True, max_calls=3, rounds=1, check="test -e right")
    first = await start(notebook.TASK, options, lent)
    assert first.status == "budget_exhausted"
    del sys.modules["my_tools"]
    monkeypatch.chdir(tmp_path / "there")
    result = await resume(first.run_id, lent, changes={"max_calls": 99})
    assert (result.status, result.answer) == ("succeeded", notebook.ANSWER)
    forked = await fork(first.run_id, "round-1", {"check": "test ! -e right", "max_calls": 99}, lent)
    assert forked.status == "succeeded"


async def test_a_module_of_tools_of_another_folder_is_not_taken_for_the_runs_own(
    tmp_path: Path, log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    lent = Hands(model=FunctionModel(notebook.answer), log=log)
    for name in ("here", "there"):
        package = tmp_path / name / "their"
        package.mkdir(parents=True)
        shutil.copy(notebook.SOURCE, package / "tools.py")
    monkeypatch.chdir(tmp_path / "here")
    options = Options(tools=("their.tools",), yes=True, max_calls=3, rounds=1)
    first = await start(notebook.TASK, options, lent)
    monkeypatch.chdir(tmp_path / "there")
    line = r"their\.tools: the run's is '.*/there/their/tools\.py', but .*/here/their/tools\.py' by that name"
    with pytest.raises(UserError, match=line):
        await start(notebook.TASK, options, lent)
    assert (await resume(first.run_id, lent, changes={"max_calls": 4})).usage.model_calls == 4
    for name in ("their.tools", "their"):
        del sys.modules[name]
    second = await start(notebook.TASK, options, lent)
    assert second.usage.model_calls == 3
    with pytest.raises(UserError, match="go on with the run in another process"):
        await resume(first.run_id, lent, changes={"max_calls": 5})


async def test_a_module_of_tools_that_broke_meanwhile(
    tmp_path: Path, log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    shutil.copy(notebook.SOURCE, tmp_path / "my_tools.py")
    lent = Hands(model=FunctionModel(notebook.answer), log=log)
    monkeypatch.chdir(tmp_path)
    first = await start(notebook.TASK, Options(tools=("my_tools",), max_calls=3), lent)
    del sys.modules["my_tools"]
    (tmp_path / "my_tools.py").write_text("import no_such_thing")
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(
        UserError, match=r"my_tools: cannot be imported from .*No module named 'no_such_thing'"
    ):
        await resume(first.run_id, lent, changes={"max_calls": 99})


@pytest.mark.parametrize(
    ("change", "model"), [({"temperature": 0.7}, "m"), ({"seed": 5}, "m"), ({}, "other"), ({}, "m")]
)
@pytest.mark.parametrize(("place", "asked"), [("round-1/answer", 1), ("round-1/subtask-1", 10)])
async def test_a_fork_may_go_on_with_another_model_or_seed(
    log: RunLog, change: dict[str, Any], model: str, place: str, asked: int
):
    def named(name: str) -> FunctionModel:
        return FunctionModel(notebook.answer, name=name, takes_grammar=name == "m")

    first = await start(notebook.TASK, YES, Hands(tools=FUNCTIONS, model=named("m"), log=log))
    other = named(model)
    result = await fork(first.run_id, place, change, Hands(tools=FUNCTIONS, model=other, log=log))
    assert (result.status, len(other.requests)) == ("succeeded", asked)
    replayed = await replay(result.run_id, log.records(result.run_id))
    assert canonical(replayed) == canonical(result_json(result))


@pytest.mark.parametrize(
    ("more", "changes", "line"),
    [
        ({"tools": (), "model": None}, {"base_url": "nonsense", "model": "m"}, "is no HTTP address"),
        ({"tools": (), "model": None}, {"model": "nobody"}, "names no provider"),
        ({"tools": ()}, {}, "tools that are not there now"),
    ],
)
async def test_a_refused_resume_leaves_the_run_as_it_was(
    log: RunLog, more: dict[str, Any], changes: dict[str, Any], line: str
):
    first = await start(notebook.TASK, Options(yes=True, max_calls=4), hands(log))
    before, listed = log.records(first.run_id), log.runs()
    with pytest.raises(UserError, match=line):
        await resume(first.run_id, replace(hands(log), **more), changes={"max_calls": 99, **changes})
    assert (log.records(first.run_id), log.runs()) == (before, listed)
    result = await resume(first.run_id, hands(log), changes={"max_calls": 99})
    assert result.answer == notebook.ANSWER
    replayed = await replay(result.run_id, log.records(result.run_id))
    assert canonical(replayed) == canonical(result_json(result))


async def test_a_budget_counts_what_earlier_processes_used(log: RunLog):
    first = await start(notebook.TASK, Options(yes=True, max_calls=4), hands(log))
    second = await resume(first.run_id, hands(log), changes={"max_calls": 6})
    assert (second.status, second.usage.model_calls) == ("budget_exhausted", 6)
