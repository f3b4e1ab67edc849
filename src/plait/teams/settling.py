"""Work that is let through to its end although other work beside it lacked budget or a model.

What is under way then is paid for, so it is waited for and on record before the run ends. Knows nothing
of what the pieces do.
"""

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from plait.agents.together import together
from plait.errors import BudgetExhausted, ModelError

Result = TypeVar("Result")


async def all_through(pieces: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run all pieces at once and return their results in order.

    Raises:
        BudgetExhausted, ModelError: the first piece in order that had it; the others came to their end.
        Exception: any other error of a piece; it ends the others, as in `together`.
    """
    ended = await together([_ended(piece) for piece in pieces])
    results: list[Result] = []
    for result, error in ended:
        if error is not None:
            raise error
        results.extend(result)
    return results


async def _ended(
    piece: Coroutine[Any, Any, Result],
) -> tuple[list[Result], BudgetExhausted | ModelError | None]:
    try:
        return [await piece], None
    except (BudgetExhausted, ModelError) as error:
        return [], error
