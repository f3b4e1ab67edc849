"""What teams are compared with where something is made: one agent in one step, one chain, and the best of n.

All three are runs like any other: on the same engine, with the same reply form, ledger and log, rated and
handed over alike. None has gates or memory, and none merges.

- One step: GPT-Engineer (Osika, 2023; Croto, section 5: "one-step reasoning to efficiently generate
  comprehensive solutions"). One prompt with the whole task, one reply with the whole solution. Deviations: no
  question is asked back and no tests are written first, as in the paper's comparison; a reply that cannot be
  read is asked again, at most twice.
- One chain: ChatDev (Qian et al., 2024, arXiv 2307.07924, section 3): one team goes through all phases, in
  each of which two agents talk until they agree. Phases and prompts are those of Plait's own domain.
- Best of n: n solutions in one step each, with seeds of their own and the same temperature; the best one by
  the domain's quality is taken, the first of equals (sampling with a verifier: Cobbe et al., 2021, arXiv
  2110.14168).
"""

from collections.abc import Sequence
from pathlib import Path

from plait.runtime.options import Options

NO_STRAND: Sequence[str] = ("phase-gate", "elitism", "experience")
"""What a chain of ChatDev's does not have."""


def one_step(options: Options) -> Options:
    """Return the options of one agent that makes all in one step."""
    return best_of(options.changed({"teams": 1}))


def best_of(options: Options) -> Options:
    """Return the options of as many agents as there would be teams, each of which makes all in one step."""
    file = Path(__file__).with_name(f"one_step_{options.domain}.toml")
    # One temperature for all: else the diverse one of teams would be theirs too.
    return _plain(options).changed(
        {"domain": str(file), "temperatures": (options.temperature,), "phases": ()}
    )


def one_chain(options: Options) -> Options:
    """Return the options of one team with all phases."""
    return _plain(options).changed({"teams": 1, "temperatures": (options.temperature,)})


def _plain(options: Options) -> Options:
    return options.changed({"without": NO_STRAND, "leave_out": (), "preset": ""})
