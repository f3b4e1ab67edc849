"""What a run of teams teaches: its chain as a workflow, and what failed in its phases as lessons.

Knows nothing of tool tasks, nor of how records are kept or used.
"""

from collections.abc import Iterator, Mapping, Sequence

from plait.events import PhaseFinished, Record
from plait.experience.consolidation.making import PhaseProduct, lessons_json, phase_lessons, workflow_of
from plait.experience.record import Experience
from plait.outfit.ended_run import EndedRun
from plait.teams.chain import Domain
from plait.teams.solution import Solution

GOOD = 0.75
"""Share of the best quality there can be from which a thing made is a reference for others."""


def taught_by_teams(run: EndedRun, domain: Domain, records: Sequence[Record]) -> list[Experience]:
    """Return what a run of teams teaches.

    Args:
        run: That ended.
        domain: What was made.
        records: All that is on record of it.
    """
    return [*_chain(run, domain, records), *_phase_lessons(run, records)]


def _chain(run: EndedRun, domain: Domain, records: Sequence[Record]) -> Iterator[Experience]:
    """Yield the chain of a run that ended well; what stands in input files is no part of its task."""
    good = run.succeeded and run.share is not None and run.share >= GOOD
    if not good or run.options.files:
        return
    workflow = workflow_of(run.task, made_of(domain, run.products or {}, records))
    if workflow is not None:
        yield run.record("workflow", run.task, workflow.as_json())


def made_of(
    domain: Domain, products: Mapping[str, Solution], records: Sequence[Record]
) -> list[PhaseProduct]:
    """Return what became of every phase that a team came through, in the order of the chain."""
    finished = {record.event.phase for record in records if isinstance(record.event, PhaseFinished)}
    return [
        PhaseProduct(
            phase=phase.name,
            product=phase.writes,
            text=products[phase.writes].text,
            files={path: len(text.splitlines()) for path, text in products[phase.writes].files.items()},
            result=phase.writes == domain.product,
        )
        for phase in domain.chain.phases
        if phase.name in finished and phase.writes in products
    ]


def _phase_lessons(run: EndedRun, records: Sequence[Record]) -> Iterator[Experience]:
    if lessons := phase_lessons(records):
        yield run.record("lesson", run.task, lessons_json(lessons))
