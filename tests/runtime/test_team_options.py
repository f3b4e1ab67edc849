"""The options of teams become the settings of the strand."""

import re
from pathlib import Path

import pytest
from tests.domains.kits import kit, load_domain

from plait.runtime.options import chosen
from plait.runtime.team_options import TeamOptions
from plait.teams.settings import TeamSettings

ROOT = Path(__file__).parents[2]
SAYS_LEAVE_OUT = (
    "docs/concepts/teams.md",
    "docs/reference/cli.md",
    "src/plait/runtime/team_options.py",
    "src/plait/solve_options.py",
)
"""Where an example of `--leave-out` stands; those of the help are in the reference."""


def test_without_a_word_said_teams_are_as_the_strand_has_them() -> None:
    assert TeamOptions(teams=4).team_settings() == TeamSettings(teams=4)


def test_the_preset_of_the_paper_switches_off_what_goes_beyond_it() -> None:
    paper = TeamOptions(teams=8, preset="paper").team_settings()
    assert paper == TeamSettings(
        teams=8,
        temperatures=(0.2,),
        prune_in_groups=True,
        analyse_merged=True,
        elitism=False,
        all_go_on=True,
        thrifty=False,
    )
    assert paper.prune == TeamSettings(teams=8).prune


def test_the_preset_of_the_paper_has_its_teams_and_temperatures_unless_others_are_said() -> None:
    paper = chosen({"domain": "story", "preset": "paper"})
    assert (paper.teams, paper.team_settings().temperature(8, 0.9)) == (8, 0.2)
    own = chosen({"domain": "story", "preset": "paper", "teams": 2, "temperatures": (0.7, 0.1)})
    assert (own.teams, own.team_settings().temperature(2, 0.9)) == (2, 0.1)
    assert chosen({"domain": "story"}).teams == 4


def test_merged_solutions_are_analysed_anew_where_that_is_said() -> None:
    assert TeamOptions(analyse_merged=True).team_settings().analyse_merged
    assert not TeamOptions().team_settings().analyse_merged


@pytest.mark.parametrize("page", SAYS_LEAVE_OUT)
def test_what_is_shown_of_leave_out_works_with_programs(page: str) -> None:
    chain = load_domain("software", kit()).chain
    examples = re.findall(r"(?:[`']|leave-out |instance )(\d:\w[\w ,]*)", (ROOT / page).read_text("utf-8"))
    assert examples
    for example in examples:
        [_, left_out] = TeamOptions(teams=2, leave_out=(example,)).team_settings().leave_out
        assert len(chain.without(left_out).phases) == len(chain.phases) - len(left_out)
