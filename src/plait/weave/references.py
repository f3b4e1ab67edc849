"""What a run may be told of earlier ones: how records are read for tool tasks and for what teams make.

Where experience meets what the other strands show to their agents. Knows nothing of how memories are kept.
"""

from collections.abc import Mapping
from typing import Any

from plait.errors import UserError
from plait.experience.consolidation.lessons import Lesson
from plait.experience.consolidation.making import lessons_from_json
from plait.experience.consolidation.workflow import Workflow
from plait.experience.exploitation.reference_text import chain_text, workflow_text
from plait.experience.exploitation.references import Readers, References
from plait.experience.record import Experience
from plait.task import TOOLS
from plait.weave.workshop import Making, Workshop

SIMILAR_MAKING = 0.75
"""Cosine of two descriptions from which one is a reference for the other; they are longer than goals of tool
tasks, and name no single operation."""
MAKING_CHARACTERS = 480
"""Of all that the phases are told, about 120 tokens."""


def references_of_tools(workshop: Workshop) -> References | None:
    """Return what a tool task may be told, or None where the run has no memory."""
    if workshop.memory is None:
        return None
    schemas = {tool.name: tool.parameters for tool in workshop.tools}
    readers = Readers(workflow=_workflow, lesson=lambda record: _lesson(record, schemas), tools=[*schemas])
    return References(
        memory=workshop.memory,
        domain=TOOLS,
        readers=readers,
        settings=workshop.recalls,
        embedder=workshop.embedder,
        name=workshop.memory_name,
    )


def references_of_making(workshop: Workshop, making: Making) -> References | None:
    """Return what teams may be told, or None where the run has no memory."""
    if workshop.memory is None:
        return None
    return References(
        memory=workshop.memory,
        domain=making.domain.name,
        readers=Readers(workflow=_chain, lesson=_phases, operations=False),
        settings=workshop.recalls,
        embedder=workshop.embedder,
        name=workshop.memory_name,
        similar=SIMILAR_MAKING,
        characters=MAKING_CHARACTERS,
        workflow_characters=MAKING_CHARACTERS,
    )


# A record that cannot be read is passed over; `plait memory show` says what is wrong with it.


def _workflow(record: Experience, goal: str, most: int) -> str:
    try:
        return workflow_text(Workflow.from_json(record.content), goal, most)
    except UserError:
        return ""


def _chain(record: Experience, _: str, most: int) -> str:
    try:
        return chain_text(Workflow.from_json(record.content), most)
    except UserError:
        return ""


def _lesson(record: Experience, schemas: Mapping[str, Mapping[str, Any]]) -> str:
    try:
        lesson = Lesson.from_json(record.content)
    except UserError:
        return ""
    return lesson.text if lesson.fits(schemas) else ""


def _phases(record: Experience) -> str:
    try:
        return "\n".join(lesson.text for lesson in lessons_from_json(record.content))
    except UserError:
        return ""
