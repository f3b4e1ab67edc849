"""What a step was asked, as it is stored and as it is told.

Knows nothing of how steps are done or answered.
"""

from collections.abc import Mapping
from typing import Any, cast

from plait.errors import LogError
from plait.events import PromptPart
from plait.journal import JSONObject, StepKind
from plait.runtime import prompts
from plait.runtime.codec import canonical_hash, dumps


def stored_arguments(path: str, args: JSONObject, kind: StepKind) -> tuple[JSONObject, str, list[PromptPart]]:
    """Return a step's arguments as they are stored, their hash, and the parts of its prompt.

    Raises:
        LogError: they are not JSON.
    """
    parts: list[PromptPart] = []
    stored = args
    chat = args.get("messages")
    if kind == "model" and "prompt" not in args and prompts.is_chat(chat):
        parts = prompts.parts(chat)
        stored = {name: value for name, value in args.items() if name != "messages"}
        stored["prompt"] = parts[-1].id
    try:
        return stored, canonical_hash(stored), parts
    except (TypeError, ValueError, RecursionError) as exc:
        raise LogError(f"step {path!r}: its arguments are not JSON ({exc})") from exc


def describe(args: Any) -> str:
    """Write the arguments of an effect as a call, for a message of one line."""
    if isinstance(args, Mapping):
        fields = cast("Mapping[str, Any]", args)
        if "tool" in fields:
            return f"{fields['tool']} with {dumps(fields.get('arguments', {}))}"
    return dumps(cast("object", args))
