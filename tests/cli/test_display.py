"""The live display and the plain lines show every happening, fit the terminal, and never end a run."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from plait.cli.display import LiveDisplay, make_display
from plait.cli.plain import PlainDisplay
from plait.errors import ModelError, PlaitError, UserError
from plait.events import Noted, Record, RoundStarted, RunStarted

from .sample_run import finished, killed, rectified, searched, two_rounds
from .snapshots import assert_snapshot

Run = Callable[[], list[Record]]
RUNS: list[Run] = [finished, killed, rectified, two_rounds]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def isatty(self) -> bool:
        return True


class BrokenPipe(io.StringIO):
    """A stream whose reader has left."""

    def write(self, s: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def _console(width: int = 80, height: int = 40, *, file: io.StringIO | None = None) -> Console:
    return Console(
        file=file or Terminal(),
        force_terminal=True,
        width=width,
        height=height,
        color_system=None,
        _environ={},
    )


def _display(records: list[Record], console: Console) -> LiveDisplay:
    return LiveDisplay(records, console=console, clock=lambda: records[-1].at + 4.25)


def _frame(records: list[Record], width: int = 80, height: int = 40) -> str:
    console = _console(width, height)
    with console.capture() as capture:
        console.print(_display(records, console))
    return capture.get()


def test_a_run_under_way_as_it_is_drawn() -> None:
    assert_snapshot("live_under_way", _frame(killed()))


def test_a_finished_run_as_it_is_drawn() -> None:
    assert_snapshot("live_finished", _frame(two_rounds()))


def test_a_plan_that_was_rectified_as_it_is_drawn() -> None:
    assert_snapshot("live_rectified", _frame(rectified()))


def test_finished_work_folds_first_on_a_low_terminal() -> None:
    assert_snapshot("live_low", _frame(killed(), height=17))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 12), (20, 8)])
def test_every_frame_fits_the_terminal(run: Run, width: int, height: int) -> None:
    records = run()
    for end in range(1, len(records) + 1, 3):
        lines = _frame(records[:end], width, height).splitlines()
        assert len(lines) < height
        assert max(cell_len(text) for text in lines) <= width
        assert not any("display failed" in text for text in lines)


def test_the_last_state_stays_whole_on_the_screen_however_low_it_is() -> None:
    file = Terminal()
    records = two_rounds()
    with _display(records[:3], _console(height=10, file=file)) as display:
        for record in records[3:]:
            display(record)
    shown = file.getvalue()[file.getvalue().rindex("plait run") :]
    assert "calendar.search_events" in shown
    assert "failed no answer reached its threshold in 2 rounds" in shown


def test_what_a_tool_returns_cannot_act_on_the_terminal() -> None:
    writer = searched()
    evil = "\x1b[2J\x1b]0;owned\x07gone\r\u202e\u200b"
    writer.use("run/round-1/subtask-2/step-1", "web.read", {"url": "\x1b[31m"}, evil)
    plain = io.StringIO()
    with PlainDisplay(stream=plain) as display:
        for record in writer.records:
            display(record)
    for shown in (_frame(writer.records), plain.getvalue()):
        assert "gone" in shown
        assert not {"\x1b", "\x07", "\r", "\u202e", "\u200b"} & set(shown)


def test_markup_in_texts_is_shown_as_it_is() -> None:
    writer = searched()
    writer.use("run/round-1/subtask-2/step-1", "web.read", {}, "[bold]x[/bold] [/] [red")
    assert "[bold]x[/bold] [/] [red" in _frame(writer.records)


def test_a_flaw_in_drawing_is_told_and_does_not_end_the_run() -> None:
    broken: Any = replace(finished()[0], event=replace(Noted(text=""), text=None))
    file = Terminal()
    with _display([broken], _console(file=file)):
        pass
    assert "the display failed, the run goes on" in file.getvalue()


def test_a_terminal_that_is_gone_does_not_end_the_run() -> None:
    file = Terminal()
    with _display(killed(), _console(file=file)) as display:
        file.close()
        display(finished()[-1])
    with _display(killed(), _console(file=BrokenPipe())) as display:
        display(finished()[-1])


def test_a_pause_leaves_the_terminal_to_a_question() -> None:
    file = Terminal()
    with _display(killed(), _console(file=file)) as display:
        with display.paused():
            before = file.getvalue()
            display(finished()[-1])
            assert file.getvalue() == before
        assert len(file.getvalue()) > len(before)


@pytest.mark.parametrize("run", RUNS)
def test_plain_lines(run: Run) -> None:
    stream = io.StringIO()
    with PlainDisplay(stream=stream) as display:
        for record in run():
            display(record)
    assert "\x1b" not in stream.getvalue()
    assert_snapshot(f"plain_{run.__name__}", stream.getvalue())


def _beginning() -> list[Record]:
    """Return what is on record of a run whose tools are being opened."""
    records = two_rounds()
    begun = next(number for number, record in enumerate(records) if isinstance(record.event, RoundStarted))
    return [record for record in records[:begun] if isinstance(record.event, RunStarted | Noted)]


@pytest.mark.parametrize(
    ("error", "is_shown"), [(UserError("no such tool"), False), (ModelError("gone"), True)]
)
def test_a_run_that_does_not_begin_is_not_shown(error: PlaitError, is_shown: bool) -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream=stream)
    for record in _beginning():
        display(record)
    with pytest.raises(PlaitError), display:
        raise error
    assert (_beginning()[0].run_id in stream.getvalue()) is is_shown


def test_a_drawing_of_a_run_that_does_not_begin_is_wiped() -> None:
    terminal = Terminal()
    with pytest.raises(UserError), _display(_beginning(), _console(file=terminal)):
        raise UserError("no such tool")
    shown = terminal.getvalue()
    lines_drawn = shown.rpartition(_beginning()[0].run_id)[2].count("\n")
    assert shown.count("\x1b[1A\x1b[2K") >= lines_drawn > 0


def test_how_to_go_on_is_whole_on_a_narrow_terminal() -> None:
    assert f"plait resume {killed()[0].run_id}" in " ".join(_frame(killed(), width=40, height=20).split())


def test_plain_lines_of_a_resumed_run_count_from_its_resumption_and_sum_up_all() -> None:
    records = finished()
    earlier = [record for record in records if record.epoch == 1]
    stream = io.StringIO()
    with PlainDisplay(earlier, stream=stream) as display:
        for record in records[len(earlier) :]:
            display(record)
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["0.0", "s", "run", "7f3a2c9d1e05", "resumed;", *lines[0].split()[5:]]
    assert "11 model calls" in lines[-1]


def test_plain_lines_of_a_fork_leave_out_what_its_parent_did() -> None:
    records = finished()
    started = replace(records[0], at=records[0].at + 9_999)
    stream = io.StringIO()
    with PlainDisplay(stream=stream) as display:
        for record in [started, *records[1:10]]:
            display(record)
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["run", "model"]


def test_plain_lines_fall_silent_when_nobody_reads() -> None:
    with PlainDisplay(stream=BrokenPipe()) as display:
        for record in finished():
            display(record)


def test_plain_lines_fit_a_stream_of_few_characters() -> None:
    raw = io.BytesIO()
    with PlainDisplay(stream=io.TextIOWrapper(raw, encoding="ascii")) as display:
        for record in finished():
            display(record)
    assert b"run 7f3a2c9d1e05" in raw.getvalue()


@pytest.mark.parametrize(
    ("name", "value"), [("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb"), ("PLAIT_NOTHING", "")]
)
def test_which_display_a_stream_gets(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    for variable in ("NO_COLOR", "CI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(name, value)
    live = isinstance(make_display(stream=Terminal()), LiveDisplay)
    assert live == (name == "PLAIT_NOTHING")
    assert isinstance(make_display(stream=io.StringIO()), PlainDisplay)
