"""Solutions, chains and settings: the values that all parts of the strand hand around."""

import pytest
from tests.teams.troupe import CODING, COMPLETION, DESIGN

from plait.errors import UserError
from plait.models.fenced import parse_files
from plait.teams.chain import Chain
from plait.teams.settings import TEAM_SWITCHES, TeamSettings
from plait.teams.solution import Rating, Solution

CODE = Solution(product="code", files={"main.py": "print(1)\n", "notes.txt": "hello\n"}, by="team-1")


def test_equal_content_has_equal_digests_whoever_made_it_and_in_whatever_order() -> None:
    files = {path: CODE.files[path] for path in sorted(CODE.files, reverse=True)}
    assert Solution(product="code", files=files, by="team-2").digest == CODE.digest
    assert Solution(product="code", files={"main.py": "print(2)\n"}, by="team-1").digest != CODE.digest
    assert Solution(product="code", text="a").digest != Solution(product="code", text="b").digest


@pytest.mark.parametrize(
    "files",
    [
        CODE.files,
        {"README.md": "Start it:\n```\npython main.py\n```\n", "main.py": "x = 1\n"},
        {"empty.py": "", "main.py": "no newline at the end"},
    ],
)
def test_files_are_shown_as_they_are_read(files: dict[str, str]) -> None:
    shown = Solution(product="code", files=files).shown()
    whole = {
        path: content if content.endswith("\n") else f"{content}\n" * bool(content)
        for path, content in files.items()
    }
    assert parse_files(shown) == whole


def test_solutions_and_ratings_come_back_from_json() -> None:
    rating = Rating(quality=0.5, dimensions={"a": 1.0}, findings=["wrong"])
    assert Solution.from_json(CODE.as_json()) == CODE
    assert Rating.from_json(rating.as_json()) == rating


def test_optional_phases_can_be_left_out_and_others_not() -> None:
    chain = Chain(phases=[DESIGN, CODING, COMPLETION])
    assert chain.without(["design"]).phases == (CODING, COMPLETION)
    with pytest.raises(UserError, match="phase 'coding' cannot be left out"):
        chain.without(["coding"])
    with pytest.raises(UserError, match="optional are: none"):
        Chain(phases=[CODING]).without(["test"])


def test_one_team_has_the_runs_own_temperature_and_more_have_a_mix() -> None:
    assert TeamSettings(teams=1).temperature(1, 0.7) == 0.7
    assert [TeamSettings(teams=5).temperature(n, 0.7) for n in range(1, 6)] == [0.2, 0.2, 0.4, 0.4, 0.2]
    assert [TeamSettings(teams=3, temperatures=(0.1, 0.9)).temperature(n, 0.7) for n in (1, 2, 3)] == [
        0.1,
        0.9,
        0.1,
    ]


def test_each_switch_switches_one_thing_off() -> None:
    usual = TeamSettings()
    for switch in TEAM_SWITCHES:
        assert usual.without([switch]) != usual
    off = usual.without(TEAM_SWITCHES)
    assert (off.prune, off.partition, off.role, off.elitism) == (0.0, False, False, False)
    with pytest.raises(UserError, match="unknown switch 'rolle'; there are: prune, partition, role, elitism"):
        usual.without(["rolle"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"teams": 0}, "--teams"),
        ({"teams": 65}, "--teams"),
        ({"group_size": 1}, "--group-size"),
        ({"prune": 1.0}, "--prune"),
        ({"prune": -0.1}, "--prune"),
        ({"stall_seconds": 0}, "--stall-seconds"),
        ({"stall_seconds": float("nan")}, "--stall-seconds must be above 0 and finite, not nan"),
        ({"stall_seconds": float("inf")}, "--stall-seconds"),
        ({"temperatures": (0.2, 2.5)}, "--temperatures"),
    ],
)
def test_settings_out_of_bounds_are_refused_with_their_option(
    settings: dict[str, float], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        TeamSettings(**settings)  # pyright: ignore[reportArgumentType]
