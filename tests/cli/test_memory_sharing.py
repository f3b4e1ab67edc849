"""`plait memory` between people: what leaves, what comes in, what is approved, and what is undone."""

import asyncio
import io
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.experience.shared_records import deleting, line_of, workflow_record
from tests.support.terminal import at_a_terminal

from plait.cli import memory_import
from plait.cli.app import run
from plait.events import LessonRecalled, PipelineRecalled, WorkflowRecalled
from plait.experience.pipelines.paper_form import as_json, from_json
from plait.experience.pipelines.pipeline import Constant
from plait.experience.record import Experience
from plait.experience.sharing.lines import header
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

WORKFLOW = workflow_record(
    "Count my meetings with olivia", "Find my meetings with olivia", run_id="run-of-bob"
)


KEY = "ghp_" + "Ab1" * 12


def with_store(do: Callable[[ExperienceStore], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        log = RunLog.open()
        try:
            return await do(ExperienceStore(log))
        finally:
            await log.close()

    return asyncio.run(go())


def keep(*records: Experience) -> None:
    async def add(store: ExperienceStore) -> None:
        for record in records:
            await store.add(record)

    with_store(add)


def held(memory: str = "default") -> list[Experience]:
    return with_store(lambda store: store.find(memory=memory))


def personal() -> Experience:
    """Return a pipeline with a constant that looks personal."""
    pipeline = from_json(deleting().content)
    nodes = [
        replace(node, arguments={**node.arguments, "query": Constant(value="Raj Patel")})
        if node.name == "search_events"
        else node
        for node in pipeline.nodes
    ]
    content = {**deleting().content, **as_json(replace(pipeline, nodes=nodes))}
    return deleting(content=content)


def file_with(tmp_path: Path, *lines: Any, name: str = "friend.jsonl") -> str:
    file = tmp_path / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join([header(), *texts]) + "\n")
    return str(file)


@pytest.fixture
def out(tmp_path: Path) -> str:
    return str(tmp_path / "out.jsonl")


def test_what_is_exported_comes_in_elsewhere_and_waits(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    keep(deleting(), WORKFLOW)
    assert run(["memory", "export", out]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "leaves: Delete my first meeting on March 14, 2024" in told.err
    assert f"Exported 2 records to {out}." in told.err
    assert run(["memory", "import", out, "--memory", "work"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Imported 2 records from out.jsonl; 0 were there already.",
        "None is used before you approve it: plait memory approve --source out.jsonl",
    ]
    assert {(record.status, record.source, record.uses) for record in held("work")} == {
        ("quarantined", "out.jsonl", 0)
    }


def test_an_export_is_the_same_bytes_whenever_it_is_made(out: str, tmp_path: Path) -> None:
    keep(deleting(), WORKFLOW)
    other = tmp_path / "other.jsonl"
    assert run(["memory", "export", out]) == 0
    with_store(lambda store: store.used("aa11", succeeded=True))
    assert run(["memory", "export", str(other)]) == 0
    assert Path(out).read_bytes() == other.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["other.jsonl", "out.jsonl"]


def test_single_records_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    keep(deleting(), WORKFLOW)
    assert run(["memory", "export", "-", "bb"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == header()
    assert json.loads(second)["goal"] == "Count my meetings with robin"


def test_a_constant_that_looks_personal_keeps_its_record_here(
    out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(personal(), WORKFLOW)
    assert run(["memory", "export", out]) == 0
    told = capsys.readouterr().err
    assert 'aa11: query of calendar.search_events is "Raj Patel": it may be a name' in told
    assert "left out: aa11: it holds what looks personal; let it leave with --yes-constants" in told
    assert "Raj Patel" not in Path(out).read_text()
    assert run(["memory", "export", out, "aa11", "--yes-constants"]) == 0
    assert "Raj Patel" in Path(out).read_text()


def test_at_a_terminal_its_owner_is_asked(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(personal())
    with at_a_terminal(monkeypatch, "y\n") as terminal:
        assert run(["memory", "export", out]) == 0
    assert "Let record aa11 leave with that?" in terminal.shown
    assert "Raj Patel" in Path(out).read_text()
    with at_a_terminal(monkeypatch, "n\n"):
        assert run(["memory", "export", out]) == 2


def test_a_secret_is_not_shown_when_its_owner_is_asked(
    out: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFICE_TOKEN", "open sesame")
    secret = replace(
        WORKFLOW, content={**WORKFLOW.content, "steps": [{"goal": f"Say open sesame and {KEY}"}]}
    )
    keep(secret)
    assert run(["memory", "export", out]) == 2
    told = capsys.readouterr().err
    assert "it has the form of a secret" in told
    assert "open sesame" not in told
    assert KEY not in told
    assert not Path(out).exists()


@pytest.mark.parametrize(
    "address",
    [
        "https://alice:wonderland@wiki.example/start",
        "https://wiki.example/start?token=***",
        "https://alice:a***@wiki.example?api_key=wonderland",
    ],
)
def test_an_address_with_a_secret_is_asked_about_without_it(
    out: str, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    text = json.dumps(personal().content).replace("Raj Patel", address)
    keep(deleting(content=json.loads(text)))
    assert run(["memory", "export", out]) == 2
    told = capsys.readouterr().err
    assert "wiki.example" in told
    assert "***" in told
    assert "wonderland" not in told


def test_what_is_not_in_use_is_not_given_away(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    keep(deleting(status="quarantined"))
    assert run(["memory", "export", out]) == 2
    assert "no record is left that may leave" in capsys.readouterr().err
    assert run(["memory", "export", out, "aa11"]) == 2
    assert "'aa11' is quarantined" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(deleting())
    assert run(["memory", "export", str(tmp_path / "none" / "out.jsonl")]) == 2
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def test_the_same_file_again_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_with(tmp_path, line_of(deleting()), line_of(WORKFLOW))
    assert run(["memory", "import", file]) == 0
    before = held()
    assert run(["memory", "import", file]) == 0
    assert "Imported 0 records from friend.jsonl; 2 were there already." in capsys.readouterr().out
    assert held() == before
    assert run(["memory", "approve", "--source", "friend.jsonl", "--yes"]) == 0
    approved = held()
    assert {record.status for record in approved} == {"active"}
    assert run(["memory", "import", file]) == 0
    assert held() == approved


def test_nothing_comes_in_where_one_line_is_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_with(tmp_path, line_of(deleting()), "{", line_of(WORKFLOW))
    assert run(["memory", "import", file]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{file}, line 3: it is not JSON",
        f"plait: nothing was imported, as 1 line of {file!r} cannot be: --skip-bad leaves such out",
    ]
    assert held() == []
    assert run(["memory", "import", file, "--skip-bad"]) == 0
    assert len(held()) == 2


def test_many_bad_lines_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_with(tmp_path, *["{"] * 30)
    assert run(["memory", "import", file]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 22
    assert told[20] == f"{file}: 10 more bad lines"


@pytest.mark.parametrize("name", ["own", "OWN", "", "../x", "a b", "x" * 70, "\u202eevil", "\u043ewn"])
def test_no_source_has_a_name_that_is_trusted_or_misleads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = file_with(tmp_path, line_of(deleting()), name="own")
    assert run(["memory", "import", file, "--source", name]) == 2
    assert "a source cannot be called" in capsys.readouterr().err
    assert held() == []


def test_standard_input_needs_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = file_with(tmp_path, line_of(deleting()))
    for words, status in ((["import", "-"], 2), (["import", "-", "--source", "friend"], 0)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(file).read_bytes())))
        assert run(["memory", *words]) == status
    assert [record.source for record in held()] == ["friend"]


def test_files_that_are_none_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello\n")
    assert run(["memory", "import", str(other)]) == 2
    assert run(["memory", "import", str(tmp_path / "none.jsonl")]) == 2
    assert run(["memory", "import", str(tmp_path)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition("' ")[2] for line in told] == [
        "cannot be imported: its first line is not that of experience that Plait exported",
        "cannot be read: No such file or directory",
        "cannot be read: Is a directory",
    ]


@pytest.mark.parametrize("status", ["active", "quarantined", "suspended", "provisional"])
def test_an_import_never_takes_the_place_of_what_was_learned_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: Any
) -> None:
    keep(deleting(status=status))
    before = held()
    file = file_with(tmp_path, line_of(personal()))
    assert run(["memory", "import", file]) == 0
    assert "Left as they are: 1 record of yours or of another source." in capsys.readouterr().out
    assert held() == before


def test_nor_does_it_where_it_calls_the_same_tools_in_another_order(tmp_path: Path) -> None:
    own = deleting(status="quarantined", tools=list(reversed(deleting().tools)))
    keep(own)
    before = held()
    assert run(["memory", "import", file_with(tmp_path, line_of(deleting()))]) == 0
    assert held() == before


def test_a_newer_file_of_a_source_replaces_what_waits_and_never_what_was_approved(tmp_path: Path) -> None:
    old, new = line_of(deleting()), line_of(personal())
    assert run(["memory", "import", file_with(tmp_path, old)]) == 0
    assert run(["memory", "import", file_with(tmp_path, new)]) == 0
    [record] = held()
    assert "Raj Patel" in json.dumps(record.content)
    assert run(["memory", "approve", record.id, "--yes"]) == 0
    assert run(["memory", "import", file_with(tmp_path, old)]) == 0
    assert "Raj Patel" in json.dumps(held()[0].content)


def test_an_import_drives_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory_import, "MOST_OF_A_KIND", 1)
    keep(deleting(key="another", goal="another"))
    before = held()
    assert run(["memory", "import", file_with(tmp_path, line_of(deleting()))]) == 2
    assert "would drive others out" in capsys.readouterr().err
    assert held() == before


def test_what_came_from_elsewhere_is_listed_as_such_and_draws_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = "Count [/bold] my [red]meetings[/red]"
    line = line_of(workflow_record(goal, "Count\n[/bold] them"))
    assert run(["memory", "import", file_with(tmp_path, line)]) == 0
    keep(WORKFLOW)
    capsys.readouterr()
    assert run(["memory", "list"]) == 0
    listed = capsys.readouterr().out
    assert "(friend.jsonl)" in listed
    assert "[/bold]" in listed
    foreign = next(record for record in held() if record.source != "own")
    assert run(["memory", "show", foreign.id]) == 0
    assert f"goal: {goal}\n" in capsys.readouterr().out


def test_a_run_of_ones_own_takes_over_what_was_imported(tmp_path: Path) -> None:
    assert run(["memory", "import", file_with(tmp_path, line_of(personal()))]) == 0
    keep(deleting(id="dd44", uses=0, successes=0))
    [record] = held()
    assert (record.status, record.source, record.run_id) == ("active", "own", "run-of-alice")
    assert "Raj Patel" not in json.dumps(record.content)


def test_what_is_approved_is_read_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["memory", "import", file_with(tmp_path, line_of(personal()))])
    [record] = held()
    capsys.readouterr()
    assert run(["memory", "approve", record.id]) == 2
    told = capsys.readouterr()
    assert "add --yes to approve it" in told.err
    assert told.out.splitlines() == [
        f"pipeline {record.id} from friend.jsonl",
        "for: Delete my first meeting on March 14, 2024",
        "it makes these calls, and no model looks at them before they are made:",
        "  1. calendar.search_events  (by its own account it only reads)",
        '       time_min: what the goal says in place of "March 14, 2024", here "2024-03-14 00:00:00"',
        '       time_max: what the goal says in place of "March 14, 2024", here "2024-03-14 23:59:59"',
        '       query: always "Raj Patel", WHICH THE GOAL DOES NOT SAY',
        "  2. calendar.delete_event  (CHANGES THE WORLD)",
        "       event_id: event_id of the first row that call 1 finds",
        "",
    ]
    assert held()[0].status == "quarantined"


def test_at_a_terminal_approving_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(["memory", "import", file_with(tmp_path, line_of(deleting()))])
    for answer, status in (("n\n", "quarantined"), ("y\n", "active")):
        with at_a_terminal(monkeypatch, answer) as terminal:
            assert run(["memory", "approve", "--source", "friend.jsonl"]) == 0
        assert "Use it from now on?" in terminal.shown
        assert held()[0].status == status


def test_with_the_tools_at_hand_their_effects_are_told_and_not_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = line_of(deleting())
    for node in line["content"]["nodes"]:
        node["effect"] = False
    run(["memory", "import", file_with(tmp_path, line)])
    capsys.readouterr()
    assert run(["memory", "approve", held()[0].id, "--tools", "plait.tools.office"]) == 2
    told = capsys.readouterr().out
    assert "  2. calendar.delete_event  (CHANGES THE WORLD)" in told
    assert (
        "! node 'delete_event' says that 'calendar.delete_event' only reads, but it changes the world" in told
    )
    assert "! calendar.delete_event here is another tool of that name, so that it is never used" in told


def test_what_changed_while_it_was_read_is_not_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["memory", "import", file_with(tmp_path, line_of(deleting()))])
    other = file_with(tmp_path, line_of(personal()))

    def agreed(*_: str) -> bool:
        return run(["memory", "import", other]) == 0

    monkeypatch.setattr("plait.cli.memory_care.agreed", agreed)
    assert run(["memory", "approve", held()[0].id]) == 0
    assert "was changed in the meantime" in capsys.readouterr().err
    assert held()[0].status == "quarantined"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["approve"], "say what to approve"),
        (["approve", "aa", "--source", "x"], "say what to approve"),
        (["approve", "--source", "x"], "nothing from 'x' waits in memory 'default': nothing waits there"),
        (["rm", "--yes"], "say what to forget"),
        (["rm", "--source", "x", "--yes"], "has nothing from 'x': there are own"),
        (["rm", "--run", "x", "--yes"], "has nothing that a run 'x' taught"),
        (["rm", "--run", "run-of-", "--yes"], "several runs begin with 'run-of-': run-of-alice, run-of-bob"),
        (["import", "x", "--memory", "../x"], "no memory can be called '../x'"),
        (["export", "x", "--skill"], "a skill is one record"),
    ],
)
def test_what_is_not_clear_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(deleting(), WORKFLOW)
    assert run(["memory", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert len(held()) == 2


def test_all_that_a_run_taught_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    keep(deleting(), WORKFLOW)
    assert run(["memory", "rm", "--run", "run-of-b", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed 1 record.\n"
    assert [record.run_id for record in held()] == ["run-of-alice"]


@pytest.mark.parametrize("how", ["pipeline", "workflow", "lesson"])
def test_a_whole_source_is_forgotten_with_what_was_learned_by_using_it(tmp_path: Path, how: str) -> None:
    keep(WORKFLOW)
    run(["memory", "import", file_with(tmp_path, line_of(deleting()))])
    imported = next(record for record in held() if record.source == "friend.jsonl")

    async def use() -> None:
        log = RunLog.open()
        journal = await log.start("run-that-used-it", "a task", {})
        if how == "pipeline":
            journal.emit(PipelineRecalled(experience=imported.id, goal="x", slots={}))
        elif how == "workflow":
            journal.emit(WorkflowRecalled(experience=imported.id, goal="x", alike=1.0))
        else:
            journal.emit(LessonRecalled(experience=imported.id, text="x"))
        await log.close()

    asyncio.run(use())
    keep(replace(WORKFLOW, id="ee55", key="other", run_id="run-that-used-it"))
    agreed_on = {**deleting().content, "learned_from": {"run-that-used-it": "2023-11-30", "another": ""}}
    keep(deleting(id="ff66", key="agreed", run_id="another", content=agreed_on))
    assert run(["memory", "rm", "--source", "friend.jsonl"]) == 2
    assert run(["memory", "rm", "--source", "friend.jsonl", "--yes"]) == 0
    assert [record.id for record in held()] == ["bb22"]


def test_a_skill_is_a_folder_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(deleting())
    folder = tmp_path / "delete-first-meeting"
    assert run(["memory", "export", "--skill", str(folder), "aa11"]) == 0
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == ["SKILL.md", "references/pipeline.json"]
    before = (folder / "SKILL.md").read_text()
    assert "December" not in before
    assert run(["memory", "export", "--skill", str(folder), "aa11"]) == 2
    assert "is there already and not an empty folder" in capsys.readouterr().err
    assert (folder / "SKILL.md").read_text() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_skill_has_a_name_that_its_format_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(deleting())
    assert run(["memory", "export", "--skill", str(tmp_path / "My Skill"), "aa11"]) == 2
    assert "such as 'my-skill'" in capsys.readouterr().err
    (tmp_path / "taken").mkdir()
    assert run(["memory", "export", "--skill", str(tmp_path / "taken"), "aa11"]) == 0
    (tmp_path / "link").symlink_to(tmp_path / "taken")
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        assert run(["memory", "export", "--skill", str(tmp_path / name), "aa11"]) == 2
    assert (tmp_path / "file").read_text() == "x"
