"""The orchestra: n teams work through their chains at once and meet at key phases (Croto, section 4.1).

This is the one place that knows all teams. Phases and merges are branches that get and give plain
values; who waits for whom is settled here, outside of them. Knows nothing of domains, prompts or logs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from plait.agents.together import together
from plait.errors import BudgetExhausted, ModelError, PlaitError, ReplyError
from plait.events import Noted, TeamDropped, TeamFinished
from plait.journal import Journal
from plait.teams.chain import Phase
from plait.teams.dialogue import work_through
from plait.teams.economy import Ahead, Economy, ahead_of
from plait.teams.ensemble import Ensemble, TeamsProgress
from plait.teams.gathering import Gathering, Loss, Unsettled
from plait.teams.losses import loss_of, what_stopped
from plait.teams.meeting import Meeting, Met
from plait.teams.phase_values import PhaseResult, PhaseWork
from plait.teams.places import tell
from plait.teams.ratings import Contender, Ratings, best
from plait.teams.stall import Stalled
from plait.teams.team import Team, inspected_next, make_teams

END = "ended"
"""The step that records whose chains came to their end."""
ATTENDANCE = "attendance"
"""The same for a meeting, below its phase's name."""
MET = 0.5
"""How much further along the chain than its phase a meeting is."""


async def run_teams(journal: Journal, ensemble: Ensemble, progress: TeamsProgress) -> None:
    """Work on a task with all teams; the result is in `progress`, also when an error ends it early.

    Raises:
        UserError: a phase was to be left out that is unknown or not optional.
        BudgetExhausted: a team or a meeting lacked budget, and all others came as far as they could
            without it; says which. Nothing is settled without them: a run that is taken up goes on with all.
        ModelError: the same for lack of a model that answers.
        ReplyError: no team could go on; says why.
    """
    await _Orchestra(ensemble.pulse.heard(journal), ensemble, progress).play()


