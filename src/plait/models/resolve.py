"""A name becomes a language model; a failure that may pass is tried again behind it.

Knows every kind of model and nothing of agents or runs. A provider that costs money is used only when
its name is given, and keys come from the environment only.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.errors import UserError
from plait.models.chat import DEFAULT_KEY_VARIABLE, ChatModel
from plait.models.engine import local_model
from plait.models.protocol import LanguageModel
from plait.models.providers import provider_model
from plait.models.retry import OnRetry, RetryingModel
from plait.models.wire import Capabilities


@dataclass(frozen=True, kw_only=True)
class Service:
    """A Chat Completions endpoint that is known by name."""

    base_url: str
    key_variable: str
    needs_key: bool = False
    capabilities: Capabilities = Capabilities()
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


SERVICES: Mapping[str, Service] = {
    "openai": Service(
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        needs_key=True,
        # Its newer models refuse the old name of the limit.
        capabilities=Capabilities(max_tokens=False),
    ),
    "ollama": Service(base_url="http://localhost:11434/v1", key_variable="OLLAMA_API_KEY"),
    "vllm": Service(base_url="http://localhost:8000/v1", key_variable="VLLM_API_KEY"),
    "lmstudio": Service(base_url="http://localhost:1234/v1", key_variable="LMSTUDIO_API_KEY"),
    "llamacpp": Service(
        base_url="http://localhost:8080/v1",
        key_variable="LLAMA_API_KEY",
        capabilities=Capabilities(grammar=True),
        extra={"cache_prompt": True},
    ),
}


def resolve_model(
    name: str, *, base_url: str | None = None, on_retry: OnRetry | None = None
) -> LanguageModel:
    """Return the model of that name, with retries; nothing is connected or started before its first call.

    Args:
        name: `local:NAME`, a service and a model (`openai:gpt-...`, `ollama:qwen3:4b`), `provider:model`
            as pydantic-ai spells it, or with `base_url` the model as the endpoint names it.
        base_url: A Chat Completions endpoint of the user's own.
        on_retry: Told of every failed attempt that is tried again.

    Raises:
        UserError: the name, the address or the key cannot be used.
    """
    name = name.strip()
    prefix, colon, model = name.partition(":")
    if base_url is not None:
        found: LanguageModel = _at_address(name, base_url)
    elif not colon or not model or not prefix:
        raise UserError(
            f"Model {name!r} names no provider: write it like 'local:qwen2.5-coder-1.5b' "
            "or 'ollama:qwen3:4b', or give --base-url."
        )
    elif prefix == "local":
        found = local_model(model)
    elif prefix in SERVICES:
        found = _at_service(name, model, SERVICES[prefix])
    else:
        found = provider_model(name)
    return RetryingModel(found, on_retry=on_retry)


def _at_address(name: str, base_url: str) -> ChatModel:
    prefix, _, model = name.partition(":")
    if prefix == "local" or not name:
        raise UserError(
            f"--base-url {base_url!r} needs --model, the model's name at that endpoint; "
            f"{name!r} is for the embedded engine."
        )
    service = SERVICES.get(prefix) if model else None
    if service is None:
        # A key of a paid provider is never sent to an address that is not named with it.
        key = _key(DEFAULT_KEY_VARIABLE)
        return ChatModel(name, base_url, name, key)
    at_home = base_url.rstrip("/") == service.base_url
    return ChatModel(
        name,
        base_url,
        model,
        _key(service.key_variable),
        # What is true of OpenAI itself need not be true of an endpoint that is like it.
        service.capabilities if at_home or prefix != "openai" else Capabilities(),
        key_variable=service.key_variable,
        extra=service.extra,
    )


def _at_service(name: str, model: str, service: Service) -> ChatModel:
    key = _key(service.key_variable)
    if key is None and service.needs_key:
        raise UserError(f"Model {name!r} needs a key: set {service.key_variable} in the environment.")
    return ChatModel(
        name,
        service.base_url,
        model,
        key,
        service.capabilities,
        key_variable=service.key_variable,
        extra=service.extra,
    )


def _key(variable: str) -> str | None:
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable():
        raise UserError(
            f"The key in {variable} cannot be sent: it holds line breaks or other odd characters."
        )
    return key
