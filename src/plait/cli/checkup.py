"""What a machine needs to run tasks, looked at piece by piece: each finding says how to mend what is wrong.

Knows nothing of how findings are shown. A check never changes anything except that it opens the run
log, as every command does.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plait.errors import PlaitError, UserError
from plait.models.catalogue import DEFAULT_CHAT_MODEL, CatalogueEntry, all_models, find_model
from plait.models.machine import available_memory_bytes, threads
from plait.models.verified import verify
from plait.outfit.settings import in_force, options_with
from plait.paths import data_folder
from plait.runtime.log import RunLog
from plait.tools.sandbox import SandboxError
from plait.tools.sandbox.bubblewrap import find_sandbox

State = Literal["ok", "optional", "broken"]
"""`optional`: something is not there, and what most tasks need works without it."""

GIB = 1 << 30
LEAST_MEMORY_BYTES = 2 * GIB
LEAST_DISK_BYTES = 2 * GIB
PROBE_TIMEOUT_SECONDS = 60
ENGINE_PROBE = (sys.executable, "-c", "import xllamacpp")
EMBEDDER_PROBE = (sys.executable, "-c", "import fastembed, numpy")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found."""

    name: str
    state: State
    found: str
    mend: str = ""
    """What to do about it; empty when all is well."""


