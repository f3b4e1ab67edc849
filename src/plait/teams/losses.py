"""Why teams do not go on, and what a run says that ends for it.

Knows nothing of who waits for whom.
"""

from collections.abc import Mapping

from plait.errors import BudgetExhausted, ModelError, ReplyError, RequestRefused
from plait.teams.gathering import Loss, LossKind
from plait.teams.stall import Stalled


def loss_of(phase: str, error: ReplyError | ModelError | BudgetExhausted | Stalled) -> Loss:
    """Return what an error in a phase makes its team lose.

    A lack of budget or of a model passes with the run's limits or its provider; but not a share of the
    team's own that is used up.
    """
    kind = _kind(error)
    own_share = isinstance(error, BudgetExhausted) and bool(error.part)
    passes = kind in ("model", "budget") and not own_share
    return Loss(phase=phase, reason=error.message, kind=kind, passes=passes)


def what_stopped(lacking: Mapping[str, BudgetExhausted | ModelError]) -> BudgetExhausted | ModelError:
    """Return the error that ends a run, with who stopped for want of budget or of a model."""
    names = sorted(lacking, key=lambda name: (len(name), name))
    errors = [lacking[name] for name in names]
    error = next((each for each in errors if isinstance(each, BudgetExhausted)), errors[0])
    message = f"{error.message.rstrip('.')}. What stopped: {', '.join(names)}."
    if isinstance(error, BudgetExhausted):
        return BudgetExhausted(message, limit=error.limit)
    return ModelError(message)


def _kind(error: ReplyError | ModelError | BudgetExhausted | Stalled) -> LossKind:
    match error:
        case ReplyError():
            return "reply"
        case RequestRefused():
            return "refused"
        case ModelError():
            return "model"
        case BudgetExhausted():
            return "budget"
        case Stalled():
            return "stall"
