"""Chat Completions on the wire: a request becomes a JSON body, an answer becomes a reply.

Pure functions: knows nothing of HTTP, keys or retries. What an endpoint can do is a value,
`Capabilities`; an endpoint that refuses something is asked again with `lesser` capabilities.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from plait.models.encoding import encoded
from plait.models.protocol import (
    Finish,
    FunctionCalling,
    Grammar,
    Reply,
    Request,
    TokenUsage,
    ToolCall,
    Typed,
)

CHARACTERS_PER_TOKEN = 4
"""For the estimate where an endpoint reports no usage, so that budgets still hold."""
PENALIZED_TOKENS = 256
"""How far back a repetition penalty looks: a paragraph or two."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What an endpoint is thought to take; corrected when it refuses."""

    json_schema: bool = True
    """`response_format` with a JSON schema."""
    strict: bool = True
    """The schema in strict mode, which allows a part of JSON schema only."""
    tools: bool = True
    """Tools, and a choice that forces one of them."""
    tool_choice: bool = True
    """`tool_choice` set to `required`."""
    grammar: bool = False
    """llama.cpp's `grammar` field."""
    repetition_penalty: bool = False
    """llama.cpp's `repeat_penalty` field."""
    temperature: bool = True
    seed: bool = True
    stop: bool = True
    max_tokens: bool = True
    """The limit is called `max_tokens`; otherwise `max_completion_tokens`."""


class NotAReplyError(ValueError):
    """The answer is JSON, but no Chat Completions reply; the text says what is wrong with it."""


