"""`plait bench ablate`: one table with what each part is worth, resumed like any benchmark."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bench.making_tasks import made, story_file
from tests.support.commands import Commands
from tests.support.endpoint import Endpoint
from tests.support.served import served

OFFICE = Path(__file__).parents[1] / "bench" / "data" / "workbench"
STRANDS = ["all", "teams+reflection", "teams+experience", "teams", "reflection+experience"]
STRANDS += ["reflection", "experience", "none"]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(respond=respond) as endpoint:
        yield endpoint


def respond(body: dict[str, list[dict[str, str]]]) -> str:
    text = "\n".join(message["content"] for message in body["messages"])
    return made(text, int(str(body.get("seed") or 0)))


def where(endpoint: Endpoint, folder: Path) -> list[str]:
    data = ["--data", str(story_file(folder)), "--out", str(folder / "kept"), "--limit", "2"]
    return ["bench", "ablate", "stories", *data, "--model", "m", "--base-url", endpoint.base_url]


def test_a_table_tells_what_each_part_of_teams_is_worth(
    plait: Commands, endpoint: Endpoint, tmp_path: Path
) -> None:
    command = [*where(endpoint, tmp_path), "--table", "teams", "--teams", "2", "--no-experience"]
    said = plait(*command)
    assert said.status == 0
    head, *rows = said.out.splitlines()[:5]
    assert head.split() == ["variant", "quality", "95%", "change", "calls", "change", "tokens", "median"]
    assert [re.split(r"\s{2,}", row)[0] for row in rows] == ["all", "no role", "no elitism", "one team"]
    assert "below 100 tasks no difference is called significant" in said.out
    assert re.search(r"all 1/2, about .* left: quality", said.err)
    assert re.search(r"no elitism 2/2, about .* left: quality", said.err)
    assert "one team 2/2: quality" in said.err
    before = endpoint.requests
    again = plait(*command, "--json")
    assert (endpoint.requests, again.err) == (before, "")
    assert again.json["first"] == "all"
    found = again.json["variants"]
    assert found["one team"]["against_first"]["calls"]["value"] < 0
    assert found["one team"]["against_first"]["tasks"] == found["all"]["tasks"] == 2
    assert "against_first" not in found["all"]
    assert len({variant["file"] for variant in found.values()}) == 4


def test_a_variant_is_what_the_switch_makes_of_a_benchmark(
    plait: Commands, endpoint: Endpoint, tmp_path: Path
) -> None:
    command = where(endpoint, tmp_path)
    plait(*command, "--table", "reflection", "--teams", "1", "--no-experience")
    before = endpoint.requests
    words = ["--teams", "1", "--no-experience", "--no-phase-gate"]
    said = plait("bench", *command[2:], *words)
    assert (said.status, said.err, endpoint.requests) == (0, "", before)


def test_the_strands_are_on_and_off_in_eight_lines(
    plait: Commands, endpoint: Endpoint, tmp_path: Path
) -> None:
    said = plait(*where(endpoint, tmp_path), "--teams", "2", "--limit", "1", "--json")
    assert said.status == 0
    assert [*said.json["variants"]] == STRANDS
    calls = {label: found["model_calls"] for label, found in said.json["variants"].items()}
    assert calls["teams"] > calls["none"]


@pytest.mark.parametrize(
    ("table", "second", "lines"), [("reflection", "no planner gate", 10), ("strands", "teams+reflection", 8)]
)
def test_tables_of_tool_tasks(plait: Commands, tmp_path: Path, table: str, second: str, lines: int) -> None:
    with served(respond=lambda body: "1. Look\n# critique: fine\n# score: 9") as endpoint:
        said = plait(
            *("bench", "ablate", "workbench", "--table", table, "--data", str(OFFICE), "--limit", "1"),
            *("--model", "m", "--base-url", endpoint.base_url, "--max-calls", "2"),
            *("--out", str(tmp_path / "kept"), "--json"),
        )
    assert said.status == 0
    found = said.json["variants"]
    assert [*found][:2] == ["all", second]
    assert (len(found), len({each["file"] for each in found.values()})) == (lines, lines)
    assert all(each["tasks"] == 1 and not each["errors"] for each in found.values())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--table", "teams", "--teams", "1"], "nothing of it makes a difference with one team: ask for"),
        (["--table", "magic"], "'--table': 'magic' is not one of"),
        (["--function-calling"], "--function-calling is for --domain tools"),
    ],
)
def test_what_cannot_be_is_one_line(
    plait: Commands, endpoint: Endpoint, tmp_path: Path, more: list[str], problem: str
) -> None:
    said = plait(*where(endpoint, tmp_path), *more)
    assert (said.status, endpoint.requests) == (2, 0)
    assert problem in said.err
    assert said.err.count("\n") == 1


def test_an_unknown_benchmark_is_one_line(plait: Commands, tmp_path: Path) -> None:
    said = plait("bench", "ablate", "magic", "--data", str(tmp_path))
    assert (said.status, said.err) == (
        2,
        "plait: there is no benchmark 'magic'; there is: workbench, srdd, stories\n",
    )
