"""What teams work with, and how far they have come.

Knows nothing of how a run is started or recorded: the weave makes an `Ensemble` and reads `TeamsProgress`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plait.agents.agent import Agent, warmer
from plait.agents.gate import GateSettings
from plait.models.budget import Budget
from plait.models.protocol import LanguageModel, Settings
from plait.teams.chain import Domain, Phase
from plait.teams.forms import REMARK_FILES
from plait.teams.settings import TeamSettings
from plait.teams.solution import Rating, Solution
from plait.teams.stall import Pulse

STRAND = "teams"
MOST_TEMPERATURE = 2.0
SEEDS_PER_TEAM = 10_000
"""Between the seeds of two teams: teams with equal settings still differ."""
PROSE_WARMTH = 0.5
"""Added to the temperature where prose is written: drawn coolly, a small model goes in circles."""
PROSE_PENALTY = 1.1
"""On repetition in prose, as Qwen's models are published with."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is known of earlier work to a phase; nothing by default."""

    reference: str = ""
    """How a similar task was done, as lines."""
    warnings: Sequence[str] = ()
    """What went wrong in the phase, a sentence each."""


NOTHING_TOLD = Told()


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """Everything teams work with."""

    task: str
    domain: Domain
    settings: TeamSettings
    gate: GateSettings
    """Of every agent of every phase and of the aggregate agent."""
    model: LanguageModel
    budget: Budget
    sampling: Settings = Settings()
    """The run's own temperature and seed."""
    prompts: Path | None = None
    """Folder with the user's own prompts."""
    told: Mapping[str, Told] = field(default_factory=dict[str, Told])
    """To the assistants of phases, by the phase's name."""
    pulse: Pulse = field(default_factory=Pulse, compare=False)
    """By which work that stalls is told from work that waits its turn."""

    @property
    def own_gate(self) -> GateSettings:
        """The gate as this strand uses it: code without a score is not asked for again."""
        return replace(self.gate, unscored_passes=True)

    def temperature(self, team: int) -> float:
        """Return the temperature of team number `team`, from 1."""
        return self.settings.temperature(team, self.sampling.temperature)

    def drawn(self, settings: Settings, team: int) -> Settings:
        """Return how team number `team`, from 1, draws where one team alone would draw by `settings`."""
        seed = None if settings.seed is None else settings.seed + SEEDS_PER_TEAM * (team - 1)
        warmer_by = self.temperature(team) - self.sampling.temperature
        temperature = round(settings.temperature + warmer_by, 6)
        return replace(settings, seed=seed, temperature=min(max(temperature, 0.0), MOST_TEMPERATURE))

    def agent(self, role: str, max_tokens: int, team: int | None = None) -> Agent:
        """Return the agent of a role; one of no team draws as the run itself does."""
        drawn = replace(self.sampling, max_tokens=max_tokens)
        if team is not None:
            drawn = replace(self.drawn(drawn, team), temperature=self.temperature(team))
        return Agent(role=role, strand=STRAND, model=self.model, budget=self.budget, settings=drawn)

    def writer(self, phase: Phase, role: str, max_tokens: int, team: int | None = None) -> Agent:
        """Return the agent of a role that writes what `phase` does."""
        agent = self.agent(role, max_tokens, team)
        drawn = agent.settings
        if phase.reply != "text":
            drawn = replace(drawn, stop=(*drawn.stop, *REMARK_FILES))
        elif phase.prose:
            warmth = warmer(drawn.temperature, PROSE_WARMTH)
            drawn = replace(drawn, temperature=warmth, repetition_penalty=PROSE_PENALTY)
        return replace(agent, settings=drawn)


@dataclass(kw_only=True)
class TeamsProgress:
    """How far the teams have come; kept by the caller, so that a run that is cut short has its best."""

    solution: Solution | None = None
    """The result, or the best so far, of the domain's product."""
    rating: Rating | None = None
    """Of `solution`, where it was rated."""
    products: Mapping[str, Solution] = field(default_factory=dict[str, Solution])
    """All that the chain of `solution` wrote, by product."""
    dropped: dict[str, str] = field(default_factory=dict[str, str])
    """Why each team that was dropped does not go on, a sentence each, by its name."""
    _rank: tuple[float, ...] = ()

    @property
    def reason(self) -> str:
        """Why teams were dropped, in the order of the teams; empty when all lived."""
        return "; ".join(
            self.dropped[team] for team in sorted(self.dropped, key=lambda team: (len(team), team))
        )

    def offer(
        self,
        rank: tuple[float, ...],
        products: Mapping[str, Solution],
        product: str,
        rating: Rating | None,
    ) -> None:
        """Keep what a team has of `product`, unless what is here ranks as high."""
        if not self._rank or rank > self._rank:
            self._rank = rank
            self.settle(products, product, rating)

    def settle(self, products: Mapping[str, Solution], product: str, rating: Rating | None) -> None:
        """Take what a team has as the result."""
        self.solution, self.rating, self.products = products.get(product), rating, dict(products)
