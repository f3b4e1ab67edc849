"""What a run compares by meaning is counted: live, on resume and on replay."""

from collections.abc import AsyncIterator, Sequence

import pytest
from tests.support import notebook

from plait.models.embeddings import HashEmbedder
from plait.models.scripted import FunctionModel
from plait.outfit.hands import Hands
from plait.replaying import canonical, replay
from plait.runner import resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.tools.tool import Tool


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


async def nothing(_: object) -> str:
    raise AssertionError("it is not called")


MANY = [
    Tool(name=f"tool_{number}", description="", parameters={}, effect="reads", run=nothing, source="tests")
    for number in range(40)
]


async def test_tools_are_embedded_once_for_all_runs(log: RunLog) -> None:
    asked: list[list[str]] = []

    class Embedder(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            asked.append(list(texts))
            return await super().embed(texts)

    lent = Hands(
        tools=[*MANY, notebook.read_page],
        model=FunctionModel(lambda _: "no call at all", takes_grammar=True),
        embedder=Embedder(),
        log=log,
    )
    for task in ("read a page", "read another page"):
        await start(task, Options(max_calls=3), lent)
    assert [sum(text.startswith("tool 7: ") for text in texts) for texts in asked].count(1) == 1


async def test_embedding_calls_are_counted(log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class Embedder(HashEmbedder):
        async def embed(self, texts: object) -> list[list[float]]:
            calls.append(1)
            return await super().embed(texts)  # pyright: ignore[reportArgumentType]

    lent = Hands(
        tools=[*MANY, notebook.read_page],
        model=FunctionModel(lambda _: "no call at all", takes_grammar=True),
        embedder=Embedder(),
        log=log,
    )
    first = await start("read a page", Options(max_calls=3), lent)
    assert first.usage.embedding_calls == len(calls) > 0
    result = await resume(first.run_id, lent, changes={"max_calls": 99})
    assert result.usage.embedding_calls == len(calls) > first.usage.embedding_calls
    assert result.status == "failed"
    replayed = await replay(result.run_id, log.records(result.run_id))
    assert canonical(replayed) == canonical(result_json(result))
