"""The quality of texts: checks without a model, a judge, or both.

Knows nothing of programs; software has a quality of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plait.domains.checks import TextCheck, findings
from plait.domains.judge import Judge, Opinion
from plait.journal import Journal
from plait.teams.solution import Rating, Solution

CHECKS = "checks"
"""The dimension that says what share of the checks holds."""
EMPTY = "There is nothing in it. Write it."


@dataclass(frozen=True, kw_only=True)
class TextQuality:
    """The mean of the judge's dimensions, and of the share of checks that hold as one more dimension.

    All on the judge's scale; without a judge from 0 to 1.
    """

    checks: Sequence[TextCheck] = ()
    judge: Judge | None = None

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        """Rate one solution; see `teams.solution.Quality`."""
        text = solution.shown().strip()
        if not text:
            return Rating(quality=0.0, findings=[EMPTY])
        failed = findings(self.checks, text)
        wrong = list(failed)
        dimensions: dict[str, float] = {}
        if self.judge is not None:
            opinion = await self.judge.read(journal, task, text)
            dimensions |= opinion.grades
            wrong += weaknesses(opinion, self.judge.scale)
        if self.checks:
            held = 1 - len(failed) / len(self.checks)
            dimensions[CHECKS] = held * (self.judge.scale if self.judge else 1)
        return Rating(
            quality=sum(dimensions.values()) / len(dimensions), dimensions=dimensions, findings=wrong
        )


def weaknesses(opinion: Opinion, scale: int) -> list[str]:
    """Return what the judge would have better: a finding for each grade that is not full."""
    return [
        f"A reader gave {name} {grade:g} of {scale}"
        + (f": {remark}" if (remark := opinion.remarks[name]) else ".")
        for name, grade in opinion.grades.items()
        if grade < scale
    ]
