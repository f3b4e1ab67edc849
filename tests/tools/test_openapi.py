"""OpenAPI documents against a real local HTTP service."""

import base64
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from plait.errors import ToolError, UserError
from plait.tools.arguments import argument_check
from plait.tools.openapi import variable_name
from plait.tools.sources import open_tools
from plait.tools.tool import OutcomeUnknown, Tool

ANY_LIST = {"type": "array", "items": True}
DOCUMENT = Path(__file__).parent / "data" / "pets.yaml"


class Service:
    """Remembers what it was asked and answers as the test says."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: dict[str, Any] = {}
        self.answer: web.Response | None = None
        self.hangs_up = False

    async def handle(self, request: web.Request) -> web.Response:
        if request.path == "/openapi.yaml":
            return web.Response(text=DOCUMENT.read_text().replace("http://SERVICE", ""))
        self.seen = {
            "method": request.method,
            "path": request.raw_path,
            "headers": request.headers,
            "body": await request.text(),
        }
        if self.hangs_up and request.transport is not None:
            request.transport.close()
        return self.answer or web.json_response({"ok": True})


@pytest.fixture
async def service() -> AsyncGenerator[Service]:
    made = Service()
    application = web.Application()
    application.router.add_route("*", "/{rest:.*}", made.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def pets(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[dict[str, Tool]]:
    monkeypatch.setenv("PLAIT_PETS_TOKEN", "bearer-secret")
    file = tmp_path / "pets.yaml"
    file.write_text(DOCUMENT.read_text().replace("http://SERVICE", service.url))
    async with open_tools([str(file)], tmp_path) as toolset:
        yield {tool.name: tool for tool in toolset.tools}


async def test_names_effects_and_schemas(pets: dict[str, Tool]) -> None:
    assert {name: tool.effect for name, tool in pets.items()} == {
        "listPets": "reads",
        "addPet": "changes",
        "get_pets__id_": "reads",
        "update_pet": "changes",
        "removePet": "changes",
        "tagPets": "changes",
        "login": "changes",
    }
    listing = pets["listPets"]
    assert listing.description == "List pets. All of them, newest first"
    assert list(listing.parameters["properties"]) == ["limit", "kind", "fields", "filter", "X_Trace", "from_"]
    assert listing.parameters["properties"]["limit"] == {
        "description": "How many.",
        "type": ["integer", "null"],
        "exclusiveMinimum": 0,
        "default": 10,
    }
    added = pets["addPet"].parameters
    assert added["required"] == ["name"]
    assert added["properties"]["born"] == {"type": "string", "default": "2020-01-01"}
    assert "id" not in added["properties"]
    assert added["properties"]["parent"]["properties"]["parent"] == {}
    updated = pets["update_pet"].parameters
    assert list(updated["properties"]) == ["id", "body_id", "note"]
    assert updated["required"] == ["id", "note"]
    assert pets["tagPets"].parameters["properties"] == {
        "body": {"type": "array", "items": {"type": "string"}}
    }


async def test_arguments_travel_to_their_places(service: Service, pets: dict[str, Tool]) -> None:
    result = await pets["listPets"].run(
        {
            "limit": 3,
            "kind": ["cat", "dog&"],
            "fields": ["a", "b"],
            "filter": {"age": 2},
            "X_Trace": "t-1",
            "from_": True,
        }
    )
    assert result == {"ok": True}
    assert (
        service.seen["path"] == "/v1/pets?limit=3&kind=cat&kind=dog%26&fields=a,b&filter%5Bage%5D=2&from=true"
    )
    assert service.seen["headers"]["X-Trace"] == "t-1"
    assert service.seen["headers"]["Authorization"] == "Bearer bearer-secret"
    await pets["update_pet"].run({"id": "a/b c", "body_id": 7, "note": "hi"})
    assert (service.seen["method"], service.seen["path"]) == ("PATCH", "/v1/pets/a%2Fb%20c")
    assert json.loads(service.seen["body"]) == {"id": 7, "note": "hi"}
    assert service.seen["headers"]["Content-Type"] == "application/merge-patch+json"
    await pets["tagPets"].run({"body": ["x"]})
    assert json.loads(service.seen["body"]) == ["x"]
    for bad in ("..", ".", ""):
        with pytest.raises(ToolError, match="id cannot be"):
            await pets["get_pets__id_"].run({"id": bad})


async def test_forms_basic_and_key_credentials(
    service: Service, pets: dict[str, Tool], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = "key that is not there: set PLAIT_PETS_PASSWORD or PLAIT_PETS_APIKEY in the environment"
    with pytest.raises(ToolError, match=needed):
        await pets["login"].run({"name": "a"})
    monkeypatch.setenv("PLAIT_PETS_APIKEY", "key-secret")
    await pets["login"].run({"name": "a&b", "times": 2})
    assert service.seen["body"] == "name=a%26b&times=2"
    assert service.seen["path"] == "/v1/login?api_key=key-secret"
    monkeypatch.setenv("PLAIT_PETS_PASSWORD", "ada:lovelace")
    await pets["login"].run({"name": "a"})
    encoded = base64.b64encode(b"ada:lovelace").decode()
    assert service.seen["headers"]["Authorization"] == f"Basic {encoded}"
    assert "Authorization" not in (await removed(service, pets))["headers"]


async def removed(service: Service, pets: dict[str, Tool]) -> dict[str, Any]:
    await pets["removePet"].run({"id": "1"})
    return service.seen


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (web.Response(status=204), None),
        (web.Response(text="plain"), "plain"),
        (web.Response(text="{half", content_type="application/json"), "{half"),
        (web.Response(body=b"\x89PNG", content_type="image/png"), "[4 bytes of image/png, not shown]"),
        (web.json_response({"echo": "Bearer bearer-secret"}), {"echo": "Bearer ***"}),
    ],
)
async def test_replies(service: Service, pets: dict[str, Tool], answer: web.Response, result: Any) -> None:
    service.answer = answer
    assert await pets["listPets"].run({}) == result


async def test_errors_are_told_with_the_body_cut_and_secrets_masked(
    service: Service, pets: dict[str, Tool]
) -> None:
    service.answer = web.Response(status=404, text="no pet for bearer-secret " + "x" * 1000)
    with pytest.raises(ToolError) as caught:
        await pets["listPets"].run({})
    assert caught.value.message.startswith("listPets: HTTP 404 Not Found: no pet for *** xxx")
    assert len(caught.value.message) < 600
    service.answer = web.Response(status=302, headers={"Location": "http://elsewhere/"})
    with pytest.raises(ToolError, match="redirected to http://elsewhere/, which is not followed"):
        await pets["listPets"].run({})


async def test_a_dead_service_is_a_tool_error(tmp_path: Path, unused_tcp_port: int) -> None:
    file = tmp_path / "pets.yaml"
    file.write_text(DOCUMENT.read_text().replace("http://SERVICE", f"http://127.0.0.1:{unused_tcp_port}"))
    async with open_tools([str(file)], tmp_path) as toolset:
        tool = next(tool for tool in toolset.tools if tool.name == "removePet")
        with pytest.raises(ToolError, match=r"removePet: no answer from 127\.0\.0\.1") as caught:
            await tool.run({"id": "1"})
        assert not isinstance(caught.value, OutcomeUnknown)


async def test_a_call_that_was_sent_and_not_answered_is_of_unknown_outcome(
    service: Service, pets: dict[str, Tool]
) -> None:
    service.answer = web.Response(status=504, text="upstream timed out")
    with pytest.raises(OutcomeUnknown, match="removePet: HTTP 504"):
        await pets["removePet"].run({"id": "1"})
    service.hangs_up = True
    with pytest.raises(OutcomeUnknown, match=r"removePet: no answer from 127\.0\.0\.1"):
        await pets["removePet"].run({"id": "1"})
    assert service.seen["method"] == "DELETE"


async def test_a_document_at_an_address(service: Service, tmp_path: Path) -> None:
    async with open_tools([f"{service.url}/openapi.yaml"], tmp_path) as toolset:
        tool = next(tool for tool in toolset.tools if tool.name == "removePet")
        await tool.run({"id": "1"})
        assert service.seen["path"] == "/v1/pets/1"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (web.Response(text="hello"), "must hold an object at its top, not str"),
        (web.Response(text="{,}"), ":1: is not JSON"),
        (web.Response(status=404), ": HTTP 404 Not Found; check the address"),
    ],
)
async def test_an_address_without_a_document(
    service: Service, tmp_path: Path, answer: web.Response, said: str
) -> None:
    service.answer = answer
    with pytest.raises(UserError, match=said):
        async with open_tools([f"{service.url}/other"], tmp_path):
            pass


def test_names_of_variables() -> None:
    assert variable_name("some/pets.yaml", "api-Key") == "PLAIT_PETS_API_KEY"
    assert variable_name("http://api.example.com/openapi.json", "token") == "PLAIT_API_EXAMPLE_COM_TOKEN"


def shop(file: Path, paths: Any) -> str:
    file.write_text(json.dumps({"openapi": "3.1.0", "servers": [{"url": "http://x"}], "paths": paths}))
    return str(file)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([1], "its list of paths cannot be read: expected an object, not [1]"),
        ({"/a": [1]}, "path '/a' cannot be read: expected an object, not [1]"),
        ({"/a": {"get": {"parameters": [{"name": "x"}]}}}, "GET /a cannot be read: 'in' is missing"),
        ({"/a": {"get": {"parameters": 5}}}, "GET /a cannot be read: "),
        ({"/a": {"get": {"servers": {"url": "x"}}}}, "GET /a cannot be read: 0 is missing"),
    ],
)
async def test_a_malformed_document_is_one_clear_line(tmp_path: Path, paths: Any, said: str) -> None:
    file = shop(tmp_path / "shop.json", paths)
    with pytest.raises(UserError) as caught:
        async with open_tools([file], tmp_path):
            pass
    assert caught.value.message.startswith(f"{file}: {said}")


async def test_operations_that_become_one_identifier_are_numbered(tmp_path: Path) -> None:
    paths = {f"/{name}": {"get": {"operationId": name}} for name in ("x-y", "x_y", "x.y")}
    async with open_tools([shop(tmp_path / "shop.json", paths)], tmp_path) as toolset:
        assert [tool.name for tool in toolset.tools] == ["x_y", "x_y_2", "x_y_3"]


@pytest.mark.parametrize(
    ("schema", "properties"),
    [
        (True, {"body": {}}),
        ({"properties": {"any": True, "none": False}}, {"any": {}}),
        ({"allOf": [True, {"properties": {"deep": {"type": "array", "items": True}}}]}, {"deep": ANY_LIST}),
    ],
)
async def test_schemas_may_be_true_or_false(tmp_path: Path, schema: Any, properties: Any) -> None:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths = {
        "/a": {"post": {"requestBody": body, "parameters": [{"in": "query", "name": "q", "schema": True}]}}
    }
    async with open_tools([shop(tmp_path / "shop.json", paths)], tmp_path) as toolset:
        (tool,) = toolset.tools
    assert tool.parameters["properties"] == {"q": {}, **properties}


async def test_what_is_no_json_schema_is_left_out(tmp_path: Path) -> None:
    schemas = {
        "name": {"type": "string", "pattern": r"^[\p{L}]+$", "maxLength": 9},
        "file": {"type": "file", "required": True},
        "sizes": {"type": "array", "items": {"type": "integer", "minimum": "1"}},
    }
    paths = {
        "/a": {"get": {"parameters": [{"in": "query", "name": n, "schema": s} for n, s in schemas.items()]}}
    }
    async with open_tools([shop(tmp_path / "shop.json", paths)], tmp_path) as toolset:
        (tool,) = toolset.tools
    assert tool.parameters["properties"] == {
        "name": {"type": "string", "maxLength": 9},
        "file": {},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    }
    problem = argument_check(tool)({"name": "longer than 9"})
    assert problem is not None
    assert "too long" in problem
