"""The aggregate agent: strengths and weaknesses of a group's solutions, then one solution (equation 4).

Two calls, as small models cannot do both in one. A merge is checked before it counts. Knows nothing of
teams or levels: solutions and their ratings come in, a merged solution or the reason why there is none
goes out.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, Judged, Role, next_attempt, through_gate
from plait.agents.remarks import split_remarks
from plait.errors import ReplyError, RequestRefused
from plait.journal import JSON, Journal, JSONObject
from plait.models.protocol import Form, Message, Reply, Request
from plait.teams.chain import Phase, ReplyKind
from plait.teams.completing import completed, problems_of
from plait.teams.ensemble import Ensemble
from plait.teams.forms import analysis_form, solution_form
from plait.teams.replies import Points, analysis_text, read_analysis, read_merge, silent, too_many_lines
from plait.teams.solution import Rating, Solution
from plait.teams.stall import Stalled
from plait.teams.team_prompts import TeamPrompts, chat, revised

Output = TypeVar("Output")

AGGREGATOR = "aggregator"
ANALYSIS_TOKENS, ANALYSIS_TOKENS_EACH, MOST_ANALYSIS_TOKENS = 128, 256, 4096
CHARACTERS_PER_TOKEN = 3
"""At least; code and English have three or four."""
ROOM = 1.5
"""How much longer than its longest input a merge may become."""
MOST_MERGE_TOKENS = 16_384
"""Of one reply; providers refuse a request for more."""


@dataclass(frozen=True, kw_only=True)
class MergeWork:
    """What a group gives to its aggregate agent."""

    by: str
    """Name of the merged solution, for instance `coding/level-1/group-2`."""
    phase: Phase
    solutions: Sequence[Solution]
    """Of different content; a single one is only analysed."""
    ratings: Sequence[Rating | None]
    """Of the solutions, where they are known."""
    points: Sequence[Points] = ()
    """Of each solution, where all are known already; else they are asked for."""


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What an aggregate agent made."""

    solution: Solution | None
    """None where no whole solution came."""
    points: Sequence[Points] = ()
    """Strengths and weaknesses of each solution; empty where no analysis came."""
    changes: str = ""
    critique: str = ""
    """What the agent itself finds weakest in the solution."""
    failed: str = ""
    """Why there is no solution."""

    @property
    def own_points(self) -> Points:
        """What the agent says of the solution, as an analysis would."""
        return Points(
            strengths=(self.changes,) if self.changes else (),
            weaknesses=(self.critique,) if self.critique else (),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as it is recorded."""
        return {
            "solution": None if self.solution is None else self.solution.as_json(),
            "points": [
                {"strengths": list(each.strengths), "weaknesses": list(each.weaknesses)}
                for each in self.points
            ],
            "changes": self.changes,
            "critique": self.critique,
            "failed": self.failed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Merged":
        """Return the outcome that `as_json` gave."""
        solution = value["solution"]
        return cls(
            solution=None if solution is None else Solution.from_json(solution),
            points=[Points(**each) for each in value["points"]],
            changes=value["changes"],
            critique=value["critique"],
            failed=value["failed"],
        )


async def merge(journal: Journal, ensemble: Ensemble, work: MergeWork) -> Merged:
    """Merge a group's solutions; what came of it is on record as a whole, a failure too.

    Raises:
        BudgetExhausted, ModelError: as `ask`, and nothing is on record: a run that is taken up merges.
    """

    async def made(_: JSONObject) -> JSON:
        return (await _attempted(journal, ensemble, work)).as_json()

    prompts = TeamPrompts(ensemble.prompts, gated=ensemble.gate.enabled)
    args: JSONObject = {
        "by": work.by,
        "model": ensemble.model.name,
        "solutions": [solution.digest for solution in work.solutions],
        "role": ensemble.domain.aggregator if ensemble.settings.role else "",
        "prompts": prompts.merge_digest(work.phase.most_points),
        "analysed": bool(work.points),
    }
    return Merged.from_json(cast("Mapping[str, Any]", await journal.call("outcome", made, args)))


async def _attempted(journal: Journal, ensemble: Ensemble, work: MergeWork) -> Merged:
    """Merge, or say why that failed: the group's best solution stands then."""
    aggregate = _Aggregate(ensemble, work)
    try:
        async with ensemble.pulse.bounded(ensemble.settings.stall_seconds):
            return await aggregate.merged(journal)
    except (ReplyError, RequestRefused, Stalled) as error:
        return Merged(solution=None, points=aggregate.points, failed=error.message)


class _Aggregate:
    """One group's aggregate agent at work."""

    def __init__(self, ensemble: Ensemble, work: MergeWork) -> None:
        self._ensemble = ensemble
        self._work = work
        self._gated = ensemble.gate.enabled
        self._prompts = TeamPrompts(ensemble.prompts, gated=self._gated)
        self._kind: ReplyKind = "files" if any(each.files for each in work.solutions) else "text"
        self._shared = self._prompts.solutions(ensemble.task, work.solutions, work.ratings)
        self._longest = max(len(each.shown()) for each in work.solutions) // CHARACTERS_PER_TOKEN
        """Tokens of the longest solution."""
        self._most = max(MOST_MERGE_TOKENS, work.phase.max_tokens)
        self.points: Sequence[Points] = ()
        """The analysis, as soon as there is one."""

    async def merged(self, journal: Journal) -> Merged:
        """Analyse, where that is not done yet, then merge, where there is something to merge.

        Raises:
            ReplyError: no whole solution came, or none can.
            BudgetExhausted, ModelError: as `ask`.
        """
        if self._longest > self._most:
            raise ReplyError(
                f"too long to merge: the longest solution has about {self._longest:,} tokens, and one reply"
                f" at most {self._most:,}"
            )
        self.points = self._work.points or await self._analysis(journal)
        if len(self._work.solutions) == 1:
            return Merged(solution=None, points=self.points)
        return await self._merge(journal)

    async def _analysis(self, journal: Journal) -> Sequence[Points]:
        count = len(self._work.solutions)
        most = self._work.phase.most_points
        form = analysis_form(count, remarks=self._gated, most_points=most)
        tokens = min(ANALYSIS_TOKENS + ANALYSIS_TOKENS_EACH * count, MOST_ANALYSIS_TOKENS)

        async def read(reply: Reply) -> Judged[Sequence[Points]]:
            remarked = split_remarks(reply.text)
            points = read_analysis(remarked.body, count, most_points=most)
            return Judged(
                output=points,
                shown=analysis_text(points),
                critique=remarked.critique,
                score=remarked.score,
                problems=silent(points),
            )

        try:
            agent = self._ensemble.agent(AGGREGATOR, tokens)
            place = journal, "analysis"
            return await self._through_gate(place, agent, self._prompts.analysis(most), form, read)
        except ReplyError:
            return ()  # The merge can do without; what the checks found is in its prompt all the same.

    async def _merge(self, journal: Journal) -> Merged:
        phase = self._work.phase
        if not all(phase.first_file in each.files for each in self._work.solutions):
            phase = replace(phase, first_file="")
        form = solution_form(
            self._kind,
            remarks=self._gated,
            changes=True,
            first=phase.first_file,
            most_lines=phase.most_lines,
        )
        tokens = min(max(phase.max_tokens, math.ceil(self._longest * ROOM)), self._most)
        solutions, best = self._work.solutions, _best(self._work.ratings)
        asked = self._prompts.merge(analysis_text(self.points), self._kind, best, phase)
        base = _highest(self._work.ratings)

        async def read(reply: Reply) -> Judged[Merged]:
            product, by = phase.writes, self._work.by
            found = read_merge(reply.text, self._kind, product=product, by=by, remarks=self._gated)
            whole = completed(found.solution, found.changes, solutions, base)
            problems = [
                *problems_of(found.solution, whole, solutions),
                *too_many_lines(whole, phase.most_lines),
            ]
            return Judged(
                output=Merged(
                    solution=whole,
                    points=self.points,
                    changes=found.changes,
                    critique=found.critique,
                ),
                shown=found.shown,
                critique=found.critique,
                score=found.score,
                problems=problems,
                fatal=bool(problems),
            )

        agent = self._ensemble.writer(replace(phase, reply=self._kind), AGGREGATOR, tokens)
        return await self._through_gate((journal, "merge"), agent, asked, form, read)

    async def _through_gate(
        self,
        place: tuple[Journal, str],
        agent: Agent,
        asked: str,
        form: Form,
        read: Callable[[Reply], Awaitable[Judged[Output]]],
    ) -> Output:
        """Ask the aggregate agent at a place of its own, as a journal and the name of a branch."""
        role = self._ensemble.domain.aggregator if self._ensemble.settings.role else ""
        messages: list[Message] = chat(role, f"{self._shared}\n\n{asked}")

        def request(feedback: Feedback | None) -> Request:
            return agent.request(revised(messages, feedback), form, next_attempt(feedback))

        async def passed(branch: Journal, _: None) -> Output:
            gated = Role(agent=agent, gate=self._ensemble.own_gate, request=request, read=read)
            return (await through_gate(branch, gated)).judged.output

        journal, name = place
        return await journal.branch(name, passed, None)


def _highest(ratings: Sequence[Rating | None]) -> int:
    """Return the place of the best rated one, of equals the first: what stands where a merge fails."""
    qualities = [-math.inf if rating is None else rating.quality for rating in ratings]
    return qualities.index(max(qualities))


def _best(ratings: Sequence[Rating | None]) -> int | None:
    """Return the number of the best rated solution, from 1; None where none or all are rated alike."""
    qualities = [rating.quality for rating in ratings if rating is not None]
    if len(qualities) < len(ratings) or len(set(qualities)) == 1:
        return None
    return qualities.index(max(qualities)) + 1
