"""Teams from Python: a named domain, one in a file, and one that is an object of the program."""

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support import studio

import plait
from plait.errors import UserError
from plait.events import Noted
from plait.models.embeddings import HashEmbedder
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel
from plait.paths import runs_folder
from plait.replaying import replay
from plait.runtime.log import RunLog
from plait.runtime.report import result_json
from plait.teams.chain import Chain, Domain, Phase
from plait.teams.solution import Rating, Solution
from plait.tools.sandbox import Runner, SandboxError

POLISHED = "The note, PLANNED, with DETAIL, POLISHED."


class Length:
    """Rates a text by its length alone."""

    async def rate(self, journal: object, task: str, solution: Solution) -> Rating:
        return Rating(quality=len(solution.text) / 100)


NOTES = Domain(
    name="notes",
    chain=Chain(
        phases=(
            Phase(
                name="writing",
                instructor="editor",
                assistant="writer",
                prompt="{{task}}\n\nWrite the note.",
                criteria="- it is short",
                writes="note",
                key=True,
            ),
        )
    ),
    roles={"editor": "You are an editor.", "writer": "You are a writer."},
    aggregator="You are an editor.",
    product="note",
    quality=Length(),
)


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


def model() -> FunctionModel:
    return FunctionModel(studio.answer)


async def test_a_domain_in_a_file(log: RunLog):
    result = await plait.solve(
        studio.TASK, domain=Path(studio.DOMAIN), teams=3, temperatures=[0.1], model=model(), log=log
    )
    assert (result.status, result.answer, result.score) == ("succeeded", POLISHED, 1.0)
    assert [team["temperature"] for team in result.teams] == [0.1] * 3
    assert [Path(path).name for path in result.artifacts] == ["RECORD.md", "note.md"]


async def test_a_domain_of_the_program_is_lent_again(log: RunLog):
    asked = model()
    short = await plait.solve(studio.TASK, domain=NOTES, teams=2, model=asked, log=log, max_calls=1)
    assert short.status == "budget_exhausted"
    with pytest.raises(UserError, match="the domain 'notes' came from a Python program"):
        await plait.resume(short.run_id, model=asked, log=log, max_calls=50)
    whole = await plait.resume(short.run_id, domain=NOTES, model=asked, log=log, max_calls=50)
    assert (whole.status, whole.answer) == ("succeeded", studio.NOTE)
    assert whole.domain == "python:notes"
    records = log.records(whole.run_id)
    with pytest.raises(UserError, match="came from a Python program"):
        await replay(whole.run_id, records)
    assert await replay(whole.run_id, records, domain=NOTES) == result_json(whole)


async def test_a_named_domain_is_not_given_again(log: RunLog):
    with pytest.raises(UserError, match="the domain of a run is on record: leave out 'story'"):
        await plait.resume("x", domain="story", log=log)  # pyright: ignore[reportArgumentType]


async def test_phases_of_a_domain_of_the_program_are_its_own(log: RunLog):
    with pytest.raises(UserError, match="--phases is for domains in files"):
        await plait.solve(studio.TASK, domain=NOTES, phases=["writing"], model=model(), log=log)


PROGRAM = "```python main.py\nprint('rain')\n```\n# critique: fine\n# score: 9"


def programming(request: Request) -> str:
    """Reply as a programmer who always writes the same program, and a manual."""
    text = "\n".join(message.content for message in request.messages)
    if "reply AGREED" in text:
        return "AGREED\n# critique: fine\n# score: 9"
    return PROGRAM if "code block of its own" in text else "It rains.\n# critique: fine\n# score: 9"


async def test_a_program_in_its_folder(log: RunLog, tmp_path: Path):
    result = await plait.solve(
        "Print rain",
        domain="software",
        teams=2,
        phases=["demand analysis", "language choice", "design", "coding", "manual"],
        out=str(tmp_path / "rain"),
        model=FunctionModel(programming),
        embedder=HashEmbedder(),
        log=log,
        sandbox=False,
    )
    assert result.status == "succeeded"
    assert str(result.answer).startswith("1 file, 1 line: main.py (1 line). Quality ")
    names = [Path(path).name for path in result.artifacts]
    assert names == ["MANUAL.md", "RECORD.md", "main.py", "requirements.txt"]
    assert (tmp_path / "rain" / "main.py").read_text() == "print('rain')\n"
    assert "- main.py: " in (tmp_path / "rain" / "RECORD.md").read_text()
    assert result_json(result) == await replay(result.run_id, log.records(result.run_id))


