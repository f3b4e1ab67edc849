"""Replays the gold calls of WorkBench tasks and holds the tables against an oracle of its own.

The oracle shares no code with the tools: it reads the packaged CSV files and edits rows and cells as
the arguments of each call say. All tasks that ship with the tests are replayed, and those under the
folder that PLAIT_WORKBENCH_DATA names (with `queries_and_answers/*.csv`), where it is set.
"""

import ast
import csv
import os
from importlib import resources
from pathlib import Path

import pytest

from plait.bench.workbench import WorkbenchTask, load_tasks, replay

SHIPPED = Path(__file__).parent / "data" / "workbench"
START = Path(str(resources.files("plait.tools.office"))) / "data"
KEYS = {
    "calendar_events": "event_id",
    "emails": "email_id",
    "project_tasks": "task_id",
    "customers": "customer_id",
    "plots": "file_path",
}
AREAS = {
    "calendar": "calendar_events",
    "email": "emails",
    "project_management": "project_tasks",
    "customer_relationship_manager": "customers",
}
ADDRESS_COLUMNS = {"participant_email", "assigned_to_email", "customer_email", "sender/recipient"}

Table = list[dict[str, str]]
Change = tuple[str, str, str]
"""Table, id and what happened: a column, `added` or `deleted`."""


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the waiting for the disk: what survives a power cut is not looked at here."""

    def leave(descriptor: int) -> None:
        return None

    monkeypatch.setattr(os, "fsync", leave)


def sources() -> list[Path]:
    named = os.environ.get("PLAIT_WORKBENCH_DATA")
    return [SHIPPED, *([Path(named) / "queries_and_answers"] if named else [])]


def files() -> list[Path]:
    return [path for source in sources() for path in sorted(source.glob("*.csv"))]


def start_table(name: str) -> Table:
    if name == "plots":
        return []
    with (START / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


STARTS = {name: start_table(name) for name in KEYS}


def read_back(folder: Path) -> dict[str, Table]:
    tables = dict(STARTS)
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return tables


def parsed(call: str) -> tuple[str, str, dict[str, str]]:
    area, _, rest = call.partition(".")
    operation, _, arguments = rest.partition(".func(")
    tree = ast.parse(f"f({arguments}", mode="eval").body
    assert isinstance(tree, ast.Call)
    return area, operation, {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}


class Oracle:
    """Plain tables, edited as calls say; remembers the rows and cells that the calls name anew."""

    def __init__(self) -> None:
        self.tables = dict(STARTS)
        self.named: set[Change] = set()

    def apply(self, call: str) -> None:
        area, operation, arguments = parsed(call)
        if operation == "create_plot":
            self._own("plots")
            order = ("time_min", "time_max", "value_to_plot", "plot_type")
            self._add("plots", {"file_path": f"plots/{'_'.join(arguments[name] for name in order)}.png"})
            return
        if area in ("analytics", "company_directory"):
            return
        table = AREAS[area]
        self._own(table)
        verb = operation.split("_")[0]
        if verb == "delete":
            row_id = arguments[KEYS[table]]
            self.tables[table] = [row for row in self.tables[table] if row[KEYS[table]] != row_id]
            self.named.add((table, row_id, "deleted"))
        elif verb == "update":
            row = self._row(table, arguments[KEYS[table]])
            column, value = arguments["field"], arguments["new_value"]
            if row[column] != value:
                self.named.add((table, row[KEYS[table]], column))
            row[column] = value.lower() if column in ADDRESS_COLUMNS else value
        elif verb in ("create", "add"):
            self._add(table, {**arguments, KEYS[table]: f"{self._next(table):08d}"})
        elif verb in ("send", "forward", "reply"):
            self._send(verb, arguments)

    def _send(self, verb: str, arguments: dict[str, str]) -> None:
        old = self._row("emails", arguments["email_id"]) if verb != "send" else {}
        sent = {
            "send": lambda: (arguments["recipient"], arguments["subject"], arguments["body"]),
            "forward": lambda: (arguments["recipient"], "FW: " + old["subject"], old["body"]),
            "reply": lambda: (old["sender/recipient"], old["subject"], arguments["body"]),
        }[verb]()
        row = dict(zip(("sender/recipient", "subject", "body"), sent, strict=True))
        row |= {"inbox/outbox": "outbox", "sent_datetime": "2023-11-30 00:00:00"}
        self._add("emails", {**row, "email_id": str(self._next("emails"))})

    def _own(self, table: str) -> None:
        if self.tables[table] is STARTS[table]:
            self.tables[table] = [dict(row) for row in STARTS[table]]

    def _row(self, table: str, row_id: str) -> dict[str, str]:
        (row,) = [row for row in self.tables[table] if row[KEYS[table]] == row_id]
        return row

    def _next(self, table: str) -> int:
        return max(int(row[KEYS[table]]) for row in self.tables[table]) + 1

    def _add(self, table: str, row: dict[str, str]) -> None:
        columns = STARTS[table][0] if table != "plots" else ["file_path"]
        cells = {column: row.get(column, "") for column in columns}
        self.tables[table].append(
            {name: cell.lower() if name in ADDRESS_COLUMNS else cell for name, cell in cells.items()}
        )
        self.named.add((table, row[KEYS[table]], "added"))


def changes(tables: dict[str, Table]) -> set[Change]:
    """Every row and cell in which the tables differ from the start."""
    found: set[Change] = set()
    for name in [name for name in KEYS if tables[name] is not STARTS[name]]:
        key = KEYS[name]
        before = {row[key]: row for row in STARTS[name]}
        after = {row[key]: row for row in tables[name]}
        found |= {(name, row_id, "deleted") for row_id in before.keys() - after.keys()}
        found |= {(name, row_id, "added") for row_id in after.keys() - before.keys()}
        found |= {
            (name, row_id, column)
            for row_id in before.keys() & after.keys()
            for column in before[row_id]
            if before[row_id][column] != after[row_id][column]
        }
    return found


def test_the_sample_is_whole() -> None:
    tasks = load_tasks(SHIPPED)

    assert len(tasks) == 280
    assert len({task.template for task in tasks}) == 28
    assert sum(len(task.gold) for task in tasks) == 342
    assert sum(not task.gold for task in tasks) == 33


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_gold_calls_change_exactly_what_they_name(path: Path, tmp_path: Path) -> None:
    tasks = load_tasks(path)
    assert tasks

    wrong = [task.query for task in tasks if not follows(task, tmp_path / str(task.index))]

    assert wrong == []


def follows(task: WorkbenchTask, folder: Path) -> bool:
    replay(task.gold, folder)
    tables = read_back(folder)
    oracle = Oracle()
    for call in task.gold:
        oracle.apply(call)
    return tables == oracle.tables and changes(tables) == oracle.named


def test_the_oracle_tells_a_wrong_cell(tmp_path: Path) -> None:
    (task, *_) = [task for task in load_tasks(SHIPPED) if task.gold]
    oracle = Oracle()
    oracle.apply(task.gold[0])

    replay(task.gold, tmp_path)
    assert changes(read_back(tmp_path)) == oracle.named
    replay(['calendar.update_event.func(event_id="00000001", field="duration", new_value="7")'], tmp_path)
    assert changes(read_back(tmp_path)) == oracle.named | {("calendar_events", "00000001", "duration")}
