"""Who may decide about a call, and in which order."""

from collections.abc import Mapping
from typing import Any

import pytest

from plait.errors import NeedsDecision, UserError
from plait.tools.approval import ApprovalPolicy
from plait.tools.tool import Effect, Tool


def named(name: str, effect: Effect = "changes") -> Tool:
    async def run(_: Mapping[str, Any]) -> Any: ...

    return Tool(name=name, description="", parameters={}, effect=effect, run=run, source="test")


async def yes(_: Tool, __: Mapping[str, Any]) -> bool:
    return True


async def no(_: Tool, __: Mapping[str, Any]) -> bool:
    return False


@pytest.mark.parametrize(
    ("policy", "effect", "allowed", "by"),
    [
        (ApprovalPolicy(), "reads", True, "effect"),
        (ApprovalPolicy(dry_run=True, max_effects=0), "reads", True, "effect"),
        (ApprovalPolicy(yes=True), "changes", True, "--yes"),
        (ApprovalPolicy(yes=True, ask=no), "changes", True, "--yes"),
        (ApprovalPolicy(allow=["calendar.add"]), "changes", True, "--allow"),
        (ApprovalPolicy(allow=["calendar.*"], ask=no), "changes", True, "--allow"),
        (ApprovalPolicy(allow=["add"], ask=no), "changes", False, "user"),
        (ApprovalPolicy(ask=yes), "changes", True, "user"),
        (ApprovalPolicy(yes=True, allow=["calendar.add"], deny=["calendar.*"]), "changes", False, "--deny"),
        (ApprovalPolicy(deny=["calendar.add"]), "reads", False, "--deny"),
        (ApprovalPolicy(deny=["calendar.add"], dry_run=True), "changes", False, "--deny"),
        (ApprovalPolicy(yes=True, dry_run=True), "changes", False, "--dry-run"),
        (ApprovalPolicy(dry_run=True), "changes", False, "--dry-run"),
        (ApprovalPolicy(yes=True, max_effects=3), "changes", True, "--yes"),
        (ApprovalPolicy(yes=True, allow=["*"], max_effects=2), "changes", False, "--max-effects"),
    ],
)
async def test_order_of_decisions(policy: ApprovalPolicy, effect: Effect, allowed: bool, by: str) -> None:
    decision = await policy.decide(named("calendar.add", effect), {}, effects_so_far=2)
    assert (decision.allowed, decision.by) == (allowed, by)


async def test_nobody_to_decide() -> None:
    with pytest.raises(NeedsDecision) as caught:
        await ApprovalPolicy(allow=["mail.*"]).decide(named("calendar.add"), {}, path="run/s")
    assert caught.value.path == "run/s"
    assert caught.value.message == (
        "calendar.add would change something and nobody can be asked;"
        " allow it with --allow 'calendar.add' or all effects with --yes"
    )


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(UserError, match="--max-effects -1: give 0 or more"):
        ApprovalPolicy(max_effects=-1)
