"""Reports: what is kept becomes figures, PNG and one page; what is not there is said."""

import json
import re
import struct
import sys
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from plait.bench.benchmarks import BENCHMARKS
from plait.bench.drawing import draw
from plait.bench.figures import Figure, Line, Missing, Panel, Point, figures_of
from plait.bench.kept import labels_of, read_kept
from plait.bench.report import make_report
from plait.bench.statistics import Interval
from plait.bench.trial import Trial
from plait.cli.app import run
from plait.errors import UserError
from plait.events import Gated, Record

SRDD, WORKBENCH = BENCHMARKS["srdd"], BENCHMARKS["workbench"]
PNG = b"\x89PNG\r\n\x1a\n"
SURE = Interval(value=0.5, low=0.4, high=0.6)


def keep(
    folder: Path,
    name: str,
    value: float,
    *,
    said: Mapping[str, Any] | None = None,
    tasks: int = 3,
    data: str = "d",
    tokens: int = 1_000,
) -> None:
    """Keep some tasks of a method, as a benchmark does: `plait-0000000a`."""
    benchmark = SRDD if folder.name == "srdd" else WORKBENCH
    method = benchmark.methods[name.rpartition("-")[0]]
    options = {k: v for k, v in benchmark.options(said or {}).as_json().items() if method.goes_by(k)}
    about = {"memory": "m", "plait": "1", "tasks": data, "options": options}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")
    lines = [
        Trial(
            index=index,
            query="q",
            run_id=f"{name}-{index}",
            status="succeeded",
            model_calls=2,
            tool_calls=1,
            input_tokens=tokens,
            cached_input_tokens=0,
            output_tokens=0,
            seconds=1.0,
            measures=dict.fromkeys(benchmark.fields(), value),
        )
        for index in range(tasks)
    ]
    text = "".join(json.dumps(trial.as_json()) + "\n" for trial in lines)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def figures(folder: Path, records: Sequence[Record] = ()) -> dict[str, Figure | Missing]:
    """Return the figures of what a folder holds, by their titles."""
    benchmark = SRDD if folder.name == "srdd" else WORKBENCH
    kept = read_kept(benchmark, folder)
    labelled = list(zip(labels_of(benchmark, kept), kept, strict=True))
    return {each.title: each for each in figures_of(benchmark, labelled, records)}


def drawn(figure: Figure | Missing) -> Figure:
    assert isinstance(figure, Figure)
    return figure


def why(figure: Figure | Missing) -> str:
    assert isinstance(figure, Missing)
    return figure.why


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.fixture
def srdd(tmp_path: Path) -> Path:
    folder = tmp_path / "srdd"
    for teams, value in ((4, 0.75), (1, 0.5), (2, 0.625)):
        keep(folder, f"plait-0000000{teams}", value, said={"teams": teams}, tokens=1_000 * teams)
    keep(folder, "plait-0000000f", 0.25, said={"teams": 8, "rounds": 2})
    keep(folder, "single-agent-0000000a", 0.375, tokens=100)
    keep(folder, "best-of-n-0000000b", 0.5, said={"teams": 3}, tokens=300)
    return folder


@pytest.fixture
def workbench(tmp_path: Path) -> Path:
    folder = tmp_path / "workbench"
    keep(folder, "react-0000000a", True, tasks=8)
    keep(folder, "plait-0000000b", True, said={"without": ("gates",)})
    keep(folder, "plait-0000000c", False, said={"planner_threshold": 7.0})
    keep(folder, "gold-0000000d", True, tokens=0)
    return folder


