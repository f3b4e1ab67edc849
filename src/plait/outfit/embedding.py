"""The embedder of a run, whose calls are on record.

Knows nothing of what is compared.
"""

from collections.abc import Sequence

from plait.events import TextsEmbedded
from plait.journal import Journal
from plait.models.embeddings import Embedder


class CountedEmbedder:
    """An embedder each of whose calls leaves an event."""

    def __init__(self, inner: Embedder, journal: Journal) -> None:
        self.inner = inner
        """Whose vectors they are."""
        self._journal = journal

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text; see `Embedder.embed`."""
        vectors = await self.inner.embed(texts)
        if texts:
            self._journal.emit(TextsEmbedded(texts=len(texts)))
        return vectors
