"""What every command of `plait memory` does with the memory: open it, name it, ask before it changes.

Knows nothing of what a command is for.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from plait.cli.asking import can_ask, confirmed
from plait.errors import UserError
from plait.experience.record import DEFAULT_MEMORY, MEMORY_NAME
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

Result = TypeVar("Result")
Name = Annotated[str, typer.Option("--memory", metavar="NAME", help="Which memory.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a record, or its beginning.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

__all__ = ["DEFAULT_MEMORY", "Id", "Name", "Yes", "agreed", "checked_name", "with_log", "with_store"]


def with_store(do: Callable[[ExperienceStore], Awaitable[Result]]) -> Result:
    """Open the memory, do something with it, and close it."""
    return with_log(lambda _, store: do(store))


def with_log(do: Callable[[RunLog, ExperienceStore], Awaitable[Result]]) -> Result:
    """Open the log and the memory, do something with both, and close them."""

    async def go() -> Result:
        log = RunLog.open()
        try:
            return await do(log, ExperienceStore(log))
        finally:
            await log.close()

    return asyncio.run(go())


def checked_name(memory: str) -> str:
    """Return the name of a memory.

    Raises:
        UserError: a memory cannot be called so.
    """
    if not MEMORY_NAME.fullmatch(memory):
        raise UserError(
            f"no memory can be called {memory!r}: use letters, digits, '.', '_' and '-', at most 64"
        )
    return memory


def agreed(question: str, refusal: str) -> bool:
    """Ask on a terminal; what was not agreed to is not done.

    Args:
        question: What to ask.
        refusal: What to say where nobody can be asked.

    Raises:
        UserError: there is nobody to ask.
    """
    if not can_ask():
        raise UserError(refusal)
    return asyncio.run(confirmed(question))
