"""Records as runs with the office teach them, and files of them."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.experience.office_steps import DAY, SCHEMAS, delete, search

from plait.experience.consolidation.compile import Success, compile_success
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.exploitation.recall import TOOLS_KEY
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.paper_form import as_json
from plait.experience.pipelines.pipeline import Pipeline
from plait.experience.record import Experience
from plait.experience.sharing.lines import header
from plait.experience.sharing.reading import ImportOrigin, ReadFile, read_file
from plait.experience.sharing.records import shared
from plait.experience.words.goals import key_of
from plait.reflection.dates import dates_by

NOTES = "Today is Thursday 2023-11-30."
GOAL = "Delete my first meeting on December 13"
FRIEND = ImportOrigin(source="friend.jsonl", created=5.0)


def learned(goal: str, *steps: Step) -> Pipeline:
    """Return the pipeline that a run teaches which knew what day it was."""
    compiled = compile_success(Success(goal=goal, steps=steps, named=dates_by(NOTES)), tools=SCHEMAS)
    assert compiled is not None
    return compiled.pipeline


def pipeline_record(pipeline: Pipeline, **more: Any) -> Experience:
    tools = list(dict.fromkeys(node.tool for node in pipeline.calls))
    values: dict[str, Any] = {
        "id": "aa11",
        "kind": "pipeline",
        "domain": "tools",
        "goal": pipeline.purpose,
        "key": key_of(pipeline.purpose),
        "tools": tools,
        "content": {**as_json(pipeline), TOOLS_KEY: dict.fromkeys(tools, "0123456789abcdef")},
        "run_id": "run-of-alice",
        "model": "scripted",
        "created": 1.0,
        "uses": 3,
        "successes": 3,
    }
    return Experience(**{**values, **more})


def deleting(**more: Any) -> Experience:
    """Return what a run that deletes the first meeting of a day teaches."""
    return pipeline_record(learned(GOAL, search(**DAY), delete("00000256")), **more)


def workflow_record(goal: str, *steps: str, tools: Sequence[str] = (), **more: Any) -> Experience:
    workflow = Workflow(goal=goal, steps=[WorkflowStep(goal=step, tools=tools) for step in steps])
    values: dict[str, Any] = {
        "id": "bb22",
        "kind": "workflow",
        "domain": "tools",
        "goal": goal,
        "key": key_of(goal),
        "tools": list(tools),
        "content": workflow.as_json(),
        "run_id": "run-of-alice",
        "model": "scripted",
        "created": 1.0,
    }
    return Experience(**{**values, **more})


def line_of(record: Experience) -> dict[str, Any]:
    """Return what a record looks like in a file."""
    return json.loads(shared(record).line)


def file_of(*lines: Mapping[str, Any] | str | bytes, first: str = "") -> io.BytesIO:
    """Return a file with a header and these lines."""
    texts = [line if isinstance(line, str | bytes) else json.dumps(line) for line in lines]
    every = [text if isinstance(text, bytes) else text.encode() for text in [first or header(), *texts]]
    return io.BytesIO(b"".join(line + b"\n" for line in every))


def read(*lines: Mapping[str, Any] | str | bytes, first: str = "") -> ReadFile:
    return read_file(file_of(*lines, first=first), FRIEND)


def problem(*lines: Mapping[str, Any] | str | bytes) -> str:
    """Return what is wrong with the only bad line of a file."""
    [found] = read(*lines).problems
    return found
