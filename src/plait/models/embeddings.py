"""Texts become vectors whose cosine says how near they are in meaning.

Knows nothing of what is compared. The local embedder runs a small model on this machine, whichever
language model is used; the hash embedder needs no model and serves tests.
"""

import asyncio
import hashlib
import importlib
import math
import re
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any, Protocol

from plait.errors import ModelError, UserError
from plait.models.catalogue import DEFAULT_EMBEDDING_MODEL, CatalogueEntry, find_model
from plait.models.fetch import provide
from plait.models.machine import threads

# What fastembed calls the model whose files we hand it; it decides how token vectors become one.
_FASTEMBED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
_KEPT = 512
"""Vectors that are kept: a task is compared with each program, and most of a program stays as it was."""
_AT_ONCE = 2
"""The memory that each takes is not given back."""


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, in order.

        Raises:
            UserError: the model is not there and cannot be had.
        """
        ...


@cache
def local_embedder(name: str = DEFAULT_EMBEDDING_MODEL) -> Embedder:
    """Return the local embedder of that name, one for all runs of this process.

    Nothing is fetched or loaded before its first use. It is never closed, and any thread may use it.
    """
    return LocalEmbedder(name)


class LocalEmbedder:
    """An embedding model on this machine, loaded once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._model: Any = None
        self._loading = threading.Lock()
        self._workers = ThreadPoolExecutor(min(_AT_ONCE, threads()), thread_name_prefix="embedder")
        self._vector = lru_cache(_KEPT)(self._vector_of)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text; see `Embedder.embed`.

        Raises:
            UserError: there is no such embedder.
        """
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._embed, list(texts))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            if self._model is None:
                self._model = self._load()
        return [[*self._vector(text)] for text in texts]

    def _vector_of(self, text: str) -> tuple[float, ...]:
        # Alone: a larger batch is hardly faster on a processor, all in it take as long as the longest, and
        # the vector of a text would depend on the others, as numbers are rounded by the largest of all.
        vectors: Iterable[Any] = self._model.embed([text], batch_size=1)
        return tuple(float(number) for vector in vectors for number in vector)

    def _load(self) -> Any:
        try:
            fastembed: Any = importlib.import_module("fastembed")
        except ImportError as error:
            raise UserError(
                "Comparing texts by meaning needs the local embedder, which is not installed; "
                "run: pip install 'plait[local]'"
            ) from error
        entry = _find_embedder(self._name)
        provide(entry)
        folder = entry.file.parent
        try:
            return fastembed.TextEmbedding(
                model_name=_FASTEMBED_NAME,
                specific_model_path=str(folder),
                threads=1,  # More of them spin while they wait for each other, at twice the processor time.
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # onnxruntime raises classes of its own for damaged files
            raise ModelError(
                f"Embedding model {entry.name!r} in {str(folder)!r} cannot be loaded "
                f"({type(error).__name__}); run `plait models pull {entry.name}`."
            ) from error


def _find_embedder(name: str) -> CatalogueEntry:
    entry = find_model(name)
    if entry.kind != "embedding":
        raise UserError(
            f"Model {name!r} is a language model and makes no embeddings; see `plait models list`."
        )
    return entry


class HashEmbedder:
    """Deterministic vectors without a model: texts are near when they share words and parts of words."""

    def __init__(self, dimensions: int = 256) -> None:
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text; see `Embedder.embed`."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._dimensions
        for feature in _features(text):
            digest = hashlib.sha256(feature.encode()).digest()
            place = int.from_bytes(digest[:4], "big") % self._dimensions
            vector[place] += 1.0 if digest[4] & 1 else -1.0
        length = math.hypot(*vector)
        return [number / length for number in vector] if length else vector


def _features(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    parts = [f"#{word}#"[at : at + 3] for word in words for at in range(len(word))]
    return words + parts
