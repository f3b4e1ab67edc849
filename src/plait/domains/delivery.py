"""What a run of teams hands over: the product, what belongs to it, and a record of how it came about.

A product of files is handed over as these files, a text as PRODUCT.md. Knows nothing of teams: the record
is given as text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plait.domains.folder import put
from plait.domains.quoting import cleaned
from plait.domains.software.delivery import free_name, with_belongings
from plait.domains.software.program import python_files
from plait.errors import UserError
from plait.teams.chain import Domain
from plait.teams.solution import Solution

RECORD, RESULT = "RECORD.md", "RESULT.md"


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """How large a result is (Croto, Table 4)."""

    files: int
    lines: int
    """Lines that are not blank, of all files together."""


def deliver(folder: Path, domain: Domain, products: Mapping[str, Solution], record: str) -> list[str]:
    """Put the result of a run into a folder and return the paths of its files, sorted.

    Args:
        folder: Where to; made if need be. What it holds that no result put there is never written over.
        domain: Says which product is the result.
        products: What was written, by name.
        record: How it came about, as Markdown.

    Raises:
        UserError: there is no result, or the folder cannot take it; the message says what to do.
    """
    files = contents(domain.product, products)
    files[free_name(RECORD, files)] = _ended(cleaned(record))
    return [str(folder / path) for path in put(folder, files)]


def deliver_as_page(folder: Path, domain: Domain, products: Mapping[str, Solution], record: str) -> list[str]:
    """Put the result of a run into a folder as one page, where its files cannot be written; as `deliver`."""
    files = {RESULT: _ended(_result(domain.product, products).shown()), RECORD: _ended(cleaned(record))}
    return [str(folder / path) for path in put(folder, files)]


def contents(product: str, products: Mapping[str, Solution]) -> dict[str, str]:
    """Return the files that a result is handed over as.

    Raises:
        UserError: the product was not written.
    """
    solution = _result(product, products)
    if not solution.files:
        return {f"{product}.md": _ended(solution.text)}
    if python_files(solution.files):
        return with_belongings(solution.files, products)
    return dict(solution.files)


def _result(product: str, products: Mapping[str, Solution]) -> Solution:
    solution = products.get(product)
    if solution is None or not (solution.files or solution.text.strip()):
        raise UserError(f"there is nothing to hand over: no phase wrote {product!r}")
    return solution


def statistics(solution: Solution) -> Statistics:
    """Return how large a result is; a text counts as one file."""
    texts = list(solution.files.values()) or [solution.text]
    lines = sum(1 for text in texts for line in text.splitlines() if line.strip())
    return Statistics(files=len(texts), lines=lines)


def _ended(text: str) -> str:
    return text.strip() + "\n"
