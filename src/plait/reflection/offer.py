"""What the next try of a choice may call, after what was wrong with the last one.

Small models insist, so what a check is sure of is not left to them: the form of the reply has nothing else.
Knows nothing of how a try is made or read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plait.agents.gate import Feedback
from plait.models.callspec import CallSpec
from plait.reflection.checks import DONE_BEFORE, LEAVE_IT, MADE_UP, Known
from plait.reflection.doubts import ANSWERED, FOUND_NOTHING, WITHIN_EMPTY, WITHIN_SHOWN
from plait.reflection.leftover import none_left
from plait.reflection.meant import FIRST, MEANT, NOTHING_ABOUT, RIGHT
from plait.reflection.phrases import makes_one, of_several
from plait.tools.tool import Tool

MAX_RESULT = 300
DONE = CallSpec(
    name="done",
    description="the subtask is finished; result says in one sentence what came out, with ids",
    parameters={
        "type": "object",
        "properties": {"result": {"type": "string", "maxLength": MAX_RESULT}},
        "required": ["result"],
        "additionalProperties": False,
    },
)

LOOKED = (ANSWERED, FOUND_NOTHING, WITHIN_EMPTY, WITHIN_SHOWN)
"""How a doubt begins about a look around that tells nothing new."""
LOOKS_ENOUGH = 2
"""Different looks at the records of a task, after which there are taken to be no others."""


@dataclass(frozen=True)
class Offer:
    """What may be called, where nothing speaks against any of it."""

    specs: Sequence[CallSpec]
    known: Known
    tools: Mapping[str, Tool]

    def after(self, feedback: Feedback | None) -> Sequence[CallSpec]:
        """Return what the next try may call.

        Where an effect is done already: that tool, the end, or, where several are wanted, other changes.
        Where a check knows which tool is meant: that one, the end, or what finds what it takes. Where it
        knows what seems right: that tool, or the one it names. Where another one comes first: that one.
        Where nothing found is left within the hours of the task: what looks, and after two looks the end.
        """
        if none_left(self.known, self.tools) and len(self._looks()) >= LOOKS_ENOUGH:
            return [DONE]
        if feedback is None:
            return self.specs
        chosen = _tool_of(feedback)
        if _one(feedback, DONE_BEFORE):
            others = self._unused(reads=False) if of_several(self.known.task) else ()
            return [spec for spec in self.specs if spec.name in (chosen, DONE.name) or spec in others]
        if any(problem.endswith(LEAVE_IT) for problem in feedback.problems) and none_left(
            self.known, self.tools
        ):
            return self._of_effect(reads=True)
        if meant := _one(feedback, MEANT):
            named = self._named(meant, MEANT)
            finding = self._of_effect(reads=True) if self.known.found_nothing else ()
            return [spec for spec in self.specs if spec in named or spec in finding]
        if right := _one(feedback, RIGHT):
            fitting = [spec for spec in self.specs if spec.name == chosen or f"{RIGHT} {spec.name}:" in right]
            return fitting or self.specs  # Without a grammar a model may choose what is not on offer.
        if first := _one(feedback, FIRST):
            return self._named(first, FIRST)
        return self._after_a_look(feedback, chosen)

    def _after_a_look(self, feedback: Feedback, chosen: str) -> Sequence[CallSpec]:
        """Return what may be called after something was sought, or was not and should have been.

        Where nothing was found yet that the task is about: what changes nothing. Where one new thing is
        wanted, and a look around tells nothing new: what was not looked at, or changes something. Where the
        very search or a wider one found nothing before: another tool.
        """
        if _one(feedback, NOTHING_ABOUT):
            return self._of_effect(reads=True)
        if _one(feedback, *LOOKED) and self._only_makes():
            others = [*self._of_effect(reads=False), *self._unused(reads=True)]
            return [spec for spec in self.specs if spec in others]
        if _one(feedback, FOUND_NOTHING, WITHIN_EMPTY):
            return [spec for spec in self.specs if spec.name != chosen]
        return self.specs

    def _looks(self) -> set[str]:
        return {step.call for step in self.known.steps if not step.effect}

    def _named(self, problem: str, beginning: str) -> Sequence[CallSpec]:
        """Return the tool that a problem names, and the end."""
        fitting = [spec for spec in self.specs if f"{beginning} {spec.name}:" in problem]
        return [*fitting, DONE] if fitting else self.specs

    def _unused(self, *, reads: bool) -> Sequence[CallSpec]:
        """Return the tools that read, or those that change something, and were not called yet."""
        used = {step.tool for step in (*self.known.steps, *self.known.effects.done)}
        fitting = {name for name, tool in self.tools.items() if (tool.effect == "reads") is reads}
        return [spec for spec in self.specs if spec.name in fitting - used]

    def _of_effect(self, *, reads: bool) -> Sequence[CallSpec]:
        """Return the tools that read, or those that change something, and the end; all where none is left."""
        others = {name for name, tool in self.tools.items() if (tool.effect == "reads") is not reads}
        left = [spec for spec in self.specs if spec.name not in others]
        return left if len(left) > 1 else self.specs

    def _only_makes(self) -> bool:
        """Whether the one new thing the task wants is yet to be made, and what was looked up is there."""
        found = any(step.ok and not step.empty and not step.effect for step in self.known.steps)
        return found and not self.known.effects.done and makes_one(self.known.task)


def spent(feedback: Feedback | None, known: Known, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Yield the tool that no other try of this choice may call.

    One whose answered call was just chosen again: its result is there to be used. One that was called with
    something made up while nothing is found yet that it could be called with.
    """
    if feedback is None:
        return
    chosen = _tool_of(feedback)
    reads = chosen in tools and tools[chosen].effect == "reads"
    if reads and _one(feedback, ANSWERED, WITHIN_SHOWN):
        yield chosen
    if known.found_nothing and any(problem.endswith(MADE_UP) for problem in feedback.problems):
        yield chosen


def _tool_of(feedback: Feedback) -> str:
    """Return the tool that the last try called."""
    return str(feedback.shown).partition("(")[0]


def _one(feedback: Feedback, *beginnings: str) -> str:
    """Return the first problem that begins so; empty where there is none."""
    return next((problem for problem in feedback.problems if problem.startswith(beginnings)), "")
