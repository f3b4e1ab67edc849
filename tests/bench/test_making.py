"""Programs and stories as benchmarks: how methods make them, and how what they made is measured."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.bench.making_tasks import answer, software_table, story_file

from plait.bench.baselines import generation
from plait.bench.benchmark import Benchmark, Ended
from plait.bench.benchmarks import BENCHMARKS
from plait.bench.benchmarks.srdd import SRDD, load_software
from plait.bench.benchmarks.stories import DIMENSIONS, STORIES, load_stories
from plait.bench.made import program_in
from plait.bench.methods.method import Means
from plait.bench.rows import numbered_rows
from plait.domains.declaration import read_declaration
from plait.domains.loading import read_domain
from plait.errors import ReplyError, UserError
from plait.events import MeetingStarted, SolutionRated, StepRecorded, TeamStarted
from plait.models.embeddings import HashEmbedder
from plait.models.protocol import LanguageModel
from plait.models.scripted import FunctionModel
from plait.paths import runs_folder
from plait.runtime.log import RunLog


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


@pytest.fixture
def software(tmp_path: Path) -> Path:
    return software_table(tmp_path)


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    return story_file(tmp_path)


def means_of(benchmark: Benchmark[Any], log: RunLog, model: LanguageModel, **said: Any) -> Means:
    options = benchmark.options({"teams": 3, "sandbox": False, **said} if benchmark is SRDD else said)
    return Means(options=options, log=log, model=model, embedder=HashEmbedder())


async def solved(means: Means, benchmark: Benchmark[Any], data: Path, method: str) -> tuple[str, Ended, Any]:
    """Solve the first task; return how that ended."""
    task = benchmark.load(data)[0]
    status = await benchmark.method(method).solve(task, "r1", means)
    return status, Ended(run_id="r1", broke=False, means=means), task


def asked(model: FunctionModel) -> list[str]:
    """Return who wrote, by what it was asked for: the judge's calls are not among them."""
    return [text for text in map(_prompt, model.requests) if "You grade a text" not in text]


def _prompt(request: Any) -> str:
    return "\n".join(message.content for message in request.messages)


async def test_one_agent_makes_a_program_in_one_step(log: RunLog, software: Path) -> None:
    model = FunctionModel(answer)
    means = means_of(SRDD, log, model)
    status, ended, task = await solved(means, SRDD, software, "single-agent")
    assert status == "succeeded"
    assert len(asked(model)) == 1
    assert "# critique" not in asked(model)[0]
    found = await SRDD.judge(task, ended)
    # A function that does nothing: it runs, and half of its two units is not written.
    assert (found["strict_completeness"], found["strict_executability"]) == (0.5, 1.0)
    assert (found["official_completeness"], found["official_executability"]) == (0.0, 1.0)
    assert (found["files"], found["lines"]) == (1, 3)
    assert SRDD.fields() <= set(found)


async def test_of_n_programs_the_best_by_quality_is_taken_as_it_is(log: RunLog, software: Path) -> None:
    model = FunctionModel(answer)
    means = means_of(SRDD, log, model, teams=3)
    _, ended, task = await solved(means, SRDD, software, "best-of-n")
    assert len(asked(model)) == 3
    assert {request.settings.temperature for request in model.requests} == {0.2}
    assert len({request.settings.seed for request in model.requests}) == 3
    events = [record.event for record in log.records("r1")]
    assert not any(isinstance(event, MeetingStarted) for event in events)
    assert "print('rain')" in (runs_folder() / "r1" / "main.py").read_text(encoding="utf-8")
    assert (await SRDD.judge(task, ended))["strict_completeness"] == 1.0
    label = SRDD.method("best-of-n").label("best-of-n", means.options)
    assert label == "best-of-3"


async def test_one_chain_is_one_team_with_all_phases_and_no_gate(log: RunLog, software: Path) -> None:
    model = FunctionModel(answer)
    means = means_of(SRDD, log, model, leave_out=("2:review",), temperatures=(0.9,))
    await solved(means, SRDD, software, "single-chain")
    [team] = [record.event for record in log.records("r1") if isinstance(record.event, TeamStarted)]
    assert (team.temperature, len(team.phases)) == (0.2, 8)
    assert not any("# critique" in text for text in asked(model))
    assert any("reply AGREED" in text for text in asked(model))


async def test_judging_counts_for_no_method_and_can_be_looked_at(log: RunLog, stories: Path) -> None:
    model = FunctionModel(answer)
    means = means_of(STORIES, log, model, teams=2)
    status, ended, task = await solved(means, STORIES, stories, "best-of-n")
    steps = [r for r in log.records("r1") if isinstance(r.event, StepRecorded) and r.event.step == "model"]
    assert (status, len(steps)) == ("succeeded", 4)  # Two write, and both are graded to take one.
    found = await STORIES.judge(task, ended)
    assert found == {"quality": 2.0, **dict.fromkeys(DIMENSIONS.values(), 2.0)}
    again = [r for r in log.records("r1") if isinstance(r.event, StepRecorded) and r.event.step == "model"]
    assert len(again) == len(steps)
    [rating] = [r.event for r in log.records("r1-judged") if isinstance(r.event, SolutionRated)]
    assert rating.quality == 2.0


