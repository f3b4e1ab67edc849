"""Turn a task into a result with language models, tools and reflection.

Names are loaded when they are used, so that `import plait` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.errors import PlaitError
    from plait.models.scripted import ScriptedModel
    from plait.solving import Solved, resume, resume_sync, solve, solve_sync, stream
    from plait.task import Result
    from plait.tools.functions import tool
    from plait.tools.tool import Tool

    __version__: str

__all__ = [
    "PlaitError",
    "Result",
    "ScriptedModel",
    "Solved",
    "Tool",
    "__version__",
    "resume",
    "resume_sync",
    "solve",
    "solve_sync",
    "stream",
    "tool",
]

_HOMES = {
    "PlaitError": "plait.errors",
    "Result": "plait.task",
    "ScriptedModel": "plait.models.scripted",
    "Solved": "plait.solving",
    "Tool": "plait.tools.tool",
    "resume": "plait.solving",
    "resume_sync": "plait.solving",
    "solve": "plait.solving",
    "solve_sync": "plait.solving",
    "stream": "plait.solving",
    "tool": "plait.tools.functions",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("plait")
    if name not in _HOMES:
        raise AttributeError(f"module 'plait' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # The next look-up does not come here.
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
