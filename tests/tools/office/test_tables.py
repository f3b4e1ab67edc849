"""Tables on disk: copied, replaced whole, read again, and refused when damaged."""

import csv
import os
from pathlib import Path

import pytest

from plait.errors import ToolError, UserError
from plait.tools.office import Office
from plait.tools.office.tables import COLUMNS


def test_packaged_tables_have_their_rows() -> None:
    sizes = {name: len(table.rows) for name, table in Office(None).tables.items()}
    assert sizes == {
        "calendar_events": 300,
        "emails": 500,
        "plots": 0,
        "project_tasks": 300,
        "customers": 200,
    }


def test_a_table_is_copied_at_first_use_and_not_before(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "office"
    office = Office(folder)
    assert not folder.exists()
    assert len(office.events.rows) == 300
    assert [path.name for path in folder.iterdir()] == ["calendar_events.csv"]


def test_every_change_is_on_disk_and_goes_on_from_there(tmp_path: Path) -> None:
    Office(tmp_path).events.delete("00000013")
    again = Office(tmp_path)
    assert again.events.find("00000013") is None
    again.plots.append(("plots/x.png",))
    again.events.set("00000275", "duration", "45")
    with (tmp_path / "calendar_events.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 299
    assert rows[0]["duration"] == "45"
    assert [dict(row) for row in Office(tmp_path).plots.rows] == [{"file_path": "plots/x.png"}]


def test_a_folder_that_is_only_read_stays_as_it_is(tmp_path: Path) -> None:
    Office(tmp_path).events.delete("00000013")
    before = (tmp_path / "calendar_events.csv").read_bytes()
    reader = Office(tmp_path, save=False)
    assert len(reader.events.rows) == 299
    assert len(reader.emails.rows) == 500
    reader.events.delete("00000275")
    assert [path.name for path in tmp_path.iterdir()] == ["calendar_events.csv"]
    assert (tmp_path / "calendar_events.csv").read_bytes() == before


def test_offices_do_not_share_changes(tmp_path: Path) -> None:
    first, second = Office(tmp_path / "a"), Office(tmp_path / "b")
    seen = second.events.rows
    first.events.set("00000013", "event_name", "changed")
    assert seen[0]["event_name"] == "sync up"
    assert Office(None).events.rows[0]["event_name"] == "sync up"


@pytest.mark.parametrize(
    "text", ['a "quoted", word', "two\nlines", "dos\r\nlines", "old\rmac", "", " padded ", "日本 ✓", "nul\0"]
)
def test_any_text_survives_the_file(tmp_path: Path, text: str) -> None:
    Office(tmp_path).emails.append(("500", "outbox", "a@b.c", "s", "t", text))
    email = Office(tmp_path).emails.find("500")
    assert email is not None
    assert email["body"] == text


def test_a_process_killed_while_writing_leaves_the_old_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(tmp_path)
    before = office.events.rows

    class Killed(BaseException):
        pass

    def die(descriptor: int) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die)
        with pytest.raises(Killed):
            office.events.delete("00000013")

    assert [dict(row) for row in Office(tmp_path).events.rows] == [dict(row) for row in before]
    Office(tmp_path).events.delete("00000013")
    assert [path.name for path in tmp_path.iterdir()] == ["calendar_events.csv"]


def test_a_full_disk_is_one_line_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office = Office(tmp_path)
    before = office.events.rows

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ToolError) as caught:
            office.events.delete("00000013")

    assert "No space left on device; nothing was changed" in caught.value.message
    assert "\n" not in caught.value.message
    assert office.events.rows is before
    assert [path.name for path in tmp_path.iterdir()] == ["calendar_events.csv"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ToolError, match="cannot save the table"):
        _ = Office(tmp_path / "file").events.rows


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "should have the columns"),
        (b"id,name\n1,2\n", "should have the columns"),
        (",".join(COLUMNS["calendar_events"]).encode() + b"\n1,2\n", "damaged at line 2"),
        (",".join(COLUMNS["calendar_events"]).encode() + b"\n1,2,3,4,5,6\n", "damaged at line 2"),
        (",".join(COLUMNS["calendar_events"]).encode() + b'\n1,2,3,4,"5\n', "damaged at line 2"),
        (b"\xff\xfe", "cannot read the table"),
    ],
)
def test_a_damaged_table_is_one_line(tmp_path: Path, content: bytes, part: str) -> None:
    path = tmp_path / "calendar_events.csv"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        _ = Office(tmp_path).events.rows
    assert part in caught.value.message
    assert repr(str(path)) in caught.value.message
    assert "\n" not in caught.value.message
    assert path.read_bytes() == content
