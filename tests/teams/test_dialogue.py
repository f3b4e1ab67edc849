"""One phase: when its dialogue ends, what stands then, and what each agent is shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.memory_journal import Memory, MemoryJournal
from tests.teams.troupe import CODING, DESIGN, MANUAL, REMARKS, SEED, TEST, Marks, files

from plait.agents.gate import GateSettings
from plait.errors import ReplyError
from plait.events import Gated, Instructed, Noted, PhaseFinished, SolutionRated
from plait.models.budget import Budget, Limits
from plait.models.protocol import Grammar, Settings
from plait.models.scripted import Answer, ScriptedModel, prompt
from plait.teams.chain import Chain, Domain, Phase
from plait.teams.dialogue import work_through
from plait.teams.ensemble import SEEDS_PER_TEAM, Ensemble
from plait.teams.phase_values import PhaseResult, PhaseWork
from plait.teams.settings import TeamSettings
from plait.teams.solution import Rating, Solution

AGREED = f"AGREED{REMARKS}"


def change(what: str) -> str:
    return f"CHANGE: {what}{REMARKS}"


def program(quality: int, broken: bool = False) -> str:
    return files(main=f"# quality {quality}{' broken' if broken else ''}") + REMARKS


def code(quality: int, broken: bool = False) -> Solution:
    text = f"# quality {quality}{' broken' if broken else ''}\n"
    return Solution(product="code", files={"main.py": text, "other.py": "x = 1\n"}, by="team-1")


class Talk:
    """One phase over a script; every step of the script must be used."""

    def __init__(self, phase: Phase, script: Sequence[Answer], *, team: int = 1, **gate: Any) -> None:
        self.model = ScriptedModel(script)
        self.memory = Memory()
        self.quality = Marks()
        self.phase = phase
        self.team = team
        self.ensemble = Ensemble(
            task="Write a game.",
            domain=Domain(
                name="tiny",
                chain=Chain(phases=[phase]),
                roles={"programmer": "You are the programmer here."},
                aggregator="",
                product="code",
                quality=self.quality,
            ),
            settings=TeamSettings(teams=4),
            gate=GateSettings(**{"threshold": 8.0, **gate}),
            model=self.model,
            budget=Budget(Limits()),
            sampling=Settings(seed=SEED),
        )

    async def hold(self, *products: Solution, rating: Rating | None = None) -> PhaseResult:
        there = {solution.product: solution for solution in products}
        work = PhaseWork(team=self.team, phase=self.phase, products=there, rating=rating)
        result = await work_through(MemoryJournal(self.memory, "run/team-1/p"), self.ensemble, work)
        self.model.assert_done()
        return result

    @property
    def prompts(self) -> list[str]:
        return [prompt(request) for request in self.model.requests]


async def test_it_ends_when_the_instructor_agrees() -> None:
    talk = Talk(DESIGN, [f"A plan.{REMARKS}", AGREED])
    result = await talk.hold()
    assert (result.solution.text, result.rounds, result.agreed) == ("A plan.", 1, True)
    [finished] = talk.memory.of(PhaseFinished)
    assert (finished.team, finished.rounds, finished.agreed, finished.characters) == ("team-1", 1, True, 7)


@pytest.mark.parametrize(("prose", "drawn"), [(False, (0.2, 1.0)), (True, (0.7, 1.1))])
async def test_prose_is_drawn_warmer_and_with_a_penalty_on_repetition(
    prose: bool, drawn: tuple[float, float]
) -> None:
    talk = Talk(replace(DESIGN, prose=prose), ["A plan.", AGREED])
    await talk.hold()
    written, instructed = (request.settings for request in talk.model.requests)
    assert (written.temperature, written.repetition_penalty) == pytest.approx(drawn)
    assert (instructed.temperature, instructed.repetition_penalty) == pytest.approx((0.2, 1.0))


@pytest.mark.parametrize(("own", "drawn"), [(0.2, 0.7), (0.5, 1.0), (0.8, 1.0), (1.2, 1.2)])
async def test_prose_is_drawn_at_one_at_most_unless_its_team_is_warmer(own: float, drawn: float) -> None:
    talk = Talk(replace(DESIGN, prose=True), ["A plan.", AGREED])
    talk.ensemble = replace(talk.ensemble, settings=TeamSettings(teams=1, temperatures=(own,)))
    await talk.hold()
    assert talk.model.requests[0].settings.temperature == pytest.approx(drawn)


async def test_the_assistant_hears_what_to_change_and_sees_its_reply_once() -> None:
    talk = Talk(DESIGN, [f"Plan A.{REMARKS}", change("name it"), f"Plan B.{REMARKS}", AGREED])
    result = await talk.hold()
    assert (result.solution.text, result.rounds, result.agreed) == ("Plan B.", 2, True)
    assert "name it" not in talk.prompts[0]
    assert "name it" in talk.prompts[2]
    assert talk.prompts[2].count("Plan A.") == 1
    assert talk.prompts[2].startswith(talk.prompts[0])
    assert "name it" in talk.prompts[3]
    asked = [(event.round, event.agreed, event.instruction, event.by) for event in talk.memory.of(Instructed)]
    assert asked == [(1, False, "name it", "instructor"), (2, True, "", "instructor")]


@pytest.mark.parametrize("rounds", [1, 2, 5])
async def test_the_last_reply_stands_when_the_rounds_are_used_up(rounds: int) -> None:
    script: list[str] = []
    for number in range(1, rounds + 1):
        script += [f"Plan {number}.{REMARKS}", change(f"more {number}")]
    talk = Talk(replace(DESIGN, rounds=rounds), script[:-1])
    result = await talk.hold()
    assert (result.solution.text, result.rounds, result.agreed) == (f"Plan {rounds}.", rounds, False)


async def test_a_repeated_reply_ends_it() -> None:
    talk = Talk(DESIGN, [f"Plan A.{REMARKS}", change("more"), f"Plan A.{REMARKS}"])
    result = await talk.hold()
    assert (result.solution.text, result.rounds, result.agreed) == ("Plan A.", 2, False)


async def test_a_passing_reply_costs_exactly_one_call() -> None:
    talk = Talk(MANUAL, [f"Run it.{REMARKS}"])
    await talk.hold(code(5))
    assert list(talk.memory.kinds) == ["run/team-1/p/round-1/assistant/try-1"]


async def test_code_without_a_score_passes_and_a_low_score_is_revised_with_the_reply_in_view() -> None:
    talk = Talk(replace(CODING, rounds=1), [files(main="1")])
    assert (await talk.hold()).rounds == 1
    weak = files(main="weak") + "\n# critique: no score table\n# score: 3"
    talk = Talk(replace(CODING, rounds=1), [weak, program(1)])
    await talk.hold()
    assert "no score table" in talk.prompts[1]
    assert "weak" in talk.prompts[1]


async def test_a_reply_that_says_what_was_weak_gives_way_to_the_one_before() -> None:
    weak = "# critique: The plan does not say who writes it.\n# score: "
    talk = Talk(replace(DESIGN, rounds=1), [f"One file.\n{weak}6", f"The plan does not say who.\n{weak}9"])
    assert (await talk.hold()).solution.text == "One file."
    assert [event.verdict for event in talk.memory.of(Gated)] == ["revised", "forced"]


async def test_a_reply_without_the_form_is_asked_again_and_not_shown_again() -> None:
    talk = Talk(replace(CODING, rounds=1), ["Sure, a rabbit!", program(1)])
    await talk.hold()
    assert "rabbit" not in talk.prompts[1]
    assert "There is no file" in talk.prompts[1]


async def test_without_a_gate_no_remarks_are_asked_for() -> None:
    talk = Talk(replace(CODING, rounds=1), [files(main="1")], enabled=False)
    await talk.hold()
    assert "score" not in talk.prompts[0]
    form = talk.model.requests[0].form
    assert isinstance(form, Grammar)
    assert "score" not in form.gbnf


async def test_every_reply_passes_the_gate_of_its_agent() -> None:
    talk = Talk(DESIGN, [f"A plan.{REMARKS}", AGREED])
    await talk.hold()
    assert [(event.role, event.verdict) for event in talk.memory.of(Gated)] == [
        ("designer", "passed"),
        ("chief", "passed"),
    ]


async def test_teams_draw_with_seeds_and_temperatures_of_their_own_and_share_the_prompt() -> None:
    first, third = (Talk(MANUAL, [f"Run it.{REMARKS}"], team=team) for team in (1, 3))
    for talk in (first, third):
        await talk.hold(code(5))
    drawn = [talk.model.requests[0].settings for talk in (first, third)]
    assert [each.seed for each in drawn] == [SEED, SEED + 2 * SEEDS_PER_TEAM]
    assert [each.temperature for each in drawn] == [0.2, 0.4]
    assert first.prompts == third.prompts


async def test_changes_are_put_into_the_product() -> None:
    talk = Talk(replace(CODING, reply="changes", rounds=1), [program(8)])
    result = await talk.hold(code(5))
    assert result.solution.files == {"main.py": "# quality 8\n", "other.py": "x = 1\n"}


async def test_a_phase_that_changes_nothing_is_told_so_once_and_ends() -> None:
    same = files(main="# quality 5") + REMARKS
    talk = Talk(replace(CODING, reply="changes"), [same, same])
    result = await talk.hold(code(5))
    assert (result.solution, result.rounds, result.agreed) == (code(5), 1, False)
    assert "no file differs" in talk.prompts[1]


async def test_an_inspection_without_findings_costs_no_call() -> None:
    talk = Talk(TEST, [])
    result = await talk.hold(code(5))
    assert (result.solution, result.rounds, result.agreed) == (code(5), 0, True)
    assert (len(talk.quality.rated), result.rating) == (1, Rating(quality=5, findings=[]))
    [told] = talk.memory.of(Instructed)
    assert (told.by, told.agreed, told.round) == ("inspection", True, 0)


async def test_a_product_that_was_rated_is_not_rated_again() -> None:
    talk = Talk(TEST, [])
    await talk.hold(code(5), rating=Rating(quality=5))
    assert talk.quality.rated == []


async def test_findings_are_the_instruction_until_there_are_none() -> None:
    talk = Talk(TEST, [program(6, broken=True), program(7)])
    result = await talk.hold(code(5, broken=True))
    assert (result.rounds, result.agreed) == (2, True)
    assert result.rating == Rating(quality=7, findings=[])
    assert "something is broken" in talk.prompts[0]
    assert "# quality 6 broken" in talk.prompts[1]
    assert "# quality 5" not in talk.prompts[1]
    assert [event.quality for event in talk.memory.of(SolutionRated)] == [5, 6, 7]


async def test_a_worse_reply_does_not_replace_what_was_there() -> None:
    talk = Talk(replace(TEST, rounds=2), [program(3, broken=True), program(4)])
    result = await talk.hold(code(5, broken=True))
    assert (result.solution, result.rounds, result.agreed) == (code(5, broken=True), 2, False)
    assert result.rating is not None
    assert result.rating.quality == 5
    assert "# quality 5 broken" in talk.prompts[1]
    assert "worse" in talk.prompts[1]


LONG_MAIN = "# quality 7\n" + "x = 1\n" * 9
LONG = files(main=LONG_MAIN.rstrip()) + REMARKS


async def test_a_version_that_a_bad_instruction_breaks_is_not_used() -> None:
    talk = Talk(replace(CODING, rounds=3), [LONG, change("Split it."), program(2)])
    result = await talk.hold()
    assert (result.solution.files["main.py"], result.rounds, result.agreed) == (LONG_MAIN, 2, False)
    assert result.rating is not None
    assert result.rating.quality == 7
    assert any("keeps what it had" in event.text for event in talk.memory.of(Noted))


async def test_a_version_that_is_as_good_is_used_and_talked_about() -> None:
    talk = Talk(replace(CODING, rounds=3), [LONG, change("Name it."), program(8), AGREED])
    result = await talk.hold()
    assert (result.solution.files["main.py"], result.rounds, result.agreed) == ("# quality 8\n", 2, True)


async def test_without_elitism_an_instruction_may_break_the_program_and_nothing_is_rated() -> None:
    talk = Talk(replace(CODING, rounds=2), [LONG, change("Split it."), program(2)])
    talk.ensemble = replace(talk.ensemble, settings=TeamSettings(elitism=False))
    assert (await talk.hold()).solution.files["main.py"] == "# quality 2\n"
    assert list(talk.memory.of(SolutionRated)) == []


async def test_a_version_that_is_not_much_shorter_is_used_and_not_rated() -> None:
    talk = Talk(replace(CODING, rounds=2), [program(7), change("Split it."), program(2)])
    assert (await talk.hold()).solution.files["main.py"] == "# quality 2\n"
    assert list(talk.memory.of(SolutionRated)) == []


async def test_an_equally_good_reply_replaces_what_was_there() -> None:
    talk = Talk(TEST, [files(main="# quality 5, and mended") + REMARKS])
    assert (await talk.hold(code(5, broken=True))).solution.files["main.py"] == "# quality 5, and mended\n"


async def test_without_elitism_a_worse_reply_replaces_what_was_there() -> None:
    talk = Talk(TEST, [program(2, broken=True), program(1)])
    talk.ensemble = replace(talk.ensemble, settings=TeamSettings(elitism=False))
    result = await talk.hold(code(3, broken=True))
    assert result.rating is not None
    assert (result.rating.quality, result.rounds) == (1, 2)
    assert "worse" not in talk.prompts[1]


async def test_an_inspection_that_gets_the_same_reply_again_ends() -> None:
    worse = program(3, broken=True)
    talk = Talk(TEST, [worse, worse])
    result = await talk.hold(code(5, broken=True))
    assert (result.solution, result.agreed) == (code(5, broken=True), False)


async def test_an_inspecting_phase_may_write_its_product_first() -> None:
    talk = Talk(TEST, [program(5)])
    result = await talk.hold()
    assert (result.rounds, result.agreed) == (1, True)


async def test_findings_are_told_even_where_the_prompt_has_no_place_for_them() -> None:
    talk = Talk(replace(TEST, prompt="Mend {{code}}"), [program(6)])
    await talk.hold(code(5, broken=True))
    assert "something is broken" in talk.prompts[0]


async def test_a_phase_with_nothing_usable_fails() -> None:
    talk = Talk(CODING, ["x", "y", "z"])
    with pytest.raises(ReplyError, match="no usable reply of the programmer agent"):
        await talk.hold()


async def test_what_there_is_stands_when_later_replies_are_of_no_use() -> None:
    talk = Talk(CODING, [program(1), change("more"), "x", "y", "z"])
    result = await talk.hold()
    assert (result.solution.files, result.agreed) == ({"main.py": "# quality 1\n"}, False)
    [noted] = talk.memory.of(Noted)
    assert "goes on from coding with what it has" in noted.text


async def test_an_instructor_that_says_neither_yes_nor_no_ends_it_with_the_reply() -> None:
    talk = Talk(DESIGN, [f"A plan.{REMARKS}", "Hm.", "Well.", "Hm!"])
    result = await talk.hold()
    assert (result.solution.text, result.agreed) == ("A plan.", False)


async def test_a_prompt_starts_with_the_role_and_shows_products_that_are_missing_as_none() -> None:
    talk = Talk(replace(CODING, rounds=1), [program(1)])
    await talk.hold()
    assert talk.prompts[0].startswith("You are the programmer here.\nTask: Write a game.\nDesign: (none)\n")


async def test_without_a_gate_a_text_is_taken_as_it_is() -> None:
    talk = Talk(MANUAL, ["Play it.\nScore: 10"], enabled=False)
    assert (await talk.hold(code(5))).solution.text == "Play it.\nScore: 10"