def probe(command: Sequence[str]) -> str:
    """Run a command that should end well, and return in a line why it did not; empty when it did."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"
    if ended.returncode == 0:
        return ""
    lines = ended.stderr.strip().splitlines()
    # A wheel built for another processor dies of a signal and says nothing.
    return lines[-1] if lines else f"ended with status {ended.returncode}"


def model(entry: CatalogueEntry | None = None) -> Finding:
    """Check that the default model is there, to the byte."""
    entry = entry or find_model(DEFAULT_CHAT_MODEL)
    fetch = f"plait models pull {entry.name}"
    if not entry.file.exists():
        size = f"{entry.size_bytes / GIB:.1f} GiB"
        found = f"local:{entry.name} is not here yet; the first run fetches it ({size})"
        return Finding(name="model", state="optional", found=found, mend=fetch)
    if damaged := _damaged(entry):
        return Finding(name="model", state="broken", found=damaged, mend=fetch)
    return Finding(name="model", state="ok", found=f"local:{entry.name} is whole")


def other_models(entries: Sequence[CatalogueEntry] | None = None) -> Finding:
    """Check all other models that are there, to the byte."""
    try:
        known = all_models() if entries is None else entries
    except UserError as error:
        return Finding(name="models", state="broken", found=error.message, mend="see the message")
    there = [entry for entry in known if entry.name != DEFAULT_CHAT_MODEL and entry.file.exists()]
    damaged = [(entry, found) for entry in there if (found := _damaged(entry))]
    if damaged:
        mends = [
            f"plait models rm {entry.name}, and add a whole file again"
            if entry.added
            else f"plait models pull {entry.name}"
            for entry, _ in damaged
        ]
        found = "; ".join(found for _, found in damaged)
        return Finding(name="models", state="broken", found=found, mend="; ".join(mends))
    names = ", ".join(f"local:{entry.name}" for entry in there)
    return Finding(name="models", state="ok", found=f"{names}: whole" if there else "no others are here")


def _damaged(entry: CatalogueEntry) -> str:
    """Say which files of a model are damaged, after reading all of them; empty where none is."""
    try:
        damaged = verify(entry.name, entry.sums, lambda _: None)
    except UserError as error:
        return error.message
    return f"damaged: {', '.join(path.name for path in damaged)}" if damaged else ""


def engine(command: Sequence[str] = ENGINE_PROBE) -> Finding:
    """Check that the embedded engine can be loaded; in a process of its own, which it may take down."""
    trouble = probe(command)
    if not trouble:
        return Finding(name="engine", state="ok", found="llama.cpp loads")
    if "libgomp" in trouble:
        mend = "install the OpenMP runtime (on Debian and Ubuntu: apt-get install libgomp1)"
    elif "No module named" in trouble:
        mend = "pip install 'plait[local]', or name a model elsewhere with --model"
    else:
        mend = "pip install --force-reinstall xllamacpp, or name a model elsewhere with --model"
    return Finding(name="engine", state="broken", found=trouble, mend=mend)


def embedder(command: Sequence[str] = EMBEDDER_PROBE) -> Finding:
    """Check that texts can be compared by meaning, which chooses among many tools."""
    trouble = probe(command)
    if not trouble:
        return Finding(name="embeddings", state="ok", found="the embedder loads")
    return Finding(
        name="embeddings",
        state="optional",
        found=f"{trouble}; all tools are offered, however many",
        mend="pip install 'plait[local]'",
    )


def database() -> Finding:
    """Check that the run log can be opened."""
    try:
        log = RunLog.open()
        try:
            count, lacks_pgvector = len(log.runs()), log.lacks_pgvector()
        finally:
            log.close_now()
    except PlaitError as error:
        return Finding(name="database", state="broken", found=error.message, mend="see the message")
    given = os.environ.get("PLAIT_DATABASE_URL", "")
    scheme = given.partition(":")[0].partition("+")[0]
    where = f"{scheme} (PLAIT_DATABASE_URL)" if given else str(data_folder())
    found = f"{count} runs in {where}"
    if lacks_pgvector:
        # Every command then reads the vectors before it compares them.
        found += "; without pgvector 0.8 it is slower to search what was learned"
        mend = "as an administrator of the database: CREATE EXTENSION vector"
        return Finding(name="database", state="optional", found=found, mend=mend)
    return Finding(name="database", state="ok", found=found)


def sandbox(programs: Sequence[str] | None = None) -> Finding:
    """Check that generated code can be run in a sandbox, by running a trifle in one."""
    try:
        way = find_sandbox(programs)
    except SandboxError as error:
        found = f"{error.found}; tool tasks and stories do not need it"
        return Finding(name="sandbox", state="optional", found=found, mend=error.mend)
    return Finding(name="sandbox", state="ok", found=f"{way.program} works")


def keys(environment: Mapping[str, str] = os.environ) -> Finding:
    """List the names, never the values, of the keys for providers."""
    names = sorted(name for name, value in environment.items() if name.endswith("_API_KEY") and value.strip())
    found = ", ".join(names) if names else "none; the embedded model needs none"
    return Finding(name="keys", state="ok", found=found)


def settings() -> Finding:
    """Tell which settings file counts for a run that begins here, and what it says."""
    try:
        file = in_force()
        told = options_with({}, file).told
    except UserError as error:
        return Finding(name="settings", state="broken", found=error.message, mend="see the message")
    if file is None:
        return Finding(name="settings", state="ok", found="no plait.toml here or above; none is needed")
    found = told[0] if told else f"{file.path} says nothing"
    return Finding(name="settings", state="ok", found=found)


def memory(available_bytes: int | None = None) -> Finding:
    """Check that the default model fits beside what runs already."""
    available = available_memory_bytes() if available_bytes is None else available_bytes
    found = f"{available / GIB:.1f} GiB can be taken, {threads()} threads at once"
    if available >= LEAST_MEMORY_BYTES:
        return Finding(name="memory", state="ok", found=found)
    return Finding(
        name="memory",
        state="optional",
        found=f"{found}; the default model wants {LEAST_MEMORY_BYTES / GIB:.0f} GiB",
        mend="end other programs, or take --model local:qwen2.5-coder-0.5b",
    )


def disk(folder: Path | None = None, least_bytes: int = LEAST_DISK_BYTES) -> Finding:
    """Check that there is room for weights and runs in the data folder."""
    folder = data_folder() if folder is None else folder
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    found = f"{free / GIB:.1f} GiB free for {folder}"
    if free >= least_bytes:
        return Finding(name="disk", state="ok", found=found)
    return Finding(
        name="disk", state="broken", found=found, mend="free some space, or set PLAIT_HOME to another disk"
    )


CHECKS: Sequence[Callable[[], Finding]] = (
    model,
    other_models,
    engine,
    embedder,
    database,
    sandbox,
    keys,
    settings,
    memory,
    disk,
)


def findings(checks: Iterable[Callable[[], Finding]] = CHECKS) -> list[Finding]:
    """Make every check, in order."""
    return [check() for check in checks]
