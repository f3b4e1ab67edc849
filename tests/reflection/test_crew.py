"""The crew: which tools are told and which may be called, and what every prompt begins with."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reflection.crew import Stage, answer, done, plan
from tests.support.memory_journal import Memory, MemoryJournal

from plait.errors import UserError
from plait.models.scripted import ScriptedModel
from plait.reflection.crew import CANDIDATES, CHOICES, Crew
from plait.reflection.crew_prompts import CrewPrompts
from plait.tools.functions import from_function
from plait.tools.tool import Tool


class ByNumber:
    """Embeds a text as the number in it; a smaller one is nearer to the tasks of these tests."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts.extend(texts)
        return [[1.0, float("".join(filter(str.isdigit, text)) or 0)] for text in texts]


def tools(count: int) -> list[Tool]:
    async def nothing() -> str:
        """Do nothing."""
        return ""

    return [from_function(nothing, source="tests", name=f"tool_{count - n:03}") for n in range(count)]


def crew(count: int, embedder: ByNumber | None) -> Crew:
    return replace(Stage(tools=tools(count)).crew, embedder=embedder)  # pyright: ignore[reportArgumentType]


async def test_few_tools_are_all_offered_without_embedding_anything() -> None:
    embedder = ByNumber()
    someone, journal = crew(CHOICES, embedder), MemoryJournal(Memory())
    assert len(await someone.choices(journal, "task 0")) == CHOICES
    assert len(await someone.candidates(journal, "task 0")) == CHOICES
    assert embedder.texts == []


async def test_many_tools_are_narrowed_to_the_nearest_in_the_toolsets_order() -> None:
    someone, memory = crew(CANDIDATES + 8, ByNumber()), Memory()
    someone = replace(someone, tool=replace(someone.tool, model=ScriptedModel([], takes_grammar=True)))
    told = [spec.name for spec in await someone.candidates(MemoryJournal(memory), "task 0")]
    callable_ = [spec.name for spec in await someone.choices(MemoryJournal(memory), "task 0")]
    assert told == [f"tool_{n:03}" for n in range(CANDIDATES, 0, -1)]
    assert callable_ == [f"tool_{n:03}" for n in range(CHOICES, 0, -1)]


async def test_without_a_grammar_every_tool_that_is_described_can_be_called() -> None:
    someone, journal = crew(CANDIDATES + 8, ByNumber()), MemoryJournal(Memory())
    # At one place, as the tool agent asks for both.
    assert await someone.candidates(journal, "task 0") == await someone.choices(journal, "task 0")


async def test_the_nearest_are_on_record_and_not_embedded_again() -> None:
    memory = Memory()
    first = await crew(CANDIDATES + 1, ByNumber()).candidates(MemoryJournal(memory), "task 0")
    again = ByNumber()
    assert await crew(CANDIDATES + 1, again).candidates(MemoryJournal(memory), "task 0") == first
    assert again.texts == []


async def test_without_an_embedder_all_are_offered() -> None:
    assert (
        len(await crew(CANDIDATES + 8, None).candidates(MemoryJournal(Memory()), "task 0")) == CANDIDATES + 8
    )


async def test_all_prompts_begin_with_the_same_message() -> None:
    stage = Stage(planner=[plan("1. Look")], tool=[done()], answer=[answer("Yes.")])
    await stage.solve()
    first = {model.requests[0].messages[0] for model in stage.models.values()}
    assert len(first) == 1
    assert next(iter(first)).role == "system"


async def test_a_round_is_drawn_from_other_seeds_than_the_one_before() -> None:
    stage = Stage(
        planner=[plan("1. Look"), plan("1. Look again")],
        tool=[done()] * 2,
        answer=[answer("Perhaps.", score=1), answer("Yes.")],
    )
    await stage.solve()
    for model in stage.models.values():
        first, second = (request.settings.seed for request in model.requests)
        assert first != second


async def test_a_users_own_prompt_is_what_the_model_gets(tmp_path: Path) -> None:
    (tmp_path / "shared.md").write_text("WE ARE FEW {{notes}} {{tools}}", encoding="utf-8")
    stage = Stage(planner=[plan("1. Look")], tool=[done()], answer=[answer("Yes.")], prompts=tmp_path)
    await stage.solve()
    assert all(stage.prompts(role)[0].startswith("WE ARE FEW") for role in stage.models)


def test_a_users_own_prompt_with_an_unknown_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shared.md").write_text("{{notes}} {{tools}} {{weather}}", encoding="utf-8")
    with pytest.raises(UserError, match="weather"):
        CrewPrompts(tmp_path).shared("", [])
