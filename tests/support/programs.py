"""Runs a piece of Python in a runner, for tests of sandboxes."""

import textwrap

from plait.tools.sandbox import ProgramLimits, Ran, Runner, python_command

BRIEF = ProgramLimits(wall_seconds=15)


async def run_python(runner: Runner, code: str, *, stdin: str = "", limits: ProgramLimits = BRIEF) -> Ran:
    files = {"main.py": textwrap.dedent(code)}
    return await runner.run(python_command("main.py"), files, stdin=stdin, limits=limits)
