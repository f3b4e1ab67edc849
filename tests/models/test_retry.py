"""Retries, with a clock and dice of the test's own."""

import pytest

from plait.errors import ModelError, TransientModelError
from plait.models.protocol import LanguageModel, Message, Request
from plait.models.retry import RetryingModel
from plait.models.scripted import Answer, RateLimited, ScriptedModel, ServerError

REQUEST = Request(messages=(Message(role="user", content="hello"),))


class Retries:
    """A retrying model over a script; it keeps how long it waited and what it told."""

    def __init__(self, *steps: Answer, dice: float = 1.0) -> None:
        self.slept: list[float] = []
        self.told: list[tuple[str, int, float]] = []
        self.script = ScriptedModel(steps, takes_grammar=True)
        self.model: LanguageModel = RetryingModel(
            self.script,
            sleep=self._sleep,
            random=lambda: dice,
            on_retry=lambda *what: self.told.append(what),
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def text(self) -> str:
        reply = await self.model.complete(REQUEST)
        self.script.assert_done()
        return reply.text


async def test_pauses_double_and_each_retry_is_told() -> None:
    retries = Retries(ServerError(), ServerError(), ServerError(), "fine")
    assert await retries.text() == "fine"
    assert retries.slept == [0.5, 1.0, 2.0]
    assert retries.told == [
        ("scripted: server error", 1, 0.5),
        ("scripted: server error", 2, 1.0),
        ("scripted: server error", 3, 2.0),
    ]


async def test_the_whole_pause_is_jitter() -> None:
    retries = Retries(ServerError(), "fine", dice=0.0)
    assert await retries.text() == "fine"
    assert retries.slept == [0.0]


async def test_retry_after_is_waited_for_with_jitter_on_top() -> None:
    retries = Retries(RateLimited(retry_after=20.0), "fine", dice=0.5)
    assert await retries.text() == "fine"
    assert retries.slept == [20.25]


async def test_a_retry_after_that_is_too_long_ends_the_call() -> None:
    retries = Retries(RateLimited(retry_after=3600.0))
    with pytest.raises(ModelError, match="wait 3600 s") as caught:
        await retries.text()
    assert not isinstance(caught.value, TransientModelError)
    assert retries.slept == []


async def test_the_last_failure_is_final() -> None:
    retries = Retries(*[ServerError()] * 5)
    with pytest.raises(ModelError, match=r"scripted: server error \(gave up after 5 attempts\)\.") as caught:
        await retries.text()
    assert not isinstance(caught.value, TransientModelError)
    assert len(retries.slept) == 4


@pytest.mark.parametrize("error", [ModelError("refused"), ValueError("a bug")])
async def test_what_will_not_pass_is_not_tried_again(error: Exception) -> None:
    retries = Retries(error)
    with pytest.raises(type(error), match=str(error)):
        await retries.text()
    assert (retries.slept, retries.told) == ([], [])


async def test_a_retrying_model_looks_like_the_one_inside() -> None:
    retries = Retries()
    assert (retries.model.name, retries.model.takes_grammar) == ("scripted", True)
    await retries.model.aclose()
