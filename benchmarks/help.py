"""How long `plait --help` takes, beside importing the libraries that any such command needs.

Run it as `python benchmarks/help.py`. It fails when the help takes more than `LIMIT` times as long.
"""

import statistics
import subprocess
import sys
import time

RUNS = 15
LIMIT = 1.8
BASELINE = [sys.executable, "-c", "import typer, rich.console"]
HELP = [sys.executable, "-c", "from plait.cli.app import main; main()", "--help"]


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> int:
    pairs = [(seconds(BASELINE), seconds(HELP)) for _ in range(RUNS + 1)][1:]
    baseline, shown = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = shown / baseline
    print(f"import typer, rich.console   {baseline * 1000:6.1f} ms (median of {RUNS})")
    print(f"plait --help                 {shown * 1000:6.1f} ms")
    print(f"ratio                        {ratio:6.2f}    (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
