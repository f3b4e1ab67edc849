"""Makes tools of Python functions: signature and docstring become the schema and the description.

Knows nothing of files, servers, approval or the log. `tool` only tags a function; nothing is
registered anywhere. Blocking functions run in threads of their own.
"""

import inspect
import re
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, overload

from plait.errors import ToolError, UserError
from plait.tools.arguments import inline
from plait.tools.docstrings import read_docstring
from plait.tools.threads import in_thread
from plait.tools.tool import DEFAULT_OBSERVATION_CHARACTERS, DEFAULT_TIMEOUT_SECONDS, Effect, Tool

if TYPE_CHECKING:
    import pydantic

Function = TypeVar("Function", bound=Callable[..., Any])

_TAG = "__plait_tool__"
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, kw_only=True)
class ToolTag:
    """What `@tool` says about a function."""

    effect: Effect = "changes"
    name: str | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    observation_characters: int = DEFAULT_OBSERVATION_CHARACTERS
    most_rows: int | None = None

    def __post_init__(self) -> None:
        """Refuse options out of range."""
        if self.effect not in typing.get_args(Effect):
            raise UserError(f"@tool(effect={self.effect!r}): the effect is 'reads' or 'changes'")
        if self.timeout_seconds <= 0 or self.observation_characters <= 0:
            raise UserError("@tool: timeout_seconds and observation_characters must be above 0")
        if self.most_rows is not None and self.most_rows < 0:
            raise UserError("@tool: most_rows must be 0 or above")


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    *,
    effect: Effect = "changes",
    name: str | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    observation_characters: int = DEFAULT_OBSERVATION_CHARACTERS,
    most_rows: int | None = None,
) -> Callable[[Function], Function]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    effect: Effect = "changes",
    name: str | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    observation_characters: int = DEFAULT_OBSERVATION_CHARACTERS,
    most_rows: int | None = None,
) -> Function | Callable[[Function], Function]:
    """Tag a function as a tool, bare or with options; the function itself stays as it is.

    Args:
        function: The function, when used bare.
        effect: `reads`, or `changes` the world, which is what is assumed.
        name: Name the model sees; the function's own by default.
        timeout_seconds: After this long the call counts as failed.
        observation_characters: Longer results are cut.
        most_rows: Rows that a result has at most, 0 where it is always all there is. Only where this is
            said is "all of them" learned as a routine (see `docs/concepts/experience.md`).

    Raises:
        UserError: an option is out of range.
    """
    tag = ToolTag(
        effect=effect,
        name=name,
        timeout_seconds=timeout_seconds,
        observation_characters=observation_characters,
        most_rows=most_rows,
    )

    def mark(marked: Function) -> Function:
        setattr(marked, _TAG, tag)
        return marked

    return mark if function is None else mark(function)


def tag_of(value: object) -> ToolTag | None:
    """Return what `@tool` said about `value`, or None where it said nothing."""
    tag = getattr(value, _TAG, None) if callable(value) else None
    return tag if isinstance(tag, ToolTag) else None


def from_function(function: Callable[..., Any], *, source: str, name: str | None = None) -> Tool:
    """Make a tool of a function, tagged or not.

    Args:
        function: Sync or async; every parameter can be given by name.
        source: Where it comes from, for messages.
        name: Name the model sees; by default the tag's, else the function's own.

    Raises:
        UserError: the function's name, parameters or types cannot be offered to a model.
    """
    tag = tag_of(function) or ToolTag()
    name = _checked_name(name or tag.name or str(getattr(function, "__name__", "")), source)
    docstring = read_docstring(inspect.getdoc(function))
    try:
        signature = inspect.signature(function)
        model = _arguments_model(name, function, signature, docstring.parameters)
        schema = _schema(model)
    # Annotations are code of the user's: reading them can fail in any way.
    except Exception as exc:
        reason = " ".join(str(exc).split())[:300]
        raise UserError(f"{source}: no schema can be made for tool {name!r}: {reason}") from exc

    async def run(arguments: Mapping[str, Any]) -> Any:
        positional, named = _validated(name, model, signature, arguments)
        return _told(name, tag, await _invoke(name, function, positional, named))

    return Tool(
        name=name,
        description=docstring.description,
        parameters=schema,
        effect=tag.effect,
        run=run,
        source=source,
        timeout_seconds=tag.timeout_seconds,
        observation_characters=tag.observation_characters,
        most_rows=tag.most_rows,
    )


