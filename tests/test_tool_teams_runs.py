"""Teams on a tool task, over real tools and a real log: taken up after any failure, replayed, learned."""

import shutil
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from plait.errors import ModelError, RequestRefused
from plait.events import ActionsAgreed, PipelineEnded, StepRecorded, TeamDropped
from plait.models.embeddings import HashEmbedder
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.hands import Hands
from plait.paths import runs_folder
from plait.replaying import replay
from plait.runner import resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result
from plait.teams.ensemble import SEEDS_PER_TEAM

TASK = "Delete my meeting with the id 00000027"
OFFICE = Options(tools=("plait.tools.office",), yes=True, teams=2, seed=0)
ALONE = OFFICE.changed({"without": ("experience",)})
REMARKS = "\n# critique: As asked.\n# score: 9"
LOOK = 'calendar.get_event_information_by_id(event_id="00000027", field="event_name")'
DELETE = 'calendar.delete_event(event_id="00000027")'
MERGED = "- Delete my meeting with the id 00000027\n# changes: the first"


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


class Agents(FunctionModel):
    """What all agents say; the call number `fails_at` cannot be made."""

    def __init__(self, fails_at: int = 0) -> None:
        super().__init__(self._say, takes_grammar=True)
        self._fails_at = fails_at

    def _say(self, request: Request) -> str:
        if len(self.requests) == self._fails_at:
            raise ModelError("the endpoint is gone")
        text = prompt(request)
        if "Several teams worked on this task" in text:
            points = "Solution 1\n+ a\n- b\nSolution 2\n+ c\n- d"
            own = MERGED if "# Solution 1\n- Delete" in text else "Deleted by all.\n# changes: both"
            return (own if "# Strengths and weaknesses" in text else points) + REMARKS
        if "You judge an answer" in text:
            return REMARKS.strip()
        second = (request.settings.seed or 0) >= SEEDS_PER_TEAM
        if "You are the planner" in text:
            return (f"1. {TASK}" if not second else f"1. {TASK} now") + REMARKS
        if "You are the answer agent" in text:
            return ("It is deleted." if second else "I deleted it.") + REMARKS
        return self._call(text, second)

    def _call(self, text: str, second: bool) -> str:
        own = text.rpartition("# Subtask:")[2] or text
        if "delete_event(" in own:
            return f'# thought: Done.\ndone(result="deleted"){REMARKS}'
        if second and "get_event_information" not in own:
            return f"# thought: I look.\n{LOOK}{REMARKS}"
        return f"# thought: I delete it.\n{DELETE}{REMARKS}"


async def run(log: RunLog, model: FunctionModel, options: Options = OFFICE) -> Result:
    return await start(TASK, options, Hands(model=model, log=log, embedder=HashEmbedder()), run_id="teams")


def effects(log: RunLog) -> list[str]:
    steps = [record.event for record in log.records("teams") if isinstance(record.event, StepRecorded)]
    return [str(step.args["tool"]) for step in steps if step.step == "effect"]


def forget(log: RunLog) -> None:
    """Remove the run with its office."""
    log.remove("teams")
    shutil.rmtree(runs_folder() / "teams")


async def test_a_run_of_teams_from_end_to_end(log: RunLog) -> None:
    model = Agents()
    result = await run(log, model)
    assert (result.status, result.answer) == ("succeeded", "Deleted by all.")
    assert effects(log) == ["calendar.delete_event"]
    [agreed] = [r.event for r in log.records("teams") if isinstance(r.event, ActionsAgreed)]
    assert agreed.teams == ["team-1", "team-2"]
    assert result.usage.model_calls == len(model.requests)
    # The plan that is told is the one they agreed on.
    assert [item.goal for item in result.plan] == [TASK]
    assert [item.status for item in result.plan] == ["succeeded"]


