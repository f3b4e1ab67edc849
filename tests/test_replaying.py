"""Replaying from Python: changed records are found out, and nothing is asked or run."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import notebook

from plait.errors import PlaitError, UserError
from plait.events import Record, RunFinished, StepRecorded
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import FunctionModel
from plait.outfit.hands import Hands
from plait.replaying import canonical, replay
from plait.runner import start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.replay import ReplayMiss
from plait.runtime.report import result_json


@pytest.fixture
async def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunLog]:
    monkeypatch.setenv("NOTEBOOK", str(tmp_path / "notebook.txt"))
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


async def solved(log: RunLog) -> tuple[str, list[Record]]:
    tools = (notebook.write_line, notebook.read_page)
    hands = Hands(tools=tools, model=FunctionModel(notebook.answer), log=log)
    result = await start(notebook.TASK, Options(yes=True), hands)
    records = log.records(result.run_id)
    replayed = await replay(result.run_id, records)
    assert canonical(replayed) == canonical(result_json(result))
    return result.run_id, records


async def test_a_result_that_is_not_unicode_is_compared_all_the_same():
    assert canonical({"b": "caf\udce9", "a": 1}) == canonical({"a": 1, "b": "caf\udce9"})
    assert canonical({"b": "caf\udce9"}) != canonical({"b": "caf?"})


@pytest.mark.parametrize("takes_grammar", [True, False])
async def test_what_a_model_takes_is_told_from_its_records(log: RunLog, takes_grammar: bool):
    model = FunctionModel(lambda _: "no call at all", takes_grammar=takes_grammar)
    lent = Hands(model=model, embedder=HashEmbedder(), log=log)
    result = await start("find a mail", Options(tools=("plait.tools.office",)), lent)
    assert result.status == "failed"
    replayed = await replay(result.run_id, log.records(result.run_id))
    assert canonical(replayed) == canonical(result_json(result))


async def test_a_changed_result_is_found_out(log: RunLog):
    run_id, records = await solved(log)
    last = records[-1]
    assert isinstance(last.event, RunFinished)
    result = {**last.event.result, "answer": "another"}
    records[-1] = replace(last, event=replace(last.event, result=result))
    with pytest.raises(PlaitError, match="its log was changed"):
        await replay(run_id, records)


async def test_a_changed_reply_is_found_out(log: RunLog):
    run_id, records = await solved(log)
    at = max(n for n, record in enumerate(records) if "/answer/" in record.path and record.path[-1] == "1")
    event = records[at].event
    assert isinstance(event, StepRecorded)
    other = {**event.result, "text": event.result["text"].replace("written", "lost")}
    records[at] = replace(records[at], event=replace(event, result=other))
    with pytest.raises(ReplayMiss, match="is not the one on record"):
        await replay(run_id, records)


async def test_a_missing_step_is_found_out(log: RunLog):
    run_id, records = await solved(log)
    kept = [record for record in records if not record.path.endswith("step-2/act/call")]
    assert len(kept) < len(records)
    with pytest.raises(ReplayMiss, match="is not on record"):
        await replay(run_id, kept)


async def test_a_run_without_an_end(log: RunLog):
    run_id, records = await solved(log)
    with pytest.raises(UserError, match="has not come to its own end"):
        await replay(run_id, records[:-1])
