"""Runs code that a model wrote where it can harm nothing: bubblewrap, limits, and no secrets."""

from plait.tools.sandbox.bubblewrap import sandbox
from plait.tools.sandbox.interpreter import python_command
from plait.tools.sandbox.ran import (
    NotReady,
    ProgramLimits,
    Ran,
    Runner,
    SandboxError,
    StoppedBy,
    UnfitProgram,
)
from plait.tools.sandbox.unconfined import unconfined

__all__ = [
    "NotReady",
    "ProgramLimits",
    "Ran",
    "Runner",
    "SandboxError",
    "StoppedBy",
    "UnfitProgram",
    "python_command",
    "sandbox",
    "unconfined",
]
