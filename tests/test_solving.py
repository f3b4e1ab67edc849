"""Plait from Python: typed results, streams, callbacks, and its options."""

import ast
import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, assert_type

import pytest
from pydantic import BaseModel, field_validator
from tests.support import notebook

import plait
from plait.errors import ModelError, UserError
from plait.events import Record, RunFinished, RunStarted
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel
from plait.runtime.log import RunLog
from plait.runtime.options import NOTED, Options
from plait.solve_options import LimitOptions, SolveOptions

TOOLS = [notebook.write_line, notebook.read_page]


class Line(BaseModel):
    number: int


class Lines(BaseModel):
    written: list[Line]

    @field_validator("written")
    @classmethod
    def some(cls, value: list[Line]) -> list[Line]:
        if not value:
            raise ValueError("there must be lines")
        return value


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return file


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


def good() -> FunctionModel:
    return FunctionModel(notebook.answer)


def answering(value: Any) -> FunctionModel:
    """Return a model that solves the task with an answer of a type."""

    def reply(request: Request) -> str:
        text = notebook.answer(request)
        if not text.startswith(notebook.ANSWER):
            return text
        return json.dumps({"output": {"answer": value}, "critique": "", "score": 10})

    return FunctionModel(reply)


async def test_a_task_is_solved_with_functions(written: Path, log: RunLog):
    model = good()
    result = await plait.solve(notebook.TASK, tools=TOOLS, model=model, yes=True, log=log)
    assert_type(result.answer, str | None)
    assert (result.status, result.answer) == ("succeeded", notebook.ANSWER)
    assert isinstance(result, plait.Result)
    assert result.usage.model_calls == len(model.requests) == notebook.MODEL_CALLS
    assert notebook.lines(written) == list(notebook.WRITES)


async def test_options_come_from_a_settings_file_that_is_named(
    written: Path, log: RunLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "plait.toml").write_text("no-experience = true\nyes = true\nseed = 4\nrounds = 2")
    monkeypatch.chdir(tmp_path)
    unread = await plait.solve(notebook.TASK, tools=TOOLS, model=good(), dry_run=True, log=log)
    file = tmp_path / "plait.toml"
    result = await plait.solve(notebook.TASK, tools=TOOLS, model=good(), seed=5, settings=file, log=log)
    assert (result.status, notebook.lines(written)) == ("succeeded", list(notebook.WRITES))
    before, after = (log.records(run.run_id)[0].event for run in (unread, result))
    assert isinstance(before, RunStarted)
    assert (before.options["without"], before.options["seed"]) == ([], 0)
    assert isinstance(after, RunStarted)
    assert (after.options["without"], after.options["seed"], after.options["rounds"]) == (
        ["experience"],
        5,
        2,
    )


async def test_the_answer_is_an_instance_of_the_asked_type(log: RunLog):
    model = answering({"written": [{"number": 1}, {"number": "3"}]})
    result = await plait.solve(notebook.TASK, tools=TOOLS, returns=Lines, model=model, yes=True, log=log)
    assert_type(result.answer, Lines | None)
    assert result.answer == Lines(written=[Line(number=1), Line(number=3)])
    recorded = log.records(result.run_id)[0].event
    assert isinstance(recorded, RunStarted)
    assert recorded.options["returns"]["properties"]["written"]["items"]["type"] == "object"
    again = await plait.resume(result.run_id, tools=TOOLS, returns=Lines, model=model, log=log)
    assert again == result


async def test_any_type_will_do(log: RunLog):
    result = await plait.solve(
        notebook.TASK, tools=TOOLS, returns=list[int], model=answering([1, 3]), yes=True, log=log
    )
    assert_type(result.answer, list[int] | None)
    assert result.answer == [1, 3]


async def test_an_answer_that_the_type_refuses_is_none(log: RunLog):
    result = await plait.solve(
        notebook.TASK, tools=TOOLS, returns=Lines, model=answering({"written": []}), yes=True, log=log
    )
    assert (result.status, result.answer) == ("failed", None)
    assert "there must be lines" in result.message


async def test_a_type_without_a_schema(log: RunLog):
    with pytest.raises(UserError, match="No JSON schema for"):
        await plait.solve(notebook.TASK, returns=Callable[[], int], model=good(), log=log)  # pyright: ignore[reportCallIssue, reportArgumentType]


async def test_a_stream_yields_every_record_and_then_the_result(log: RunLog):
    seen: list[Record] = []
    stream = plait.stream(notebook.TASK, tools=TOOLS, model=good(), yes=True, log=log, on_event=seen.append)
    with pytest.raises(RuntimeError, match="has not ended"):
        _ = stream.result
    records = [record async for record in stream]
    assert_type(stream.result.answer, str | None)
    assert stream.result.answer == notebook.ANSWER
    assert records == seen == log.records(stream.result.run_id)
    assert isinstance(records[-1].event, RunFinished)
    with pytest.raises(RuntimeError, match="iterated over before"):
        aiter(stream)


