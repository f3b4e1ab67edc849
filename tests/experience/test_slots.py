"""Slots of a pipeline filled from a new goal: by words alone, else by one call to a model that is checked."""

from dataclasses import replace
from datetime import date

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.agent import Agent
from plait.agents.gate import GateSettings
from plait.errors import ReplyError
from plait.experience.pipeline import END, START, Edge, Node, Pipeline, Slot
from plait.experience.slots import Reader, Reading, problem, slot_values, worked_out
from plait.models.budget import Budget, Limits
from plait.models.protocol import Grammar, Settings
from plait.models.scripted import Answer, ScriptedModel, prompt

BEFORE = "Delete my first meeting with Olivia on December 13"
WHO = Slot(name="who", example="olivia", said="Olivia")
DAY = Slot(name="day", example="2023-12-13 00:00:00", said="December 13")
DAYS = {"december 13": date(2023, 12, 13), "december 20": date(2023, 12, 20)}
REMARKS = "\n# critique: fine\n# score: 9"


def reading(goal: str, *slots: Slot, before: str = BEFORE) -> Reading:
    ends = [Node(name=START), Node(name=END)]
    pipeline = Pipeline(
        name="p", purpose=before, nodes=ends, edges=[Edge(from_node=START, to_node=END)], slots=slots
    )
    return Reading(
        pipeline=pipeline, goal=goal, told=f"{goal} (told)", date_of=lambda words: DAYS.get(words.lower())
    )


def reader(script: list[Answer], *, gated: bool = True) -> tuple[Reader, ScriptedModel]:
    model = ScriptedModel(script)
    budget = Budget(Limits())
    agent = Agent(role="slots", strand="experience", model=model, budget=budget, settings=Settings())
    return Reader(agent=agent, gate=GateSettings(threshold=8.0, enabled=gated)), model


async def filled(values: Reading, script: list[Answer]) -> dict[str, str]:
    who, model = reader(script)
    got = await slot_values(MemoryJournal(Memory()), who, values)
    model.assert_done()
    return got


async def test_the_same_goal_has_the_same_values_and_needs_no_model() -> None:
    assert await filled(reading(BEFORE, WHO, DAY), []) == {"who": "olivia", "day": "2023-12-13 00:00:00"}


async def test_other_names_and_dates_need_no_model_where_words_say_them() -> None:
    goal = "Delete my first meeting with Fatima on December 20"
    assert await filled(reading(goal, WHO, DAY), []) == {"who": "fatima", "day": "2023-12-20 00:00:00"}


async def test_the_same_word_for_another_day_is_read_anew() -> None:
    day = Slot(name="day", example="2023-12-13 00:00:00", said="tomorrow")
    goal = "Delete my first meeting tomorrow"
    today = replace(reading(goal, day, before=goal), date_of=lambda _: date(2023, 12, 13))
    assert await filled(today, []) == {"day": "2023-12-13 00:00:00"}
    later = replace(reading(goal, day, before=goal), date_of=lambda _: date(2024, 1, 2))
    reply = f'read(day="2024-01-02 00:00:00"){REMARKS}'
    assert await filled(later, [reply]) == {"day": "2024-01-02 00:00:00"}


async def test_a_value_that_must_be_understood_is_asked_for_in_one_call() -> None:
    goal = "Delete my first meeting with Fatima on December 21"
    values = await filled(reading(goal, WHO, DAY), [f'read(day="2023-12-21 00:00:00"){REMARKS}'])
    assert values == {"who": "fatima", "day": "2023-12-21 00:00:00"}


async def test_the_model_sees_the_earlier_values_and_the_task_with_its_facts() -> None:
    who, model = reader([f'read(day="2023-12-21 00:00:00"){REMARKS}'])
    goal = "Delete my first meeting with Fatima on December 21"
    await slot_values(MemoryJournal(Memory()), who, reading(goal, WHO, DAY))
    [request] = model.requests
    assert 'read(day="2023-12-13 00:00:00")' in prompt(request)
    assert BEFORE in prompt(request)
    assert f"{goal} (told)" in prompt(request)
    assert "# score: " in prompt(request)
    assert isinstance(request.form, Grammar)


async def test_without_its_gate_no_remarks_are_asked_for() -> None:
    who, model = reader(['read(day="2023-12-21 00:00:00")'], gated=False)
    goal = "Delete my first meeting with Fatima on December 21"
    await slot_values(MemoryJournal(Memory()), who, reading(goal, WHO, DAY))
    assert "# score: " not in prompt(model.requests[0])


async def test_another_wording_asks_for_all_slots() -> None:
    goal = "Please remove the first meeting that I have with Fatima on December 20"
    reply = f'read(who="Fatima", day="2023-12-20 00:00:00"){REMARKS}'
    assert await filled(reading(goal, WHO, DAY), [reply]) == {"who": "Fatima", "day": "2023-12-20 00:00:00"}


async def test_a_value_of_the_earlier_task_is_asked_again_with_what_is_wrong() -> None:
    who, model = reader(
        [f'read(day="2023-12-13 00:00:00"){REMARKS}', f'read(day="2023-12-21 00:00:00"){REMARKS}']
    )
    goal = "Delete my first meeting with Fatima on December 21"
    values = await slot_values(MemoryJournal(Memory()), who, reading(goal, WHO, DAY))
    assert values["day"] == "2023-12-21 00:00:00"
    assert "'2023-12-13 00:00:00' is of the earlier task" in prompt(model.requests[1])


async def test_what_never_fits_is_never_used() -> None:
    who, _ = reader([f'read(day="on {day}"){REMARKS}' for day in ("Monday", "Tuesday", "Friday")])
    goal = "Delete my first meeting with Fatima on December 21"
    with pytest.raises(ReplyError):
        await slot_values(MemoryJournal(Memory()), who, reading(goal, WHO, DAY))


async def test_a_run_that_is_taken_up_asks_nothing_again() -> None:
    memory, goal = Memory(), "Delete my first meeting with Fatima on December 21"
    who, _ = reader([f'read(day="2023-12-21 00:00:00"){REMARKS}'])
    first = await slot_values(MemoryJournal(memory), who, reading(goal, WHO, DAY))
    again, _ = reader([])
    assert await slot_values(MemoryJournal(memory), again, reading(goal, WHO, DAY)) == first
    assert list(memory.kinds.values()) == ["model"]


def test_a_word_of_the_template_stays_as_it_is() -> None:
    state = Slot(name="state", example="completed", said="completed")
    before = "Move all completed tasks of Olivia"
    assert worked_out(reading("Move all completed tasks of Fatima", state, before=before)) == {
        "state": "completed"
    }


@pytest.mark.parametrize(
    ("slot", "value", "wrong"),
    [
        (WHO, "Fatima", ""),
        (WHO, "fatima", ""),
        (WHO, "Fat", "does not stand in the task"),
        (WHO, "Olivia", "does not stand in the task"),
        (WHO, " ", "does not stand in the task"),
        (DAY, "2023-12-20 00:00:00", ""),
        (DAY, "2023-12-20", "is not written like"),
        (DAY, "December 20", "is not written like"),
        (DAY, "2023-12-13 00:00:00", "is of the earlier task"),
    ],
)
def test_a_value_is_checked_before_it_is_used(slot: Slot, value: str, wrong: str) -> None:
    found = problem(slot, value, reading("Delete my first meeting with Fatima on December 20", WHO, DAY))
    assert wrong in found
    assert bool(wrong) == bool(found)
