"""One phase: an instructor and an assistant talk until they agree (Croto, equation 2).

Knows nothing of other teams. What goes in and comes out are plain values, so that a phase may run
anywhere; every reply passes its agent's gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plait.agents.gate import Feedback, Judged, Role, next_attempt, through_gate
from plait.agents.remarks import split_remarks
from plait.errors import ReplyError
from plait.events import Instructed, Noted, PhaseStarted
from plait.journal import Journal
from plait.models.protocol import Message, Reply, Request
from plait.teams.ensemble import NOTHING_TOLD, Ensemble
from plait.teams.forms import opinion_form, solution_form
from plait.teams.phase_values import PhaseResult, PhaseWork, finished_event
from plait.teams.ratings import rate, rating_event
from plait.teams.replies import InstructorOpinion, echoes, read_opinion, read_solution, too_many_lines
from plait.teams.solution import Rating, Solution
from plait.teams.team_prompts import TeamPrompts, chat, listed, revised, role_text

OPINION_TOKENS = 256
INSPECTION = "inspection"
ECHO = "it says what was weak instead of mending it"


async def work_through(journal: Journal, ensemble: Ensemble, work: PhaseWork) -> PhaseResult:
    """Hold a phase's dialogue to its end.

    Where replies cannot be used any more, what the team has stands.

    Raises:
        ReplyError: the team has nothing of the phase's product.
        BudgetExhausted, ModelError: as `ask`.
    """
    phase = work.phase
    journal.emit(
        PhaseStarted(team=work.name, phase=phase.name, instructor=phase.instructor, assistant=phase.assistant)
    )
    dialogue = _Dialogue(journal, ensemble, work)
    try:
        await (dialogue.inspected() if phase.inspects else dialogue.talked())
    except ReplyError as error:
        if dialogue.solution is None:
            raise
        journal.emit(Noted(text=f"{work.name} goes on from {phase.name} with what it has: {error.message}"))
    result = dialogue.result()
    journal.emit(finished_event(work, result))
    return result


@dataclass(kw_only=True)
class _State:
    rounds: int = 0
    agreed: bool = False
    seen: set[str] = field(default_factory=set[str])
    """Digests of all versions so far."""


class _Dialogue:
    """The state of one phase's dialogue."""

    def __init__(self, journal: Journal, ensemble: Ensemble, work: PhaseWork) -> None:
        self._journal = journal
        self._ensemble = ensemble
        self._work = work
        self._phase = work.phase
        self._prompts = TeamPrompts(ensemble.prompts, gated=ensemble.gate.enabled)
        self._state = _State()
        self.solution = work.products.get(work.phase.writes)
        self._rating = work.rating if self.solution is not None else None
        if self.solution is not None:
            self._state.seen.add(self.solution.digest)

    def result(self) -> PhaseResult:
        """Return what stands now."""
        assert self.solution is not None
        return PhaseResult(
            solution=self.solution,
            rating=self._rating,
            rounds=self._state.rounds,
            agreed=self._state.agreed,
        )

    async def talked(self) -> None:
        """Talk until the instructor agrees, the assistant repeats itself, or the rounds are used up."""
        asked: list[str] = []
        for number in range(1, self._phase.rounds + 1):
            reply = await self._reply(number, asked[-1:])
            if self._repeated(reply) or await self._broken_by(number, reply):
                return
            self.solution, self._rating = reply, None
            if number == self._phase.rounds:
                return
            opinion = await self._opinion(number, reply, asked)
            self._instructed(opinion, "instructor")
            if opinion.agreed:
                self._state.agreed = True
                return
            asked.append(opinion.instruction)

    async def inspected(self) -> None:
        """Mend what the domain's quality finds, until it finds nothing or the rounds are used up."""
        if self.solution is not None and self._rating is None:
            self._rating = await self._rated(0, self.solution)
        if self._agreed_at_sight():
            return
        worse: Sequence[str] = ()
        for number in range(1, self._phase.rounds + 1):
            reply = await self._reply(number, worse)
            if self._repeated(reply):
                return
            rating = await self._rated(number, reply)
            if self._below(rating):
                wrong = "; ".join(rating.findings) if rating is not None else "it could not be rated"
                worse = [f"your last try was worse than this and is not used: {wrong}"]
            else:
                self.solution, self._rating, worse = reply, rating, ()
            if self._rating is None or self._agreed_at_sight():
                return

    async def _broken_by(self, number: int, reply: Solution) -> bool:
        """Whether a program that the dialogue made before is better than a reply, and stands (elitism).

        A small model does what a bad instruction says, and leaves a piece of a program. Only then are the two
        rated, as that takes time; a text is not, as that would ask its judge.
        """
        phase, before = self._phase, self.solution
        rated = phase.reply != "text" and phase.writes == self._ensemble.domain.product
        if number == 1 or before is None or not rated or not self._ensemble.settings.elitism:
            return False
        if _lines(reply) * 2 > _lines(before):
            return False
        self._rating = await self._rated(number - 1, before)
        if not self._below(await self._rated(number, reply)):
            return False
        self._journal.emit(Noted(text=f"{self._work.name} keeps what it had: the new version is worse"))
        return True

    def _below(self, rating: Rating | None) -> bool:
        """Whether a reply with this rating gives way to what stands, which is better (elitism)."""
        if not self._ensemble.settings.elitism or self.solution is None or self._rating is None:
            return False
        return rating is None or rating.quality < self._rating.quality

    def _repeated(self, reply: Solution) -> bool:
        repeated = reply.digest in self._state.seen
        self._state.seen.add(reply.digest)
        return repeated

    def _agreed_at_sight(self) -> bool:
        """Say what the inspection found; without findings the two agree."""
        if self._rating is None:
            return False
        self._state.agreed = not self._rating.findings
        opinion = InstructorOpinion(agreed=self._state.agreed, instruction="; ".join(self._rating.findings))
        self._instructed(opinion, INSPECTION)
        return self._state.agreed

    def _instructed(self, opinion: InstructorOpinion, by: str) -> None:
        self._journal.emit(
            Instructed(
                team=self._work.name,
                phase=self._phase.name,
                round=self._state.rounds,
                agreed=opinion.agreed,
                instruction=opinion.instruction,
                by=by,
            )
        )

    async def _rated(self, number: int, solution: Solution) -> Rating | None:
        rating = await rate(self._journal, f"round-{number}/rating", self._ensemble, solution)
        if rating is not None:
            self._journal.emit(rating_event(solution, rating, solution.by))
        return rating

    async def _reply(self, number: int, instructions: Sequence[str]) -> Solution:
        """Return the assistant's reply of round `number`, through its gate."""
        phase, gate = self._phase, self._ensemble.own_gate
        agent = self._ensemble.writer(phase, phase.assistant, phase.max_tokens, self._work.team)
        form = solution_form(
            phase.reply, remarks=gate.enabled, first=phase.first_file, most_lines=phase.most_lines
        )
        messages, last = self._messages(instructions), ""

        def request(feedback: Feedback | None) -> Request:
            nonlocal last
            last = feedback.reply if feedback else ""
            return agent.request(revised(messages, feedback), form, next_attempt(feedback))

        async def read(reply: Reply) -> Judged[Solution]:
            return self._judged(reply, last)

        async def asked(branch: Journal, _: None) -> Solution:
            role = Role(agent=agent, gate=gate, request=request, read=read, salvages=phase.reply == "text")
            passed = await through_gate(branch, role)
            return passed.judged.output

        solution = await self._journal.branch(f"round-{number}/assistant", asked, None)
        self._state.rounds = number
        return solution

    def _judged(self, reply: Reply, last: str) -> Judged[Solution]:
        """Read an assistant's reply, and say what is wrong with it; `last` is the one that it revises."""
        phase = self._phase
        found = read_solution(
            reply.text,
            phase.reply,
            product=phase.writes,
            by=self._work.name,
            before=self.solution,
            remarks=self._ensemble.own_gate.enabled,
        )
        problems = [*found.problems, *too_many_lines(found.solution, phase.most_lines)]
        astray = echoes(found.solution.text, last)
        return Judged(
            output=found.solution,
            shown=found.shown,
            critique=found.critique,
            score=found.score,
            problems=[*problems, ECHO] if astray else problems,
            astray=astray,
        )

    def _messages(self, instructions: Sequence[str]) -> list[Message]:
        """Return the chat of the next reply; what stands is shown once, in the prompt or as a turn."""
        phase, products = self._phase, dict(self._work.products)
        if self.solution is not None:
            products[phase.writes] = self.solution
        findings = list(self._rating.findings) if self._rating is not None else []
        told = self._ensemble.told.get(phase.name, NOTHING_TOLD)
        opening = self._prompts.assistant(self._ensemble.task, phase, products, findings, told)
        role = role_text(self._ensemble.domain, phase.assistant)
        wanted = list(instructions)
        if phase.inspects and "{{findings}}" not in phase.prompt:
            wanted = [*findings, *wanted]
        if not wanted:
            return chat(role, opening)
        ending = self._prompts.instruction(listed(wanted))
        if self.solution is None or f"{{{{{phase.writes}}}}}" in phase.prompt:
            return chat(role, f"{opening}\n\n{ending}")
        return chat(role, opening, self.solution.shown(), ending)

    async def _opinion(self, number: int, solution: Solution, asked: Sequence[str]) -> InstructorOpinion:
        """Return what the instructor thinks of a reply, through its gate.

        Its score is recorded and not held against it: a small model means the reply that it judges, and
        a wish for changes would be asked for again because it was scored low.
        """
        phase = self._phase
        gate = replace(self._ensemble.own_gate, threshold=0.0)
        agent = self._ensemble.agent(phase.instructor, OPINION_TOKENS, self._work.team)
        form = opinion_form(remarks=gate.enabled)
        prompt = self._prompts.instructor(self._ensemble.task, phase, solution, asked)
        messages = chat(role_text(self._ensemble.domain, phase.instructor), prompt)

        def request(feedback: Feedback | None) -> Request:
            return agent.request(revised(messages, feedback), form, next_attempt(feedback))

        async def read(reply: Reply) -> Judged[InstructorOpinion]:
            remarked = split_remarks(reply.text)
            opinion = read_opinion(remarked.body)
            shown = "AGREED" if opinion.agreed else opinion.instruction
            return Judged(output=opinion, shown=shown, critique=remarked.critique, score=remarked.score)

        async def asked_for(branch: Journal, _: None) -> InstructorOpinion:
            passed = await through_gate(branch, Role(agent=agent, gate=gate, request=request, read=read))
            return passed.judged.output

        return await self._journal.branch(f"round-{number}/instructor", asked_for, None)


def _lines(program: Solution) -> int:
    return sum(len(content.splitlines()) for content in program.files.values())