def test_a_program_is_all_files_but_those_that_are_handed_over_beside_it(tmp_path: Path) -> None:
    assert program_in(tmp_path) is None
    beside = ("RECORD.md", "MANUAL.md", "MANUAL-2.md", "requirements.txt", ".plait-files.json")
    for name in (*beside, "main.py", "NOTES.md"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_bytes(b"\xff\n")
    program = program_in(tmp_path)
    assert program is not None
    assert [*program.files] == ["NOTES.md", "data/rows.csv", "main.py"]


@pytest.mark.parametrize("name", ["srdd", "stories"])
async def test_what_made_nothing_is_worth_nothing_and_is_not_judged(
    log: RunLog, tmp_path: Path, name: str
) -> None:
    benchmark = BENCHMARKS[name]
    data = software_table(tmp_path) if name == "srdd" else story_file(tmp_path)
    model = FunctionModel(answer)
    ended = Ended(run_id="none", broke=False, means=means_of(benchmark, log, model))
    found = await benchmark.judge(benchmark.load(data)[0], ended)
    assert set(found.values()) == {0}
    assert benchmark.fields() <= set(found)
    assert model.requests == []


async def test_a_judge_that_gives_no_grades_is_an_error(log: RunLog, stories: Path) -> None:
    model = FunctionModel(lambda request: "I like it." if "You grade" in _prompt(request) else "It rained.")
    means = means_of(STORIES, log, model, teams=1)
    folder = runs_folder() / "r1"
    folder.mkdir(parents=True)
    (folder / "story.md").write_text("It rained.", encoding="utf-8")
    with pytest.raises(ReplyError, match="judge"):
        await STORIES.judge(STORIES.load(stories)[0], Ended(run_id="r1", broke=False, means=means))


def test_one_step_is_rated_as_teams_are() -> None:
    for name in ("software", "story"):
        file = Path(generation.__file__).with_name(f"one_step_{name}.toml")
        own, teams = read_domain(str(file)), read_domain(name)
        declared = [read_declaration(each.text, each.name) for each in (own, teams)]
        assert declared[0].quality == declared[1].quality
        assert declared[0].product == declared[1].product
        [step] = declared[0].phases
        whole = next(phase for phase in declared[1].phases if phase.writes == step.writes)
        assert (step.reply, step.first_file, step.max_tokens, step.prose) == (
            whole.reply,
            whole.first_file,
            whole.max_tokens,
            whole.prose,
        )


def test_programs_are_read_with_their_categories(software: Path) -> None:
    tasks = load_software(software.parent)
    assert [task.name for task in tasks] == ["Rain_Teller", "Sun_Teller", "Adder"]
    assert (tasks[0].query, tasks[2].category) == ("Tells, once, that it rains.", "Numbers")


def test_stories_are_read_from_lines_and_from_the_table_of_their_makers(stories: Path) -> None:
    [first, *_] = load_stories(stories.parent)
    assert first.query == "Write a story with the title 'Day 0' that tells this: It was day 0. It rained."
    table = stories.with_name("ROCStories.csv")
    table.write_text(
        "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\nx,Rain,A.,B.,C.,D.,E.\n",
        encoding="utf-8",
    )
    assert [task.story for task in load_stories(table)] == ["A. B. C. D. E."]
    assert len(load_stories(stories.parent)) == 4


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("stories.jsonl", '{"title": "x"}\n', "line 1: there is no 'story'"),
        ("stories.jsonl", "[]\n", "line 1: it is no object"),
        ("stories.jsonl", "{}\n\n{\n", "line 1: there is no 'title'"),
        ("stories.jsonl", '{"title": "x", "story": "y"}\n\n{\n', "line 3: it is no JSON"),
        ("stories.jsonl", '{"title": "x", "story": "\udcff"}\n', "line 1: it is no UTF-8"),
        ("rows.csv", "Name,Description,Category\nx,\udcff,z\n", "line 2: it is no UTF-8"),
        ("rows.csv", "Name,Description,Category\rx,y,z\rx,,z\r", "line 3: there is no 'Description'"),
        ("rows.csv", "Name,Description,Category\rx,y,z\rx,\udcff,z\r", "line 3: it is no UTF-8"),
        ("rows.csv", "Name,Description\nx,y\n", "has no column 'Category'"),
        ("rows.csv", "Name,Description,Category\nx,,z\n", "line 2: there is no 'Description'"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_line(tmp_path: Path, name: str, text: str, problem: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    with pytest.raises(UserError, match=problem):
        (load_stories if name.endswith("jsonl") else load_software)(file)


def test_a_table_whose_lines_end_in_carriage_returns_alone_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b'Name,Description,Category\rx,y,z\rx,"a\r\nb",z\r')
    rows = list(numbered_rows(file, ("Name", "Description", "Category")))
    assert [(number, row["Description"]) for number, row in rows] == [(2, "y"), (4, "a\r\nb")]


def test_a_byte_order_mark_and_blank_lines_are_passed_over(software: Path, stories: Path) -> None:
    for file, load in ((software, load_software), (stories, load_stories)):
        plain = load(file)
        file.write_text(f"\ufeff{file.read_text(encoding='utf-8')}\n", encoding="utf-8")
        assert load(file) == plain


def test_a_folder_without_task_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no task files \(\*\.csv\)"):
        load_software(tmp_path)
