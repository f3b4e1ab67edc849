"""Every error Plait raises on purpose, split by who must act.

Knows nothing of models, tools or runs: an error carries a message of one line (what happened, where,
what to do) and the exit status that the command line answers with.

    PlaitError
    ├── UserError           the user: a bad option, a missing file, an unknown run
    ├── ModelError          the provider or the engine: a call that failed for good
    │   ├── TransientModelError   the same, but worth another try (429, time-out, 5xx)
    │   └── RequestRefused        the same, but for this one request (too long, withheld)
    ├── ReplyError          the model: its reply is not what was asked for; the text is shown to it
    ├── ToolError           the tool: it failed; the text becomes the agent's observation
    ├── BudgetExhausted     the limit: calls, tokens, money or seconds are used up
    ├── NeedsDecision       the user: an effect is in doubt, unapproved, or behind an edited prompt
    └── LogError            the machine: the run log cannot be read or written
"""


class PlaitError(Exception):
    """Base of all errors with a message fit for a user."""

    exit_status = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UserError(PlaitError):
    """Something the user gave cannot be used; the message says what to do."""

    exit_status = 2


class ModelError(PlaitError):
    """A model call failed for good: refused, unknown model, dead endpoint, retries used up."""


class TransientModelError(ModelError):
    """A model call failed in a way that may pass."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RequestRefused(ModelError):
    """A model refuses this one request, whenever it is asked; it may answer others."""


class ReplyError(PlaitError):
    """A reply does not have the asked form; the message is written for the model to read."""


class ToolError(PlaitError):
    """A tool could not do what it was called for; the message is written for the agent to read."""


class BudgetExhausted(PlaitError):
    """A limit is reached; the run ends in good order with its best result so far."""

    exit_status = 3

    def __init__(self, message: str, *, limit: str, part: str = "") -> None:
        super().__init__(message)
        self.limit = limit
        """Which limit: calls, tokens, usd or seconds."""
        self.part = part
        """Whose share of the run's budget it is, and so what alone ends; empty: the run's."""


class NeedsDecision(PlaitError):
    """The run stops until the user decides; nothing is lost and nothing is done twice."""

    exit_status = 4

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path
        """The step that waits, as a path in the run."""


class LogError(PlaitError):
    """The run log cannot be read or written: corrupt, full disk, taken over by another process."""
