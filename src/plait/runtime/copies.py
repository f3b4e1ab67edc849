"""What the steps were asked that a fork copied: it is by this that they answer in the new run.

Knows nothing of databases or of running anything. A fork may go on with another model, temperature or
seed, so what a copied model call was asked is compared apart from who was asked and how it was drawn.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from plait.events import PromptPart, Record, RunStarted, StepRecorded
from plait.runtime.codec import canonical_hash
from plait.runtime.prompts import is_chat, restore

DRAWN = ("model", "settings")
"""Arguments of a model call that say who is asked, and how the reply is drawn."""
FORM_ROLE, GRAMMAR = "form", "grammar"
"""A grammar narrows what is drawn, and depends on what a model can take."""


class Copies:
    """The steps that a run has from another."""

    def __init__(self) -> None:
        self.is_fork = False
        self._begun = 0.0
        self._parts: dict[str, PromptPart] = {}
        self._asked: dict[str, str] = {}

    def note(self, record: Record) -> None:
        """Take the next record of the run, which come in their order.

        Raises:
            LogError: a part of a prompt is missing.
        """
        event = record.event
        if isinstance(event, RunStarted):
            self.is_fork, self._begun = bool(event.forked_from), record.at
        elif not self.is_fork:
            return
        elif isinstance(event, PromptPart):
            self._parts[event.id] = event
        elif isinstance(event, StepRecorded):
            # What the run asked anew itself answers in its own right.
            self._asked.pop(record.path, None)
            if record.at < self._begun and event.step == "model":
                self._asked[record.path] = self._question(event.args)

    def answer(self, path: str, args: Mapping[str, Any]) -> bool:
        """Whether a copied step at `path` was asked what `args` ask, by whatever model."""
        asked = self._asked.get(path)
        return asked is not None and asked == _question(args, args.get("messages"))

    def _question(self, args: Mapping[str, Any]) -> str:
        if "prompt" not in args:
            return _question(args, args.get("messages"))
        return _question(args, restore(self._parts, str(args["prompt"])))


def _question(args: Mapping[str, Any], chat: object) -> str:
    rest = {name: value for name, value in args.items() if name not in (*DRAWN, "prompt", "messages")}
    return canonical_hash([rest, _without_grammar(args.get("form"), chat)])


def _without_grammar(form: object, chat: object) -> object:
    kind = cast("Mapping[str, object]", form).get("kind") if isinstance(form, Mapping) else form
    if kind != GRAMMAR or not is_chat(chat):
        return chat
    messages: Sequence[Mapping[str, str]] = chat
    return [message for message in messages if message["role"] != FORM_ROLE]
