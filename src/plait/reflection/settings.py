"""Which parts of MIRROR are on, and how strict they are: one value, every switch of its Table 3, and ICE's.

Knows nothing of agents or models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plait.agents.gate import GateSettings
from plait.errors import UserError

PLANNER_THRESHOLD = 9.0
TOOL_THRESHOLD = 8.0
ANSWER_THRESHOLD = 8.0
DEFAULT_ROUNDS = 5
DEFAULT_STEPS = 8
DEFAULT_RECTIFICATIONS = 2

SWITCHES = (
    "planner-gate",
    "tool-gate",
    "answer-gate",
    "gates",
    "short-term",
    "long-term",
    "memories",
    "rectification",
    "reflection",
)
"""What `--no-...` can switch off; the ablations of MIRROR's Table 3 besides function calling, and ICE's
rectification of plans."""


@dataclass(frozen=True, kw_only=True)
class ReflectionSettings:
    """MIRROR's switches and bounds."""

    planner: GateSettings = GateSettings(threshold=PLANNER_THRESHOLD)
    tool: GateSettings = GateSettings(threshold=TOOL_THRESHOLD)
    answer: GateSettings = GateSettings(threshold=ANSWER_THRESHOLD, revises=False)
    short_term: bool = True
    long_term: bool = True
    function_calling: bool = False
    """The provider's function calling instead of the call form."""
    rounds: int = DEFAULT_ROUNDS
    steps: int = DEFAULT_STEPS
    """Gated calls in one subtask at most."""
    rectifications: int = DEFAULT_RECTIFICATIONS
    """Times the planner is asked about failed subtasks in one round at most; 0: never (ICE, section 3.1)."""

    def __post_init__(self) -> None:
        for name in ("rounds", "steps"):
            if getattr(self, name) < 1:
                raise UserError(f"--{name} must be at least 1, not {getattr(self, name)!r}")
        if self.rectifications < 0:
            raise UserError(f"rectifications must be at least 0, not {self.rectifications!r}")
        for name in ("planner", "tool", "answer"):
            gate: GateSettings = getattr(self, name)
            if not 0 <= gate.threshold <= 10:
                raise UserError(f"--{name}-threshold must be between 0 and 10, not {gate.threshold!r}")

    def without(self, switches: Sequence[str]) -> "ReflectionSettings":
        """Return these settings with parts switched off.

        Raises:
            UserError: a switch is not one of `SWITCHES`.
        """
        settings = self
        for switch in switches:
            settings = settings._without_one(switch)
        return settings

    def _without_one(self, switch: str) -> "ReflectionSettings":
        match switch:
            case "planner-gate":
                return replace(self, planner=replace(self.planner, enabled=False))
            case "tool-gate":
                return replace(self, tool=replace(self.tool, enabled=False))
            case "answer-gate":
                return replace(self, answer=replace(self.answer, enabled=False))
            case "gates":
                return self.without(["planner-gate", "tool-gate", "answer-gate"])
            case "short-term":
                return replace(self, short_term=False)
            case "long-term":
                return replace(self, long_term=False)
            case "memories":
                return self.without(["short-term", "long-term"])
            case "rectification":
                return replace(self, rectifications=0)
            case "reflection":
                if self.rounds not in (1, DEFAULT_ROUNDS):
                    raise UserError(
                        f"--rounds {self.rounds} needs reflection: leave it or --no-reflection out"
                    )
                return replace(self.without(["gates", "memories", "rectification"]), rounds=1)
            case _:
                raise UserError(f"unknown switch {switch!r}; there are: {', '.join(SWITCHES)}")
