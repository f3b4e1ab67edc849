"""`plait bench learn`: what tasks teach is used by others, each with a copy of its own, and resumed."""

import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.child import MAIN
from tests.support.commands import Commands, Said
from tests.support.endpoint import Endpoint, fails
from tests.support.served import served

from plait.bench.benchmarks.workbench import WORKBENCH
from plait.bench.learning.plan import Lessons, learning_plan
from plait.bench.plan import Wanted
from plait.bench.workbench import load_tasks
from plait.paths import data_folder

OFFICE = Path(__file__).parents[1] / "bench" / "data" / "workbench" / "calendar_queries_and_answers.csv"
KIND = "Cancel my first meeting on {natural_language_date}"
TASKS = [task for task in load_tasks(OFFICE) if task.template == KIND][:6]
CALLS = 5
"""Of a task without experience."""
REMARKS = "\n# critique: As asked.\n# score: 10"
USES = ("same", "both", "none", "half", "execution", "planning", "teams", "react")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(respond=respond) as endpoint:
        yield endpoint


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = OFFICE.read_text("utf-8").splitlines(keepends=True)
    file = tmp_path / "first_meetings.csv"
    of_kind = [line for line in lines if KIND in line]
    file.write_text("".join([lines[0], *of_kind[: len(TASKS)]]), "utf-8")
    return file


def respond(body: dict[str, Any]) -> str:
    """Answer as a model that does these tasks right: it looks at the day, deletes and is done."""
    said = [message["content"] for message in body["messages"]]
    whole = "\n".join(said)
    task = max(TASKS, key=lambda task: whole.rfind(task.query))
    if "would not change a word" in said[-1]:
        return f"1. {task.query}{REMARKS}"
    if "You are the answer agent" in whole:
        return f"It is deleted.{REMARKS}"
    call = task.gold[0].replace(".func", "")
    day = int(re.findall(r"\d+", task.query)[0])
    steps = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
    if any(call in step for step in steps):
        return f'# thought: Done.\ndone(result="deleted"){REMARKS}'
    if not any(f"12-{day:02} 00:00:00" in step for step in steps):
        bounds = f'time_min="2023-12-{day:02} 00:00:00", time_max="2023-12-{day:02} 23:59:59"'
        return f"# thought: I look.\ncalendar.search_events({bounds}){REMARKS}"
    return f"# thought: This one.\n{call}{REMARKS}"


def learn(plait: Commands, endpoint: Endpoint, data: Path, *more: str) -> Said:
    where = ("--data", str(data), "--out", str(data.parent / "kept"))
    return plait("bench", "learn", "workbench", *where, "--base-url", endpoint.base_url, *more)


def uses(*labels: str) -> Sequence[str]:
    return [word for label in labels for word in ("--use", label)]


def test_what_was_learned_makes_the_same_and_other_tasks_cheap(
    plait: Commands, endpoint: Endpoint, data: Path
) -> None:
    said = learn(plait, endpoint, data, "--model", "m", "--learn", "4", *uses(*USES), "--json")
    assert said.status == 0
    runs = said.json["runs"]
    assert said.json["kinds"] == [KIND]
    assert {label: run["tasks"] for label, run in runs.items()} == {
        **{label: len(TASKS) - 4 for label in USES},
        **{"learn": 4, "same": 4},
    }
    assert all(run["measures"]["right"]["total"] == run["tasks"] for run in runs.values())
    calls = {label: run["model_calls"] for label, run in runs.items()}
    assert calls["learn"] >= CALLS
    assert calls["none"] == calls["planning"] == CALLS * runs["none"]["tasks"]
    assert {label for label in USES if not calls[label]} == {"same", "both", "half", "execution", "teams"}
    reused = {label: run["measures"]["reused"]["total"] for label, run in runs.items()}
    assert (reused["both"], reused["none"], reused["planning"]) == (len(TASKS) - 4, 0, 0)
    assert (runs["same"]["against"], runs["both"]["against"]) == ("learn", "none")
    assert runs["both"]["difference"]["calls"]["value"] == -CALLS


