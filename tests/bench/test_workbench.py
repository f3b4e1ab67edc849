"""Task files, the replay of gold calls and the judge."""

import os
from pathlib import Path

import pytest

from plait.bench.workbench import WorkbenchTask, judge, load_tasks, parse_call, replay
from plait.errors import UserError
from plait.tools.office import Office

SHIPPED = Path(__file__).parent / "data" / "workbench"
DELETE = 'calendar.delete_event.func(event_id="00000256")'
HEADER = "query,answer,base_template,chosen_template,domains\n"


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the waiting for the disk: what survives a power cut is not looked at here."""

    def leave(descriptor: int) -> None:
        return None

    monkeypatch.setattr(os, "fsync", leave)


@pytest.fixture(scope="module")
def tasks() -> list[WorkbenchTask]:
    return list(load_tasks(SHIPPED))


def written(folder: Path, rows: str, header: str = HEADER) -> Path:
    path = folder / "tasks.csv"
    path.write_text(header + rows, encoding="utf-8")
    return path


def test_a_folder_is_read_file_by_file(tasks: list[WorkbenchTask]) -> None:
    assert tasks[0] == WorkbenchTask(
        query="Delete my first meeting on December 13",
        gold=[DELETE],
        template="Cancel my first meeting on {natural_language_date}",
        phrasing="Delete my first meeting on {natural_language_date}",
        domains=["calendar"],
        file="calendar_queries_and_answers.csv",
        index=0,
    )
    assert list(dict.fromkeys(task.file for task in tasks)) == [
        "calendar_queries_and_answers.csv",
        "email_queries_and_answers.csv",
        "project_management_queries_and_answers.csv",
    ]
    assert (tasks[110].file, tasks[110].index) == ("email_queries_and_answers.csv", 0)


def test_files_keep_the_order_they_are_given_in() -> None:
    email, calendar = (SHIPPED / f"{name}_queries_and_answers.csv" for name in ("email", "calendar"))
    loaded = load_tasks([email, calendar])
    assert [loaded[0].domains, loaded[-1].domains] == [["email"], ["calendar"]]
    assert list(load_tasks(email)) == list(loaded[:90])


def test_doing_nothing_solves_the_tasks_without_gold_calls(
    tasks: list[WorkbenchTask], tmp_path: Path
) -> None:
    judged = [judge(tmp_path / "untouched", task.gold) for task in tasks]
    assert sum(judgement.correct for judgement in judged) == 33
    assert [judgement.correct for judgement in judged] == [not task.gold for task in tasks]
    assert [judgement.gold_changes for judgement in judged] == [bool(task.gold) for task in tasks]
    assert not any(judgement.side_effects for judgement in judged)
    assert not (tmp_path / "untouched").exists()


def test_the_gold_calls_solve_their_own_task(tasks: list[WorkbenchTask], tmp_path: Path) -> None:
    for number, task in enumerate(tasks[::14]):
        replay(task.gold, tmp_path / str(number))
        judgement = judge(tmp_path / str(number), task.gold)
        assert judgement.correct
        assert not judgement.side_effects


def test_a_run_that_ended_with_an_error_is_not_correct(tmp_path: Path) -> None:
    replay([DELETE], tmp_path)
    judgement = judge(tmp_path, [DELETE], error=True)
    assert not judgement.correct
    assert judgement.side_effects
    assert not judge(tmp_path / "untouched", [], error=True).side_effects


def test_wrong_missing_and_additional_effects_are_told_apart(tmp_path: Path) -> None:
    replay([DELETE, 'email.send_email.func(recipient="a@b.c", subject="Done", body="x")'], tmp_path)
    judgement = judge(tmp_path, [DELETE])
    assert (judgement.correct, judgement.side_effects) == (False, True)
    nothing = judge(tmp_path / "untouched", [DELETE])
    assert (nothing.correct, nothing.side_effects) == (False, False)


@pytest.mark.parametrize(
    ("table", "row_id", "column", "value", "correct"),
    [
        ("calendar_events", "00000013", "event_name", "SYNC up", True),
        ("calendar_events", "00000013", "event_name", "sync", False),
        ("customers", "00000189", "notes", "2023-11-07: had A call. 2023-11-25: Had a call. ", True),
        ("customers", "00000189", "status", "lost", False),
        ("project_tasks", "00000149", "list_name", "BACKLOG", False),
        ("project_tasks", "00000149", "board", "Front End", False),
        ("project_tasks", "00000149", "task_name", "ADD animation to carousel", True),
    ],
)
def test_case_counts_only_in_status_list_and_board(
    tmp_path: Path, table: str, row_id: str, column: str, value: str, correct: bool
) -> None:
    Office(tmp_path).tables[table].set(row_id, column, value)
    assert judge(tmp_path, []).correct is correct


def test_two_effects_in_the_other_order_differ(tmp_path: Path) -> None:
    sent = [f'email.send_email.func(recipient="{name}@b.c", subject="s", body="x")' for name in "ab"]
    replay(sent[::-1], tmp_path)
    assert not judge(tmp_path, sent).correct


def test_replay_answers_what_the_tools_answer_and_reads_positions(tmp_path: Path) -> None:
    answers = replay(['calendar.delete_event.func("00000256")', DELETE, "calendar.search_events()"], tmp_path)
    assert answers[:2] == ["Event deleted successfully.", "Event not found."]
    assert isinstance(answers[2], list)


def test_replay_plays_nothing_when_a_call_is_broken(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        replay([DELETE, "calendar.delete_event.func("], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("calendar.delete_event.func(", "is not Python"),
        ("calendar.delete_event", "is not a call"),
        ("__import__('os').system('true')", "names no office tool"),
        ("calendar.drop.func()", "names no office tool"),
        ("calendar.delete_event.func(event_id=open('x').read())", "is not plain text"),
        ("calendar.delete_event.func(event_id=None)", "is not plain text"),
        ('calendar.delete_event.func(id="1")', "it takes event_id"),
        ('calendar.delete_event.func("1", "2")', "it takes event_id"),
        ('calendar.delete_event.func(**"x")', "it takes event_id"),
    ],
)
def test_a_call_that_cannot_be_read_is_one_line(call: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_call(call)
    assert part in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        ("hello,not a list,,,\n", "line 2: answer 'not a list' is not a Python list"),
        ('hello,"[1, 2]",,,\n', "is not a Python list of texts"),
        ("hello,5,,,\n", "is not a Python list of texts"),
        ("hello\n", "line 2: there is no 'answer'"),
        ('"",[],,,\n', "line 2: there is no 'query'"),
        (
            "ok,[],,,[]\nhello,\"['drop.table()']\",,,\n",
            "line 3: gold call 'drop.table()' names no office tool",
        ),
        ("hello,[],,,calendar\n", "domains 'calendar' is not a Python list"),
        ('"hello,[]\n', "line 2: unexpected end of data"),
    ],
)
def test_a_broken_row_is_one_line_with_its_place(tmp_path: Path, rows: str, part: str) -> None:
    path = written(tmp_path, rows)
    with pytest.raises(UserError) as caught:
        load_tasks(path)
    assert part in caught.value.message
    assert repr(str(path)) in caught.value.message
    assert "\n" not in caught.value.message


def test_files_that_are_missing_or_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task files"):
        load_tasks(tmp_path)
    with pytest.raises(UserError, match="cannot read the task file"):
        load_tasks(tmp_path / "missing.csv")
    with pytest.raises(UserError, match="has no column 'answer'"):
        load_tasks(written(tmp_path, "hello\n", header="query\n"))


def test_only_query_and_answer_are_needed(tmp_path: Path) -> None:
    path = written(tmp_path, "hello,[]\n", header="query,answer\n")
    assert load_tasks(path) == [
        WorkbenchTask(query="hello", gold=[], template="", phrasing="", domains=[], file="tasks.csv", index=0)
    ]
