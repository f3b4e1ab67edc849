"""A meeting: prune, partition, aggregate, until one solution is left (Croto, equations 3-6).

Knows nothing of chains or of who waits for whom: solutions come in, the one that goes back to all of
their teams comes out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from plait.events import (
    Event,
    GroupsFormed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    SolutionPruned,
    SolutionsMerged,
)
from plait.journal import Journal
from plait.teams.aggregate import Merged, MergeWork, merge
from plait.teams.chain import Phase
from plait.teams.ensemble import Ensemble
from plait.teams.gathering import Loss
from plait.teams.partition import partition
from plait.teams.places import tell
from plait.teams.pruning import Candidate, draw, lowest_of_groups
from plait.teams.ratings import Contender, Ratings, best
from plait.teams.replies import Points
from plait.teams.settling import all_through
from plait.teams.solution import Solution

EQUAL = "nothing: the solutions are equal"
"""What a merge changes where there is nothing to merge."""


@dataclass(frozen=True, kw_only=True)
class Met:
    """What became of a meeting."""

    present: Sequence[str]
    entry: Contender | None
    """What goes back to all who were there; None where that was one team."""
    loss: Loss | None = None
    """Why the meeting could not be held to its end by this process."""


class Meeting:
    """The teams' meeting at one key phase."""

    def __init__(self, journal: Journal, ensemble: Ensemble, ratings: Ratings, phase: Phase) -> None:
        self._journal = journal
        """The run's own: what a meeting does stands below the phase's name."""
        self._ensemble = ensemble
        self._settings = ensemble.settings
        self._ratings = ratings
        self._phase = phase
        self._prunes_groups = False

    async def hold(self, teams: Sequence[str], entries: Sequence[Contender]) -> Contender:
        """Make one solution of at least two.

        Args:
            teams: Who meets.
            entries: What each of them brings.

        Raises:
            BudgetExhausted, ModelError: a solution could not be rated or merged; what was, is on record.
        """
        await self._tell("", MeetingStarted(phase=self._phase.name, teams=list(teams)))
        entries = [replace(entry, name=team) for team, entry in zip(teams, entries, strict=True)]
        enough = len(entries) >= self._settings.prune_from and self._settings.prune > 0
        if enough or self._settings.elitism:
            entries = await self._rated(entries)
        self._prunes_groups = enough and self._settings.prune_in_groups
        left = list(entries)
        if enough and not self._prunes_groups:
            [left] = await self._pruned([("", entries)])
        level = 0
        while len(left) > 1:
            level += 1
            left = await self._level(level, left)
        finished = MeetingFinished(
            phase=self._phase.name, by=left[0].name, digest=left[0].solution.digest, levels=level
        )
        await self._tell("", finished)
        return left[0]

    async def _level(self, level: int, entries: Sequence[Contender]) -> list[Contender]:
        """Merge each group of one level, all at once."""
        size = self._settings.group_size if self._settings.partition else len(entries)
        groups = partition(entries, size)
        names = [[entry.name for entry in group] for group in groups]
        await self._tell("", GroupsFormed(level=level, groups=names))
        places = [f"level-{level}/group-{number}" for number in range(1, len(groups) + 1)]
        if self._prunes_groups:
            groups = await self._pruned(list(zip(places, groups, strict=True)))
        contents = {entry.solution.digest for entry in entries}
        ahead = len(groups) > 1 and len(contents) > 1 and not self._settings.analyse_merged
        return await all_through(
            [self._group(place, group, ahead) for place, group in zip(places, groups, strict=True)]
        )

    async def _group(self, place: str, entries: Sequence[Contender], ahead: bool) -> Contender:
        """Return what one group makes of its solutions.

        Args:
            place: Where the group's steps stand, below the phase's name.
            entries: What the group has.
            ahead: A merge follows at another level that will want to know each solution's points.
        """
        different = list({entry.solution.digest: entry for entry in reversed(entries)}.values())[::-1]
        # Small models take over the first that they are shown, whichever they are told to start from.
        different.sort(key=lambda entry: -(entry.quality or 0.0))
        work = MergeWork(
            by=f"{self._phase.name}/{place}",
            phase=self._phase,
            solutions=[entry.solution for entry in different],
            ratings=[entry.rating for entry in different],
            points=self._known(different),
        )
        outcome = await self._outcome(work, ahead)
        if outcome.points:
            different = [
                replace(entry, points=points) for entry, points in zip(different, outcome.points, strict=True)
            ]
        standing = different[best(different)]
        if len(entries) == 1:
            return standing
        solution = standing.solution if outcome.solution is None else outcome.solution
        await self._tell(place, _merged(work, entries, different, outcome, solution))
        if outcome.solution is None:
            return standing
        made = Contender(solution=solution, name=work.by, points=outcome.own_points)
        return await self._accepted(place, made, standing)

    async def _outcome(self, work: MergeWork, ahead: bool) -> Merged:
        """Merge; what has one content only is analysed, at the same time as others merge, if need be."""
        alone = len(work.solutions) == 1
        if alone and (work.points or not ahead):
            outcome = Merged(solution=None, points=work.points)
        else:
            outcome = await self._journal.branch(work.by, partial(_merge, self._ensemble), work)
        return replace(outcome, changes=EQUAL, failed="") if alone else outcome

    def _known(self, entries: Sequence[Contender]) -> list[Points]:
        """Return what is known of all entries from earlier levels, where that is enough."""
        if self._settings.analyse_merged:
            return []
        points = [entry.points for entry in entries if entry.points.strengths or entry.points.weaknesses]
        return points if len(points) == len(entries) else []

    async def _accepted(self, place: str, merged: Contender, standing: Contender) -> Contender:
        """Rate what was merged: below its best input it gives way to that (elitism)."""
        if not self._settings.elitism and not self._prunes_groups:
            return merged
        [merged] = await self._rated([merged], place)
        if not self._settings.elitism or merged.quality is None or standing.quality is None:
            return merged
        if merged.quality >= standing.quality:
            return merged
        await self._tell(
            place,
            MergeRefused(
                by=merged.name,
                quality=merged.quality,
                best=standing.name,
                best_quality=standing.quality,
            ),
        )
        return standing

    async def _pruned(self, groups: Sequence[tuple[str, Sequence[Contender]]]) -> list[list[Contender]]:
        """Leave the lowest rated of all groups out, each told at the place of its group (equation 4)."""
        out = lowest_of_groups(self._candidates([group for _, group in groups]), self._settings.prune)
        left = [
            [entry for number, entry in enumerate(group) if number not in gone]
            for (_, group), gone in zip(groups, out, strict=True)
        ]
        stay = {entry.quality for group in left for entry in group}
        for (place, group), gone in zip(groups, out, strict=True):
            for entry in (group[number] for number in gone):
                told = SolutionPruned(
                    by=entry.name,
                    quality=entry.quality or 0.0,
                    rated=entry.quality is not None,
                    tied=entry.quality in stay,
                )
                await self._tell(place, told)
        return left

    def _candidates(self, groups: Sequence[Sequence[Contender]]) -> list[list[Candidate]]:
        seed, seen = self._ensemble.sampling.seed, set[str]()
        candidates: list[list[Candidate]] = []
        for group in groups:
            candidates.append([])
            for entry in group:
                digest = entry.solution.digest
                drawn = draw(seed, self._phase.name, entry.name)
                candidates[-1].append(Candidate(quality=entry.quality, again=digest in seen, draw=drawn))
                seen.add(digest)
        return candidates

    async def _rated(self, entries: Sequence[Contender], place: str = "") -> list[Contender]:
        """Rate what is not rated yet, and tell of it."""
        result, told = await self._ratings.rated(entries)
        for event in told:
            await self._tell(place, event)
        return result

    async def _tell(self, place: str, event: Event) -> None:
        await tell(self._journal, "/".join(part for part in (self._phase.name, place) if part), event)


def _merged(
    work: MergeWork,
    entries: Sequence[Contender],
    different: Sequence[Contender],
    outcome: Merged,
    solution: Solution,
) -> SolutionsMerged:
    """Return the event that tells how `different`, the contents of a group's `entries`, became one."""
    return SolutionsMerged(
        by=work.by,
        inputs=[entry.name for entry in entries],
        analysis=[
            {"by": entry.name, "strengths": list(points.strengths), "weaknesses": list(points.weaknesses)}
            # Where no analysis came there are no points.
            for entry, points in zip(different, outcome.points, strict=False)
        ],
        changes=outcome.changes,
        digest=solution.digest,
        origins=origins(solution, different),
        failed=outcome.failed,
    )


def origins(merged: Solution, inputs: Sequence[Contender]) -> dict[str, str]:
    """Return for each file which input has it just so, else `merged`."""
    return {
        path: next((each.name for each in inputs if each.solution.files.get(path) == content), "merged")
        for path, content in merged.files.items()
    }


async def _merge(ensemble: Ensemble, journal: Journal, work: MergeWork) -> Merged:
    return await merge(journal, ensemble, work)