async def test_leaving_a_stream_cancels_its_run(log: RunLog):
    run_id = ""
    async with plait.stream(notebook.TASK, tools=TOOLS, model=good(), yes=True, log=log) as records:
        async for record in records:
            run_id = record.run_id
            if record.path.endswith("subtask-1/step-1/act/call"):
                break
    assert [(run.run_id, run.status, run.live) for run in log.runs()] == [(run_id, "cancelled", False)]
    result = await plait.resume(run_id, tools=TOOLS, model=good(), log=log)
    assert result.answer == notebook.ANSWER


async def test_what_a_run_raises_comes_out_of_its_stream(log: RunLog):
    model = FunctionModel(lambda _: ModelError("no"))
    with pytest.raises(ModelError, match="no"):
        async for _ in plait.stream(notebook.TASK, tools=TOOLS, model=model, log=log):
            pass


@pytest.mark.parametrize("is_async", [True, False])
async def test_every_effect_is_asked_about(is_async: bool, written: Path, log: RunLog):
    asked: list[tuple[str, Any]] = []

    def approve(tool: plait.Tool, arguments: Mapping[str, Any]) -> bool:
        asked.append((tool.name, arguments["number"]))
        return arguments["number"] < 5

    async def approve_later(tool: plait.Tool, arguments: Mapping[str, Any]) -> bool:
        await asyncio.sleep(0)
        return approve(tool, arguments)

    chosen = approve_later if is_async else approve
    await plait.solve(notebook.TASK, tools=TOOLS, model=good(), approve=chosen, rounds=1, log=log)
    assert asked[:3] == [("write_line", 1), ("write_line", 3), ("write_line", 5)]
    assert notebook.lines(written)[:2] == [1, 3]
    assert 5 not in notebook.lines(written)


async def test_a_run_that_needs_a_decision_goes_on(written: Path, log: RunLog):
    model = good()
    result = await plait.solve(notebook.TASK, tools=[notebook.SOURCE], model=model, log=log)
    assert result.status == "needs_decision"
    done = await plait.resume(result.run_id, model=model, yes=True, log=log)
    assert done.answer == notebook.ANSWER
    assert len(model.requests) == notebook.MODEL_CALLS
    assert notebook.lines(written) == list(notebook.WRITES)


async def test_files_and_prompts_of_the_caller(tmp_path: Path, log: RunLog):
    (tmp_path / "facts.txt").write_text("cheese is blue")
    model = good()
    await plait.solve(
        notebook.TASK, tools=TOOLS, model=model, files=[tmp_path / "facts.txt"], yes=True, log=log
    )
    assert "cheese is blue" in model.requests[0].messages[-1].content


def test_the_synchronous_twins(written: Path):
    short = plait.solve_sync(notebook.TASK, tools=TOOLS, model=good(), yes=True, max_calls=4)
    assert short.status == "budget_exhausted"
    result = plait.resume_sync(short.run_id[:-1], tools=TOOLS, model=good(), max_calls=20)
    assert_type(result.answer, str | None)
    assert result.answer == notebook.ANSWER


async def test_the_synchronous_twins_inside_a_loop():
    with pytest.raises(UserError, match=r"await plait\.solve"):
        plait.solve_sync(notebook.TASK)


@pytest.mark.parametrize("option", ["allow", "deny", "files", "tools", "without"])
async def test_a_text_is_no_list_of_letters(log: RunLog, option: str):
    given: dict[str, Any] = {option: "cal*"}
    with pytest.raises(UserError, match=rf"{option} must be a list, not 'cal\*'"):
        await plait.solve(notebook.TASK, model=good(), log=log, **given)
    assert log.runs() == []


async def test_an_unknown_option_is_refused(log: RunLog):
    with pytest.raises(UserError, match="there is no option 'max_call'"):
        await plait.solve(notebook.TASK, max_call=3, log=log)  # pyright: ignore[reportCallIssue]


async def test_named_sources_are_not_given_again(log: RunLog):
    with pytest.raises(UserError, match="leave out pkg"):
        await plait.resume("x", tools=["pkg"], log=log)


def test_every_option_is_a_keyword():
    known = {field.name for field in fields(Options)}
    lent = {"on_event", "approve", "embedder", "log", "settings"}
    assert SolveOptions.__optional_keys__ == known - {"tools", "returns", *NOTED} | lent
    assert LimitOptions.__optional_keys__ < SolveOptions.__optional_keys__


async def test_the_scripted_run_of_the_documentation(log: RunLog):
    @plait.tool(effect="reads")
    def square(number: int) -> int:
        """Return the square of a number."""
        return number * number

    page = (Path(__file__).parent.parent / "docs" / "how-to" / "python.md").read_text()
    script: list[Any] = ast.literal_eval(page.partition("\nscript = ")[2].partition("\n]")[0] + "]")
    async with plait.ScriptedModel(script) as model:
        result = await plait.solve("What is 17 squared?", tools=[square], model=model, log=log)
    assert result.answer == "289"
