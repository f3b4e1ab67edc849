"""Our own client for Chat Completions: Ollama, vLLM, LM Studio, llama.cpp, OpenAI and all compatible.

Knows nothing of retries, budgets or agents. It is on the path of every model call, so it does little:
one body, one request over a kept connection, one reply. An endpoint that refuses a capability is asked
again without it, and asked without it from then on.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import orjson

from plait.errors import ModelError, TransientModelError
from plait.models.addresses import LOOPBACK_HOSTS, check_address
from plait.models.encoding import encoded
from plait.models.failures import complaint_of, mask, network_error, shown_url, status_error
from plait.models.prices import Prices
from plait.models.protocol import Reply, Request, TokenUsage, Typed
from plait.models.sessions import CONNECT_SECONDS, hold, release
from plait.models.wire import Capabilities, NotAReplyError, body_of, lesser, reply_of

DEFAULT_TIMEOUT_SECONDS = 600.0
DEFAULT_KEY_VARIABLE = "PLAIT_API_KEY"
_REFUSALS = frozenset({400, 404, 422, 501})


class ChatModel:
    """A language model behind a Chat Completions endpoint."""

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None = None,
        capabilities: Capabilities = Capabilities(),  # noqa: B008 (frozen)
        *,
        key_variable: str = DEFAULT_KEY_VARIABLE,
        extra: Mapping[str, Any] | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    ) -> None:
        """Describe the endpoint; nothing is connected before the first call.

        Args:
            name: The model as the user names it.
            base_url: Where `/chat/completions` is, for instance `http://localhost:8080/v1`.
            model: The model as the endpoint names it.
            api_key: Sent as bearer token; never shown.
            capabilities: What the endpoint takes, as far as is known.
            key_variable: The environment variable the key is from, for messages.
            extra: Put into every body, for instance llama.cpp's `{"cache_prompt": True, "id_slot": 0}`.
            timeout_seconds: For one whole answer.

        Raises:
            UserError: `base_url` is no HTTP address or holds a password or a key.
        """
        check_address(base_url)
        self._name = name
        self._url = base_url.rstrip("/")
        self._model = model
        self._key = api_key
        self._key_variable = key_variable
        self._capabilities = capabilities
        self._learned: dict[str, Capabilities] = {}
        self._extra = dict(extra or {})
        self._timeout_seconds = timeout_seconds
        self._who = f"Model {model!r} at {shown_url(self._url)}"
        self._prices = Prices(model, self._url)

    @property
    def name(self) -> str:
        return self._name

    @property
    def takes_grammar(self) -> bool:
        return self._learned.get("Grammar", self._capabilities).grammar

    def price(self, usage: TokenUsage) -> float:
        """Return what such a call costs; see `price_of`."""
        return self._prices.usd(usage)

    async def complete(self, request: Request) -> Reply:
        """Answer one request; see `LanguageModel.complete`."""
        # A schema that one endpoint cannot take says nothing about its other schemas.
        form = request.form
        key = f"Typed {form.name}" if isinstance(form, Typed) else type(form).__name__
        capabilities = self._learned.get(key, self._capabilities)
        while True:
            body = body_of(request, model=self._model, capabilities=capabilities, extra=self._extra)
            started = time.perf_counter()
            status, headers, content = await self._post(encoded(body))
            if status == 200:
                return self._reply(content, headers, request, time.perf_counter() - started)
            complaint = mask(complaint_of(content), self._key)
            # llama.cpp answers 500 to tools when it was started without --jinja.
            refused = status in _REFUSALS or (status == 500 and "--jinja" in complaint)
            fewer = lesser(capabilities, request, complaint) if refused else None
            if fewer is None:
                raise self._status_error(status, complaint, headers)
            capabilities = self._learned[key] = fewer

    async def aclose(self) -> None:
        """Let go of the connections; safe to call twice."""
        await release(self)

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        import aiohttp

        session = hold(self)
        try:
            async with session.post(
                self._endpoint, data=body, headers=self._headers, allow_redirects=False, **self._options
            ) as response:
                return response.status, response.headers, await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise network_error(error, who=self._who, timeout_seconds=self._timeout_seconds) from error

    def _reply(self, content: bytes, headers: Mapping[str, str], request: Request, seconds: float) -> Reply:
        try:
            answer: Any = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            if "html" in headers.get("Content-Type", ""):
                raise ModelError(
                    f"{self._who} answered with a web page. Check --base-url, which mostly ends in /v1."
                ) from error
            raise TransientModelError(f"{self._who} answered with what is not JSON") from error
        if isinstance(answer, dict) and answer.get("error"):  # pyright: ignore[reportUnknownMemberType]
            # Some gateways report a provider's error inside a success.
            code: Any = answer["error"].get("code") if isinstance(answer["error"], dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            complaint = mask(complaint_of(content), self._key)
            raise self._status_error(code if isinstance(code, int) else 200, complaint, headers)
        try:
            reply = reply_of(answer, request, seconds=seconds)
        except NotAReplyError as error:
            raise TransientModelError(f"{self._who} gave no Chat Completions reply: {error}") from error
        return replace(reply, usage=self._prices.priced(reply.usage))

    def _status_error(self, status: int, complaint: str, headers: Mapping[str, str]) -> ModelError:
        return status_error(
            status, complaint, who=self._who, key_variable=self._key_variable, headers=headers
        )

    @cached_property
    def _endpoint(self) -> Any:
        from yarl import URL  # comes with aiohttp; parsed once, not at every call

        base = URL(self._url)
        return base.with_path(f"{base.path.rstrip('/')}/chat/completions", keep_query=True)

    @cached_property
    def _headers(self) -> Mapping[str, str]:
        from multidict import CIMultiDict

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return CIMultiDict(headers)

    @cached_property
    def _options(self) -> dict[str, Any]:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=self._timeout_seconds, sock_connect=CONNECT_SECONDS)
        return {"timeout": timeout, "proxy": _proxy(self._url)}


def _proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for this address, if any."""
    from urllib.request import getproxies, proxy_bypass

    host = urlsplit(base_url).hostname or ""
    if host in LOOPBACK_HOSTS or proxy_bypass(host):
        return None
    return getproxies().get(urlsplit(base_url).scheme)
