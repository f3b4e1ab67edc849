"""From a name to a model."""

from typing import Any

import pytest
from tests.support.endpoint import Endpoint, fails, rate_limited, says

from plait.errors import UserError
from plait.models import resolve
from plait.models.protocol import Grammar, Message, Request
from plait.models.resolve import resolve_model
from plait.models.retry import RetryingModel
from plait.models.scripted import ScriptedModel

REQUEST = Request(messages=(Message(role="user", content="hello"),), form=Grammar(gbnf="root ::= [a-z]*"))
VARIABLES = ("PLAIT_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY", "LLAMA_API_KEY", "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


async def asked(endpoint: Endpoint, name: str) -> tuple[dict[str, Any], str | None]:
    """Ask a model of that name at the endpoint; return the body and the key that arrived."""
    model = resolve_model(name, base_url=endpoint.base_url)
    assert model.name == name
    await model.complete(REQUEST)
    await model.aclose()
    return endpoint.bodies[-1], endpoint.headers[-1].get("Authorization")


async def test_a_model_at_an_address_keeps_its_name_and_loses_a_services_prefix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
    monkeypatch.setenv("PLAIT_API_KEY", " plait-key\n")
    async with Endpoint() as endpoint:
        plain, plain_key = await asked(endpoint, "qwen3:4b")
        openai, openai_key = await asked(endpoint, "openai:gpt-4o")
        llama, llama_key = await asked(endpoint, "llamacpp:qwen")
    assert (plain["model"], plain_key) == ("qwen3:4b", "Bearer plait-key")
    assert (openai["model"], openai_key, openai["max_tokens"]) == ("gpt-4o", "Bearer openai-key", 1024)
    assert (llama["model"], llama_key, llama["cache_prompt"]) == ("qwen", None, True)
    assert ("grammar" in plain, "grammar" in llama) == (False, True)


async def test_a_known_service_is_asked_at_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    async with Endpoint() as endpoint:
        service = resolve.SERVICES["openai"]
        home = resolve.Service(
            base_url=endpoint.base_url,
            key_variable=service.key_variable,
            needs_key=service.needs_key,
            capabilities=service.capabilities,
        )
        monkeypatch.setattr(resolve, "SERVICES", {"openai": home})
        model = resolve_model("openai:gpt-5")
        await model.complete(REQUEST)
        await model.aclose()
    assert endpoint.bodies[0]["model"] == "gpt-5"
    assert endpoint.bodies[0]["max_completion_tokens"] == 1024


async def test_passing_failures_are_tried_again_and_told() -> None:
    told: list[tuple[str, int, float]] = []
    async with Endpoint([rate_limited("0"), says("fine")]) as endpoint:
        model = resolve_model("m", base_url=endpoint.base_url, on_retry=lambda *what: told.append(what))
        assert isinstance(model, RetryingModel)
        assert (await model.complete(REQUEST)).text == "fine"
        await model.aclose()
    assert [attempt for _, attempt, _ in told] == [1]


async def test_a_refused_key_names_the_variable_it_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "wrong-key")
    async with Endpoint([fails(401, "wrong-key is wrong")]) as endpoint:
        model = resolve_model("ollama:m", base_url=endpoint.base_url)
        with pytest.raises(Exception, match=r"\*\*\* is wrong.*OLLAMA_API_KEY"):
            await model.complete(REQUEST)
        await model.aclose()


async def test_a_local_name_is_the_embedded_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def local(name: str) -> ScriptedModel:
        names.append(name)
        return ScriptedModel(["from the engine"], name=f"local:{name}")

    monkeypatch.setattr(resolve, "local_model", local)
    model = resolve_model("local:qwen2.5-coder-1.5b")
    assert (await model.complete(REQUEST)).text == "from the engine"
    assert (model.name, names) == ("local:qwen2.5-coder-1.5b", ["qwen2.5-coder-1.5b"])


@pytest.mark.parametrize(
    ("name", "base_url", "words"),
    [
        ("gpt-4o", None, "'gpt-4o' names no provider"),
        ("", None, "'' names no provider"),
        ("openai:", None, "'openai:' names no provider"),
        (":x", None, "':x' names no provider"),
        ("openai:gpt-4o", None, "'openai:gpt-4o' needs a key: set OPENAI_API_KEY"),
        ("nonsense:x", None, "Unknown provider 'nonsense'"),
        ("local:qwen", "http://localhost:1/v1", "needs --model"),
        ("", "http://localhost:1/v1", "needs --model"),
        ("qwen", "localhost:1", "'localhost:1' is no HTTP address"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(name: str, base_url: str | None, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        resolve_model(name, base_url=base_url)
    assert "\n" not in caught.value.message


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "first\nsecond")
    with pytest.raises(UserError, match="OPENAI_API_KEY cannot be sent") as caught:
        resolve_model("openai:gpt-4o")
    assert "first" not in caught.value.message
