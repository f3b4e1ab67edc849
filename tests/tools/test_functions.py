"""Functions become tools: schema, description, validation, results and threads."""

import asyncio
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic
import pytest

from plait.errors import ToolError, UserError
from plait.tools.functions import from_function, tag_of, tool


class Guest(pydantic.BaseModel):
    name: str
    seats: int = 1


@dataclass
class Booking:
    number: int
    guests: list[Guest]


@tool(effect="reads", timeout_seconds=5, observation_characters=100)
def book(
    guests: list[Guest],
    room: Literal["blue", "red"],
    note: Annotated[str | None, "What to tell the staff."] = None,
    *,
    copy: int = 2,
) -> Booking:
    """Book a room.

    It is held for an hour.

    Args:
        guests: Who comes,
            in order of arrival.
        room (str): Which room.
        note: Overruled by the annotation.

    Returns:
        The booking.
    """
    return Booking(number=copy, guests=guests)


def test_signature_and_docstring_become_the_schema() -> None:
    made = from_function(book, source="hotel.py")
    properties = made.parameters["properties"]
    assert (made.name, made.effect, made.source) == ("book", "reads", "hotel.py")
    assert made.description == "Book a room. It is held for an hour. Returns: The booking."
    assert list(properties) == ["guests", "room", "note", "copy"]
    assert made.parameters["required"] == ["guests", "room"]
    assert properties["room"] == {"description": "Which room.", "enum": ["blue", "red"], "type": "string"}
    assert properties["guests"]["description"] == "Who comes, in order of arrival."
    assert properties["guests"]["items"]["properties"]["seats"] == {"default": 1, "type": "integer"}
    assert properties["note"]["description"] == "What to tell the staff."
    assert properties["copy"]["default"] == 2
    assert "$ref" not in str(made.parameters)
    assert (made.timeout_seconds, made.observation_characters) == (5, 100)


async def test_arguments_arrive_typed_and_results_leave_as_json() -> None:
    made = from_function(book, source="hotel.py")
    result = await made.run({"guests": [{"name": "Ada"}], "room": "red", "copy": 3})
    assert result == {"number": 3, "guests": [{"name": "Ada", "seats": 1}]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"guests": []}, "room: Field required"),
        ({"guests": [{}], "room": "red"}, "guests.0.name: Field required"),
        ({"guests": [], "room": "green"}, "room: Input should be 'blue' or 'red'"),
        ({"guests": [], "room": "red", "colour": 1}, "colour: Extra inputs are not permitted"),
    ],
)
async def test_wrong_arguments_are_named_in_one_line(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError) as caught:
        await from_function(book, source="hotel.py").run(arguments)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def numpy_style(first: int, second: str = "x") -> str:
    """Join.

    Parameters
    ----------
    first : int
        The number.
    second : str, optional
        The text
        of it.

    Returns
    -------
    str
        Both.
    """
    return f"{first}{second}"


def sphinx_style(first: int, second: str = "x") -> str:
    """Join.

    :param first: The number.
    :param str second: The text
        of it.
    :returns: Both.
    """
    return f"{first}{second}"


@pytest.mark.parametrize(("function", "result"), [(numpy_style, "str Both."), (sphinx_style, "Both.")])
def test_other_docstring_styles(function: Callable[..., Any], result: str) -> None:
    made = from_function(function, source="x.py")
    properties = made.parameters["properties"]
    assert made.description == f"Join. Returns: {result}"
    assert properties["first"]["description"] == "The number."
    assert properties["second"]["description"] == "The text of it."


def test_plain_docstring_and_no_annotations() -> None:
    def bare(a, b=(1, {2})):  # type: ignore[no-untyped-def]
        """Do: it is all description."""

    made = from_function(bare, source="x.py")
    assert made.description == "Do: it is all description."
    assert list(made.parameters["properties"]) == ["a", "b"]
    assert made.effect == "changes"


def test_bare_decorator_only_tags() -> None:
    @tool
    def send(to: str) -> str:
        return to

    assert send("me") == "me"
    tag = tag_of(send)
    assert tag is not None
    assert tag.effect == "changes"
    assert tag_of(numpy_style) is None


async def test_async_methods_partials_and_default_objects() -> None:
    class Desk:
        async def greet(self, name: str) -> str:
            return f"hello {name}"

        def __call__(self, name: str) -> str:
            return f"bye {name}"

    desk = Desk()
    assert await from_function(desk.greet, source="x").run({"name": "a"}) == "hello a"
    assert await from_function(desk, source="x", name="bye").run({"name": "a"}) == "bye a"
    joined = functools.partial(numpy_style, second="z")
    assert await from_function(joined, source="x", name="joined").run({"first": 1}) == "1z"


async def test_positional_only_parameters() -> None:
    def power(base: int, exponent: int = 2, /) -> int:
        return base**exponent

    made = from_function(power, source="x")
    assert await made.run({"base": 3}) == 9
    assert await made.run({"base": 3, "exponent": 3}) == 27


async def test_blocking_functions_run_side_by_side_off_the_loop() -> None:
    meeting = threading.Barrier(20, timeout=10)

    def meet() -> str:
        meeting.wait()
        return threading.current_thread().name

    made = from_function(meet, source="x")
    assert set(await asyncio.gather(*(made.run({}) for _ in range(20)))) == {"plait-tool"}


async def test_a_tool_cannot_end_the_process_or_hang_on_stop_iteration() -> None:
    def leave() -> None:
        raise SystemExit(3)

    def run_dry() -> None:
        next(iter([]))

    with pytest.raises(ToolError, match="leave tried to end the process"):
        await from_function(leave, source="x").run({})
    with pytest.raises(RuntimeError, match="StopIteration"):
        await from_function(run_dry, source="x").run({})


async def test_a_result_that_is_no_json_is_a_tool_error_unless_something_was_done() -> None:
    def odd() -> object:
        return object()

    said = "odd returned a object, which is neither text nor JSON"
    with pytest.raises(ToolError, match=said):
        await from_function(tool(effect="reads")(odd), source="x").run({})
    assert await from_function(tool(odd), source="x").run({}) == f"Done, but {said}"


def test_what_cannot_be_offered_is_refused() -> None:
    def many(*names: str) -> None: ...
    def unknown(x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
    def lock(x: threading.Barrier) -> None: ...

    for function, said in [
        (many, "has no fixed name"),
        (unknown, "Nowhere"),
        (lock, "no schema can be made"),
    ]:
        with pytest.raises(UserError, match=said) as caught:
            from_function(function, source="x.py")
        assert "\n" not in caught.value.message
    with pytest.raises(UserError, match="cannot name a tool"):
        from_function(lambda: None, source="x.py")
    with pytest.raises(UserError, match="'reads' or 'changes'"):
        tool(effect="maybe")  # type: ignore[call-overload]
    with pytest.raises(UserError, match="above 0"):
        tool(timeout_seconds=0)
