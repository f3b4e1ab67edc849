"""What a goal calls to mind besides a pipeline: workflows of similar goals, and lessons (ICE, section 3.1).

Similar is what has the same key, or whose key is near in meaning and names the same operations. Looked for
without a language model, and in a memory that holds nothing of use also without an embedder. Knows nothing of
prompts' forms: it gives texts and says which records they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from plait.errors import LogError, ModelError, UserError
from plait.events import LessonRecalled, Noted, WorkflowRecalled
from plait.experience.goals import deciding_words, key_of
from plait.experience.record import DEFAULT_MEMORY, Experience, ExperienceKind, Memory
from plait.experience.settings import ExperienceSettings
from plait.experience.vocabulary import OPERATIONS
from plait.journal import JSON, Journal, JSONObject

MOST_GOAL = 2_000
"""Characters; a longer task is a document, and none comes twice."""
SIMILAR = 0.8
"""Cosine of two masked keys from which one goal is a reference for the other; what was measured is in
`docs/concepts/experience.md`."""
WORKFLOWS = 2
LESSONS = 3
MOST_CHARACTERS = 440
"""Of all that is shown at one place: about 120 tokens, each of which a small local model reads for 10 ms."""
WORKFLOW_CHARACTERS = 240
"""Of one workflow."""
NEAREST = 12
"""Looked at of each kind."""
EMBEDDED_AT_ONCE = 64
"""Records whose keys one search embeds at most; the others wait for the next."""
UNREADABLE = "nothing is recalled"
STEP = "similar"


class Embeds(Protocol):
    """Turns texts into vectors of unit length."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Readers:
    """How records become texts for a goal; a text that is empty is not shown."""

    workflow: Callable[[Experience, str, int], str]
    """From a record, the goal and the characters there are."""
    lesson: Callable[[Experience], str]
    tools: Sequence[str] | None = None
    """Names of the tools on offer; a record that needs another is passed over. None: any."""
    operations: bool = True
    """Whether goals that are near must name the same operations; a long description names many."""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A record that came to mind."""

    id: str
    goal: str
    """That it was learned from."""
    text: str
    alike: float
    """Cosine of the keys, 1 for equal ones."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a goal calls to mind, the most similar first."""

    workflows: Sequence[Recalled] = ()
    lessons: Sequence[Recalled] = ()


