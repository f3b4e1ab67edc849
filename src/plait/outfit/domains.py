"""What teams make and how, from the options of a run; the domain as it was when the run began.

Knows nothing of how teams work.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from plait.agents.agent import Agent
from plait.domains.kit import Kit
from plait.domains.loading import DomainFiles, domain_of, read_domain
from plait.domains.quality import TextQuality
from plait.domains.software.quality import SoftwareQuality, falls_short
from plait.errors import LogError, UserError
from plait.events import Noted
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget
from plait.models.embeddings import Embedder, local_embedder
from plait.models.protocol import LanguageModel, Settings
from plait.runtime.options import Options
from plait.runtime.team_options import LENT, is_generation
from plait.teams.chain import Chain, Domain
from plait.tools.sandbox import Runner, SandboxError, sandbox, unconfined
from plait.weave.workshop import Making

JUDGE, STRAND = "judge", "domains"
NO_SANDBOX = (
    "Programs that the teams write run on this machine without isolation (--no-sandbox):"
    " they can read, change and send whatever you can."
)


@dataclass(frozen=True, kw_only=True)
class DomainMeans:
    """What a domain's quality is given besides what options say."""

    model: LanguageModel
    budget: Budget
    domain: Domain | None = None
    """A domain that the caller lends."""
    runner: Callable[[], Runner] | None = None
    """Used instead of the one that the options name."""
    embedder: Embedder | None = None
    """Used instead of the local one."""


async def making_of(journal: Journal, options: Options, means: DomainMeans) -> Making | None:
    """Return what teams make; None for a tool task.

    Raises:
        UserError: the domain does not fit, or was lent and is missing; or it makes programs, and there is
            no sandbox to run them in.
    """
    if not is_generation(options.domain):
        return None
    if not options.sandbox:
        journal.emit(Noted(text=NO_SANDBOX))
    domain = await _domain(journal, options, means)
    teams = options.team_settings(options.without)
    for left_out in teams.leave_out:
        domain.chain.without(left_out)  # Said before anything is spent.
    if _needs_sandbox(domain, options, means):
        await _check_sandbox()
    making = Making(
        domain=replace(domain, chain=_bounded(domain.chain, options.rounds)),
        teams=teams,
        gate=options.phase_gate(options.without),
        best=_best(domain),
    )
    makes_programs = isinstance(domain.quality, SoftwareQuality)
    return replace(making, falls_short=falls_short) if makes_programs else making


def _best(domain: Domain) -> float | None:
    """Return the highest quality there can be; of a quality that a program lends nobody knows."""
    match domain.quality:
        case SoftwareQuality():
            return 1.0
        case TextQuality(judge=None):
            return 1.0
        case TextQuality(judge=judge) if judge is not None:
            return float(judge.scale)
        case _:
            return None


def _needs_sandbox(domain: Domain, options: Options, means: DomainMeans) -> bool:
    """Whether programs will be run in a sandbox of this machine; a lent domain sees to that itself."""
    own = not options.domain.startswith(LENT) and means.runner is None
    return own and options.sandbox and isinstance(domain.quality, SoftwareQuality)


async def _check_sandbox() -> None:
    """Try the sandbox before anything is spent: without it all work would be blind.

    Raises:
        UserError: there is none; the message says what to do.
    """
    try:
        await asyncio.to_thread(sandbox)
    except SandboxError as error:
        raise UserError(error.message) from error


async def _domain(journal: Journal, options: Options, means: DomainMeans) -> Domain:
    if options.domain.startswith(LENT):
        if means.domain is None:
            name = options.domain.removeprefix(LENT)
            raise UserError(
                f"the domain {name!r} came from a Python program: give it again there (domain=...)"
            )
        if options.phases:
            raise UserError("--phases is for domains in files: give this one the chain you want")
        return means.domain
    return domain_of(await _recorded(journal, options.domain), _kit(options, means), phases=options.phases)


async def _recorded(journal: Journal, domain: str) -> DomainFiles:
    """Return the files of the domain as they were when the run began."""

    async def read(_: JSONObject) -> JSON:
        files = read_domain(domain)
        return {"name": files.name, "text": files.text, "prompts": dict(files.prompts)}

    recorded = await journal.call("domain", read, {"domain": domain})
    try:
        return DomainFiles(**cast("Mapping[str, Any]", recorded))
    except TypeError as error:
        raise LogError(f"the domain on record cannot be read: {str(recorded)[:80]!r}") from error


def _kit(options: Options, means: DomainMeans) -> Kit:
    judge = Agent(
        role=JUDGE,
        strand=STRAND,
        model=means.model,
        budget=means.budget,
        settings=Settings(temperature=0.0, seed=options.seed),
    )
    return Kit(
        judge=judge,
        gate=options.phase_gate(options.without),
        runner=means.runner or (sandbox if options.sandbox else unconfined),
        embedder=means.embedder or local_embedder(),
        prompts=options.prompts_folder(),
        reading=options.quality_reading(),
    )


def _bounded(chain: Chain, rounds: int) -> Chain:
    """Return a chain whose phases take no more rounds than the run allows."""
    return Chain(phases=tuple(replace(each, rounds=min(each.rounds, rounds)) for each in chain.phases))
