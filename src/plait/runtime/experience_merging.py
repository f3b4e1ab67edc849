"""Makes one of records that were kept beside each other, as they call the same tools in another order.

For the migration that lets only one of them be: it reads and writes columns by name, as later schemas may
have others. Knows nothing of searches.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from plait.errors import LogError
from plait.experience.record import Experience
from plait.runtime.experience_codec import identity, to_experience
from plait.runtime.experience_rules import merged, worth

if TYPE_CHECKING:
    from sqlalchemy import Connection

_COUNTS = ("uses", "successes", "failures", "last_used")


def merge_orders(connection: "Connection") -> None:
    """Give every record the identity that it has now, and merge those that have the same.

    What cannot be read stays as it is: it is shown, and forgotten by the user.
    """
    alike: dict[str, list[Experience]] = defaultdict(list)
    found = connection.exec_driver_sql("SELECT * FROM experiences ORDER BY id").mappings()
    for row in found:
        try:
            record = to_experience({**row, "vector": None})
        except LogError:
            continue
        alike[identity(record)].append(record)
    for name, records in alike.items():
        _keep_one(connection, name, records)


def _keep_one(connection: "Connection", name: str, records: Sequence[Experience]) -> None:
    kept = reduce(merged, records)
    for record in records:
        if record.id != kept.id:
            _execute(connection, "DELETE FROM experiences WHERE id = {id}", id=record.id)
    values: dict[str, Any] = {field: getattr(kept, field) for field in _COUNTS}
    columns = ", ".join(f"{field} = {{{field}}}" for field in (*_COUNTS, "identity", "worth"))
    _execute(
        connection,
        f"UPDATE experiences SET {columns} WHERE id = {{id}}",
        id=kept.id,
        identity=name,
        worth=worth(kept),
        **values,
    )


def _execute(connection: "Connection", statement: str, **values: Any) -> None:
    from sqlalchemy import text

    connection.execute(text(statement.format_map({name: f":{name}" for name in values})), values)
