"""What events of every kind are written with.

Knows no event.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

SCHEMA_VERSION = 1

Data: TypeAlias = Mapping[str, Any]
"""A JSON object."""
