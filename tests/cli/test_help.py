"""The command line: its help, how commands are loaded, and how it ends when something goes wrong."""

import subprocess
import sys
import types
from pathlib import Path

import pytest
import typer

from plait.cli import app
from plait.cli.lazy import LazyCommand
from plait.errors import BudgetExhausted, NeedsDecision, PlaitError, UserError


def offer(monkeypatch: pytest.MonkeyPatch, **attributes: object) -> None:
    """Make `plait trial` the only command, from a module made here."""
    module = types.ModuleType("trial_command")
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, "trial_command", module)
    monkeypatch.setattr(app, "COMMANDS", (("trial", "Trials", "trial_command", "Try something."),))


def offer_failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def command() -> None:
        raise error

    offer(monkeypatch, command=command)


def test_the_help_lists_every_command_with_its_line(capsys: pytest.CaptureFixture[str]):
    assert app.run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, panel, _, line in app.COMMANDS:
        assert f" {name} " in shown
        assert line in shown
        assert panel in shown


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]):
    assert app.run([]) == 0
    assert "Usage: plait" in capsys.readouterr().out


def test_help_loads_no_command_and_no_heavy_library():
    code = (
        "import sys\n"
        "from plait.cli.app import COMMANDS, run\n"
        "assert run(['--help']) == 0\n"
        "heavy = {'aiohttp', 'pydantic', 'sqlalchemy', 'orjson', 'xllamacpp', 'markdown_it', 'asyncio'}\n"
        "heavy |= {module for _, _, module, _ in COMMANDS}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("name", [name for name, *_ in app.COMMANDS])
def test_every_command_loads_and_has_help(name: str, capsys: pytest.CaptureFixture[str]):
    assert app.run([name, "--help"]) == 0
    assert f"plait {name}" in capsys.readouterr().out


def test_every_command_tells_its_line_again_in_its_own_help():
    for command in app.plait_command().commands.values():
        assert isinstance(command, LazyCommand)
        assert command.load().help, command.name


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]):
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("plait 0.")


def test_a_command_gets_its_arguments_and_its_status_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def command(word: str, times: int = 1) -> None:
        print(word * times)
        raise typer.Exit(4)

    offer(monkeypatch, command=command)
    assert app.run(["trial", "ha", "--times", "2"]) == 4
    assert capsys.readouterr().out == "haha\n"


def test_a_group_with_one_command_keeps_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    group = typer.Typer()

    @group.command("list")
    def list_them() -> None:  # pyright: ignore[reportUnusedFunction]
        print("listed")

    offer(monkeypatch, app=group)
    assert app.run(["trial", "list"]) == 0
    assert capsys.readouterr().out == "listed\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["rum"], "plait: No such command 'rum'. Did you mean"),
        (["--frob"], "plait: No such option: --frob; see plait --help"),
        (["trial"], "plait: Missing argument 'word'; see plait trial --help"),
        (["trial", "a", "--times", "x"], "plait: Invalid value for '--times': "),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    arguments: list[str], line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def command(word: str, times: int = 1) -> None:
        print(word * times)

    if arguments[0] == "trial":
        offer(monkeypatch, command=command)
    assert app.run(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(line)
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PlaitError("it failed"), 1),
        (UserError("no run 'x':\n  see plait runs"), 2),
        (BudgetExhausted("100 calls are used up", limit="calls"), 3),
        (NeedsDecision("say --yes", path="run/x"), 4),
    ],
)
def test_our_own_errors_are_one_line_with_their_status(
    error: PlaitError, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    offer_failing(monkeypatch, error)
    assert app.run(["trial"]) == status
    assert capsys.readouterr().err == f"plait: {' '.join(error.message.split())}\n"


def test_an_interrupt_is_status_130(monkeypatch: pytest.MonkeyPatch):
    offer_failing(monkeypatch, KeyboardInterrupt())
    assert app.run(["trial"]) == 130


def test_an_unexpected_error_is_one_line_and_its_traceback_is_kept(
    own_data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("PLAIT_DEBUG", raising=False)
    offer_failing(monkeypatch, ValueError("surprise"))
    assert app.run(["trial"]) == 70
    (kept,) = (own_data_folder / "logs").glob("error-*.txt")
    assert "Traceback" in kept.read_text()
    expected = f"plait: internal error: ValueError: surprise; the traceback is in {kept}\n"
    assert capsys.readouterr().err == expected


def test_an_unexpected_error_is_told_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLAIT_HOME", str(tmp_path / "file"))
    offer_failing(monkeypatch, ValueError("surprise"))
    assert app.run(["trial"]) == 70
    assert "set PLAIT_DEBUG=1" in capsys.readouterr().err


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("PLAIT_DEBUG", "1")
    offer_failing(monkeypatch, ValueError("surprise"))
    assert app.run(["trial"]) == 70
    assert capsys.readouterr().err.startswith("Traceback")


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -c 'from plait.cli.app import main; main()' --help | true"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
