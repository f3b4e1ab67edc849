"""A kit for tests: a runner that answers from a script, and a judge that does too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plait.agents.agent import Agent
from plait.agents.gate import GateSettings
from plait.domains.kit import Kit
from plait.domains.loading import domain_of, read_domain
from plait.domains.names import Reading
from plait.models.budget import Budget, Limits
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel, Settings
from plait.models.scripted import ScriptedModel
from plait.teams.chain import Domain
from plait.tools.sandbox.ran import ProgramLimits, Ran, Runner


def ran(stderr: str = "", *, status: int | None = None, **more: object) -> Ran:
    """How a program ended: with a status of 1 where it wrote to standard error, else 0."""
    exit_status = (1 if stderr else 0) if status is None else status
    values: dict[str, object] = {"stdout": "", "stopped_by": "", "seconds": 0.1} | more
    return Ran(**({"exit_status": exit_status, "stderr": stderr} | values))  # pyright: ignore[reportArgumentType]


RUNNING = Ran(exit_status=None, stdout="", stderr="", stopped_by="wall_seconds", seconds=5.0)
END_OF_INPUT = ran(
    'Traceback (most recent call last):\n  File "/p/main.py", line 1, in <module>\n    x = input()\n'
    "        ^^^^^^^\nEOFError: EOF when reading a line\n"
)


def failing(error: str, *, path: str = "main.py", line: int = 1, code: str = "x") -> Ran:
    """How a program ended that stopped with an error."""
    frame = f'  File "/p/{path}", line {line}, in <module>\n    {code}\n'
    return ran(f"Traceback (most recent call last):\n{frame}{error}\n")


@dataclass
class FakeRunner:
    """Answers what `silent` or `typed` says, and remembers what it was asked to run."""

    silent: Ran | Exception = field(default_factory=ran)
    typed: Ran = field(default_factory=ran)
    asked: list[tuple[Sequence[str], str]] = field(default_factory=list[tuple[Sequence[str], str]])

    async def run(
        self,
        command: Sequence[str],
        files: Mapping[str, str],
        *,
        stdin: str = "",
        limits: ProgramLimits = ProgramLimits(),  # noqa: B008
    ) -> Ran:
        self.asked.append((list(command)[-1:], stdin))
        answer = self.typed if stdin else self.silent
        if isinstance(answer, Exception):
            raise answer
        return answer


def kit(
    model: LanguageModel | None = None,
    *,
    runner: Runner | Callable[[], Runner] | None = None,
    embedder: Embedder | None = None,
    prompts: Path | None = None,
    reading: Reading = "strict",
) -> Kit:
    """Return a kit; without a model its judge must not be asked."""
    make = runner if callable(runner) or runner is None else lambda: runner
    judge = Agent(
        role="judge",
        strand="domains",
        model=model or ScriptedModel([]),
        budget=Budget(Limits()),
        settings=Settings(temperature=0.7, max_tokens=999, seed=5),
    )
    return Kit(
        judge=judge,
        gate=GateSettings(threshold=8, revisions=1),
        runner=make,
        embedder=embedder,
        prompts=prompts,
        reading=reading,
    )


def load_domain(name_or_file: str, kit: Kit, *, phases: Sequence[str] = ()) -> Domain:
    """Return a domain, ready for teams, from where it is."""
    return domain_of(read_domain(name_or_file), kit, phases=phases)
