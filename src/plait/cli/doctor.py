"""`plait doctor`: is everything there that a run needs, and if not, what to do.

Knows nothing of what is looked at; `checkup` does.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from plait.cli.checkup import Finding, findings

MARKS = {"ok": "[green]✔[/]", "optional": "[yellow]–[/]", "broken": "[bold red]✘[/]"}


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check this machine, and say how to mend what is wrong.

    Ends with status 1 when something is broken that a run needs.
    """
    found = findings()
    broken = [finding.name for finding in found if finding.state == "broken"]
    if as_json:
        print(json.dumps({"ok": not broken, "checks": [asdict(finding) for finding in found]}))
    else:
        _show(found, broken)
    raise typer.Exit(1 if broken else 0)


def _show(found: Sequence[Finding], broken: Sequence[str]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for finding in found:
        console.print(f"{MARKS[finding.state]} {finding.name:<11} {escape(finding.found)}")
        if finding.mend:
            console.print(f"  {'':<11} → {escape(finding.mend)}", style="dim")
    console.print(f"\nBroken: {', '.join(broken)}." if broken else "\nEverything a run needs is there.")