def body_of(
    request: Request, *, model: str, capabilities: Capabilities, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the JSON body that asks `model` for this request."""
    settings = request.settings
    limit = "max_tokens" if capabilities.max_tokens else "max_completion_tokens"
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        limit: settings.max_tokens,
    }
    if capabilities.temperature:
        body["temperature"] = settings.temperature
    if settings.seed is not None and capabilities.seed:
        body["seed"] = settings.seed
    if settings.repetition_penalty != 1.0 and capabilities.repetition_penalty:
        body |= {"repeat_penalty": settings.repetition_penalty, "repeat_last_n": PENALIZED_TOKENS}
    if settings.stop and capabilities.stop:
        body["stop"] = list(settings.stop)
    match request.form:
        case Typed() as form:
            _ask_typed(body, form, capabilities)
        case Grammar(gbnf=gbnf) if capabilities.grammar:
            body["grammar"] = gbnf
        case FunctionCalling() as form:
            _ask_call(body, form, capabilities)
        case _:
            pass
    body.update(extra)
    return body


def _ask_typed(body: dict[str, Any], form: Typed, capabilities: Capabilities) -> None:
    if capabilities.json_schema:
        schema = {"name": form.name, "schema": form.schema, "strict": capabilities.strict}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif capabilities.tools:
        body["tools"] = [_tool(form.name, "Give the reply.", form.schema)]
        body["tool_choice"] = {"type": "function", "function": {"name": form.name}}
    else:
        body["messages"][-1]["content"] += "\n\n" + schema_prompt(form.schema)


def schema_prompt(schema: Mapping[str, Any]) -> str:
    """Ask for JSON in words, for an endpoint that cannot be held to a schema."""
    shown = encoded(schema).decode()
    return f"Reply with one JSON object that follows this JSON schema, and with nothing else:\n{shown}"


def _ask_call(body: dict[str, Any], form: FunctionCalling, capabilities: Capabilities) -> None:
    names = wire_names(tool["name"] for tool in form.tools)
    body["tools"] = [
        _tool(names[tool["name"]], tool.get("description", ""), tool["parameters"]) for tool in form.tools
    ]
    body["tool_choice"] = "required" if capabilities.tool_choice else "auto"


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def wire_names(names: Iterable[str]) -> dict[str, str]:
    """Map tool names to what providers allow as a name: a dot becomes `__`."""
    taken: set[str] = set()
    mapped: dict[str, str] = {}
    for name in names:
        wire = name.replace(".", "__")
        while wire in taken:
            wire += "_"
        taken.add(wire)
        mapped[name] = wire
    return mapped


def lesser(capabilities: Capabilities, request: Request, complaint: str) -> Capabilities | None:
    """Return what is left to try after an endpoint refused a request, or None.

    A capability is given up only when the endpoint's own words name it, so that any other fault of
    the request is reported and not hidden.
    """
    words = re.sub(r"[\s_-]+", " ", complaint.lower())
    fewer = _lesser_form(capabilities, request, words)
    if fewer is not None:
        return fewer
    if capabilities.max_tokens and "max completion tokens" in words:
        return replace(capabilities, max_tokens=False)
    # A value out of range is the caller's fault; only a parameter not taken at all is left out.
    if not re.search(r"support|unrecognized|unknown|unexpected|not permitted|deprecated", words):
        return None
    for name in ("temperature", "seed", "stop"):
        if getattr(capabilities, name) and re.search(rf"(\W|argument |parameter ){name}\W", f" {words} "):
            return replace(capabilities, **{name: False})
    return None


def _lesser_form(capabilities: Capabilities, request: Request, words: str) -> Capabilities | None:
    match request.form:
        case Typed() if capabilities.json_schema:
            # "Invalid schema for response_format": strict mode takes less of JSON schema than loose mode.
            if capabilities.strict and "invalid schema" in words:
                return replace(capabilities, strict=False)
            if re.search(r"response format|schema|structured output", words):
                return replace(capabilities, json_schema=False)
        case Typed() if capabilities.tools and re.search(r"\btools?\b|function", words):
            return replace(capabilities, tools=False)
        case FunctionCalling() if capabilities.tool_choice and "tool choice" in words:
            return replace(capabilities, tool_choice=False)
        # A grammar that cannot be parsed is a fault of the grammar, not of the endpoint.
        case Grammar() if capabilities.grammar and "grammar" in words and "pars" not in words:
            return replace(capabilities, grammar=False)
        case _:
            pass
    return None


def reply_of(answer: Any, request: Request, *, seconds: float) -> Reply:
    """Read an answer's JSON.

    Raises:
        NotAReplyError: it is not what Chat Completions defines.
    """
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text = _text(message)
        raw_calls = [dict(call["function"]) for call in message.get("tool_calls") or ()]
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise NotAReplyError("it has no readable choices[0].message") from error
    finish: Finish = "length" if choice.get("finish_reason") == "length" else "stop"
    calls: tuple[ToolCall, ...] = ()
    if raw_calls and isinstance(request.form, Typed):
        text = _arguments_text(raw_calls[0])
    elif raw_calls:
        text, calls = _calls(raw_calls, request, text)
        finish = "tool_calls" if calls and finish == "stop" else finish
    usage = usage_of(answer, request, text, seconds)
    return Reply(text=text, finish=finish, usage=usage, tool_calls=calls)


def _text(message: Any) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
    return str(content or message.get("refusal") or "")


def _arguments_text(function: Any) -> str:
    arguments = function.get("arguments", "")
    return arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()


def _calls(functions: list[Any], request: Request, text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Read the calls; where one is not JSON its raw text is returned, for the agent to show the model."""
    back: dict[str, str] = {}
    if isinstance(request.form, FunctionCalling):
        back = {wire: name for name, wire in wire_names(tool["name"] for tool in request.form.tools).items()}
    calls: list[ToolCall] = []
    for function in functions:
        name = str(function.get("name", ""))
        raw = _arguments_text(function)
        try:
            arguments: Any = orjson.loads(raw or "{}")
        except orjson.JSONDecodeError:
            arguments = None
        if not isinstance(arguments, dict):
            return f"{name}({raw})", ()
        calls.append(ToolCall(name=back.get(name, name.replace("__", ".")), arguments=arguments))  # pyright: ignore[reportUnknownArgumentType]
    return text, tuple(calls)


def usage_of(answer: Any, request: Request, text: str, seconds: float) -> TokenUsage:
    """Read tokens from `usage`, else from llama.cpp's `timings`, else estimate them from the lengths."""
    usage, timings = _object(answer, "usage"), _object(answer, "timings")
    cached = (
        _count(_object(usage, "prompt_tokens_details"), "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens")
        or _count(timings, "cache_n")
    )
    read = (
        _count(usage, "prompt_tokens")
        or _count(timings, "prompt_n") + _count(timings, "cache_n")
        or sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN
    )
    written = (
        _count(usage, "completion_tokens")
        or _count(timings, "predicted_n")
        or len(text) // CHARACTERS_PER_TOKEN
    )
    return TokenUsage(
        input_tokens=read, cached_input_tokens=min(cached, read), output_tokens=written, seconds=seconds
    )


def _object(parent: Any, key: str) -> Mapping[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _count(parent: Mapping[str, Any], key: str) -> int:
    value = parent.get(key)
    return int(value) if isinstance(value, int | float) and value > 0 else 0
