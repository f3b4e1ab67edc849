"""What is remembered of verified files, and what is not believed."""

import hashlib
from pathlib import Path

import pytest

from plait.models.catalogue import remove_model
from plait.models.verified import is_verified, remember, verify
from plait.paths import models_folder

from .model_files import entry_of, flip

CONTENT = bytes(range(256)) * 16


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.gguf"
    path.write_bytes(CONTENT)
    return path


def sums(file: Path) -> dict[Path, str]:
    return {file: hashlib.sha256(CONTENT).hexdigest()}


def record() -> Path:
    return models_folder() / "tiny.verified.json"


def silent(_: str) -> None:
    return None


def test_what_was_never_verified_is_verified_once(file: Path) -> None:
    assert not is_verified("tiny", sums(file))
    assert verify("tiny", sums(file), silent) == []
    assert is_verified("tiny", sums(file))
    assert not is_verified("other", sums(file))


def test_one_byte_is_enough(file: Path) -> None:
    verify("tiny", sums(file), silent)
    flip(file, len(CONTENT) // 2)
    assert not is_verified("tiny", sums(file))
    assert verify("tiny", sums(file), silent) == [file]
    assert not is_verified("tiny", sums(file))


def test_another_size_another_sum_and_a_file_that_is_gone_are_not_verified(file: Path) -> None:
    remember("tiny", sums(file))
    assert not is_verified("tiny", {file: "0" * 64})
    file.unlink()
    assert not is_verified("tiny", sums(file))
    assert verify("tiny", sums(file), silent) == [file]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}'])
def test_a_record_that_cannot_be_read_says_nothing(file: Path, text: str) -> None:
    record().parent.mkdir(parents=True)
    record().write_text(text)
    assert not is_verified("tiny", sums(file))
    assert verify("tiny", sums(file), silent) == []
    assert is_verified("tiny", sums(file))


def test_a_record_that_cannot_be_written_keeps_nothing_from_being_verified(file: Path) -> None:
    record().mkdir(parents=True)
    assert verify("tiny", sums(file), silent) == []
    assert not is_verified("tiny", sums(file))
    assert [path.name for path in models_folder().iterdir()] == [record().name]


def test_a_moved_folder_of_models_stays_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entry_of(CONTENT)
    entry.file.parent.mkdir(parents=True)
    entry.file.write_bytes(CONTENT)
    verify(entry.name, entry.sums, silent)
    models_folder().parent.rename(tmp_path / "elsewhere")
    monkeypatch.setenv("PLAIT_HOME", str(tmp_path / "elsewhere"))
    assert is_verified(entry.name, entry.sums)
    assert remove_model(entry) == [entry.file]
    assert list(models_folder().iterdir()) == []


def test_a_large_file_is_told_before_it_is_read(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(3 << 20)
    told: list[str] = []
    verify("tiny", sums(file), told.append)
    assert told == ["Checking the sum of weights.gguf (3 MiB)"]
