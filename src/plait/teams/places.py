"""Events at places of their own, from whoever coordinates several branches at once.

An event is numbered among those of its place, so what several branches cause at once must not share one.
"""

from collections.abc import Sequence

from plait.events import Event
from plait.journal import Journal


async def tell(journal: Journal, place: str, *events: Event) -> None:
    """Emit events at `place` below the journal's own."""
    await journal.branch(place, _say, events)


async def _say(journal: Journal, events: Sequence[Event]) -> None:
    for event in events:
        journal.emit(event)
