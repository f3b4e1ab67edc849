"""Reads an OpenAPI 3 document: every operation becomes a tool.

Knows nothing of HTTP itself: what an operation needs for its call is handed to `openapi_calls`. GET,
HEAD and OPTIONS only read, all other methods count as changing the world. Operations whose body is
neither JSON nor a form are left out.
"""

import contextlib
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from plait.errors import UserError
from plait.tools.arguments import distinct_name, identifier, inline
from plait.tools.openapi_calls import Caller, Credential, Field, Operation
from plait.tools.openapi_schemas import Object, as_object, as_schema, merged, modern
from plait.tools.tool import Tool

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
READING_METHODS = frozenset({"get", "head", "options"})
MAX_DESCRIPTION_CHARACTERS = 1_000
_FORM = "application/x-www-form-urlencoded"


def openapi_tools(document: Object, *, source: str, location: str, caller: Caller) -> list[Tool]:
    """Make a tool of every operation.

    Args:
        document: The document, read.
        source: The document as the user named it.
        location: Its own address where it was fetched from one, else "".
        caller: Makes the calls.

    Raises:
        UserError: not OpenAPI 3, no server address, or an operation that cannot be read.
    """
    version = str(document.get("openapi", ""))
    if not version.startswith("3."):
        found = version or document.get("swagger", "none")
        raise UserError(f"{source}: needs an OpenAPI 3 document, not version {found!r}; convert it first")
    reader = _Reader(document, source, location)
    tools: dict[str, Tool] = {}
    for operation, parameters in reader.operations():
        name = distinct_name(operation.name, tools)
        tools[name] = reader.tool(replace(operation, name=name), parameters, caller)
    return list(tools.values())


class _Reader:
    """Reads one document."""

    def __init__(self, document: Object, source: str, location: str) -> None:
        self._document = document
        self._source = source
        self._location = location

    def operations(self) -> Iterator[tuple[Operation, Object]]:
        """Yield every operation with the schema of its parameters."""
        with self._reading("its list of paths"):
            paths = as_object(self._document.get("paths"))
        for path, item in paths.items():
            with self._reading(f"path {path!r}"):
                shared = self._resolved(item)
            for method in METHODS:
                found = shared.get(method)
                if not isinstance(found, Mapping):
                    continue
                with self._reading(f"{method.upper()} {path}"):
                    read = self._operation(method, str(path), shared, cast("Object", found))
                if read is not None:
                    yield read

    @contextlib.contextmanager
    def _reading(self, what: str) -> Generator[None]:
        try:
            yield
        except KeyError as exc:
            raise UserError(f"{self._source}: {what} cannot be read: {exc} is missing") from exc
        except (TypeError, AttributeError, LookupError, ValueError) as exc:
            raise UserError(f"{self._source}: {what} cannot be read: {exc}") from exc

    def tool(self, operation: Operation, parameters: Object, caller: Caller) -> Tool:
        """Make the tool of one operation."""

        async def run(arguments: Mapping[str, Any]) -> Any:
            return await caller.call(operation, arguments)

        return Tool(
            name=operation.name,
            description=operation.description,
            parameters=parameters,
            effect="reads" if operation.method in READING_METHODS else "changes",
            run=run,
            source=self._source,
        )

    def _operation(
        self, method: str, path: str, shared: Object, found: Object
    ) -> tuple[Operation, Object] | None:
        fields: list[Field] = []
        properties: dict[str, Any] = {}
        required: list[str] = []

        def add(field: Field, schema: Object, *, is_required: bool) -> None:
            fields.append(field)
            properties[field.name] = schema
            if is_required:
                required.append(field.name)

        for parameter in self._parameters(shared, found):
            if parameter["in"] == "cookie":
                continue
            name = _free(identifier(parameter["name"]), properties)
            add(
                _parameter_field(parameter, name),
                self._parameter_schema(parameter),
                is_required=bool(parameter.get("required")) or parameter["in"] == "path",
            )
        body = self._resolved(found.get("requestBody"))
        kind, schema = self._body(body)
        if body and not kind:
            return None
        for wire_name, place, member, is_required in _members(schema, required=bool(body.get("required"))):
            name = _free(identifier(wire_name), properties, "body_")
            add(Field(name=name, wire_name=wire_name, place=place), member, is_required=is_required)
        name = identifier(str(found.get("operationId") or f"{method}_{path.strip('/')}"))
        operation = Operation(
            name=name,
            description=_description(found),
            method=method,
            url=self._server(found, shared) + path,
            fields=fields,
            body_type=kind,
            credentials=self._credentials(found),
        )
        return operation, {"type": "object", "properties": properties, "required": required}

    def _parameters(self, shared: Object, found: Object) -> list[Object]:
        """Return the parameters of a path and an operation; the operation's win."""
        every = [*(shared.get("parameters") or ()), *(found.get("parameters") or ())]
        resolved = (self._resolved(parameter) for parameter in every)
        return list({(parameter["name"], parameter["in"]): parameter for parameter in resolved}.values())

    def _parameter_schema(self, parameter: Object) -> dict[str, Any]:
        content = as_object(parameter.get("content"))
        within: object = next(iter(content.values())) if content else parameter
        schema = self._schema(as_object(within).get("schema"))
        if parameter.get("description"):
            schema["description"] = _line(parameter["description"])
        return schema

    def _body(self, body: Object) -> tuple[str, dict[str, Any]]:
        """Return the content type to send and its schema; "" where there is none we can send."""
        for kind, media in as_object(body.get("content")).items():
            plain = kind.split(";")[0].strip().lower()
            if plain in ("application/json", _FORM, "*/*", "application/*") or plain.endswith("+json"):
                sent = "application/json" if "*" in plain else plain
                return sent, merged(self._schema(as_object(media).get("schema")))
        return "", {}

    def _schema(self, schema: object) -> dict[str, Any]:
        return cast("dict[str, Any]", modern(inline(as_schema(schema), self._document)))

    def _resolved(self, value: object) -> Object:
        """Follow the reference a path item, parameter or body may be."""
        node = as_object(value)
        return inline(node, self._document) if "$ref" in node else node

    def _server(self, found: Object, shared: Object) -> str:
        servers = (
            found.get("servers") or shared.get("servers") or self._document.get("servers") or [{"url": "/"}]
        )
        server = as_object(servers[0])
        url = str(server.get("url", "/"))
        for name, variable in as_object(server.get("variables")).items():
            url = url.replace(f"{{{name}}}", str(as_object(variable).get("default", "")))
        url = urljoin(self._location, url)
        if urlsplit(url).scheme not in ("http", "https"):
            raise UserError(f'{self._source}: names no http address; add it under "servers"')
        return url.rstrip("/")

    def _credentials(self, found: Object) -> list[list[Credential]]:
        """Return the alternatives, each a list of what is needed together."""
        schemes = as_object(as_object(self._document.get("components")).get("securitySchemes"))
        wanted = cast("list[object]", found.get("security", self._document.get("security")) or [])
        return [
            [self._credential(name, self._resolved(schemes.get(name))) for name in as_object(alternative)]
            for alternative in wanted
        ]

    def _credential(self, name: str, scheme: Object) -> Credential:
        kind = str(scheme.get("type", ""))
        place, sent_as = "header", "Authorization"
        prefix = "basic" if str(scheme.get("scheme", "")).lower() == "basic" else "bearer"
        if kind == "apiKey":
            place, sent_as, prefix = str(scheme.get("in", "header")), str(scheme.get("name", "")), ""
        return Credential(
            variable=variable_name(self._source, name), place=place, name=sent_as, prefix=prefix
        )


