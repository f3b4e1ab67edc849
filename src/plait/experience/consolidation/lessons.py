"""Lessons: what failed before, and what worked instead, in a sentence (the first open question of ICE).

A lesson is made of names of tools and parameters and of words that are fixed here, so that no value of a
task and nothing that a tool wrote can stand in it. Knows nothing of memories, nor of how failures are found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from plait.errors import UserError
from plait.journal import JSON, JSONObject
from plait.models.schema import properties_of
from plait.tools.arguments import Schemas, inline

CallFailure: TypeAlias = Literal["found nothing", "failed", "refused"]
"""A search had no result; a tool said it could not; the call was not let through, as a value was made up."""
Value: TypeAlias = Literal[
    "a name", "an address", "a date", "a time", "a number", "an identifier", "a list", "a word", "words"
]
"""What an argument was, without what it said."""
MOST_PARAMETERS = 3
"""In each half of a lesson; calls that differ in more say nothing that can be followed."""


@dataclass(frozen=True, kw_only=True)
class LessonArgument:
    """One argument of a call, by what it was."""

    name: str
    value: Value
    source: str = ""
    """Name of the tool whose result it was taken from; empty for none."""

    @property
    def text(self) -> str:
        """As a lesson says it, in no form that could be copied into a call."""
        source = f" from {self.source}" if self.source else ""
        return f"{self.value}{source} as {self.name}"


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What was wrong with the calls of a tool, and what worked."""

    tool: str
    failure: CallFailure
    arguments: Sequence[LessonArgument]
    """In which the call that failed differed from the one that worked."""
    worked: Sequence[LessonArgument] = ()
    """In which the call that worked differed from the one that failed."""
    mended: bool = True
    """Whether any call worked; else its subtask failed."""

    @property
    def text(self) -> str:
        """The lesson as a sentence."""
        if self.failure == "refused":
            wrong = f" with a made-up {' and '.join(argument.name for argument in self.arguments)}"
        else:
            wrong = f" with {_listed(self.arguments)}" if self.arguments else ""
        return f"{self.tool}{wrong} {_SAID[self.failure]}; {self._instead()}"

    def _instead(self) -> str:
        if not self.mended:
            return "the subtask failed: try another way."
        kept = {argument.name for argument in self.worked}
        dropped = [argument.name for argument in self.arguments if argument.name not in kept]
        right = [f"with {_listed(self.worked)}"] if self.worked else []
        without = [f"without {', '.join(dropped)}"] if dropped else []
        return f"{' and '.join([*right, *without])} it {_DID[self.failure]}."

    @property
    def tools(self) -> Sequence[str]:
        """Names of all tools it speaks of, the one that failed first."""
        sources = [argument.source for argument in (*self.arguments, *self.worked) if argument.source]
        return list(dict.fromkeys([self.tool, *sources]))

    def fits(self, schemas: Schemas) -> bool:
        """Whether it speaks of tools and parameters that there are; a foreign one could say anything."""
        if any(tool not in schemas for tool in self.tools):
            return False
        known = properties_of(inline(schemas[self.tool]))
        return all(argument.name in known for argument in (*self.arguments, *self.worked))

    def as_json(self) -> JSONObject:
        """Return the lesson as it is kept and shared."""
        return {
            "tool": self.tool,
            "failure": self.failure,
            "arguments": [_argument_json(argument) for argument in self.arguments],
            "worked": [_argument_json(argument) for argument in self.worked],
            "mended": self.mended,
        }

    @classmethod
    def from_json(cls, value: JSON) -> "Lesson":
        """Read what `as_json` gave.

        Raises:
            UserError: it is no lesson, or says what no lesson may.
        """
        try:
            fields = cast("Mapping[str, Any]", value)
            if fields["failure"] not in get_args(CallFailure):
                raise ValueError(fields["failure"])
            return cls(
                tool=_name(fields["tool"]),
                failure=fields["failure"],
                arguments=tuple(_arguments(fields["arguments"])),
                worked=tuple(_arguments(fields["worked"])),
                mended=bool(fields["mended"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"no lesson can be read: {ascii(str(error))[:60]}; export it anew") from error


_SAID: Mapping[CallFailure, str] = {
    "found nothing": "found nothing",
    "failed": "failed",
    "refused": "is refused",
}
_DID: Mapping[CallFailure, str] = {
    "found nothing": "found something",
    "failed": "worked",
    "refused": "worked",
}
_MOST_NAME = 100


def _listed(arguments: Sequence[LessonArgument]) -> str:
    return " and ".join(argument.text for argument in arguments)


def _argument_json(argument: LessonArgument) -> JSONObject:
    return {"name": argument.name, "value": argument.value, "source": argument.source}


def _arguments(values: Any) -> Iterator[LessonArgument]:
    if not isinstance(values, list) or len(cast("list[Any]", values)) > MOST_PARAMETERS:
        raise ValueError("its arguments")
    for value in cast("list[Mapping[str, Any]]", values):
        if value["value"] not in get_args(Value):
            raise ValueError(value["value"])
        source = value["source"] and _name(value["source"])
        yield LessonArgument(name=_name(value["name"]), value=value["value"], source=source)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _MOST_NAME or len(value.split()) != 1:
        raise ValueError(ascii(value)[:40])
    return value
