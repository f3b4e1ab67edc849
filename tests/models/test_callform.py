"""The call form: signatures, grammar, and replies as models really write them."""

from typing import Any

import pytest
from tests.support.gbnf import accepts

from plait.errors import ReplyError
from plait.models.callform import check_arguments, format_call, parse_call
from plait.models.callgrammar import call_grammar
from plait.models.callspec import CallSpec, identifiers, signature

SEARCH = CallSpec(
    name="calendar.search_events",
    description="Find events.\n  At most five.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "part of the name"},
            "limit": {"type": "integer", "default": 5},
        },
    },
)
UPDATE = CallSpec(
    name="calendar.update_event",
    description="Change one field.",
    parameters={
        "type": "object",
        "properties": {
            "event_id": {"type": "string"},
            "field": {"enum": ["event_name", "duration"]},
            "value": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "notify": {"type": "boolean"},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}},
        },
        "required": ["event_id", "field"],
        "$defs": {
            "Guest": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "from": {"type": "string"}},
                "required": ["name"],
            }
        },
    },
)
PING = CallSpec(name="ping", description="", parameters={"type": "object", "properties": {}})
HEADERS = CallSpec(
    name="http.get",
    description="Fetch.",
    parameters={
        "type": "object",
        "properties": {
            "x-id": {"type": "string"},
            "x_id": {"type": "string"},
            "from": {"type": "string"},
            "2nd": {"type": "string"},
        },
    },
)
TOOLS = [SEARCH, UPDATE, PING]


def arguments_of(text: str, *specs: CallSpec) -> dict[str, Any]:
    return dict(parse_call(text, specs or TOOLS).call.arguments)


def test_a_signature_shows_types_defaults_and_the_description_on_one_line() -> None:
    assert signature(SEARCH) == (
        "calendar.search_events(query: str = None, limit: int = 5)  # Find events. At most five."
    )
    assert signature(UPDATE) == (
        'calendar.update_event(event_id: str, field: Literal["event_name", "duration"], '
        'value: float | None = None, notify: bool = None, guests: list[{"name": str, "from": str}] = None)'
        "  # Change one field."
    )
    assert signature(PING) == "ping()"


def test_a_signature_with_details_explains_its_parameters() -> None:
    assert signature(SEARCH, details=True).splitlines()[1:] == ["    # query: part of the name"]


def test_a_whole_reply_is_read() -> None:
    reply = parse_call('calendar.search_events(query="fatima")\n# critique: fits\n# score: 9', TOOLS)
    assert (reply.call.name, reply.call.arguments) == ("calendar.search_events", {"query": "fatima"})
    assert (reply.critique, reply.score) == ("fits", 9.0)


@pytest.mark.parametrize(
    "text",
    [
        "calendar.search_events(query='dana', limit=3)",
        'calendar.search_events("dana", 3)',
        'calendar.search_events("dana", limit="3")',
        'events = calendar.search_events(query="dana", limit=3.0)',
        'await search_events(query="dana", limit=3)',
        'tools.calendar.search_events(query="dana", limit=3)',
        'calendar.search_events({"query": "dana", "limit": 3})',
        'calendar.search_events(**{"query": "dana", "limit": 3})',
        'print(calendar.search_events(query="dana", limit=3))',
        'I ping() last:\n```\ncalendar.search_events(query="dana", limit=3)\n```\nThat is (really) all.',
        'calendar.search_events(\n    query="dana",  # her (name\n    limit=3,\n)',
        'The call is `calendar.search_events(query="dana", limit=3)`.',
    ],
)
def test_a_call_is_found_however_it_is_dressed(text: str) -> None:
    assert arguments_of(text) == {"query": "dana", "limit": 3}


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r'"say \"hi\" )"', 'say "hi" )'),
        ('"two\nlines"', "two\nlines"),
        ('"""a "quoted" word"""', 'a "quoted" word'),
        (r'"C:\data\new"', "C:\\data\new"),
        (r'r"C:\data"', r"C:\data"),
        (r'"\ud83d\ude00"', "\N{GRINNING FACE}"),
        (r'"\ud83d"', "\N{REPLACEMENT CHARACTER}"),
        ('"a" "b"', "ab"),
        ('f"plain"', "plain"),
        ('"it\'s # no comment"', "it's # no comment"),
        ("5", "5"),
        ('""', ""),
    ],
)
def test_strings_mean_what_the_model_wrote(literal: str, value: str) -> None:
    assert arguments_of(f"calendar.search_events(query={literal})") == {"query": value}


