"""What goes over the wire to llama.cpp's server, beyond plain Chat Completions.

Knows nothing of processes or slots. Replies are streamed, because only then does the server notice that
nobody waits any more; the pieces are put together to the answer that an unstreamed call would give.
Function calling is done by us: the tools are described in the prompt and the reply is held to a schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from plait.errors import ModelError, RequestRefused, TransientModelError
from plait.models.encoding import encoded
from plait.models.protocol import FunctionCalling, Message, Reply, Request, ToolCall, Typed
from plait.models.wire import Capabilities, NotAReplyError, body_of, reply_of

CAPABILITIES = Capabilities(grammar=True, repetition_penalty=True)
USER_MARK = "PLAIT-USER-MESSAGE"
LOOK_EVERY = 32
"""Tokens between two looks at whether a reply goes in circles."""
MARK_CHARACTERS = 32
CIRCLING_CHARACTERS = 600
"""So many, and two rounds, must be what they were a round before; a table of zeros may have nearly that."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request as the engine gets it."""

    request: Request
    text: str
    """All messages in one text, to see what two calls have in common."""
    prefix: str
    """The system message as part of `text`; empty where there is none."""


def ask_of(request: Request) -> Ask:
    """Prepare a request for the engine."""
    if isinstance(request.form, FunctionCalling):
        request = _with_tools_described(request, request.form)
    parts = [f"{message.role}\n{message.content}\0" for message in request.messages]
    has_system = len(parts) > 1 and request.messages[0].role == "system"
    return Ask(request=request, text="".join(parts), prefix=parts[0] if has_system else "")


def chat_body(ask: Ask, slot: int) -> dict[str, Any]:
    """Return the body for /v1/chat/completions."""
    extra = {
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # else a call that was given up is noticed after the whole prompt is read
        "cache_prompt": True,
        "id_slot": slot,
    }
    return body_of(ask.request, model="embedded", capabilities=CAPABILITIES, extra=extra)


def template_body(ask: Ask) -> dict[str, Any]:
    """Return the body for /apply-template that shows how the prefix is written out."""
    system = ask.request.messages[0]
    messages = [{"role": "system", "content": system.content}, {"role": "user", "content": USER_MARK}]
    return {"messages": messages}


def prefix_body(prompt: str, slot: int) -> dict[str, Any]:
    """Return the body for /completion that reads a prefix into a slot and writes nothing."""
    return {"prompt": prompt, "n_predict": 0, "cache_prompt": True, "id_slot": slot}


class StreamedReply:
    """Puts streamed pieces together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._finish: str | None = None
        self._totals: dict[str, Any] = {}
        self._progress: dict[str, Any] = {}

    @property
    def circles(self) -> bool:
        """Whether the reply repeats itself without end, as small models do; looked at now and then."""
        return len(self._text) % LOOK_EVERY == 0 and is_circling("".join(self._text))

    def take(self, line: bytes) -> None:
        """Take one line of the stream.

        Raises:
            ModelError: the engine reports an error in the middle of its answer.
        """
        if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
            if line.startswith(b"error:"):
                raise engine_error(500, line[6:])
            return
        piece: Any = orjson.loads(line[5:])
        if "error" in piece:
            raise engine_error(500, line[5:])
        for choice in piece.get("choices", ()):
            self._text.append(choice["delta"].get("content") or "")
            self._finish = choice.get("finish_reason") or self._finish
        self._totals.update({key: piece[key] for key in ("usage", "timings") if key in piece})
        self._progress = piece.get("prompt_progress", self._progress)

    def reply(self, ask: Ask, asked: Request, seconds: float) -> Reply:
        """Return the whole reply, in the form that was asked for.

        Raises:
            TransientModelError: the stream ended too early.
        """
        text = "".join(self._text)
        cut = self._finish is None and is_circling(text)
        if self._finish is None and not cut:
            raise TransientModelError("The embedded engine broke off in the middle of its reply")
        message = {"role": "assistant", "content": without_circles(text) if cut else text}
        answer = {"choices": [{"message": message, "finish_reason": self._finish}], **self._totals}
        if cut:
            # Nobody waits for the totals of a reply that was given up; every piece is a token.
            cached = int(self._progress.get("cache", 0))
            read = max(0, int(self._progress.get("total", 0)) - cached)
            answer["timings"] = {"prompt_n": read, "cache_n": cached, "predicted_n": len(self._text)}
        try:
            reply = reply_of(answer, ask.request, seconds=seconds)
        except NotAReplyError as error:
            raise ModelError(f"The embedded engine gave no usable reply: {error}") from error
        if cut:
            return replace(reply, finish="repetition")
        return _with_call(reply) if isinstance(asked.form, FunctionCalling) else reply


def is_circling(text: str) -> bool:
    """Whether a text ends in the same over and over."""
    return len(without_circles(text)) < len(text)


def without_circles(text: str) -> str:
    """Return a text that ends in the same over and over with one round of that; any other text as it is."""
    mark = text[-MARK_CHARACTERS:]
    before = text.rfind(mark, 0, len(text) - 1)
    period = len(text) - len(mark) - before
    start = len(text) - max(2 * period, CIRCLING_CHARACTERS)
    if before < 0 or start < period or text[start:] != text[start - period : -period]:
        return text
    while start > period and text[start - 1] == text[start - 1 - period]:
        start -= 1
    return text[:start]


def engine_error(status: int, body: bytes) -> ModelError:
    """Return the error for an answer of the engine that is not a reply."""
    try:
        error: Any = orjson.loads(body).get("error", {})
        message, kind = str(error.get("message", "")), error.get("type", "")
    except (orjson.JSONDecodeError, AttributeError):
        error, message, kind = {}, body.decode(errors="replace")[:300], ""
    if kind == "exceed_context_size_error":
        return RequestRefused(
            f"The prompt has {error.get('n_prompt_tokens')} tokens, more than the embedded engine's context "
            f"of {error.get('n_ctx')}; set PLAIT_ENGINE_CONTEXT higher, or give it less to read."
        )
    said = " ".join(message.split()) or "no reason given"
    if status >= 500:
        return TransientModelError(f"The embedded engine failed (HTTP {status}): {said}")
    return RequestRefused(f"The embedded engine refused the request (HTTP {status}): {said}")


def _with_tools_described(request: Request, form: FunctionCalling) -> Request:
    lines = [encoded(tool).decode() for tool in form.tools]
    text = "\n".join(
        [
            "# Tools",
            "Call exactly one of these functions:",
            *lines,
            'Reply with JSON: {"name": <function name>, "arguments": <arguments object>}',
        ]
    )
    first, *rest = request.messages
    if first.role == "system":
        messages = [replace(first, content=f"{first.content}\n\n{text}"), *rest]
    else:
        messages = [Message(role="system", content=text), first, *rest]
    return replace(request, messages=messages, form=Typed(schema=_call_schema(form), name="call"))


def _call_schema(form: FunctionCalling) -> Mapping[str, Any]:
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"name": {"const": tool["name"]}, "arguments": tool["parameters"]},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in form.tools
        ]
    }


def _with_call(reply: Reply) -> Reply:
    try:
        call: Any = orjson.loads(reply.text)
        read = ToolCall(name=call["name"], arguments=call["arguments"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return reply  # cut at the token limit; the agent sees the text
    finish = "tool_calls" if reply.finish == "stop" else reply.finish
    return replace(reply, text="", tool_calls=(read,), finish=finish)