def _checked_name(name: str, source: str) -> str:
    if _NAME.fullmatch(name):
        return name
    raise UserError(
        f"{source}: {name!r} cannot name a tool; use letters, digits, _ and dots, or @tool(name=...)"
    )


def _told(name: str, tag: ToolTag, result: Any) -> Any:
    """Return what a function returned as JSON.

    Raises:
        ToolError: it cannot be, and the function only reads.
    """
    try:
        return _jsonable(name, result)
    except ToolError as exc:
        if tag.effect == "reads":
            raise
        # It is done: told as a failure it would be tried again.
        return f"Done, but {exc.message}"


def _schema(model: "type[pydantic.BaseModel]") -> dict[str, Any]:
    from pydantic.json_schema import PydanticJsonSchemaWarning

    with warnings.catch_warnings():
        # A default that JSON cannot say is simply left out.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        schema = inline(model.model_json_schema())
    schema.pop("description", None)
    return schema


def _arguments_model(
    name: str, function: Callable[..., Any], signature: inspect.Signature, documented: Mapping[str, str]
) -> "type[pydantic.BaseModel]":
    import pydantic

    hints = _type_hints(function)
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(signature.parameters.values()):
        if parameter.kind in _NAMELESS:
            raise TypeError(f"parameter {str(parameter)!r} has no fixed name; give every parameter one")
        annotation = hints.get(parameter.name, Any)
        description = _described(annotation) or documented.get(parameter.name) or None
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        # Numbered fields with aliases: a parameter may be called `copy` or `_id`, a pydantic field may not.
        field = pydantic.Field(default, alias=parameter.name, description=description)
        if description is None or _has_field_description(annotation):
            field = pydantic.Field(default, alias=parameter.name)
        fields[f"field_{number}"] = (annotation, field)
    return pydantic.create_model(name, __config__=pydantic.ConfigDict(extra="forbid"), **fields)


def _type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    plain = inspect.unwrap(function)
    if not inspect.isroutine(plain) and not inspect.isclass(plain):
        plain = getattr(plain, "func", None) or type(plain).__call__
    return typing.get_type_hints(plain, include_extras=True)


def _described(annotation: Any) -> str | None:
    """Return the description in `Annotated[type, "description"]` or `Annotated[type, Doc(...)]`."""
    if typing.get_origin(annotation) is not Annotated:
        return None
    for extra in typing.get_args(annotation)[1:]:
        text = getattr(extra, "documentation", extra)
        if isinstance(text, str):
            return text
    return None


def _has_field_description(annotation: Any) -> bool:
    return any(getattr(extra, "description", None) for extra in typing.get_args(annotation)[1:])


def _validated(
    name: str, model: "type[pydantic.BaseModel]", signature: inspect.Signature, arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    import pydantic

    try:
        values = model.model_validate(dict(arguments))
    except pydantic.ValidationError as exc:
        problems = (
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors(include_url=False)
        )
        raise ToolError(f"wrong arguments for {name}: {'; '.join(problems)}") from exc
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for number, parameter in enumerate(signature.parameters.values()):
        field = f"field_{number}"
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(getattr(values, field))
        elif field in values.model_fields_set:
            named[parameter.name] = getattr(values, field)
    return positional, named


async def _invoke(
    name: str, function: Callable[..., Any], positional: list[Any], named: dict[str, Any]
) -> Any:
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*positional, **named)
        result = await in_thread(lambda: function(*positional, **named))
        return await result if inspect.isawaitable(result) else result
    except SystemExit as exc:
        raise ToolError(f"{name} tried to end the process (exit status {exc.code!r})") from exc


def _jsonable(name: str, result: Any) -> Any:
    if result is None or isinstance(result, str):
        return result
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(result, inf_nan_mode="strings")
    except (PydanticSerializationError, ValueError) as exc:
        kind = type(result).__name__
        raise ToolError(f"{name} returned a {kind}, which is neither text nor JSON") from exc
