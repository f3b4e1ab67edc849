"""Website analytics: counts and means per day, and a record of plots asked for.

Knows nothing of drawing: a plot is only a line in a table. Days without any visit do not occur.
"""

from collections.abc import Callable, Mapping, Sequence

from plait.tools.office.declaration import Declaration, OfficeAnswer, choice, one_of, text
from plait.tools.office.moments import bounds
from plait.tools.office.tables import Office, Row, visits

_VALUES = (
    "total_visits",
    "session_duration_seconds",
    "user_engaged",
    "visits_direct",
    "visits_referral",
    "visits_search_engine",
    "visits_social_media",
)
_PLOT_TYPES = ("bar", "line", "scatter", "histogram")
_SOURCES = ("direct", "referral", "search engine", "social media")


def get_visitor_information_by_id(office: Office, visitor_id: str | None = None) -> OfficeAnswer:
    """Return all visits of a visitor."""
    if not visitor_id:
        return "Visitor ID not provided."
    return [dict(visit) for visit in visits() if visit["visitor_id"] == visitor_id] or "Visitor not found."


def create_plot(
    office: Office,
    time_min: str | None = None,
    time_max: str | None = None,
    value_to_plot: str | None = None,
    plot_type: str | None = None,
) -> OfficeAnswer:
    """Record a plot and return its file's name."""
    if not time_min:
        return "Start date not provided."
    if not time_max:
        return "End date not provided."
    if value_to_plot not in _VALUES:
        return f"Value to plot must be {one_of(_VALUES)}."
    if plot_type not in _PLOT_TYPES:
        return f"Plot type must be {one_of(_PLOT_TYPES)}."
    file_path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
    office.plots.append((file_path,))
    return file_path


def total_visits_count(
    office: Office, time_min: str | None = None, time_max: str | None = None
) -> OfficeAnswer:
    """Return the number of visits of every day."""
    return _per_day(time_min, time_max, _count(lambda visit: True))


def engaged_users_count(
    office: Office, time_min: str | None = None, time_max: str | None = None
) -> OfficeAnswer:
    """Return the number of engaged visits of every day."""
    return _per_day(time_min, time_max, _count(lambda visit: visit["user_engaged"] == "True"))


def traffic_source_count(
    office: Office,
    time_min: str | None = None,
    time_max: str | None = None,
    traffic_source: str | None = None,
) -> OfficeAnswer:
    """Return the number of visits of every day from one source, or from all."""
    if traffic_source and traffic_source not in _SOURCES:
        return f"Traffic source must be {one_of(_SOURCES)}."
    return _per_day(
        time_min,
        time_max,
        _count(lambda visit: not traffic_source or visit["traffic_source"] == traffic_source),
    )


def get_average_session_duration(
    office: Office, time_min: str | None = None, time_max: str | None = None
) -> OfficeAnswer:
    """Return the mean duration in seconds of every day's visits."""
    return _per_day(time_min, time_max, _mean_duration)


def _count(counts: Callable[[Row], bool]) -> Callable[[Sequence[Row]], int]:
    return lambda day: sum(counts(visit) for visit in day)


def _mean_duration(day: Sequence[Row]) -> float:
    return sum(float(visit["session_duration_seconds"]) for visit in day) / len(day)


def _per_day(
    time_min: str | None, time_max: str | None, measure: Callable[[Sequence[Row]], float]
) -> OfficeAnswer:
    within = bounds(by_day=True, time_min=time_min, time_max=time_max)
    if isinstance(within, str):
        return within
    days: dict[str, list[Row]] = {}
    for visit in visits():
        if within.admit(visit["date_of_visit"]):
            days.setdefault(visit["date_of_visit"], []).append(visit)
    return {day: measure(days[day]) for day in sorted(days)} or "No visits found."


_DAYS: Mapping[str, Mapping[str, str]] = {
    "time_min": text('first day, "YYYY-MM-DD"'),
    "time_max": text('last day, "YYYY-MM-DD"'),
}

TOOLS = (
    Declaration(
        name="analytics.get_visitor_information_by_id",
        description="Read all visits of one website visitor.",
        function=get_visitor_information_by_id,
        parameters={"visitor_id": text("4-digit visitor id")},
        required=("visitor_id",),
    ),
    Declaration(
        name="analytics.create_plot",
        description="Make a plot of one website measure per day; returns the file's name.",
        function=create_plot,
        parameters={
            **_DAYS,
            "value_to_plot": choice("what to plot", _VALUES),
            "plot_type": choice("kind of plot", _PLOT_TYPES),
        },
        required=("time_min", "time_max", "value_to_plot", "plot_type"),
        effect="changes",
    ),
    Declaration(
        name="analytics.total_visits_count",
        description="Count website visits per day.",
        function=total_visits_count,
        parameters=_DAYS,
    ),
    Declaration(
        name="analytics.engaged_users_count",
        description="Count engaged website users per day.",
        function=engaged_users_count,
        parameters=_DAYS,
    ),
    Declaration(
        name="analytics.traffic_source_count",
        description="Count website visits per day that came from one traffic source.",
        function=traffic_source_count,
        parameters={**_DAYS, "traffic_source": choice("source; all visits without it", _SOURCES)},
    ),
    Declaration(
        name="analytics.get_average_session_duration",
        description="Average length of a website session per day, in seconds.",
        function=get_average_session_duration,
        parameters=_DAYS,
    ),
)
