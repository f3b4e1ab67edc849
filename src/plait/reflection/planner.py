"""The planner: splits the task into subtasks (MIRROR, section 3.3).

Knows nothing of how subtasks are worked on.
"""

from collections.abc import Sequence

from plait.agents.gate import Feedback, Judged, Role, next_attempt, through_gate
from plait.agents.remarks import lines_grammar, split_remarks
from plait.events import PlanMade
from plait.journal import Journal
from plait.models.protocol import Grammar, Reply, Request
from plait.reflection.crew import Crew
from plait.reflection.plan import MAXIMUM_SUBTASKS, PLAN_LINE, Plan, read_plan


async def make_plan(journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
    """Return a plan that passed the planner's gate.

    Args:
        journal: The place of this round's plan.
        crew: The agents.
        lessons: Long-term memory: earlier rounds as text.
        number: Number of the round, for the log.

    Raises:
        ReplyError: no try gave a valid plan.
    """
    gate = crew.settings.planner
    form = Grammar(gbnf=lines_grammar(PLAN_LINE, MAXIMUM_SUBTASKS, remarks=gate.enabled))
    specs = await crew.candidates(journal, crew.task)

    def request(feedback: Feedback | None) -> Request:
        prompt = crew.wording.planner(crew.task, lessons, feedback, gate.enabled)
        return crew.planner.request(crew.messages(specs, prompt), form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[Plan]:
        remarked = split_remarks(reply.text)
        plan = read_plan(remarked.body)
        return Judged(output=plan, shown=plan.as_json(), critique=remarked.critique, score=remarked.score)

    passed = await through_gate(journal, Role(agent=crew.planner, gate=gate, request=request, read=read))
    journal.emit(PlanMade(round=number, subtasks=passed.judged.output.as_json()))
    return passed.judged