class _Orchestra:
    def __init__(self, journal: Journal, ensemble: Ensemble, progress: TeamsProgress) -> None:
        self._journal = journal
        self._ensemble = ensemble
        self._progress = progress
        self._ratings = Ratings(journal, ensemble)
        self._economy = Economy(journal, ensemble.budget, thrifty=ensemble.settings.thrifty)
        self._teams = make_teams(ensemble)
        self._phases = ensemble.domain.chain.phases
        self._meetings = {
            phase.name: Gathering(names)
            for phase in self._phases
            if phase.key and len(names := self._having(phase)) > 1
        }
        self._end = Gathering([team.name for team in self._teams])
        self._gatherings = (*self._meetings.values(), self._end)
        self._met: dict[str, asyncio.Future[Met]] = {}
        self._fates: dict[str, asyncio.Future[bool]] = {}
        """Of each team: whether no other need take over its work."""
        self._settled = asyncio.Event()
        """It is on record which chains came to their end."""
        self._finished: Sequence[str] = ()
        self._errors: dict[str, PlaitError] = {}
        """What teams were dropped for in this process."""
        self._lacking: dict[str, BudgetExhausted | ModelError] = {}
        """Who lacked budget or a model in this process, and the error; nobody else's work is lost by it."""
        self._resting: set[str] = set()
        """Teams that were dropped."""

    async def play(self) -> None:
        """Run all teams and meetings to the end, and choose the result."""
        loop = asyncio.get_running_loop()
        self._met = {name: loop.create_future() for name in self._meetings}
        self._fates = {team.name: loop.create_future() for team in self._teams}
        meetings = [self._meet(phase) for phase in self._phases if phase.name in self._meetings]
        await together([self._await_end(), *meetings, *(self._play(team) for team in self._teams)])
        await self._choose()

    def _having(self, phase: Phase) -> list[str]:
        return [team.name for team in self._teams if phase in team.chain.phases]

    async def _play(self, team: Team) -> None:
        """Take one team through its chain."""
        for gathering in self._gatherings:
            await gathering.opened.wait()
        await tell(self._journal, team.name, team.started(self._ensemble))
        for phase in team.chain.phases:
            loss = await self._phase(team, phase)
            if loss is not None:
                await self._drop(team, loss)
                return
            if phase.name not in self._meetings:
                continue
            self._meetings[phase.name].arrive(team.name)
            met = await self._met[phase.name]
            if met.loss is not None:
                await self._drop(team, met.loss)
                return
            if not await self._handed_back(team, phase, met):
                return
        await tell(self._journal, team.name, TeamFinished(team=team.name, closed=False))
        self._fates[team.name].set_result(True)
        self._end.arrive(team.name)

    async def _phase(self, team: Team, phase: Phase) -> Loss | None:
        """Work through one phase; return why the team cannot go on, if so."""
        recorded = self._lost_on_record(team)
        if recorded is not None and recorded.phase == phase.name:
            return recorded
        work, loss = await self._affordable(team, phase)
        if loss is not None:
            return loss
        budget = team.budget.part(phase.name)
        try:
            result = await self._journal.branch(
                f"{team.name}/{phase.name}", partial(_work, replace(self._ensemble, budget=budget)), work
            )
        except (ReplyError, ModelError, BudgetExhausted, Stalled) as error:
            if isinstance(error, ReplyError) and phase.optional and not phase.key:
                text = f"{team.name} goes on without {phase.name}: {error.message}"
                await tell(self._journal, team.name, Noted(text=text))
                return None
            self._errors[team.name] = error
            loss = loss_of(phase.name, error)
            if loss.passes and isinstance(error, BudgetExhausted | ModelError):
                self._lacking[f"{team.name} in {phase.name}"] = error
            return loss
        self._economy.ended(budget)
        team.take(Contender(solution=result.solution, rating=result.rating))
        self._offer(team, phase)
        return None

    async def _affordable(self, team: Team, phase: Phase) -> tuple[PhaseWork, Loss | None]:
        """Return what the team does in a phase: less where the budget runs low, or why it gives way."""
        work, phases = team.work(phase), team.chain.phases
        if phase == phases[0]:
            return work, None
        meetings = () if self._ensemble.settings.all_go_on else tuple(self._meetings)
        ahead = ahead_of(phases, phase, meetings, self._rank(team))
        found = await self._economy.lacks(f"{team.name}/{phase.name}", ahead)
        if not found.lacks:
            return work, None
        if found.rank > 1:
            return work, Loss(phase=phase.name, reason=found.fewer_teams, kind="budget")
        if phase.rounds > 1:
            await tell(self._journal, team.name, Noted(text=found.fewer_rounds(team.name, phase.name)))
        return replace(work, phase=replace(phase, rounds=1)), None

    def _rank(self, team: Team) -> int:
        """Return which of the teams that go on a team is; the first is the last to give way."""
        last = next(reversed(self._met.values()), None)
        if not self._ensemble.settings.all_go_on and last is not None and last.done():
            return 1
        before = [each for each in self._teams[: team.number - 1] if each.name not in self._resting]
        return len(before) + 1

    def _offer(self, team: Team, phase: Phase, beyond: float = 0.0) -> None:
        """Keep what the team has as the best so far, if it is."""
        product = self._ensemble.domain.product
        entry = team.entry(product)
        position = [each.name for each in self._phases].index(phase.name) + beyond
        quality = -1.0 if entry is None or entry.quality is None else entry.quality
        rank = (float(entry is not None), position, quality, -float(team.number))
        self._progress.offer(rank, team.products, product, None if entry is None else entry.rating)

    def _lost_on_record(self, team: Team) -> Loss | None:
        records = (gathering.on_record for gathering in self._gatherings)
        return next((losses[team.name] for losses in records if team.name in losses), None)

    async def _drop(self, team: Team, loss: Loss) -> None:
        self._resting.add(team.name)
        if loss.passes:
            told = Noted(text=f"{team.name} stops in {loss.phase} until the run is taken up: {loss.reason}")
            await tell(self._journal, team.name, told)
        else:
            told = TeamDropped(team=team.name, phase=loss.phase, reason=loss.reason)
            await tell(self._journal, team.name, told)
            self._progress.dropped[team.name] = f"{team.name} was dropped in {loss.phase}: {loss.reason}"
        # Nobody takes over from a team that goes on later.
        self._fates[team.name].set_result(loss.passes)
        for gathering in self._gatherings:
            gathering.leave(team.name, loss)

    async def _handed_back(self, team: Team, phase: Phase, met: Met) -> bool:
        """Take a meeting's result; return whether the team goes on."""
        if met.entry is None:
            return True
        team.take(met.entry)
        self._offer(team, phase, MET)
        if self._ensemble.settings.all_go_on or phase.name != [*self._meetings][-1]:
            return True
        order = self._succession(phase, met.present)
        before = order[: order.index(team.name)]
        return not before or not await self._closed(team, before[-1])

    def _succession(self, phase: Phase, present: Sequence[str]) -> list[str]:
        """Return who goes on after the run's last meeting, and who takes over from whom.

        All have the same solution now, so the chain that does most with it comes first; of equals, the
        first team's.
        """
        left = {
            team.name: len(team.chain.phases) - team.chain.phases.index(phase)
            for team in self._teams
            if team.name in present
        }
        return sorted(present, key=lambda name: -left[name])

    async def _closed(self, team: Team, before: str) -> bool:
        """Close a team, as the one `before` it goes on; return False where it takes over from that one."""
        await tell(self._journal, team.name, TeamFinished(team=team.name, closed=True))
        if not await self._fates[before]:
            await tell(self._journal, team.name, team.started(self._ensemble))
            return False
        self._fates[team.name].set_result(True)
        self._end.excuse(team.name)
        return True

    async def _meet(self, phase: Phase) -> None:
        """Hold the meeting of a key phase once its teams are there, or say why it cannot be held now."""
        try:
            met = await self._held(phase)
        except Unsettled as missing:
            met = Met(present=(), entry=None, loss=missing.loss)
        except (BudgetExhausted, ModelError) as error:
            self._lacking[f"the meeting after {phase.name}"] = error
            kind = "budget" if isinstance(error, BudgetExhausted) else "model"
            loss = Loss(phase=phase.name, reason=error.message, kind=kind, passes=True)
            met = Met(present=(), entry=None, loss=loss)
        self._met[phase.name].set_result(met)

    async def _held(self, phase: Phase) -> Met:
        gathering, name = self._meetings[phase.name], phase.name
        attendance = await gathering.attendance(self._journal, f"{name}/{ATTENDANCE}", self._settled.wait)
        present = attendance.present
        entry: Contender | None = None
        if len(present) > 1:
            brought = [team.entry(phase.writes) for team in self._teams if team.name in present]
            entry = await self._agreed(phase, present, [each for each in brought if each is not None])
            if inspected_next(self._teams, phase, present):
                # Else each team that goes on with it would have it rated.
                [entry], told = await self._ratings.rated([entry])
                await tell(self._journal, name, *told)
        return Met(present=present, entry=entry)

    async def _agreed(self, phase: Phase, present: Sequence[str], brought: Sequence[Contender]) -> Contender:
        """Return what a meeting makes of what its teams bring; the best of it where it cannot be paid."""
        phases = next(team.chain.phases for team in self._teams if team.name == present[0])
        rest = len(phases) - phases.index(phase) - 1
        ahead = Ahead(rank=len(present), together=0, meetings=1, alone=rest)
        found = await self._economy.lacks(phase.name, ahead)
        if not found.lacks:
            return await Meeting(self._journal, self._ensemble, self._ratings, phase).hold(present, brought)
        chosen = best(brought)
        await tell(self._journal, phase.name, Noted(text=found.no_merge(phase.name, present[chosen])))
        return brought[chosen]

    async def _await_end(self) -> None:
        try:
            attendance = await self._end.attendance(self._journal, END, self._nobody_left)
        except Unsettled:
            raise what_stopped(self._lacking) from None
        self._finished = attendance.present
        self._settled.set()

    async def _nobody_left(self) -> None:
        """Raise where a run that is taken up again may fare better; else its end is recorded."""
        errors = [self._errors[team.name] for team in self._teams if team.name in self._errors]
        for error in errors:
            if isinstance(error, ModelError):
                raise error

    async def _choose(self) -> None:
        """Rate what the chains ended with; the best is the result."""
        finished = [team for team in self._teams if team.name in self._finished]
        if not finished:
            raise ReplyError(f"no team came to its end: {self._progress.reason}")
        product = self._ensemble.domain.product
        made = [(team, entry) for team in finished if (entry := team.entry(product)) is not None]
        if not made:
            raise ReplyError(f"no phase of the chains that came to their end writes {product!r}")
        entries, told = await self._ratings.rated([entry for _, entry in made])
        await tell(self._journal, END, *told)
        chosen = best(entries)
        self._progress.settle(made[chosen][0].products, product, entries[chosen].rating)


async def _work(ensemble: Ensemble, journal: Journal, work: PhaseWork) -> PhaseResult:
    async with ensemble.pulse.bounded(ensemble.settings.stall_seconds):
        return await work_through(journal, ensemble, work)