def memories() -> dict[str, int]:
    """Return how many records each memory holds that has any."""
    with sqlite3.connect(data_folder() / "plait.db") as database:
        return dict(database.execute("select memory, count(*) from experiences group by memory"))


def all_memories() -> list[str]:
    """Return the names of all memories, also of those that hold nothing."""
    with sqlite3.connect(data_folder() / "plait.db") as database:
        return [name for (name,) in database.execute("select name from memories")]


def test_no_use_learns_from_another(plait: Commands, endpoint: Endpoint, data: Path) -> None:
    command = ("--model", "m", "--learn", "2", "--no-execution-experience")
    learn(plait, endpoint, data, *command, *uses("same"))
    held = memories()
    assert {name[-2:] for name in held} > {"-1"}
    assert not any("use" in name for name in [*held, *all_memories()])
    assert learn(plait, endpoint, data, *command, *uses("same", "both", "half")).status == 0
    assert memories() == held


@pytest.mark.processes
def test_killed_while_it_learns_and_while_it_uses_it_repeats_nothing(plait: Commands, data: Path) -> None:
    command = ("--model", "m", "--learn", "2", *uses("none"))
    running: list[subprocess.Popen[bytes]] = []
    asked = 0

    def kill_at_times(body: dict[str, Any]) -> str:
        nonlocal asked
        asked += 1
        if asked in (CALLS + 2, CALLS * 4 + 3):
            running[-1].kill()
        return respond(body)

    with served(respond=kill_at_times) as endpoint:
        words = ["bench", "learn", "workbench", "--data", str(data), "--out", str(data.parent / "kept")]
        where = ["--base-url", endpoint.base_url, *command]
        for _ in range(2):
            running.append(subprocess.Popen([*MAIN, *words, *where], stderr=subprocess.DEVNULL))
            assert running[-1].wait() == -signal.SIGKILL
        said = learn(plait, endpoint, data, *command, "--json")
        runs = said.json["runs"]
        assert [runs[label]["measures"]["right"]["total"] for label in ("learn", "none")] == [
            2,
            len(TASKS) - 2,
        ]
        in_flight = 2
        assert asked == runs["learn"]["model_calls"] + runs["none"]["model_calls"] + in_flight
        assert learn(plait, endpoint, data, *command).err == ""


def test_another_model_uses_what_the_first_one_learned(
    plait: Commands, endpoint: Endpoint, data: Path
) -> None:
    command = ("--learn", "4", *uses("both"))
    other = (*command, "--model", "m", "--user", "weak")
    said = learn(plait, endpoint, data, *other)
    assert (said.status, said.out) == (2, "")
    problem = "nothing is kept yet of kind 1: first learn, with the same options and without --user"
    assert said.err == f"plait: {problem}\n"
    learn(plait, endpoint, data, *command, "--model", "m")
    before, held = endpoint.requests, memories()
    said = learn(plait, endpoint, data, *other, "--json")
    assert [*said.json["runs"]] == ["both"]
    assert (said.json["runs"]["both"]["tasks"], endpoint.requests) == (len(TASKS) - 4, before)
    assert memories() == held
    said = learn(plait, endpoint, data, *command, "--model", "weak", *uses("none"))
    assert endpoint.requests > before


def test_where_a_task_to_learn_from_broke_nothing_is_kept_until_it_is_mended(
    plait: Commands, data: Path
) -> None:
    command = ("--model", "m", "--learn", "2", *uses("both"))
    with served([fails(401, "no key")], respond=respond) as endpoint:
        said = learn(plait, endpoint, data, *command)
        assert said.status == 2
        assert "1 of the tasks to learn from broke (error: " in said.err
        assert said.err.rstrip().endswith("mend it and add --again")
        again = learn(plait, endpoint, data, *command, "--again", "--json").json["runs"]
    assert again["learn"]["measures"]["right"]["total"] == 2
    assert again["both"]["measures"]["reused"]["total"] > 0


