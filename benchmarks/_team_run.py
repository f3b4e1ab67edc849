"""One measured run of the software domain in this process: what it took, as one JSON object.

Before it a small run is made, so that what is done once in a process (imports, the first connection, the
trial of the sandbox, loading the embedder) is told apart. Knows nothing of what is promised.

    python -m benchmarks._team_run --base-url URL --per-call 0.3 --teams 8 [--read-only] [--preset paper]
"""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from benchmarks._critical_path import critical_path
from benchmarks._team_endpoint import latency

from plait.agents.agent import Agent
from plait.agents.gate import GateSettings
from plait.domains.kit import Kit
from plait.domains.loading import domain_of, read_domain
from plait.domains.software import completeness
from plait.domains.software.quality import WHY_NOT
from plait.events import Record, SolutionPruned, StepRecorded
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget, Limits
from plait.models.catalogue import DEFAULT_EMBEDDING_MODEL, find_model
from plait.models.embeddings import HashEmbedder
from plait.models.ledger import entries, totals
from plait.models.protocol import Settings
from plait.models.scripted import ScriptedModel
from plait.outfit.hands import Hands
from plait.runner import start
from plait.runtime.log import RunLog
from plait.runtime.options import Options, chosen
from plait.runtime.team_options import LENT
from plait.teams.chain import Domain
from plait.teams.settings import DEFAULT_GROUP_SIZE
from plait.teams.solution import Rating, Solution

TASK = "a number guessing game for the terminal with a high score file"
WARM_UP = "another game"
MIB = 2**20


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run took."""

    seconds: float
    path_seconds: float
    """The critical path."""
    start_seconds: float
    """What the small run before it took beyond its own critical path."""
    cpu_seconds: float
    """Of this process; the programs that were run are others."""
    peak_mib: float
    """The most memory that this process ever held."""
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    programs: int
    """Programs that were rated."""
    pruned: int
    unrated: str
    """Why programs could not be run or compared; empty where they were."""
    own_embedder: bool
    """Programs were compared by the local embedder, not by words in common."""

    @property
    def over_path(self) -> float:
        """The run's time over its critical path."""
        return self.seconds / self.path_seconds

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens


class Reading:
    """A quality that only reads programs and runs nothing: it finds what is left to be written."""

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        """Rate one program by how much of it is written."""

        async def read(_: JSONObject) -> JSON:
            found = completeness.strict(solution.files)
            return {"share": found.share, "findings": list(found.findings)}

        found = cast("dict[str, Any]", await journal.call("read", read, {"digest": solution.digest}))
        return Rating(quality=found["share"], findings=found["findings"])


def reading_domain() -> Domain:
    """Return the built-in software domain with a quality that only reads."""
    unasked = Agent(
        role="judge", strand="domains", model=ScriptedModel([]), budget=Budget(Limits()), settings=Settings()
    )
    kit = Kit(judge=unasked, gate=GateSettings(threshold=8))
    return replace(domain_of(read_domain("software"), kit, phases=()), quality=Reading())


async def measured(options: Options, read_only: bool, per_call: float, per_token: float) -> Measured:
    """Make a small run, then the one that counts."""
    has_embedder = find_model(DEFAULT_EMBEDDING_MODEL).file.exists()
    hands = Hands(
        domain=reading_domain() if read_only else None, embedder=None if has_embedder else HashEmbedder()
    )

    def seconds_of(reply: str) -> float:
        return latency(reply, per_call, per_token)

    with tempfile.TemporaryDirectory() as folder:
        log = RunLog.open(f"sqlite:///{folder}/plait.db")
        hands = replace(hands, log=log)
        phases = () if read_only else ("coding",)
        small = options.changed({"teams": 1, "rounds": 1, "phases": phases, "out": f"{folder}/small"})
        small_seconds = await _run(WARM_UP, small, hands, "small")
        small_path = critical_path(log.records("small"), seconds_of)
        cpu = time.process_time()
        seconds = await _run(TASK, options.changed({"out": f"{folder}/run"}), hands, "run")
        cpu = time.process_time() - cpu
        records = log.records("run")
        await log.close()
    usage = totals(entries(records))
    return Measured(
        seconds=seconds,
        path_seconds=critical_path(records, seconds_of),
        start_seconds=small_seconds - small_path,
        cpu_seconds=cpu,
        peak_mib=_peak_mib(),
        calls=usage.model_calls,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        programs=sum(record.path.endswith(("/run", "/read")) for record in records),
        pruned=sum(isinstance(record.event, SolutionPruned) for record in records),
        unrated=_unrated(records),
        own_embedder=has_embedder,
    )


async def _run(task: str, options: Options, hands: Hands, run_id: str) -> float:
    """Make one run and return how long it took, from its options to its result."""
    began = time.perf_counter()
    result = await start(task, options, hands, run_id=run_id)
    seconds = time.perf_counter() - began
    if result.status != "succeeded":
        raise SystemExit(f"the run {run_id!r} ended as {result.status}: {result.message}")
    return seconds


def _unrated(records: Sequence[Record]) -> str:
    for record in records:
        if isinstance(record.event, StepRecorded) and record.path.endswith(("/run", "/consistency")):
            result = cast("dict[str, Any]", record.event.result)
            if WHY_NOT in result:
                return result[WHY_NOT]
    return ""


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if sys.platform == "darwin" else peak * 1024 / MIB


def main() -> None:
    """Print what one run took."""
    parser = argparse.ArgumentParser(description="One measured run of teams.")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--per-call", type=float, default=0.0)
    parser.add_argument("--per-token", type=float, default=0.0)
    parser.add_argument("--teams", type=int, required=True)
    parser.add_argument("--preset", default="")
    parser.add_argument("--group-size", type=int, default=DEFAULT_GROUP_SIZE)
    parser.add_argument("--read-only", action="store_true", help="programs are read, but not run")
    asked = parser.parse_args()
    said: dict[str, Any] = {
        "domain": f"{LENT}software" if asked.read_only else "software",
        "model": "benchmark",
        "base_url": asked.base_url,
        "teams": asked.teams,
        "preset": asked.preset,
        "group_size": asked.group_size,
        "max_calls": 10**5,
        "max_tokens": 10**9,
    }
    found = asyncio.run(measured(chosen(said), asked.read_only, asked.per_call, asked.per_token))
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
