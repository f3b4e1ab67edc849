"""`plait bench`: figures of methods on real tasks, kept as they come, and what cannot be."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.child import MAIN
from tests.support.served import served

from plait.bench.files import LIVE
from plait.bench.trial import read_trials
from plait.bench.workbench import load_tasks
from plait.cli.app import run
from plait.models import retry
from plait.runtime.locks import FileLocks

DATA = Path(__file__).parents[1] / "bench" / "data" / "workbench"
TASKS = load_tasks(DATA)
NOTHING_TO_DO = sum(not task.gold for task in TASKS)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def bench(out: Path, *arguments: str, data: Path = DATA) -> int:
    return run(["bench", "workbench", "--data", str(data), "--out", str(out), *arguments])


def lines(out: Path, method: str) -> Sequence[str]:
    (file,) = out.glob(f"{method}-*.jsonl")
    return file.read_text(encoding="utf-8").splitlines()


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def totals(method: Any) -> list[float]:
    return [method["measures"][name]["total"] for name in ("right", "acting", "harm")]


def test_the_gold_calls_solve_all_and_nothing_what_needs_no_call(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(out, "--method", "gold", "--method", "nothing", "--json") == 0
    found = told(capsys)
    gold, nothing = found["methods"]["gold"], found["methods"]["nothing"]
    assert totals(gold)[:2] == [len(TASKS), len(TASKS) - NOTHING_TO_DO]
    assert totals(nothing) == [NOTHING_TO_DO, 0, 0]
    against = found["against_gold"]["nothing"]
    assert (against["better"], against["worse"]) == (0, len(TASKS) - NOTHING_TO_DO)
    assert [trial.measures["right"] for trial in read_trials(Path(nothing["file"]))] == [
        not task.gold for task in TASKS
    ]


def test_other_files_in_the_format_are_solved_by_their_gold_calls_too(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.csv"
    call = 'calendar.delete_event.func(event_id="00000256")'
    file.write_text(
        f"query,answer\nDelete it,\"['{call.replace(chr(34), chr(34) * 2)}']\"\nDo not,[]\n", "utf-8"
    )
    assert bench(out, "--method", "gold", "--method", "nothing", "--json", data=file) == 0
    methods = told(capsys)["methods"]
    assert (totals(methods["gold"])[0], totals(methods["nothing"])[0]) == (2, 1)


def test_a_table_names_each_method_and_says_that_few_tasks_prove_nothing(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(out, "--method", "gold", "--method", "nothing", "--limit", "4") == 0
    said = capsys.readouterr()
    head, gold, nothing = said.out.splitlines()[:3]
    assert head.split()[:4] == ["method", "right", "95%", "acting"]
    assert gold.split()[:2] == ["gold", "4/4"]
    assert nothing.startswith("nothing")
    assert "nothing against gold, 4 tasks" in said.out
    assert "below 100 tasks no difference is called significant" in said.out
    assert said.err.count("\n") == 8
    assert "gold 1/4, about" in said.err


def test_the_same_command_goes_on_and_other_options_begin_anew(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(out, "--method", "nothing", "--limit", "2")
    first = lines(out, "nothing")
    capsys.readouterr()
    assert bench(out, "--method", "nothing", "--limit", "3") == 0
    assert lines(out, "nothing")[:2] == first
    assert capsys.readouterr().err.count("\n") == 1
    with served(respond=lambda body: 'done(result="There is nothing to do.")') as endpoint:
        where = ["--model", "m", "--base-url", endpoint.base_url, "--method", "react", "--limit", "2"]
        bench(out, *where)
        bench(out, *where, "--temperature", "0.7")
        asked = len(endpoint.bodies)
        bench(out, *where)
        assert len(endpoint.bodies) == asked == 4
    assert len(list(out.glob("react-*.jsonl"))) == 2


def test_tasks_of_few_kinds_are_told_apart_by_what_came_before(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--method", "gold", "--kinds", "1", "--limit", "3"]
    assert bench(out, *words) == 0
    head, gold = capsys.readouterr().out.split("\n\n")[2].splitlines()[:2]
    assert head.startswith("method  first of a kind: right")
    assert gold.split() == ["gold", "1/1", "0.0", "2/2", "0.0"]
    assert bench(out, *words, "--json") == 0
    assert told(capsys)["methods"]["gold"]["like_one_before"]["tasks"] == 2
    assert bench(out, "--method", "gold", "--limit", "2") == 0
    assert "first of a kind" not in capsys.readouterr().out


def test_every_so_many_tasks_are_those_rows(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(out, "--method", "nothing", "--every", "3") == 0
    assert [json.loads(line)["index"] for line in lines(out, "nothing")] == list(range(0, len(TASKS), 3))


def test_a_benchmark_elsewhere_begins_with_nothing_learned(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(respond=lambda body: "1. Look\n# critique: fine\n# score: 9") as endpoint:
        where = ["--model", "m", "--base-url", endpoint.base_url, "--max-calls", "2", "--limit", "1"]
        bench(out, *where)
        bench(tmp_path / "elsewhere", *where)
        (kept,) = out.glob("plait-*.jsonl")
        before = json.loads(kept.with_suffix(".json").read_text(encoding="utf-8"))["memory"]
        kept.unlink()
        bench(out, *where)
        assert len(endpoint.bodies) == 6
    memories = {json.loads(file.read_text())["memory"] for file in tmp_path.rglob("plait-*.json")}
    assert len(memories | {before}) == 3


def test_another_endpoint_of_the_same_name_is_another_model(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        with served(respond=lambda body: 'done(result="There is nothing to do.")') as endpoint:
            where = ["--model", "m", "--base-url", endpoint.base_url, "--method", "react", "--limit", "1"]
            bench(out, *where, "--no-experience")
            asked = len(endpoint.bodies)
            bench(out, *where)  # What is no option of a baseline makes it no other.
            assert len(endpoint.bodies) == asked > 0


def test_what_runs_learn_stays_in_the_benchmark(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(respond=lambda body: "1. Look\n# critique: fine\n# score: 9") as endpoint:
        where = ["--model", "m", "--base-url", endpoint.base_url, "--max-calls", "2"]
        assert bench(out, *where, "--limit", "1") == 0
    capsys.readouterr()
    run(["show", json.loads(lines(out, "plait")[0])["run_id"], "--json"])
    assert '"memory":"bench-plait-' in capsys.readouterr().out.replace('": "', '":"')


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--method", "magic"], "--method 'magic' is unknown; there is: plait"),
        (["--limit", "3", "--every", "2"], "give one"),
        (["--kinds", "3", "--every", "2"], "give one"),
        (["--data", "/nowhere"], "cannot read the task file '/nowhere'"),
        (["--temperature", "9"], "temperature"),
        (["--out", __file__], "cannot be made"),
    ],
)
def test_what_cannot_be_is_one_line(
    out: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert bench(out, *arguments) != 0
    said = capsys.readouterr().err
    assert problem in said
    assert len(said.splitlines()) == 1


def test_a_dead_endpoint_breaks_tasks_that_can_be_run_again(
    out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "BASE_SECONDS", 0.0)
    where = [
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:9",
        "--method",
        "react",
        "--limit",
        "1",
        "--json",
    ]
    assert bench(out, *where) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["methods"]["react"]["errors"] == 1
    assert "react 1/1: error: " in said.err
    bench(out, *where[:-1])
    assert "react: 1 task broke and count as wrong (error: " in capsys.readouterr().out
    assert bench(out, *where, "--again") == 0
    assert len(lines(out, "react")) == 2
    assert told(capsys)["methods"]["react"]["tasks"] == 1


def test_what_a_method_does_not_go_by_is_said(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(respond=lambda body: 'done(result="There is nothing to do.")') as endpoint:
        where = ["--model", "m", "--base-url", endpoint.base_url, "--limit", "1", "--seed", "3"]
        bench(out, *where, "--method", "react", "--method", "nothing", "--rounds", "2", "--no-gates")
    first, second, *rest = capsys.readouterr().err.splitlines()
    assert first == "react does not go by --rounds, --no-gates"
    assert second == "nothing does not go by --model, --base-url, --rounds, --no-gates"
    assert not any("go by" in line for line in rest)


def test_two_processes_do_not_add_to_one_file(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(out, "--method", "nothing", "--limit", "1")
    (file,) = out.glob("nothing-*.jsonl")
    capsys.readouterr()
    others = FileLocks(out / LIVE)
    assert others.acquire(file.name)
    assert bench(out, "--method", "nothing", "--limit", "2") == 2
    assert (
        f"another process is running these tasks into {str(file)!r}: wait for it" in capsys.readouterr().err
    )
    others.close()
    assert bench(out, "--method", "nothing", "--limit", "2") == 0
    assert len(lines(out, "nothing")) == 2


@pytest.mark.processes
def test_a_benchmark_that_is_killed_goes_on_without_a_finished_task(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(respond=lambda body: 'done(result="There is nothing to do.")') as endpoint:
        arguments = ["bench", "workbench", "--data", str(DATA), "--out", str(out), "--method", "react"]
        where = ["--model", "m", "--base-url", endpoint.base_url, "--limit", "8"]
        with subprocess.Popen(
            [*MAIN, *arguments, *where],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ),
        ) as child:
            assert child.stderr is not None
            for _ in range(3):
                child.stderr.readline()
            child.kill()
        finished = lines(out, "react")
        assert 3 <= len(finished) < 8
        before = len(endpoint.bodies)
        assert run([*arguments, *where]) == 0
        # One was under way when it was killed, and may have asked already.
        assert before - len(finished) in (0, 1)
        assert len(endpoint.bodies) - before == 8 - len(finished)
    assert lines(out, "react")[: len(finished)] == finished
    assert len(lines(out, "react")) == 8