async def test_a_program_that_does_not_run_is_handed_over_by_a_run_that_failed(log: RunLog):
    result = await plait.solve(
        "Print rain",
        domain="software",
        teams=1,
        phases=["coding"],
        reading="official",
        model=FunctionModel(lambda request: PROGRAM.replace("print", "drip")),
        embedder=HashEmbedder(),
        log=log,
        sandbox=False,
    )
    assert result.status == "failed"
    assert result.message == (
        "the program does not run: `python main.py` stops with an error: "
        "NameError: name 'drip' is not defined / main.py, line 1: drip('rain')"
    )
    assert "main.py" in [Path(path).name for path in result.artifacts]
    assert result_json(result) == await replay(result.run_id, log.records(result.run_id))


async def test_without_a_sandbox_a_run_that_makes_programs_stops_before_anything_is_spent(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    tried_in: list[threading.Thread] = []

    def refusing() -> Runner:
        tried_in.append(threading.current_thread())
        raise SandboxError("generated code cannot be run safely", "install it, or --no-sandbox")

    monkeypatch.setattr("plait.outfit.domains.sandbox", refusing)
    asked = FunctionModel(programming)
    with pytest.raises(UserError) as caught:
        await plait.solve("Print rain", domain="software", teams=2, model=asked, log=log)
    assert caught.value.message == "generated code cannot be run safely; install it, or --no-sandbox"
    assert (asked.requests, log.runs()) == ([], [])
    assert tried_in != [threading.current_thread()]  # The event loop goes on meanwhile.
    story = await plait.solve("Rain", domain="story", teams=1, phases=["writing"], model=model(), log=log)
    assert (story.status, len(tried_in)) == ("succeeded", 1)


def full_disk(monkeypatch: pytest.MonkeyPatch, *takes: str) -> None:
    """Let no file be put in its place but those of these names."""
    replace = os.replace

    def put(source: Path, target: Path) -> None:
        if Path(target).name not in takes:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr("plait.domains.folder.os.replace", put)


async def test_a_result_that_no_folder_takes_is_handed_over_when_the_run_is_resumed(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    asked = model()
    with monkeypatch.context() as patched:
        full_disk(patched)
        with pytest.raises(UserError) as caught:
            await plait.solve(studio.TASK, domain=NOTES, teams=1, model=asked, log=log)
    [run] = log.runs()
    assert "No space left on device" in caught.value.message
    assert caught.value.message.endswith(
        f"; the result is on record: mend that, and `plait resume {run.run_id}` hands it over"
    )
    calls = len(asked.requests)
    result = await plait.resume(run.run_id, domain=NOTES, model=asked, log=log)
    assert (result.status, len(asked.requests)) == ("succeeded", calls)
    assert [Path(path).name for path in result.artifacts] == ["RECORD.md", "note.md"]


async def test_a_result_whose_files_cannot_be_written_is_one_page_in_the_runs_own_folder(
    log: RunLog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    full_disk(monkeypatch, ".plait-files.json", "RECORD.md", "RESULT.md")
    result = await plait.solve(
        studio.TASK, domain=NOTES, teams=1, model=model(), log=log, out=str(tmp_path / "out")
    )
    own = runs_folder() / result.run_id
    assert list(result.artifacts) == [str(own / "RECORD.md"), str(own / "RESULT.md")]
    assert (own / "RESULT.md").read_text() == f"{result.answer}\n"
    notes = [r.event.text for r in log.records(result.run_id) if isinstance(r.event, Noted)]
    assert any("No space left" in note and note.endswith(f"the result is in {str(own)!r}") for note in notes)
