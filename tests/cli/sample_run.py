"""Recorded runs as the reflection strand writes them, for tests of everything that shows a run.

Times rise by what each step takes, from a fixed moment, so that every rendering is the same each time.
"""

from typing import Any

from plait.events import (
    ApprovalDecided,
    EffectIntended,
    Event,
    Gated,
    LoopBroken,
    MemoryCleared,
    MemoryWritten,
    ModelRetried,
    PlanMade,
    PlanRectified,
    PromptPart,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    StepRecorded,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.models.callform import format_call

RUN_ID = "7f3a2c9d1e05"
STARTED = 1_795_262_400.0
TASK = "Cancel my next meeting with Fatima and tell her that I am ill today."
OPTIONS = {
    "domain": "tools",
    "tools": ["plait.tools.office"],
    "model": "local:qwen2.5-coder-1.5b",
    "max_calls": 60,
    "max_tokens": 200_000,
    "max_usd": 1.0,
    "max_seconds": 900.0,
    "yes": True,
    "dry_run": False,
}
FIRST_PLAN = [
    {"id": "1", "goal": "Find the next meeting with Fatima", "depends_on": []},
    {"id": "2", "goal": "Cancel it", "depends_on": ["1"]},
]
PLAN = [
    *FIRST_PLAN,
    {"id": "3", "goal": "Write to Fatima that I am ill today", "depends_on": ["1"]},
]
SEARCH = {"query": "fatima", "time_min": "2023-11-30 00:00:00"}
FOUND = (
    '[{"event_id": "00000013", "event_name": "Budget review", "participant_email": "fatima.khan@atlas.com",'
    ' "event_start": "2023-12-04 09:30:00", "duration": "30"},'
    ' {"event_id": "00000162", "event_name": "Launch", "participant_email": "fatima.khan@atlas.com",'
    ' "event_start": "2023-12-11 14:00:00", "duration": "60"}]'
)
MAIL = {"recipient": "fatima.khan@atlas.com", "subject": "Ill today", "body": "I am ill today, sorry."}


class Writer:
    """Writes the records of one run, one after the other."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.now = STARTED
        self.epoch = 1
        self._events: dict[str, int] = {}

    def record(self, path: str, event: Event, *, seconds: float = 0.0) -> None:
        """Add a record `seconds` after the one before."""
        self.now += seconds
        revision = sum(1 for record in self.records if record.path == path)
        self.records.append(
            Record(
                run_id=RUN_ID,
                sequence=len(self.records) + 1,
                path=path,
                revision=revision,
                epoch=self.epoch,
                at=self.now,
                event=event,
            )
        )

    def emit(self, place: str, event: Event) -> None:
        """Add an event at a place."""
        number = self._events.get(place, 0)
        self._events[place] = number + 1
        self.record(f"{place}!{number}", event)

    def ask(self, path: str, role: str, text: str, *, cached: int = 0, seconds: float = 4.0) -> None:
        """Add a model call with a prompt of two parts."""
        shared, own = f"shared-{role}", f"{path}-prompt"
        for part in (
            PromptPart(id=shared, parent="", role="system", text=f"You are the {role} agent.\n\n"),
            PromptPart(id=own, parent=shared, role="user", text=f"Task: {TASK}\nNow: {path}"),
        ):
            if not any(record.path == f"prompt/{part.id}" for record in self.records):
                self.record(f"prompt/{part.id}", part)
        usage = {"input_tokens": 1000, "cached_input_tokens": cached, "output_tokens": 40}
        event = StepRecorded(
            step="model",
            args={"role": role, "strand": "reflection", "model": OPTIONS["model"], "prompt": own},
            args_hash="",
            result={
                "text": text,
                "finish": "stop",
                "usage": {**usage, "seconds": seconds, "usd": 0.0},
                "tool_calls": [],
            },
            seconds=seconds,
        )
        self.record(path, event, seconds=seconds)

    def gate(
        self,
        place: str,
        role: str,
        output: Any,
        score: float | None,
        verdict: Any = "passed",
        *,
        attempt: int = 1,
        critique: str = "Fits.",
        problems: tuple[str, ...] = (),
    ) -> None:
        """Add what the gate said about the reply before."""
        threshold = 9.0 if role == "planner" else 8.0
        self.emit(
            place,
            Gated(
                role=role,
                attempt=attempt,
                score=score,
                threshold=threshold,
                critique=critique,
                problems=problems,
                verdict=verdict,
                output=output,
            ),
        )

    def use(
        self,
        step: str,
        tool: str,
        arguments: dict[str, Any],
        text: str,
        *,
        ok: bool = True,
        kind: Any = "tool",
    ) -> None:
        """Add a tool call, with approval and intent where it has an effect."""
        path, args = f"{step}/act/call", {"tool": tool, "arguments": arguments}
        if kind == "effect":
            allowed = ApprovalDecided(tool=tool, arguments=arguments, allowed=True, by="--yes")
            self.record(f"{step}/act!approval_decided!0", allowed)
            self.record(f"{path}!intended", EffectIntended(args=args, args_hash=""))
        result = {"ok": ok, "text": text, "cut": False, "shared": False}
        event = StepRecorded(step=kind, args=args, args_hash="", result=result, seconds=0.1)
        self.record(path, event, seconds=0.1)

    def choose(self, step: str, call: str, score: float = 9.0) -> None:
        """Add a model call of the tool agent that passes at once."""
        self.ask(
            f"{step}/try-1", "tool", f"{call}\n# critique: Fits.\n# score: {score:g}", cached=800, seconds=1.5
        )
        self.gate(step, "tool", call, score)

    def finish_subtask(self, round_path: str, id: str, step: int, result: str) -> None:
        """Add the step that says that a subtask is done, and its end."""
        place = f"{round_path}/subtask-{id}"
        self.choose(f"{place}/step-{step}", f'done(result="{result}")')
        self.emit(place, SubtaskFinished(id=id, status="succeeded", result=result))


def planned() -> Writer:
    """Return a run whose first plan was revised and then passed."""
    writer = Writer()
    writer.record("run!run_started!0", RunStarted(task=TASK, options=OPTIONS, version="0.1.0"))
    writer.emit("run/round-1", RoundStarted(round=1))
    plan = "run/round-1/plan"
    writer.ask(f"{plan}/try-1", "planner", '{"subtasks": [...], "score": 6}', seconds=6.0)
    critique = "The task also asks for an e-mail to Fatima; the plan has none."
    writer.gate(plan, "planner", FIRST_PLAN, 6.0, "revised", critique=critique)
    writer.ask(f"{plan}/try-2", "planner", '{"subtasks": [...], "score": 9}', cached=900)
    writer.gate(plan, "planner", PLAN, 9.0, attempt=2, critique="Complete and in order.")
    writer.emit(plan, PlanMade(round=1, subtasks=PLAN))
    return writer


def searched() -> Writer:
    """Go on until the first subtask succeeded, after a failed call and a revised one."""
    writer = planned()
    place = "run/round-1/subtask-1"
    writer.emit(place, SubtaskStarted(id="1", goal=PLAN[0]["goal"]))
    writer.choose(f"{place}/step-1", 'calendar.search_events(query="fatima", time_min="tomorrow")')
    bad = {"query": "fatima", "time_min": "tomorrow"}
    error = "time_min 'tomorrow' is no date: write YYYY-MM-DD HH:MM:SS"
    writer.use(f"{place}/step-1", "calendar.search_events", bad, error, ok=False)
    writer.emit(place, MemoryWritten(memory="short_term", entry=f"calendar.search_events(...) -> {error}"))
    step = f"{place}/step-2"
    writer.ask(f"{step}/try-1", "tool", "calendar.search_events(query='fatima')", cached=800)
    again = 'calendar.search_events(query="fatima")'
    writer.gate(step, "tool", again, 5.0, "revised", critique="Would also find meetings of the past.")
    writer.ask(f"{step}/try-2", "tool", "calendar.search_events(...)", cached=950)
    call = 'calendar.search_events(query="fatima", time_min="2023-11-30 00:00:00")'
    writer.gate(step, "tool", call, 9.0, attempt=2)
    writer.use(step, "calendar.search_events", SEARCH, FOUND)
    writer.emit(place, MemoryCleared(memory="short_term", entries=1))
    writer.finish_subtask("run/round-1", "1", 3, "The next meeting is event 00000013, Budget review.")
    return writer


def killed() -> list[Record]:
    """Return a run that was killed while an effect was under way and another subtask chose its call."""
    writer = searched()
    place = "run/round-1/subtask-2"
    writer.emit(place, SubtaskStarted(id="2", goal=PLAN[1]["goal"]))
    writer.emit("run/round-1/subtask-3", SubtaskStarted(id="3", goal=PLAN[2]["goal"]))
    writer.choose(f"{place}/step-1", 'calendar.delete_event(event_id="00000013")')
    args = {"tool": "calendar.delete_event", "arguments": {"event_id": "00000013"}}
    writer.record(f"{place}/step-1/act/call!intended", EffectIntended(args=args, args_hash=""))
    return writer.records


def finished() -> list[Record]:
    """Return a run that was killed, resumed, and succeeded in its first round."""
    writer = searched()
    writer.epoch, writer.now = 2, writer.now + 3_600
    writer.record("run!run_resumed!0", RunResumed(epoch=2, options={}))
    cancel = "run/round-1/subtask-2"
    writer.emit(cancel, SubtaskStarted(id="2", goal=PLAN[1]["goal"]))
    writer.choose(f"{cancel}/step-1", 'calendar.delete_event(event_id="00000013")', 10.0)
    event = {"event_id": "00000013"}
    writer.use(f"{cancel}/step-1", "calendar.delete_event", event, "Event deleted.", kind="effect")
    writer.finish_subtask("run/round-1", "2", 2, "Budget review is cancelled.")
    mail = "run/round-1/subtask-3"
    writer.emit(mail, SubtaskStarted(id="3", goal=PLAN[2]["goal"]))
    retried = ModelRetried(reason="429 Too Many Requests", attempt=1, delay_seconds=2.023456)
    writer.record(f"{mail}/step-1!model_retried!0", retried, seconds=0.2)
    writer.choose(
        f"{mail}/step-1",
        format_call("email.send_email", MAIL),
    )
    writer.use(f"{mail}/step-1", "email.send_email", MAIL, "Email sent.", kind="effect")
    writer.finish_subtask("run/round-1", "3", 2, "Fatima was told.")
    _end(writer, 1, "The meeting Budget review was cancelled and Fatima was told.", 9.0)
    return writer.records


def rectified() -> list[Record]:
    """Return a run whose second subtask failed and was split, with the first part done and one under way."""
    writer = searched()
    place = "run/round-1/subtask-2"
    writer.emit(place, SubtaskStarted(id="2", goal=PLAN[1]["goal"]))
    writer.choose(f"{place}/step-1", 'calendar.delete_event(event_id="00000031")')
    gone = "There is no event 00000031."
    writer.use(
        f"{place}/step-1", "calendar.delete_event", {"event_id": "00000031"}, gone, ok=False, kind="effect"
    )
    writer.emit(place, SubtaskFinished(id="2", status="failed", result="not done in 1 steps"))
    mending = f"{place}/rectify"
    writer.ask(f"{mending}/try-1", "planner", "split it", seconds=1.0)
    writer.gate(mending, "planner", "split", None, "revised", critique="its parts are missing")
    parts = [
        {"id": "2-1", "goal": "Find the event", "depends_on": [], "milestone": "its id is known"},
        {"id": "2-2", "goal": "Delete it", "depends_on": ["2-1"]},
    ]
    text = "split\n2-1. Find the event\n2-2. Delete it"
    writer.ask(f"{mending}/try-2", "planner", text, seconds=1.0)
    writer.gate(mending, "planner", text, 9.0, attempt=2, critique="Goes another way.")
    writer.emit(mending, PlanRectified(subtask="2", operation="split", subtasks=parts, deleted=[]))
    writer.emit(f"{place}-1", SubtaskStarted(id="2-1", goal="Find the event"))
    writer.choose(f"{place}-1/step-1", 'calendar.search_events(query="fatima")')
    writer.use(f"{place}-1/step-1", "calendar.search_events", {"query": "fatima"}, FOUND)
    writer.finish_subtask("run/round-1", "2-1", 2, "It is 00000013.")
    writer.emit(f"{place}-2", SubtaskStarted(id="2-2", goal="Delete it"))
    return writer.records


def two_rounds() -> list[Record]:
    """Return a run whose first round failed in a loop and whose second gave a weak answer."""
    writer = searched()
    place = "run/round-1/subtask-2"
    writer.emit(place, SubtaskStarted(id="2", goal=PLAN[1]["goal"]))
    gone = "There is no event 00000031."
    for step in (1, 2):
        writer.choose(f"{place}/step-{step}", 'calendar.delete_event(event_id="00000031")')
        arguments = {"event_id": "00000031"}
        writer.use(f"{place}/step-{step}", "calendar.delete_event", arguments, gone, ok=False, kind="effect")
    call = 'calendar.delete_event(event_id="00000031")'
    writer.emit(place, LoopBroken(call=call, times=2))
    writer.emit(place, SubtaskFinished(id="2", status="failed", result=f"{call} was chosen again and again"))
    skipped = SubtaskFinished(id="3", status="skipped", result="a subtask it depends on did not succeed")
    writer.emit("run/round-1", skipped)
    writer.emit("run/round-1", RoundFinished(round=1, answer="", score=None, passed=False))
    writer.emit(
        "run", MemoryWritten(memory="long_term", entry="Subtask 1: Find…\nSubtask 2: Cancel it -> failed")
    )
    writer.emit("run/round-2", RoundStarted(round=2))
    writer.ask("run/round-2/plan/try-1", "planner", "{}", cached=900)
    writer.gate("run/round-2/plan", "planner", PLAN[:1], 9.0)
    writer.emit("run/round-2/plan", PlanMade(round=2, subtasks=PLAN[:1]))
    writer.emit("run/round-2/subtask-1", SubtaskStarted(id="1", goal=PLAN[0]["goal"]))
    writer.finish_subtask("run/round-2", "1", 1, "It is known: 00000013.")
    _end(writer, 2, "I could not cancel the meeting.", 4.0)
    return writer.records


def _end(writer: Writer, number: int, answer: str, score: float) -> None:
    """Answer, finish the round and the run."""
    place, passed = f"run/round-{number}", score >= 8
    writer.ask(f"{place}/answer/try-1", "answer", answer, cached=700, seconds=3.0)
    writer.gate(f"{place}/answer", "answer", answer, score, "passed" if passed else "closed")
    writer.emit(place, RoundFinished(round=number, answer=answer, score=score, passed=passed))
    status = "succeeded" if passed else "failed"
    result = {
        "run_id": RUN_ID,
        "status": status,
        "answer": answer,
        "score": score,
        "message": "" if passed else f"no answer reached its threshold in {number} rounds",
        "artifacts": [],
        "plan": [{**item, "status": "succeeded", "executor": "react"} for item in PLAN],
    }
    writer.record("run!run_finished!0", RunFinished(status=status, result=result))
