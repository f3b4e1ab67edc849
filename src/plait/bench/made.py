"""What a run made, read from its folder, and its rating by the domain's quality.

Every method is judged alike: what it handed over is rated once more, in a run of its own (`RUN-judged`), so
that judging counts for no method and can be looked at. Knows nothing of methods.
"""

import re
from pathlib import Path

from plait.bench.benchmark import Ended
from plait.bench.methods.method import Asked, journal_of
from plait.domains.delivery import RECORD
from plait.domains.software.delivery import MANUAL, REQUIREMENTS
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.fenced import OWN_PREFIX
from plait.outfit.domains import DomainMeans, making_of
from plait.outfit.embedding import CountedEmbedder
from plait.teams.ratings import rating_event
from plait.teams.solution import Quality, Rating, Solution

_BESIDE = re.compile(
    "|".join(re.escape(name).replace(r"\.md", r"(-\d+)?\.md") for name in (RECORD, MANUAL, REQUIREMENTS))
    + f"|{re.escape(OWN_PREFIX)}.*"
)
"""What is handed over beside a program, also where its name was taken."""
MOST_FILES = 200
MOST_CHARACTERS = 1_000_000
"""Of one file; what no method makes need not be read whole."""
JUDGED = "-judged"
"""What the id of the run ends in that judges another."""


def program_in(folder: Path) -> Solution | None:
    """Return the program that was handed over in a folder; None where there is none."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    own = [path for path in paths if not _BESIDE.fullmatch(str(path.relative_to(folder)))]
    files = {str(path.relative_to(folder)): _text(path) for path in own[:MOST_FILES]}
    return Solution(product="code", files=files) if files else None


def text_in(folder: Path, product: str) -> Solution | None:
    """Return the text that was handed over in a folder; None where there is none."""
    file = folder / f"{product}.md"
    return Solution(product=product, text=_text(file)) if file.is_file() else None


async def rated(task: Asked, ended: Ended, solution: Solution) -> Rating:
    """Rate what a run made for a task.

    Raises:
        UserError: the domain's quality cannot be had here.
        ReplyError, ModelError, BudgetExhausted: the judge gave no grades.
    """
    means = ended.means
    assert means.model is not None
    options = means.options
    journal = await journal_of("judge", task, f"{ended.run_id}{JUDGED}", means)
    try:
        embedder = CountedEmbedder(means.embedder or local_embedder(), journal)
        budget = Budget(options.limits())
        making = await making_of(
            journal, options, DomainMeans(model=means.model, budget=budget, embedder=embedder)
        )
        assert making is not None
        rating = await journal.branch("judged", _rate, (making.domain.quality, task.query, solution))
        await journal.finish("succeeded", {"answer": _told(rating)})
    finally:
        await journal.close()
    return rating


async def _rate(journal: Journal, given: tuple[Quality, str, Solution]) -> Rating:
    quality, task, solution = given
    rating = await quality.rate(journal, task, solution)
    journal.emit(rating_event(solution, rating, solution.product))
    return rating


def _told(rating: Rating) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in rating.dimensions.items())


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(MOST_CHARACTERS)