def variable_name(source: str, scheme: str) -> str:
    """Name the environment variable that holds the secret of a security scheme.

    `PLAIT_`, then the document's file name without its ending (or its host), then the scheme's name, in
    capitals: `pets.yaml` with the scheme `apiKey` reads `PLAIT_PETS_APIKEY`. The prefix keeps a
    document from asking for any other secret of the environment.
    """
    address = urlsplit(source)
    stem = (
        address.hostname
        if address.scheme in ("http", "https")
        else re.sub(r"\.\w+$", "", source.split("/")[-1])
    )
    return re.sub(r"\W+", "_", f"PLAIT_{stem}_{scheme}", flags=re.ASCII).upper()


def _parameter_field(parameter: Object, name: str) -> Field:
    place = str(parameter["in"])
    style = str(parameter.get("style") or ("form" if place == "query" else "simple"))
    return Field(
        name=name,
        wire_name=str(parameter["name"]),
        place=place,
        style="json" if parameter.get("content") else style,
        explode=bool(parameter.get("explode", style in ("form", "deepObject"))),
    )


def _members(schema: Object, *, required: bool) -> Iterator[tuple[str, str, Object, bool]]:
    """Yield name, place, schema and whether it must be given, for each part of a body."""
    properties = as_object(schema.get("properties"))
    if not properties:
        if schema or required:
            yield "body", "whole_body", schema, required
        return
    needed = cast("list[str]", schema.get("required") or [])
    for name, member in properties.items():
        # `false` is the schema of what must not be given.
        if member is not False and not as_schema(member).get("readOnly"):
            yield str(name), "body", as_schema(member), name in needed


def _description(found: Object) -> str:
    parts = [_line(found.get(key, "")).rstrip(".") for key in ("summary", "description")]
    text = ". ".join(dict.fromkeys(part for part in parts if part))
    return text[:MAX_DESCRIPTION_CHARACTERS]


def _free(name: str, taken: Mapping[str, Any], prefix: str = "the_") -> str:
    while name in taken:
        name = prefix + name
    return name


def _line(text: object) -> str:
    return " ".join(str(text).split())
