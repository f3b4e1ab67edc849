"""The schema of a run's answer, from a type or a file.

Knows nothing of how an answer is written.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from plait.errors import UserError
from plait.models.schema import self_reference
from plait.tools.arguments import inline


def read_schema(file: str | Path) -> dict[str, Any]:
    """Return the JSON schema for answers that a file holds.

    Raises:
        UserError: the file cannot be read, or holds no JSON schema.
    """
    try:
        schema: Any = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--returns {str(file)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"--returns {str(file)!r} is no JSON: {error}") from error
    return schema_of_answer(schema)


def schema_of_answer(value: Any) -> dict[str, Any]:
    """Return a JSON schema for answers, without references.

    This is the one place where a type or a file becomes the schema of a run's answer. It is recorded
    with the run and nested into larger schemas, where a reference would lead elsewhere.

    Raises:
        UserError: it is no JSON schema, or one without an end.
    """
    # A tenth of a second to import, which runs with an answer in words need not pay.
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(value, Mapping):
        raise UserError(f"the schema of the answer must be a JSON object, not {value!r}")
    schema = cast("Mapping[str, Any]", value)
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        raise UserError(f"the schema of the answer is no JSON schema: {error.message}") from error
    if reference := self_reference(schema):
        raise UserError(
            f"the schema of the answer contains itself ({reference!r}): give each level a type of its own"
        )
    return inline(schema)
