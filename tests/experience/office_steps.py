"""Steps of trajectories with the office tools, and what is compiled from them."""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.experience.consolidation.compile import Success, compile_success
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import Pipeline
from plait.experience.pipelines.soundness import problems_of
from plait.tools.arguments import Schemas
from plait.tools.office.catalogue import DECLARATIONS

SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    name: {
        "type": "object",
        "properties": dict(declaration.parameters),
        "required": list(declaration.required),
        "additionalProperties": False,
    }
    for name, declaration in DECLARATIONS.items()
}
DAY: Mapping[str, Any] = {"time_min": "2023-12-13 00:00:00", "time_max": "2023-12-13 23:59:59"}
EVENTS = """event_id | event_name | participant_email | event_start | duration
00000256 | progress update | santiago.martinez@atlas.com | 2023-12-13 09:00:00 | 60
00000100 | evaluation | dmitri.ivanov@atlas.com | 2023-12-13 10:00:00 | 60
00000120 | workshop | jinsoo.kim@atlas.com | 2023-12-13 14:30:00 | 30"""


def step(
    tool: str, observation: str = "Done.", *, ok: bool = True, whole: bool = True, **arguments: Any
) -> Step:
    effect = DECLARATIONS[tool].effect == "changes"
    return Step(tool=tool, arguments=arguments, observation=observation, ok=ok, effect=effect, whole=whole)


def search(observation: str = EVENTS, *, whole: bool = True, **arguments: Any) -> Step:
    return step("calendar.search_events", observation, whole=whole, **arguments)


def delete(event_id: str, observation: str = "Event deleted successfully.", *, ok: bool = True) -> Step:
    return step("calendar.delete_event", observation, ok=ok, event_id=event_id)


def compiled(goal: str, steps: Sequence[Step], *, tools: Schemas = SCHEMAS) -> Pipeline | None:
    found = compile_success(Success(goal=goal, steps=steps), tools=tools)
    return None if found is None else found.pipeline


def pipeline_of(goal: str, *steps: Step) -> Pipeline:
    pipeline = compiled(goal, steps)
    assert pipeline is not None
    assert problems_of(pipeline, SCHEMAS) == []
    return pipeline


def calls(pipeline: Pipeline) -> list[str]:
    return [node.name for node in pipeline.calls]


def argument(pipeline: Pipeline, node: str, name: str) -> object:
    return pipeline.node(node).arguments[name]