def test_teams_are_drawn_where_results_differ_in_teams_alone(srdd: Path) -> None:
    figure = drawn(figures(srdd)["Teams against quality"])
    quality, tokens = figure.panels
    lines = {line.name: [(point.x, point.y.value) for point in line.points] for line in quality.lines}
    assert lines["quality"] == [(1, 0.5), (2, 0.625), (4, 0.75)]
    assert [*lines] == ["quality", "completeness", "executability", "consistency", "official_quality"]
    assert lines["executability"] == []  # Nobody measured it.
    assert [(point.x, point.y.value) for point in tokens.lines[0].points] == [(1, 1e3), (2, 2e3), (4, 4e3)]
    assert (quality.best, figure.note) == (1.0, "3 tasks a point, with 95% intervals.")


def test_results_of_other_data_or_options_are_not_mixed(srdd: Path) -> None:
    assert "no two results differ in --rounds alone" in why(figures(srdd)["Rounds"])
    keep(srdd, "plait-0000000e", 0.9, said={"teams": 3}, data="other")
    assert len(drawn(figures(srdd)["Teams against quality"]).panels[0].lines[0].points) == 3
    keep(srdd, "plait-00000010", 0.9, said={"teams": 5, "seed": 7})
    keep(srdd, "plait-00000011", 0.9, said={"teams": 6, "seed": 7})
    assert "1 more such series" in drawn(figures(srdd)["Teams against quality"]).note


def test_cost_is_drawn_of_all_methods_that_ask_a_model(srdd: Path, workbench: Path) -> None:
    [panel] = drawn(figures(srdd)["Cost against quality"]).panels
    points = {line.name: (line.points[0].x, line.points[0].y.value) for line in panel.lines}
    assert points == {
        "best-of-3 (3)": (300, 0.5),
        "plait: teams 1 (3)": (1000, 0.5),
        "plait: teams 2 (3)": (2000, 0.625),
        "plait (3)": (4000, 0.75),
        "plait: teams 8, rounds 2 (3)": (1000, 0.25),
        "single-agent (3)": (100, 0.375),
    }
    [panel] = drawn(figures(workbench)["Cost against pass rate"]).panels
    names = [line.name for line in panel.lines]
    assert names == ["plait: no gates (3)", "plait: planner threshold 7.0 (3)", "react (8)"]


def test_gates_that_a_benchmark_does_not_have_are_no_figures(srdd: Path, workbench: Path) -> None:
    assert "Threshold of the phase gate" in figures(srdd)
    assert "Threshold of the planner gate" not in figures(srdd)
    keep(workbench, "plait-0000000e", True)
    figure = drawn(figures(workbench)["Threshold of the planner gate"])
    assert [point.x for point in figure.panels[0].lines[0].points] == [7, 9]


def test_scores_are_counted_by_role(workbench: Path) -> None:
    def gated(role: str, score: float | None, threshold: float = 8.0) -> Record:
        event = Gated(
            role=role,
            attempt=1,
            score=score,
            threshold=threshold,
            critique="",
            problems=[],
            verdict="passed",
            output=None,
        )
        return Record(run_id="r", sequence=1, path="run!1", revision=0, epoch=1, at=0.0, event=event)

    assert "no run of plait on record" in why(figures(workbench)["Distribution of scores"])
    records = [gated("planner", 9, 9.0), gated("tool", 10), gated("tool", 8), gated("tool", None)]
    figure = drawn(figures(workbench, records)["Distribution of scores"])
    tool, planner = figure.panels
    assert (tool.y, planner.y, planner.marks) == ("tool", "planner", [9.0])
    assert [point.y.value for point in tool.lines[0].points] == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_each_kind_of_figure_is_a_picture_that_fits_its_lines() -> None:
    points = [Point(x=x, y=SURE, tasks=3) for x in (1.0, 2.0)]
    unsure = [Point(x=1.0, y=Interval(value=0.5, low=float("-inf"), high=float("inf")), tasks=1)]
    panel = Panel(
        y="quality", lines=[Line(name="a_b", points=points), Line(name="c", points=unsure)], best=1.0
    )
    lines = Figure(name="n", title="T", x="x", panels=[panel, Panel(y="tokens", lines=panel.lines)])
    bars = Figure(
        name="n", title="T", x="x", kind="bars", panels=[Panel(y="r", lines=panel.lines, marks=[8.0])]
    )
    many = [Line(name=f"plait: {'word ' * 11}{number}", points=points[:1]) for number in range(20)]
    few = Figure(name="n", title="T", x="x", kind="points", panels=[Panel(y="q", lines=many[:2], best=1.0)])
    crowd = Figure(name="n", title="T", x="x", kind="points", panels=[Panel(y="q", lines=many, best=1.0)])
    assert size(draw(lines))[1] > size(draw(bars))[1]
    assert size(draw(crowd))[1] > size(draw(few))[1]
    assert size(draw(crowd))[0] == size(draw(lines))[0]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "data", "srcset")]