def test_values_of_a_near_type_are_mended() -> None:
    text = (
        'calendar.update_event(event_id=12, field="Duration", value="4.5", notify="true", guests={"name": 7})'
    )
    with pytest.raises(ReplyError, match="guests"):
        parse_call(text, TOOLS)
    assert arguments_of(text.replace('{"name": 7}', '[{"name": 7}]')) == {
        "event_id": "12",
        "field": "duration",
        "value": 4.5,
        "notify": True,
        "guests": [{"name": "7"}],
    }


def test_none_is_dropped_where_the_parameter_is_optional_and_kept_where_it_is_a_value() -> None:
    text = 'calendar.update_event(event_id="1", field="duration", value=None, notify=null)'
    assert arguments_of(text) == {"event_id": "1", "field": "duration", "value": None}


def test_constants_are_known_in_any_spelling() -> None:
    assert arguments_of('update_event("1", "duration", NULL, TRUE)') == {
        "event_id": "1",
        "field": "duration",
        "value": None,
        "notify": True,
    }


def test_a_boolean_is_no_number_and_no_text() -> None:
    with pytest.raises(ReplyError, match="limit: True is not of type 'integer'"):
        parse_call("calendar.search_events(limit=True)", TOOLS)
    with pytest.raises(ReplyError, match="query: True is not of type 'string'"):
        parse_call("calendar.search_events(query=True)", TOOLS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no tool call"),
        ("I cannot do that.", r"no tool call.*calendar\.search_events\(query"),
        (
            "calendar.find_events(query='x')",
            r"no tool 'calendar.find_events'. Nearest: .*calendar.search_events",
        ),
        ("search_events(qery='x')", r"no parameter 'qery'. Allowed: query, limit"),
        ("ping(1)", "takes 0 arguments at most: none"),
        ("ping(x=1)", "no parameter 'x'. It takes none"),
        ("update_event(field='duration')", r"needs event_id. Form: calendar\.update_event\(event_id: str"),
        ("update_event(event_id='1', field='color')", "field: 'color' is not one of"),
        ("search_events(limit='many')", "limit: 'many' is not of type 'integer'"),
        ("search_events(query='a', query='b')", "'query' twice"),
        ("search_events('a', query='b')", "'query' twice"),
        ("search_events('a', 1, 2)", "takes 2 arguments at most: query, limit"),
        ("search_events(query=today)", "query must be a plain value, not `today`"),
        ("search_events(query=ping())", r"query must be a plain value, not `ping\(\)`"),
        ("search_events(query=f'{x}')", "query must be a plain value"),
        ("search_events(query=__import__('os').getcwd())", "query must be a plain value"),
        ("search_events(limit=1e999)", "finite"),
        ("search_events(limit=99999999999999999999)", "too large"),
        ("search_events(query='a' limit=2)", "not valid Python"),
        ("search_events(**[1])", "needs a dict"),
        ("search_events(query='a", "not closed"),
        ("search_events(limit=" + "[" * 5000 + "]" * 5000 + ")", "not valid Python"),
        ("search_events(limit=" + "-" * 50_000 + "1)", "not valid Python"),
        ("search_events(query='a\0b')", "not valid Python"),
    ],
)
def test_a_wrong_call_is_told_in_a_short_message(text: str, told: str) -> None:
    with pytest.raises(ReplyError, match=told) as caught:
        parse_call(text, TOOLS)
    assert len(caught.value.message) < 400
    assert "\n" not in caught.value.message