@dataclass(kw_only=True)
class References:
    """What a run may be told of earlier ones, and from where."""

    memory: Memory
    domain: str
    readers: Readers
    settings: ExperienceSettings
    embedder: Embeds | None = None
    """Without it only equal keys are found."""
    name: str = DEFAULT_MEMORY
    similar: float = SIMILAR
    characters: int = MOST_CHARACTERS
    """Of all that is shown for one goal."""
    workflow_characters: int = WORKFLOW_CHARACTERS
    _silent: bool = field(default=False, init=False)
    """Whether it was said already that nothing can be recalled."""

    async def find(self, journal: Journal, goal: str, *, workflows: bool = True) -> Found:
        """Return what is shown for a goal; it is a step on record.

        A memory or an embedder that cannot be had costs the run nothing but what it might have recalled.

        Args:
            journal: A place of this goal's own.
            goal: What is to be reached.
            workflows: Whether workflows are looked for, and not lessons alone.
        """
        kinds: list[ExperienceKind] = [
            *(["workflow"] if workflows else []),
            *(["lesson"] if self.settings.lessons else []),
        ]
        if not self.settings.planning or not kinds:
            return Found()

        async def search(_: JSONObject) -> JSON:
            try:
                return await self._search(goal, kinds)
            except (LogError, UserError, ModelError) as error:
                if not self._silent:
                    self._silent = True
                    journal.emit(Noted(text=f"{UNREADABLE}: {error.message}"))
                return {"workflows": [], "lessons": []}

        args: JSONObject = {"goal": goal, "memory": self.name}
        result = cast("Mapping[str, Any]", await journal.call(STEP, search, args))
        found = Found(
            workflows=tuple(Recalled(**each) for each in result["workflows"]),
            lessons=tuple(Recalled(**each) for each in result["lessons"]),
        )
        for each in found.workflows:
            journal.emit(WorkflowRecalled(experience=each.id, goal=each.goal, alike=each.alike))
        for each in found.lessons:
            journal.emit(LessonRecalled(experience=each.id, text=each.text))
        return found

    async def _search(self, goal: str, kinds: Sequence[ExperienceKind]) -> dict[str, JSON]:
        alike = {kind: await self._equal(kind, goal) for kind in kinds}
        missing: list[ExperienceKind] = [kind for kind in kinds if not alike[kind] and await self._any(kind)]
        if missing and self.embedder is not None:
            [vector] = await self.embedder.embed([key_of(goal)])
            for kind in missing:
                alike[kind] = await self._near(kind, goal, vector, self.embedder)
        workflows = _few(self._read_workflows(alike.get("workflow", []), goal), WORKFLOWS, self.characters)
        left = self.characters - sum(len(each["text"]) for each in workflows)
        lessons = _few(self._read_lessons(alike.get("lesson", [])), LESSONS, left)
        return {"workflows": workflows, "lessons": lessons}

    async def _any(self, kind: ExperienceKind) -> bool:
        return bool(await self._records(kind, most=NEAREST))

    async def _equal(self, kind: ExperienceKind, goal: str) -> list[tuple[Experience, float]]:
        found = await self._records(kind, key=key_of(goal))
        found.sort(key=lambda record: (record.successes - record.failures, record.created), reverse=True)
        return [(record, 1.0) for record in found]

    async def _records(self, kind: ExperienceKind, **filters: Any) -> list[Experience]:
        return await self.memory.find(
            memory=self.name,
            kind=kind,
            domain=self.domain,
            statuses=("active",),
            tools=self.readers.tools,
            **filters,
        )

    async def _near(
        self, kind: ExperienceKind, goal: str, vector: Sequence[float], embedder: Embeds
    ) -> list[tuple[Experience, float]]:
        """Return the records whose goals mean nearly the same and name the same operations."""
        place: Mapping[str, Any] = {"memory": self.name, "kind": kind, "domain": self.domain}
        waiting = (await self.memory.without_vector(**place))[:EMBEDDED_AT_ONCE]
        vectors = await embedder.embed([record.key for record in waiting])
        for record, own in zip(waiting, vectors, strict=True):
            await self.memory.embedded(record.id, own)
        found = await self.memory.nearest(vector, NEAREST, tools=self.readers.tools, **place)
        return [
            (record, round(cosine, 4))
            for record, cosine in found
            if cosine >= self.similar and self._does_the_same(record.goal, goal)
        ]

    def _does_the_same(self, one: str, other: str) -> bool:
        return not self.readers.operations or _operations(one) == _operations(other)

    def _read_workflows(self, found: Sequence[tuple[Experience, float]], goal: str) -> list[dict[str, Any]]:
        read, most = self.readers.workflow, self.workflow_characters
        return [_recalled(record, alike, read(record, goal, most)) for record, alike in found]

    def _read_lessons(self, found: Sequence[tuple[Experience, float]]) -> list[dict[str, Any]]:
        return [_recalled(record, alike, self.readers.lesson(record)) for record, alike in found]


def _operations(goal: str) -> frozenset[str]:
    """Return what a goal does: deleting is no reference for renaming, however near the words are."""
    return OPERATIONS.intersection(deciding_words(goal))


def _recalled(record: Experience, alike: float, text: str) -> dict[str, Any]:
    return {"id": record.id, "goal": record.goal, "text": text, "alike": alike}


def _few(found: Sequence[dict[str, Any]], most: int, characters: int) -> list[dict[str, Any]]:
    """Return the first that have a text of their own, as many as there is room for."""
    kept: list[dict[str, Any]] = []
    for each in found:
        room = characters - sum(len(other["text"]) for other in kept)
        said = [other["text"].casefold() for other in kept]
        if each["text"] and len(each["text"]) <= room and each["text"].casefold() not in said:
            kept.append(each)
    return kept[:most]
