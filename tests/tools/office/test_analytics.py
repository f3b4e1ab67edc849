"""The analytics tools at their edges, with counts taken anew from the packaged visits."""

import csv
from collections import Counter
from importlib import resources

import pytest

from plait.tools.office import Office, analytics


def visits() -> list[dict[str, str]]:
    text = resources.files("plait.tools.office").joinpath("data/analytics_data.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_counts_per_day_cover_all_visits_without_bounds(office: Office) -> None:
    counts = analytics.total_visits_count(office)
    assert counts == Counter(visit["date_of_visit"] for visit in visits())
    assert isinstance(counts, dict)
    assert list(counts) == sorted(counts)


def test_days_are_inclusive(office: Office) -> None:
    days = analytics.total_visits_count(office, "2023-10-01", "2023-10-03")
    assert isinstance(days, dict)
    assert list(days) == ["2023-10-01", "2023-10-02", "2023-10-03"]
    one = analytics.total_visits_count(office, time_min="2023-10-02 12:00:00", time_max="2023-10-02")
    assert one == {"2023-10-02": days["2023-10-02"]}


def test_engaged_visits_are_counted_and_none_is_zero(office: Office) -> None:
    counts = analytics.engaged_users_count(office)
    expected = Counter({visit["date_of_visit"]: 0 for visit in visits()})
    expected.update(visit["date_of_visit"] for visit in visits() if visit["user_engaged"] == "True")
    assert counts == dict(expected)


@pytest.mark.parametrize("source", ["direct", "referral", "search engine", "social media"])
def test_visits_from_a_source(office: Office, source: str) -> None:
    counts = analytics.traffic_source_count(office, "2023-11-01", "2023-11-29", source)
    assert isinstance(counts, dict)
    for day, count in counts.items():
        same_day = [visit for visit in visits() if visit["date_of_visit"] == day]
        assert count == sum(visit["traffic_source"] == source for visit in same_day)
    assert 0 in counts.values() or source in ("direct", "social media")


def test_without_a_source_all_visits_count(office: Office) -> None:
    assert analytics.traffic_source_count(office) == analytics.total_visits_count(office)
    assert analytics.traffic_source_count(office, traffic_source="radio") == (
        "Traffic source must be direct, referral, search engine or social media."
    )


def test_the_mean_duration_of_a_day(office: Office) -> None:
    seconds = [int(v["session_duration_seconds"]) for v in visits() if v["date_of_visit"] == "2023-10-02"]
    answer = analytics.get_average_session_duration(office, "2023-10-02", "2023-10-02")
    assert answer == {"2023-10-02": pytest.approx(sum(seconds) / len(seconds))}


@pytest.mark.parametrize(
    "tool",
    [
        analytics.total_visits_count,
        analytics.engaged_users_count,
        analytics.traffic_source_count,
        analytics.get_average_session_duration,
    ],
)
def test_days_without_visits_are_said_in_words(office: Office, tool: object) -> None:
    assert callable(tool)
    assert tool(office, "2023-12-01", "2023-12-24") == "No visits found."
    assert tool(office, "2023-10-03", "2023-10-01") == "No visits found."
    assert tool(office, "last week") == "time_min must be written as YYYY-MM-DD, not 'last week'."


def test_a_visitor_by_id(office: Office) -> None:
    expected = [visit for visit in visits() if visit["visitor_id"] == "0860"]
    assert expected
    assert analytics.get_visitor_information_by_id(office, "0860") == expected
    assert analytics.get_visitor_information_by_id(office, "860") == "Visitor not found."
    assert analytics.get_visitor_information_by_id(office) == "Visitor ID not provided."


def test_a_plot_is_recorded_under_its_name(office: Office) -> None:
    name = analytics.create_plot(office, "2023-10-01", "2023-11-01", "visits_search_engine", "bar")
    assert name == "plots/2023-10-01_2023-11-01_visits_search_engine_bar.png"
    assert [dict(row) for row in office.plots.rows] == [{"file_path": name}]


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ((None, "2023-11-01", "total_visits", "bar"), "Start date not"),
        (("2023-10-01", "", "total_visits", "bar"), "End date not"),
        (("2023-10-01", "2023-11-01", "visits", "bar"), "Value to plot must be total_visits,"),
        (("2023-10-01", "2023-11-01", None, "bar"), "Value to plot must be total_visits,"),
        (("2023-10-01", "2023-11-01", "total_visits", "pie"), "Plot type must be bar,"),
    ],
)
def test_a_plot_that_cannot_be_is_refused(
    office: Office, arguments: tuple[str | None, ...], start: str
) -> None:
    answer = analytics.create_plot(office, *arguments)
    assert isinstance(answer, str)
    assert answer.startswith(start)
    assert len(office.plots.rows) == 0