def test_a_long_word_is_read_at_once() -> None:
    with pytest.raises(ReplyError, match="no tool call"):
        parse_call("a" * 200_000, TOOLS)


def test_an_ambiguous_short_name_is_not_guessed() -> None:
    both = [CallSpec(name=f"{area}.search", description="", parameters={}) for area in ("mail", "calendar")]
    with pytest.raises(ReplyError, match=r"mail\.search"):
        parse_call("search()", both)


@pytest.mark.parametrize(
    ("lines", "critique", "score"),
    [
        ("", "", None),
        ("\nCritique: good\nScore: 7/10", "good", 7.0),
        ("\n# score: 8.5", "", 8.5),
        ("\n# score: 95", "", None),
        ("\n# score: high", "", None),
        ("\n```\n**Critique:** weak\n**Score:** 2", "weak", 2.0),
    ],
)
def test_critique_and_score_are_read_where_they_are(lines: str, critique: str, score: float | None) -> None:
    reply = parse_call(f"ping(){lines}", TOOLS)
    assert (reply.critique, reply.score) == (critique, score)


def test_text_inside_an_argument_is_no_score() -> None:
    reply = parse_call('search_events(query="a\\n# score: 3")\n# critique: c\n# score: 9', TOOLS)
    assert reply.score == 9.0


def test_parameters_that_are_no_identifiers_have_names_a_model_can_write() -> None:
    assert identifiers(["x-id", "x_id", "from", "2nd"]) == {
        "x_id": "x-id",
        "x_id_": "x_id",
        "from_": "from",
        "_2nd": "2nd",
    }
    assert arguments_of('http.get(x_id="a", x_id_="b", from_="c")', HEADERS) == {
        "x-id": "a",
        "x_id": "b",
        "from": "c",
    }
    assert arguments_of('http.get(**{"x-id": "a"})', HEADERS) == {"x-id": "a"}


def test_a_formatted_call_is_read_back_as_it_was() -> None:
    arguments = {
        "event_id": '"1"\n\\',
        "field": "duration",
        "value": 2.5,
        "notify": False,
        "guests": [{"name": "é"}],
    }
    text = format_call("calendar.update_event", arguments)
    assert text == (
        r'calendar.update_event(event_id="\"1\"\n\\", field="duration", value=2.5, notify=False, '
        'guests=[{"name": "é"}])'
    )
    assert arguments_of(text) == arguments


def test_function_calling_arguments_pass_the_same_check() -> None:
    assert check_arguments(SEARCH, {"limit": "4"}) == {"limit": 4}
    with pytest.raises(ReplyError, match="no parameter"):
        check_arguments(SEARCH, {"nope": 1})


def test_a_tool_that_allows_more_parameters_gets_them() -> None:
    free = CallSpec(name="log", description="", parameters={"type": "object", "additionalProperties": True})
    assert arguments_of("log(a=1, b=[None])", free) == {"a": 1, "b": [None]}