def test_what_was_kept_and_is_gone_is_not_taken_for_nothing(
    plait: Commands, endpoint: Endpoint, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("--model", "m", "--learn", "2")
    learn(plait, endpoint, data, *command, *uses("both"))
    before = endpoint.requests
    kept = tmp_path / "kept" / "learn"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PLAIT_HOME", str(tmp_path / "elsewhere"))
        said = learn(plait, endpoint, data, *command, *uses("half"))
    assert (said.status, endpoint.requests) == (2, before)
    assert "what was kept of kind 1-half is not in the database any more" in said.err
    (taught,) = kept.glob("learn-*.jsonl")
    taught.unlink()
    said = learn(plait, endpoint, data, *command, *uses("both"))
    assert (said.status, endpoint.requests) == (2, before)
    assert "is of what was learned before, which is not there any more: move it away too" in said.err


def test_what_stands_beside_a_file_and_is_damaged_is_one_line(
    plait: Commands, endpoint: Endpoint, data: Path, tmp_path: Path
) -> None:
    command = ("--model", "m", "--learn", "2", *uses("none"))
    learn(plait, endpoint, data, *command)
    (beside,) = (tmp_path / "kept" / "learn").glob("learn-*.json")
    for text in ('{"memory": "ben', '{"plait": "1"}', "[]"):
        beside.write_text(text, "utf-8")
        said = learn(plait, endpoint, data, *command)
        assert (said.status, said.err.count("\n")) == (2, 1)
        assert f"{str(beside)!r} does not say what {beside.stem}.jsonl is of: move both away" in said.err


def test_a_table_tells_what_each_use_saved(plait: Commands, endpoint: Endpoint, data: Path) -> None:
    said = learn(plait, endpoint, data, "--model", "m", "--learn", "4", *uses("both", "none", "same"))
    kind, head, *rows = said.out.splitlines()
    assert kind == f"1. {KIND}"
    assert head.split()[:6] == ["tasks", "right", "acting", "harm", "calls", "fewer"]
    cells = {row.split()[0]: row.split() for row in rows[:4]}
    assert cells["none"][1:6] == ["2", "2/2", "2/2", "0/2", str(CALLS * 2)]
    assert cells["both"][5:7] == ["0", "100%"]
    assert cells["same"][5:7] == ["0", "100%"]
    assert "both against none, 2 tasks: solves 0 that it does not" in said.out
    assert "learn 1/4, about" in said.err


def test_kinds_and_their_tasks_come_in_an_order_of_the_seed(tmp_path: Path) -> None:
    def planned(seed: int, kinds: int, skip: int = 0) -> list[list[int]]:
        wanted = Wanted(data=OFFICE.parent, folder=tmp_path, kinds=kinds)
        lessons = Lessons(learn=5, uses=("both",), skip=skip)
        plan = learning_plan(WORKBENCH, WORKBENCH.options({"seed": seed}), lessons, wanted)
        return [[index for index, _ in rows] for rows in plan.kinds]

    first, second = planned(0, 2)
    assert (planned(0, 1), planned(0, 1, skip=1)) == ([first], [second])
    assert first != sorted(first)
    assert planned(1, 2) != [first, second]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--use", "magic"], "--use 'magic' is unknown; there is: same, both"),
        (["--learn", "1", "--use", "half"], "--use half needs --learn 2 or more"),
        (["--learn", "6"], "no kind of task is left with more than 6 of them: --learn or --skip fewer"),
        (["--skip", "1"], "no kind of task is left"),
        (["--limit", "3"], "--limit"),
    ],
)
def test_what_cannot_be_is_one_line(
    plait: Commands, endpoint: Endpoint, data: Path, more: list[str], problem: str
) -> None:
    said = learn(plait, endpoint, data, "--model", "m", *more)
    assert (said.status, endpoint.requests) == (2, 0)
    assert problem in said.err
    assert said.err.count("\n") == 1


def test_only_a_benchmark_with_tools(plait: Commands, tmp_path: Path) -> None:
    said = plait("bench", "learn", "stories", "--data", str(tmp_path))
    assert (said.status, said.err) == (
        2,
        "plait: stories has no tools: what pipelines are worth is told by one that has\n",
    )
