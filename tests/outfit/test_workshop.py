"""What a run works with, as its options say."""

import pytest

from plait.errors import BudgetExhausted
from plait.models.budget import Budget, Limits
from plait.models.scripted import ScriptedModel
from plait.outfit.workshop import workshop_of
from plait.runtime.options import Options
from plait.tools.sources import Toolset


async def test_a_check_ends_with_the_time_of_the_run() -> None:
    budget = Budget(Limits(seconds=0.1))
    options = Options(check="exec sleep 60")
    workshop = workshop_of(options, Toolset(tools=()), model=ScriptedModel([]), budget=budget)
    assert workshop.check is not None
    with pytest.raises(BudgetExhausted, match=r"0\.1 seconds is used up"):
        await workshop.check("an answer")
