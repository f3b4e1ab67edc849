"""The flags of `plait run`, once: `resume` and `fork` take the same ones to change an option.

Knows nothing of runs. A flag that is not given is None, so that a command can tell what was said.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from plait.errors import UserError
from plait.reflection.settings import SWITCHES
from plait.runtime.options import Options, schema_of_answer


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One flag: the option it sets, its type and its help."""

    option: str
    kind: Any
    help: str
    name: str = ""
    """With its dashes, where it is not the option's own name."""
    metavar: str = ""


FLAGS = (
    Flag(option="domain", kind=str, help="Kind of task: tools."),
    Flag(
        option="tools",
        kind=list[str],
        help="Tools: pkg.module, file.py, an MCP configuration or an OpenAPI document. Repeatable.",
        metavar="SOURCE",
    ),
    Flag(option="files", kind=list[str], name="--file", help="Input file. Repeatable.", metavar="FILE"),
    Flag(option="out", kind=str, help="Folder the tools work in.", metavar="DIR"),
    Flag(option="model", kind=str, help="Model, for instance ollama:qwen3.", metavar="NAME"),
    Flag(option="base_url", kind=str, help="A Chat Completions endpoint of your own.", metavar="URL"),
    Flag(option="temperature", kind=float, help="How freely replies are drawn, 0 to 2."),
    Flag(option="seed", kind=int, help="Seed of every reply."),
    Flag(option="max_calls", kind=int, help="Model calls at most."),
    Flag(option="max_tokens", kind=int, help="Tokens at most, input and output."),
    Flag(option="max_usd", kind=float, help="US dollars at most."),
    Flag(option="max_seconds", kind=float, help="Seconds at most."),
    Flag(option="yes", kind=bool, help="Allow effects without asking."),
    Flag(option="allow", kind=list[str], help="Allow effects of this tool, or pattern.", metavar="TOOL"),
    Flag(option="deny", kind=list[str], help="Never call this tool, or pattern.", metavar="TOOL"),
    Flag(option="max_effects", kind=int, help="Effects at most."),
    Flag(option="dry_run", kind=bool, help="Plan and read, but change nothing."),
    Flag(option="check", kind=str, help="Command that says by its status whether the answer is right."),
    Flag(option="function_calling", kind=bool, help="Choose tools by the provider's function calling."),
    Flag(option="rounds", kind=int, help="Rounds of plan, act, answer at most."),
    Flag(option="steps", kind=int, help="Tool calls in one subtask at most."),
    Flag(option="planner_threshold", kind=float, help="Score at which a plan passes, 0 to 10."),
    Flag(option="tool_threshold", kind=float, help="Score at which a call passes, 0 to 10."),
    Flag(option="answer_threshold", kind=float, help="Score at which an answer passes, 0 to 10."),
    Flag(option="prompts", kind=str, help="Folder with prompts of your own.", metavar="DIR"),
)
"""Every flag that sets an option, in the order of the help."""

LIMIT_OPTIONS = (
    "base_url",
    "max_calls",
    "max_tokens",
    "max_usd",
    "max_seconds",
    "yes",
    "allow",
    "deny",
    "max_effects",
)
"""What may change when a run is taken up again: how far it goes and where its model is, not what it does."""

RETURNS = "returns"


def with_flags(
    command: Callable[..., Any], options: Sequence[str] | None = None, *, both_ways: bool = False
) -> Callable[..., Any]:
    """Give a command the flags of `options`, or all; it takes them as keyword arguments.

    Args:
        command: Takes what was said, and None for what was not.
        options: Names of options; None: all, and the switches of reflection.
        both_ways: Whether a flag can also be taken back (`--no-yes`), where it may be on already.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    flags = [flag for flag in FLAGS if options is None or flag.option in options]
    parameters = [*own, *(_parameter(flag, both_ways) for flag in flags)]
    if options is None:
        parameters += [_switch(name) for name in SWITCHES] + [_returns()]

    def wrapped(**given: Any) -> Any:
        return command(**given)

    wrapped.__doc__ = command.__doc__
    wrapped.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def changes_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that flags set, as `Options.changed` takes them.

    Raises:
        UserError: the schema of the answer cannot be read.
    """
    known = {field.name for field in fields(Options)}
    said = {name: value for name, value in given.items() if value is not None}
    changes: dict[str, Any] = {
        name: tuple(cast("list[str]", value)) if isinstance(value, list) else value
        for name, value in said.items()
        if name in known and name != RETURNS
    }
    if without := tuple(name for name in SWITCHES if given.get(_switch_name(name))):
        changes["without"] = without
    if schema := said.get(RETURNS):
        changes[RETURNS] = _read_schema(str(schema))
    return changes


def _parameter(flag: Flag, both_ways: bool) -> inspect.Parameter:
    default = getattr(Options(), flag.option)
    shown = "" if default in ("", (), None, False) else f" Default: {default}."
    name = flag.name or f"--{flag.option.replace('_', '-')}"
    option: Any = typer.Option(
        f"{name}/--no-{name[2:]}" if both_ways and flag.kind is bool else name,
        help=flag.help + shown,
        metavar=flag.metavar or None,
        show_default=False,
    )
    return _keyword(flag.option, Annotated[flag.kind | None, option])


def _switch(name: str) -> inspect.Parameter:
    what = "all reflection" if name == "reflection" else name.replace("-", " ")
    option: Any = typer.Option(f"--no-{name}", help=f"Switch off: {what}.", show_default=False)
    return _keyword(_switch_name(name), Annotated[bool, option], default=False)


def _returns() -> inspect.Parameter:
    option: Any = typer.Option(
        "--returns", help="JSON schema of the answer, in a file.", metavar="FILE", show_default=False
    )
    return _keyword(RETURNS, Annotated[str | None, option])


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _switch_name(name: str) -> str:
    return f"no_{name.replace('-', '_')}"


def _read_schema(file: str) -> Mapping[str, Any]:
    try:
        schema: Any = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--returns {file!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"--returns {file!r} is no JSON: {error}") from error
    return schema_of_answer(schema)
