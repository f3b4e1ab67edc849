"""What teams cost beside their model: `python -m benchmarks.teams`.

The software domain with its whole chain, run against an endpoint in a process of its own whose latency is
fixed and that answers any number of calls at once. Each run is held against its critical path
(`_critical_path.py`), and 8 teams against one. It fails when a promise is broken.

Measured twice: with programs that are only read, at a short latency, which shows what the teams themselves
cost; and with programs that are really run in the sandbox and compared by the embedder, at the latency of a
model that writes programs, because the time this takes is ours too. Beside that, without a promise: what two
meetings that merge, the paper's settings, latency by length and 64 teams come to.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks._team_run import Measured

from plait.teams.settings import DEFAULT_GROUP_SIZE

LATENCY_SECONDS = 0.5
WRITING_SECONDS = 3.0
"""Of a model that writes programs."""
TOKEN_SECONDS = 0.002
MOST_OVER_PATH = 1.10
MOST_OVER_ONE_TEAM = 1.6
PAPER_SECONDS, PAPER_TOKENS = 3.56, 2.14
"""8 teams over one team (Croto, Table 4)."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is said in a run, and how long that takes."""

    per_call: float = LATENCY_SECONDS
    per_token: float = 0.0
    agree_at_once: bool = False
    unfinished: bool = False
    read_only: bool = True
    preset: str = ""
    group_size: int = DEFAULT_GROUP_SIZE


ONE_CHANGE = Setting()
BY_LENGTH = Setting(per_call=0.1, per_token=TOKEN_SECONDS)
REAL = Setting(per_call=WRITING_SECONDS, read_only=False)


@contextmanager
def endpoint(setting: Setting) -> Iterator[str]:
    """Start an endpoint process and yield its base URL."""
    command = [sys.executable, "-m", "benchmarks._team_endpoint"]
    command += ["--per-call", str(setting.per_call), "--per-token", str(setting.per_token)]
    command += ["--agree-at-once"] * setting.agree_at_once + ["--unfinished"] * setting.unfinished
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def run(setting: Setting, teams: int) -> Measured:
    """Make one run in a process of its own, with an endpoint of its own."""
    command = [sys.executable, "-m", "benchmarks._team_run", "--teams", str(teams)]
    command += ["--per-call", str(setting.per_call), "--per-token", str(setting.per_token)]
    command += ["--preset", setting.preset, "--group-size", str(setting.group_size)]
    command += ["--read-only"] * setting.read_only
    with endpoint(setting) as base_url:
        done = subprocess.run(
            [*command, "--base-url", base_url], stdout=subprocess.PIPE, text=True, check=True
        )
    return Measured(**json.loads(done.stdout))


class Report:
    """Prints what was measured and keeps what broke a promise."""

    def __init__(self) -> None:
        self.broken: list[str] = []

    def runs(self, title: str, setting: Setting, *counts: int, promised: bool) -> dict[int, Measured]:
        """Make runs with these numbers of teams, print them, and hold them against what is promised."""
        print(f"{title}, {_latency(setting)}:")
        found: dict[int, Measured] = {}
        for teams in counts:
            one = found[teams] = run(setting, teams)
            print(
                f"  {_counted(teams):8} {one.seconds:6.2f} s, critical path {one.path_seconds:6.2f} s:"
                f" {one.over_path:.3f}; {one.calls} calls; {one.programs} programs rated,"
                f" {one.pruned} pruned; our CPU {one.cpu_seconds:.2f} s, {one.peak_mib:.0f} MiB",
                flush=True,
            )
            if promised and one.over_path > MOST_OVER_PATH:
                self.broken.append(f"{title}, {_counted(teams)}: {one.over_path:.3f} times the critical path")
        if 1 in found and 8 in found:
            self._compared(title, found[1], found[8], promised)
        return found

    def _compared(self, title: str, one: Measured, eight: Measured, promised: bool) -> None:
        ratio = eight.seconds / one.seconds
        print(f"  8 teams take {ratio:.2f} times the time of one (the paper: {PAPER_SECONDS})")
        if promised and ratio > MOST_OVER_ONE_TEAM:
            self.broken.append(f"{title}: 8 teams take {ratio:.2f} times the time of one")


def tokens(one: Measured, eight: Measured) -> None:
    """Print the tokens of 8 teams over those of one; cached tokens are among those read."""
    print(f"  tokens of 8 teams over one: {eight.tokens / one.tokens:.2f} (the paper: {PAPER_TOKENS})")
    for name, few, many in (
        ("read", one.input_tokens, eight.input_tokens),
        ("of these cached", one.cached_tokens, eight.cached_tokens),
        ("written", one.output_tokens, eight.output_tokens),
    ):
        print(f"    {name}: {few} and {many}, {many / few:.2f} times")


def _counted(teams: int) -> str:
    return f"{teams} team{'' if teams == 1 else 's'}"


def _latency(setting: Setting) -> str:
    by_length = f" and {setting.per_token * 1e3:g} ms a token" if setting.per_token else ""
    return f"{setting.per_call * 1e3:g} ms a call{by_length}"


def main() -> int:
    """Print all measurements; the exit status is 1 where a promise is broken."""
    report = Report()
    found = report.runs(
        "one change in every dialogue, programs only read", ONE_CHANGE, 1, 4, 8, promised=True
    )
    tokens(found[1], found[8])
    report.runs("agreement at once, programs only read", Setting(agree_at_once=True), 1, 8, promised=True)
    found = report.runs("one change, programs run and compared", REAL, 1, 4, 8, promised=True)
    print(
        f"  {found[8].unrated or 'all programs were run in the sandbox'};"
        f" {'local' if found[8].own_embedder else 'no local'} embedder;"
        f" {found[8].start_seconds:.2f} s once in a process before"
    )
    print("Without a promise:")
    title = "one change, unfinished programs: two meetings merge"
    report.runs(title, Setting(unfinished=True), 1, 8, promised=False)
    report.runs(f"{title} in groups of 3", Setting(unfinished=True, group_size=3), 1, 8, promised=False)
    report.runs("one change, preset of the paper", Setting(preset="paper"), 1, 8, promised=False)
    report.runs("one change, latency by length", BY_LENGTH, 1, 8, promised=False)
    report.runs("one change, programs only read", ONE_CHANGE, 64, promised=False)
    report.runs("one change, programs run and compared", Setting(read_only=False), 64, promised=False)
    for promise in report.broken:
        print(f"BROKEN: {promise}")
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
