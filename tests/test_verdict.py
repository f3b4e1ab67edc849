"""The user's own oracle: a command whose exit status is the verdict."""

import asyncio
import resource
from pathlib import Path

import pytest
from tests.support.processes import until_gone, until_there

from plait import verdict
from plait.errors import UserError
from plait.verdict import OUTPUT_CHARACTERS, Verdict, command_check


async def checked(command: str, answer: str, folder: Path) -> Verdict:
    return await command_check(command, folder)(answer)


@pytest.mark.parametrize(("command", "right"), [("true", True), ("false", False), ("exit 3", False)])
async def test_status_0_means_right(command: str, right: bool, tmp_path: Path) -> None:
    assert await checked(command, "an answer", tmp_path) == Verdict(right=right, output="")


async def test_the_answer_is_on_standard_input_and_in_the_environment(tmp_path: Path) -> None:
    said = await checked('cat; printf " / %s" "$PLAIT_ANSWER"', "Zoë's\n$HOME `x`", tmp_path)
    assert said.output == "Zoë's\n$HOME `x` / Zoë's\n$HOME `x`"


async def test_the_command_runs_in_the_given_folder(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("found", encoding="utf-8")
    assert (await checked("cat here.txt", "", tmp_path)).output == "found"


async def test_the_end_of_what_it_prints_is_kept_errors_too(tmp_path: Path) -> None:
    said = await checked("echo start; seq 1 2000; echo trouble >&2; exit 1", "", tmp_path)
    assert len(said.output) == OUTPUT_CHARACTERS
    assert said.output.endswith("2000\ntrouble")
    assert "start" not in said.output


async def test_output_that_is_no_text_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    assert (await checked(r"printf 'a\377b'", "", tmp_path)).output == "a\ufffdb"


async def test_a_command_that_is_not_there_says_wrong(tmp_path: Path) -> None:
    said = await checked("no-such-command-here", "", tmp_path)
    assert not said.right
    assert "no-such-command-here" in said.output


async def test_a_command_that_does_not_read_a_long_answer_still_decides(tmp_path: Path) -> None:
    assert (await checked("true", "x" * 90_000, tmp_path)).right


async def test_a_command_that_takes_too_long_is_killed_whole_and_says_wrong(tmp_path: Path) -> None:
    check = verdict.command_check("sleep 30 & wait", tmp_path, timeout_seconds=0.05)
    said = await check("")
    assert not said.right
    assert "no verdict" in said.output


@pytest.mark.parametrize("command", ["yes", "cat /dev/zero", "yes & yes"])
async def test_a_command_that_never_stops_printing_is_killed_and_holds_no_memory(
    command: str, tmp_path: Path
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = await verdict.command_check(command, tmp_path, timeout_seconds=0.3)("")
    assert "no verdict" in said.output
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


async def test_a_cancelled_check_that_prints_is_over_at_once(tmp_path: Path) -> None:
    mark = f"mark {tmp_path}"
    running = asyncio.ensure_future(command_check(f"yes '{mark}'", tmp_path)(""))
    await until_there(mark)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until_gone(mark)


async def test_what_a_command_leaves_behind_does_not_delay_its_verdict(tmp_path: Path) -> None:
    mark = f"mark {tmp_path}"
    said = await checked(f"tail -qf /dev/null '{mark}' 2>/dev/null & echo fine", "", tmp_path)
    assert said == Verdict(right=True, output="fine")
    await until_gone(mark)


async def test_an_answer_with_half_a_character(tmp_path: Path) -> None:
    said = await checked('cat; printf " %s" "$PLAIT_ANSWER"', "a\udcffb", tmp_path)
    assert said == Verdict(right=True, output="a?b a?b")


async def test_an_answer_cut_within_a_character_is_still_text(tmp_path: Path) -> None:
    assert (
        await checked('printf %s "$PLAIT_ANSWER" | wc -c', "x" + "é" * 60_000, tmp_path)
    ).output == "99999"


async def test_a_command_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--check 'true' cannot be started"):
        await checked("true", "", tmp_path / "gone")
