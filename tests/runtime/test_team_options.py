"""The options of teams become the settings of the strand."""

from plait.runtime.options import chosen
from plait.runtime.team_options import TeamOptions
from plait.teams.settings import TeamSettings


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
