"""Reads JSON and YAML documents from files and addresses, with one clear line for what is wrong.

Knows nothing of what the documents mean.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from plait.errors import UserError

if TYPE_CHECKING:
    import yaml

FETCH_SECONDS = 30.0
MAX_DOCUMENT_BYTES = 20_000_000


def read_document(file: Path) -> Mapping[str, Any]:
    """Read a JSON or YAML file, by its ending.

    Raises:
        UserError: missing, unreadable, malformed (with its line), or not an object.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise UserError(f"{file}: there is no such file") from exc
    except UnicodeDecodeError as exc:
        raise UserError(f"{file}: is not text in UTF-8") from exc
    except OSError as exc:
        raise UserError(f"{file}: cannot be read: {exc.strerror or exc}") from exc
    return parse_document(text, str(file), is_json=file.suffix == ".json")


async def fetch_document(url: str) -> Mapping[str, Any]:
    """Fetch a JSON or YAML document.

    Raises:
        UserError: cannot be fetched in time, too large, malformed, or not an object.
    """
    import aiohttp

    try:
        limit = aiohttp.ClientTimeout(total=FETCH_SECONDS)
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url) as response:
            if response.status != 200:
                raise UserError(f"{url}: HTTP {response.status} {response.reason}; check the address")
            data = await response.content.read(MAX_DOCUMENT_BYTES + 1)
            while len(data) <= MAX_DOCUMENT_BYTES and (
                more := await response.content.read(MAX_DOCUMENT_BYTES)
            ):
                data += more
    except TimeoutError as exc:
        raise UserError(f"{url}: no answer within {FETCH_SECONDS:g} seconds") from exc
    except (aiohttp.ClientError, ValueError) as exc:
        raise UserError(f"{url}: cannot be fetched: {' '.join(str(exc).split())}") from exc
    if len(data) > MAX_DOCUMENT_BYTES:
        raise UserError(f"{url}: is larger than {MAX_DOCUMENT_BYTES} bytes")
    text = data.decode("utf-8", "replace")
    return parse_document(text, url, is_json=text.lstrip().startswith("{"))


def parse_document(text: str, where: str, *, is_json: bool) -> Mapping[str, Any]:
    """Parse an object.

    Raises:
        UserError: malformed, with the line, or not an object.
    """
    import yaml

    try:
        value: object = json.loads(text) if is_json else yaml.load(text, Loader=_plain_loader())
    except json.JSONDecodeError as exc:
        raise UserError(f"{where}:{exc.lineno}: is not JSON: {exc.msg}") from exc
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(exc, "problem", None) or " ".join(str(exc).split())
        raise UserError(f"{where}{line}: is not YAML: {problem}") from exc
    except RecursionError as exc:
        raise UserError(f"{where}: is nested too deep to be read") from exc
    if not isinstance(value, dict):
        raise UserError(f"{where}: must hold an object at its top, not {type(value).__name__}")
    return cast("dict[str, Any]", value)


def _plain_loader() -> "type[yaml.SafeLoader]":
    """Return a safe loader that leaves dates as the text they are, as JSON would."""
    import yaml

    # The loader in C, where there is one: large documents take minutes without.
    base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class PlainLoader(base):
        pass

    PlainLoader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return PlainLoader
