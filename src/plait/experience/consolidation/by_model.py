"""A pipeline of a success by a model, as in the paper: asked, checked, asked once more (ICE, section 3.2).

The compiler needs no model and is there whatever a model says; see `compile`. Knows nothing of memories.
"""

from dataclasses import replace
from pathlib import Path

from plait.agents.agent import Agent, ask
from plait.errors import ReplyError
from plait.experience.consolidation.compile import Draft
from plait.experience.consolidation.model_form import MOST_CALLS, ModelPipeline, prompt, read, reply_schema
from plait.experience.consolidation.tracing import faults
from plait.journal import Journal
from plait.models.protocol import Message, Reply, Typed
from plait.models.typed import bounded, parse_typed
from plait.tools.arguments import Schemas

ROLE = "consolidator"
TRIES = 2
"""The first, and one that repairs it."""
MAX_TOKENS = 1_200


async def made_by_model(
    journal: Journal, agent: Agent, goal: str, draft: Draft, tools: Schemas, *, prompts: Path | None = None
) -> ModelPipeline:
    """Return the pipeline that a model makes of a trajectory, after all checks.

    Args:
        journal: The place of the question; each try is a step.
        agent: Who is asked.
        goal: That was reached.
        draft: The trajectory.
        tools: What the tools may be called with.
        prompts: Folder with the user's own prompts, or None.

    Raises:
        ReplyError: neither try gave a sound pipeline; the message says what was wrong with the last.
        BudgetExhausted, ModelError: as `ask`.
    """
    if len(draft.calls) > MOST_CALLS:
        raise ReplyError(f"it took {len(draft.calls)} calls, and a model is shown {MOST_CALLS} at most")
    schema = bounded(reply_schema(draft))
    careful = replace(agent, settings=replace(agent.settings, max_tokens=MAX_TOKENS))
    problems: list[str] = []
    for attempt in range(1, TRIES + 1):
        messages = [Message(role="user", content=prompt(goal, draft, problems, prompts))]
        request = careful.request(messages, Typed(schema=schema, name="pipeline"), attempt)
        reply = await ask(journal, careful, request, f"try-{attempt}")
        try:
            made = _read(reply, schema, goal, draft)
        except ReplyError as error:
            problems = [error.message]
            continue
        problems = faults(made.pipeline, made.numbers, draft, tools)
        if not problems:
            return made
    raise ReplyError(problems[0])


def _read(reply: Reply, schema: dict[str, object], goal: str, draft: Draft) -> ModelPipeline:
    if reply.finish in ("length", "repetition"):
        raise ReplyError("the reply was cut: be much shorter")
    return read(parse_typed(reply.text, schema), goal, draft)
