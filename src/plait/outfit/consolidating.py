"""Lets a model make the pipelines that a run teaches, where the user wants it so (ICE, section 3.2).

What the compiler made of the run is there before, and stays wherever the model, the budget or the checks do
not give something better. Knows nothing of how a trajectory is shown to a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plait.agents.agent import Agent
from plait.errors import BudgetExhausted, ModelError, NeedsDecision, ReplyError, UserError
from plait.events import Noted, Record
from plait.experience.consolidation.by_model import made_by_model
from plait.experience.consolidation.caution import needed, why_not, with_answers
from plait.experience.consolidation.compile import Draft, Success, draft_of, tainted
from plait.experience.consolidation.model_form import ModelPipeline, texts_of
from plait.experience.consolidation.tracing import Route, route_through
from plait.experience.investigation.investigate import investigate
from plait.experience.investigation.tree import Goal, Step
from plait.experience.record import Experience
from plait.experience.situation import kept_situation
from plait.experience.words.copies import copied
from plait.journal import Journal
from plait.outfit.ended_run import EndedRun
from plait.outfit.teaching import LEARNED_FROM, worked_out
from plait.reflection.dates import dates_by

MADE_BY = "made_by"
"""Where a pipeline says that a model made it."""
MODEL = "model"
MOST_MADE = 4
"""Pipelines of one run that a model is asked for."""


@dataclass(frozen=True, kw_only=True)
class Consolidator:
    """Who makes pipelines of trajectories."""

    agent: Agent
    prompts: Path | None = None
    """Folder with the user's own prompts."""


async def made_again(
    journal: Journal,
    consolidator: Consolidator,
    run: EndedRun,
    records: Sequence[Record],
    taught: Sequence[Experience],
) -> list[Experience]:
    """Return what a run teaches with its pipelines made by a model, as far as that goes.

    Whatever a model fails at costs the run nothing but a note: the compiled pipeline is kept.

    Args:
        journal: Of the run; each pipeline has a place of its own below.
        consolidator: Who is asked.
        run: That ended.
        records: Of the run.
        taught: What the compiler and others made of it.
    """
    root, asked = investigate(records), 0
    learned: list[Experience] = []
    for experience in taught:
        if root is None or not _may_be_made(experience) or asked >= MOST_MADE:
            learned.append(experience)
            continue
        asked += 1
        one = _One(consolidator, run, root, experience)
        try:
            learned.append(await journal.branch(f"consolidate-{asked}", one.made, None))
        except (BudgetExhausted, ModelError, ReplyError, NeedsDecision, UserError) as error:
            journal.emit(Noted(text=f"a pipeline is compiled without a model: {error.message}"))
            learned.append(experience)
            # With the next one it would be the same, such as where the user's own prompt does not fit.
            if isinstance(error, BudgetExhausted | ModelError | UserError):
                asked = MOST_MADE
    return learned


def _may_be_made(experience: Experience) -> bool:
    """Whether a model may be asked for a record: for no way that is kept as it was, and for none with words
    that a tool wrote.
    """
    rule = experience.kind == "pipeline" and kept_situation(experience.content) is None
    return rule and experience.status != "quarantined"


@dataclass(frozen=True)
class _One:
    """One pipeline on its way."""

    consolidator: Consolidator
    run: EndedRun
    root: Goal
    experience: Experience

    async def made(self, journal: Journal, _: None) -> Experience:
        """Return the record as a model made it.

        Raises:
            ReplyError: it made nothing that can be kept.
            BudgetExhausted, ModelError, NeedsDecision: as `ask`.
        """
        goal, steps = self.experience.goal, self._steps()
        success = Success(goal=goal, steps=steps, named=dates_by(self.run.notes))
        draft = draft_of(success, tools=self.run.parameters)
        if draft is None:
            raise ReplyError("nothing is left of its calls")
        made = await made_by_model(
            journal,
            self.consolidator.agent,
            goal,
            draft,
            self.run.parameters,
            prompts=self.consolidator.prompts,
        )
        return self._record(made, draft, steps)

    def _steps(self) -> list[Step]:
        leaves = worked_out(self.root)
        if self.experience.goal != self.root.text:
            leaves = [leaf for leaf in leaves if leaf.text == self.experience.goal][-1:]
        return [step for leaf in leaves for step in leaf.steps]

    def _record(self, made: ModelPipeline, draft: Draft, steps: Sequence[Step]) -> Experience:
        """Return the record of a sound pipeline; it is trusted no more than the compiled one."""
        run, experience, pipeline = self.run, self.experience, made.pipeline
        more = {name: experience.content[name] for name in (LEARNED_FROM,) if name in experience.content}
        if not more:
            route = route_through(pipeline, made.numbers, draft) or Route()
            if doubt := why_not(pipeline, steps, run.parameters, run.limits, route.chosen):
                raise ReplyError(f"the model's may not run by itself: {doubt}")
            pipeline = with_answers(pipeline, needed(steps))
        seen = [step for leaf in self.root.leaves() for step in leaf.steps]
        shaped = tainted(self.root.text, seen, pipeline, tools=run.parameters) or copied(
            texts_of(pipeline), self.root.text, [step.observation for step in seen]
        )
        status = "quarantined" if shaped else experience.status
        record = run.record_of(pipeline, experience.goal, status, more={**more, MADE_BY: MODEL})
        return replace(record, id=experience.id)