async def test_whatever_call_fails_the_run_is_taken_up_and_nothing_is_asked_twice(log: RunLog) -> None:
    whole = Agents()
    expected = await run(log, whole, ALONE)
    forget(log)
    count = len(whole.requests)
    for number in range(1, count + 1):
        model = Agents(fails_at=number)
        with pytest.raises(ModelError):
            await run(log, model, ALONE)
        again = Agents()
        hands = Hands(model=again, log=log, embedder=HashEmbedder())
        result = await resume("teams", hands)
        assert (result.status, result.answer) == (expected.status, expected.answer), number
        asked = Counter(prompt(r) + str(r.settings) for r in (*model.requests, *again.requests))
        # The one that failed is asked again, and those that it took down with it.
        assert len(again.requests) <= count - len(model.requests) + 2, number
        assert all(times <= 2 for times in asked.values())
        assert effects(log) == ["calendar.delete_event"], number
        forget(log)


async def test_a_run_of_teams_is_replayed_without_a_model(log: RunLog) -> None:
    result = await run(log, Agents())
    assert await replay("teams", log.records("teams")) == result_json(result)


async def test_what_teams_did_is_learned_and_done_without_them(log: RunLog) -> None:
    await run(log, Agents())
    model = Agents()
    result = await start(
        "Delete my meeting with the id 00000082",
        OFFICE,
        Hands(model=model, log=log, embedder=HashEmbedder()),
        run_id="second",
    )
    assert result.status == "succeeded"
    assert model.requests == []
    records = log.records("second")
    assert [r.event.left for r in records if isinstance(r.event, PipelineEnded)] == [""]
    assert not any(isinstance(r.event, ActionsAgreed) for r in records)


def test_other_teams_are_another_situation() -> None:
    assert OFFICE.of_agents() != OFFICE.changed({"teams": 3}).of_agents()
    assert Options().of_agents() == Options(max_calls=7).of_agents()


@pytest.mark.parametrize("changes", [{"yes": False}, {"deny": ("calendar.*",)}, {"max_effects": 0}])
async def test_what_is_forbidden_later_leaves_what_was_done_as_it_is(
    log: RunLog, changes: dict[str, object]
) -> None:
    whole = Agents()
    await run(log, whole, ALONE)
    forget(log)
    with pytest.raises(ModelError):
        await run(log, Agents(fails_at=len(whole.requests)), ALONE)
    hands = Hands(model=Agents(), log=log, embedder=HashEmbedder())
    result = await resume("teams", hands, changes=changes)
    assert (result.status, effects(log)) == ("succeeded", ["calendar.delete_event"])


async def test_a_team_that_was_dropped_stays_so_when_the_run_is_taken_up(log: RunLog) -> None:
    class Refusing(Agents):
        def _say(self, request: Request) -> str:
            second = (request.settings.seed or 0) >= SEEDS_PER_TEAM
            if second and "You are the planner" in prompt(request):
                raise RequestRefused("the prompt is refused")
            return super()._say(request)

    def planned() -> list[str]:
        events = [r.event for r in log.records("teams")]
        return [event.team for event in events if isinstance(event, TeamDropped)]

    with pytest.raises(ModelError):
        await run(log, Refusing(fails_at=9))
    assert planned() == ["team-2"]
    again = Agents()
    result = await resume("teams", Hands(model=again, log=log, embedder=HashEmbedder()))
    assert result.status == "succeeded"
    assert [item.goal for item in result.plan] == [TASK]


async def test_a_phase_in_which_all_teams_were_lost_is_done_by_all_when_the_run_is_taken_up(
    log: RunLog,
) -> None:
    class Refusing(Agents):
        def _say(self, request: Request) -> str:
            if "You are the planner" in prompt(request):
                raise RequestRefused("the prompt is refused")
            return super()._say(request)

    with pytest.raises(RequestRefused):
        await run(log, Refusing())
    again = Agents()
    result = await resume("teams", Hands(model=again, log=log, embedder=HashEmbedder()))
    assert (result.status, effects(log)) == ("succeeded", ["calendar.delete_event"])


async def test_a_rehearsed_world_teaches_no_lesson(log: RunLog) -> None:
    class Looking(Agents):
        """After its effect a team looks for what only seems to be gone, and then for what never was."""

        def _call(self, text: str, second: bool) -> str:
            own = text.rpartition("# Subtask:")[2] or text
            if "delete_event(" in own and "search_events(" not in own and "Done." in own:
                return f'# thought: I look.\ncalendar.search_events(query="zebra"){REMARKS}'
            return super()._call(text, second)

    result = await run(log, Looking())
    assert result.experience["stored"]["lessons"] == 0
