"""A fresh office in memory for each test."""

import pytest

from plait.tools.office import Office


@pytest.fixture
def office() -> Office:
    return Office(None)