def test_the_page_needs_no_other_file_and_shows_what_it_was_told_as_text(tmp_path: Path, srdd: Path) -> None:
    keep(srdd, "plait-000000aa", 0.5, said={"model": "<b>m</b>"})
    report = make_report(SRDD, srdd, tmp_path / "new" / "report")
    text = report.page.read_text(encoding="utf-8")
    links = _Links()
    links.feed(text)
    assert len(links.found) == len(report.pictures) == 2
    assert all(link.startswith("data:image/png;base64,") for link in links.found)
    assert not re.search(r"https?://|url\(|@import|<script", text)
    assert "<b>m</b>" not in text
    assert "&lt;b&gt;m" in text
    assert "no two results differ in --rounds alone" in text
    assert sorted(path.name for path in report.pictures) == ["cost.png", "teams.png"]
    assert all(path.read_bytes().startswith(PNG) for path in report.pictures)


def test_the_command_says_where_it_is_and_what_is_missing(
    workbench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", "report", "workbench", "--kept", str(workbench)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        str(workbench / "report" / "cost.png"),
        str(workbench / "report" / "report.html"),
    ]
    assert "not drawn: Teams against quality: no two results differ in --teams alone" in said.err
    assert run(["bench", "report", "workbench", "--kept", str(workbench)]) == 0  # Written over.


def test_what_cannot_be_is_one_line(
    tmp_path: Path, workbench: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["bench", "report", "workbench", "--kept", str(tmp_path)]) == 2
    assert f"nothing is kept in {str(tmp_path)!r}: run plait bench workbench" in capsys.readouterr().err
    assert run(["bench", "report", "workbench", "--kept", str(workbench), "--out", __file__]) == 2
    assert "cannot be written" in capsys.readouterr().err
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["bench", "report", "workbench", "--kept", str(workbench)]) == 2
    assert capsys.readouterr().err == "plait: drawing figures needs matplotlib: pip install 'plait[report]'\n"


def test_a_file_that_says_not_what_it_is_of_is_refused(workbench: Path) -> None:
    beside = workbench / "react-0000000a.json"
    beside.write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=r"does not say what react-0000000a\.jsonl is of"):
        read_kept(WORKBENCH, workbench)
    beside.unlink()
    with pytest.raises(UserError, match="cannot be read"):
        read_kept(WORKBENCH, workbench)


def test_labels_tell_what_is_unusual_and_which_model_where_there_are_several(workbench: Path) -> None:
    keep(workbench, "plait-0000000e", True, said={"model": "other:m"}, data="x")
    keep(workbench, "plait-0000000f", True, said={"model": "other:m"}, data="y")
    labels = dict(
        zip((k.file.stem for k in read_kept(WORKBENCH, workbench)), _labels(workbench), strict=True)
    )
    assert labels["gold-0000000d"] == "gold"
    assert labels["plait-0000000e"] == "plait: model other:m (0000000e)"
    assert labels["plait-0000000b"] == "plait: model local:qwen2.5-coder-1.5b, no gates"


def _labels(folder: Path) -> Sequence[str]:
    return labels_of(WORKBENCH, read_kept(WORKBENCH, folder))
