"""Whether the budget pays another round: better the last answer, if a weak one, than to stop in the midst.

Knows nothing of what rounds do.
"""

from typing import cast

from plait.errors import BudgetExhausted
from plait.journal import JSON, Journal, JSONObject
from plait.models.amounts import lacking, share_of, shortage
from plait.models.budget import Budget

MEANS = "means"
"""The step that records that a round was paid for, below the round's name."""


async def teams_paid(journal: Journal, number: int, last: Budget, teams: int) -> int:
    """Return how many teams the budget pays in round `number`: as many as in the last, or one.

    The round is taken to cost what the last one did. What is paid is on record, so that a run that was killed
    in the round goes on with it.

    Args:
        journal: Where rounds are branches.
        number: Of the round that would begin.
        last: What the round before it spent from.
        teams: How many worked in that.

    Raises:
        BudgetExhausted: it pays none; a run that is taken up with higher limits goes on with the round.
    """

    async def look(_: JSONObject) -> JSON:
        left, spent = last.unspent(), last.spent
        if lacking(left, spent) is None:
            return teams
        needed = share_of(spent, teams)
        limit = lacking(left, needed)
        if limit is None:
            return 1
        short = shortage(limit, left, needed)
        raise BudgetExhausted(
            f"The budget runs low: {short} for round {number}. Raise it with --max-{limit}.", limit=limit
        )

    return cast("int", await journal.call(f"round-{number}/{MEANS}", look, {}))