@pytest.mark.parametrize(
    "text",
    [
        "ping()",
        "calendar.search_events()",
        'calendar.search_events(query="a \\"b\\" \\\\ \\n")',
        "calendar.search_events(limit=-12)",
        'calendar.search_events(query="", limit=0)',
        'calendar.update_event(event_id="1", field="duration")',
        'calendar.update_event(event_id="1", field="duration", value=None, notify=True)',
        'calendar.update_event(event_id="1", field="duration", guests=[])',
        'calendar.update_event(event_id="", field="duration", guests=[{"name": "", "from": ""}])',
        'calendar.update_event(event_id="", field="duration", guests=[{"name": ""}, {"name": ""}])',
    ],
)
def test_the_grammar_allows_what_the_schema_allows(text: str) -> None:
    assert accepts(call_grammar(TOOLS, critique=False, score=False), text)
    assert accepts(
        call_grammar(TOOLS, critique=True, score=True), f"{text}\n# critique: fits, it's right\n# score: 10"
    )
    assert parse_call(text, TOOLS).call.name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pong()",
        "ping(x=1)",
        'calendar.search_events(limit=1, query="a")',
        'calendar.search_events(query="a", query="b")',
        "calendar.search_events(query=a)",
        'calendar.search_events(query="a",limit=1)',
        "calendar.search_events(limit=01)",
        'calendar.search_events(query="raw\nbreak")',
        'calendar.update_event(event_id="1")',
        'calendar.update_event(event_id="1", field="color")',
        'calendar.update_event(event_id="1", field="duration", guests=[{"from": "c"}])',
        "ping()\n# score: 10",
        "ping()ping()",
        'calendar.search_events(query="' + "x" * 401 + '")',
    ],
)
def test_the_grammar_refuses_everything_else(text: str) -> None:
    assert not accepts(call_grammar(TOOLS, critique=False, score=False), text)


def test_the_grammar_demands_the_comments_in_order() -> None:
    grammar = call_grammar([PING], critique=True, score=True)
    assert not accepts(grammar, "ping()")
    assert not accepts(grammar, "ping()\n# score: 9\n# critique: x")
    assert not accepts(grammar, "ping()\n# critique: x\n# score: 11")
    assert not accepts(grammar, f"ping()\n# critique: {'x' * 201}\n# score: 1")


def test_the_grammar_uses_the_names_a_model_can_write() -> None:
    grammar = call_grammar([HEADERS], critique=False, score=False)
    assert accepts(grammar, 'http.get(x_id="a", x_id_="b", from_="c", _2nd="d")')
    assert not accepts(grammar, 'http.get(x-id="a")')


@pytest.mark.parametrize(
    "argument",
    ["+".join(["1"] * 1_000), "x" + ".b" * 330, "-" * 330 + "1", "not " * 330 + "1", "(" * 180 + ")" * 180],
)
def test_what_is_nested_without_end_is_refused_like_any_other_reply(argument: str) -> None:
    with pytest.raises(ReplyError):
        parse_call(f"calendar.search_events(query={argument})", [SEARCH])


def test_an_identifier_is_short_unless_its_schema_says_otherwise() -> None:
    def grammar(schema: dict[str, Any]) -> str:
        parameters = {"type": "object", "properties": {"loan_id": schema}, "required": ["loan_id"]}
        spec = CallSpec(name="find", description="", parameters=parameters)
        return call_grammar([spec], critique=False, score=False)

    call = 'find(loan_id="{}")'
    assert accepts(grammar({"type": "string"}), call.format("0" * 64))
    assert not accepts(grammar({"type": "string"}), call.format("0" * 65))
    assert accepts(grammar({"type": "string", "maxLength": 80}), call.format("0" * 80))


def test_tools_whose_schemas_are_equal_and_not_the_same_are_told_apart():
    def pick(**properties: Any) -> CallSpec:
        return CallSpec(name="pick", description="", parameters={"type": "object", "properties": properties})

    assert signature(pick(a={}, b={})) == "pick(a: Any = None, b: Any = None)"
    assert signature(pick(b={}, a={})) == "pick(b: Any = None, a: Any = None)"
    assert "Literal[True]" in signature(pick(a={"enum": [True]}))
    assert "Literal[1]" in signature(pick(a={"enum": [1]}))


def test_tools_that_differ_only_in_their_schema_are_told_apart():
    one, other = (
        CallSpec(name="pick", description="", parameters={"type": "object", "properties": {name: {}}})
        for name in ("colour", "size")
    )
    assert signature(one) != signature(other)
    assert call_grammar([one], critique=False, score=False) != call_grammar(
        [other], critique=False, score=False
    )
