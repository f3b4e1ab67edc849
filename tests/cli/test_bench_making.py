"""`plait bench stories`: methods that make something, side by side."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bench.making_tasks import made, story_file
from tests.support.commands import Commands
from tests.support.endpoint import Endpoint
from tests.support.served import served

from plait.bench.benchmarks.stories import DIMENSIONS


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    def respond(body: dict[str, object]) -> str:
        messages = body["messages"]
        assert isinstance(messages, list)
        text = "\n".join(str(message["content"]) for message in messages)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return made(text, int(str(body.get("seed") or 0)))

    with served(respond=respond) as endpoint:
        yield endpoint


def where(endpoint: Endpoint, folder: Path) -> list[str]:
    data = ["--data", str(story_file(folder)), "--out", str(folder / "kept"), "--no-experience"]
    return ["bench", "stories", *data, "--model", "m", "--base-url", endpoint.base_url]


def test_the_best_of_two_beats_one(plait: Commands, endpoint: Endpoint, tmp_path: Path) -> None:
    command = [
        *where(endpoint, tmp_path),
        "--method",
        "single-agent",
        "--method",
        "best-of-n",
        "--teams",
        "2",
    ]
    said = plait(*command, "--json")
    assert said.status == 0
    one, two = said.json["methods"]["single-agent"], said.json["methods"]["best-of-2"]
    assert [one["measures"][name]["mean"]["value"] for name in ("quality", *DIMENSIONS)] == [1.0] * 4
    assert two["measures"]["quality"]["mean"]["value"] == 2.0
    against = said.json["against_single-agent"]["best-of-2"]
    assert (against["better"], against["worse"], against["change"]["value"]) == (3, 0, 1.0)
    assert against["calls"]["value"] == 2.0
    assert "single-agent does not go by --teams, --no-experience" in said.err
    assert "best-of-2 does not go by --no-experience" in said.err
    assert "best-of-2 1/3, about" in said.err
    assert "quality 2.00, 4 calls" in said.err
    before = endpoint.requests
    again = plait(*command)
    assert endpoint.requests == before
    head, first, second = again.out.splitlines()[:3]
    assert head.split() == ["method", "quality", "95%", "grammar", "context", "logic"]
    assert first.split() == ["single-agent", "1.00", "1.00", "1.00", "1.00"]
    assert second.startswith("best-of-2")
    assert "better on 3, worse on 0, +1.00 quality; +2.0 calls a task" in again.out


def test_teams_and_a_chain_are_methods_too(plait: Commands, endpoint: Endpoint, tmp_path: Path) -> None:
    said = plait(
        *where(endpoint, tmp_path),
        "--method",
        "plait",
        "--method",
        "single-chain",
        "--teams",
        "2",
        "--limit",
        "1",
    )
    assert said.status == 0
    kept = sorted(file.name.split("-")[0] for file in (tmp_path / "kept").glob("*.jsonl"))
    assert kept == ["plait", "single"]
    [line] = next((tmp_path / "kept").glob("plait-*.jsonl")).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["quality"] == json.loads(line)["logic consistency"] > 0


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--method", "react"], "--method 'react' is unknown; there is: plait, single-agent"),
        (["--teams", "99"], "--teams must be between 1 and 64"),
        (["--data", "/nowhere.jsonl"], "cannot read the task file '/nowhere.jsonl'"),
        (["--steps", "3"], "No such option: --steps"),
    ],
)
def test_what_cannot_be_is_one_line(
    plait: Commands, endpoint: Endpoint, tmp_path: Path, more: list[str], problem: str
) -> None:
    said = plait(*where(endpoint, tmp_path), *more)
    assert said.status == 2
    assert problem in said.err
    assert said.err.count("\n") == 1
