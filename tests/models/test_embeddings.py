"""Embedders: the deterministic one, and what the local one says when it cannot be loaded."""

import math
import sys
from pathlib import Path

import pytest

from plait.errors import ModelError, UserError
from plait.models import embeddings
from plait.models.catalogue import find_model
from plait.models.verified import remember


def cosine(one: list[float], other: list[float]) -> float:
    return sum(first * second for first, second in zip(one, other, strict=True))


async def test_hash_vectors_are_near_where_words_are_shared() -> None:
    near, query, far = await embeddings.HashEmbedder().embed(
        ["cancel the next meeting", "cancel the meeting", "stock prices fell"]
    )
    assert cosine(query, near) > 0.7 > 0.3 > cosine(query, far)
    assert math.isclose(math.hypot(*near), 1.0)


async def test_hash_vectors_are_the_same_every_time() -> None:
    first, again = await embeddings.HashEmbedder().embed(["one text", "one text"])
    (alone,) = await embeddings.HashEmbedder().embed(["one text"])
    assert first == again == alone


async def test_a_text_without_words_has_no_direction() -> None:
    assert await embeddings.HashEmbedder(4).embed(["?!"]) == [[0.0, 0.0, 0.0, 0.0]]


async def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(UserError, match=r"pip install 'plait\[local\]'"):
        await embeddings.local_embedder().embed(["text"])


async def test_a_language_model_is_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", Fastembed())
    with pytest.raises(UserError, match="makes no embeddings"):
        await embeddings.local_embedder("qwen2.5-coder-0.5b").embed(["text"])


class Fastembed:
    """Stands for the library: remembers what it was given."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.folders: list[str] = []
        self.given: list[str] = []

    def TextEmbedding(self, *, specific_model_path: str, **_: object) -> "Fastembed":
        self.folders.append(specific_model_path)
        if self.fails:
            raise RuntimeError("protobuf parsing failed")
        return self

    def embed(self, texts: list[str], batch_size: int) -> list[list[int]]:
        self.given += texts
        return [[len(text), batch_size] for text in texts]


def lay_out_files() -> Path:
    entry = find_model("all-minilm-l6-v2")
    for file in entry.files:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        with file.path.open("wb") as opened:
            opened.truncate(file.size_bytes)
    remember(entry.name, entry.sums)
    return entry.file.parent


async def test_the_model_is_loaded_once_from_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Fastembed()
    monkeypatch.setitem(sys.modules, "fastembed", library)
    folder = lay_out_files()
    embedder = embeddings.local_embedder()
    assert await embedder.embed([]) == []
    assert await embedder.embed(["four", "seven.."]) == [[4.0, 1.0], [7.0, 1.0]]
    await embeddings.local_embedder().embed(["again"])
    assert library.folders == [str(folder)]


async def test_a_text_is_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Fastembed()
    monkeypatch.setitem(sys.modules, "fastembed", library)
    lay_out_files()
    embedder = embeddings.local_embedder()
    first = await embedder.embed(["task", "program"])
    first[0].append(9.0)  # What a caller does with a vector is its own.
    assert await embedder.embed(["task", "another"]) == [[4.0, 1.0], [7.0, 1.0]]
    assert library.given == ["task", "program", "another"]


async def test_a_damaged_model_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", Fastembed(fails=True))
    lay_out_files()
    with pytest.raises(ModelError, match=r"plait models pull all-minilm-l6-v2"):
        await embeddings.local_embedder().embed(["text"])
