"""The flags of `plait run`, once: `resume` and `fork` take the same ones to change an option.

Knows nothing of runs. A flag that is not given is None, so that a command can tell what was said.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, cast

import typer

from plait.cli.flag_table import (
    EXPERIENCE,
    FLAGS,
    REFLECTION,
    SWITCH_WORDS,
    TEAM_SWITCH_NAMES,
    TEAMS,
    WHAT,
    Flag,
)
from plait.errors import UserError
from plait.runtime.answer_schema import read_schema
from plait.runtime.options import EXPERIENCE_SWITCHES, SWITCHES, Options
from plait.runtime.percentiles import THRESHOLDS, read_threshold
from plait.runtime.team_options import GENERATION_DEFAULTS, NO_TEAMS, without_teams

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
    command: Callable[..., Any],
    options: Sequence[str] | None = None,
    *,
    switches: bool = False,
    both_ways: bool = False,
    kept: bool = False,
) -> Callable[..., Any]:
    """Give a command the flags of `options`, or all; it takes them as keyword arguments.

    Args:
        command: Takes what was said, and None for what was not.
        options: Names of options; None: all, and the switches.
        switches: Whether it takes the switches too.
        both_ways: Whether a flag can also be taken back (`--no-yes`, `--tool-gate`), where it may be set
            already.
        kept: Whether what is not said stays as a run has it; then no default is told.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    flags = [flag for flag in FLAGS if options is None or flag.option in options]
    parameters = [*own, *(_parameter(flag, both_ways, kept) for flag in flags)]
    if options is None or switches:
        parameters += [_switch(name, both_ways) for name in SWITCHES]
    if any(flag.option == "teams" for flag in flags):
        # One way only: the other is to say how many.
        parameters.append(_switch(NO_TEAMS, both_ways=False))
    if options is None:
        parameters.append(_returns())

    def wrapped(**given: Any) -> Any:
        return command(**given)

    wrapped.__doc__ = command.__doc__
    wrapped.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def changes_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that flags set, as `Options.changed` takes them.

    Raises:
        UserError: the schema of the answer or a threshold cannot be read, or teams are switched off and
            asked for.
    """
    known = {field.name for field in fields(Options)}
    listed = {flag.option: flag for flag in FLAGS if flag.each is not None}
    said = {name: value for name, value in given.items() if value is not None}
    changes: dict[str, Any] = {
        name: _items(listed[name], value) if name in listed else _plain(name, value)
        for name, value in said.items()
        if name in known and name != RETURNS
    }
    if without := tuple(name for name in (*SWITCHES, NO_TEAMS) if given.get(_switch_name(name))):
        changes = dict(without_teams({**changes, "without": without}))
        if not changes["without"]:
            del changes["without"]
    if schema := said.get(RETURNS):
        changes[RETURNS] = read_schema(str(schema))
    return changes


def switches_of(given: Mapping[str, Any]) -> dict[str, bool]:
    """Return the parts of strands that flags with both ways switch on or off."""
    said = {name: given.get(_option_name(name)) for name in SWITCHES}
    return {name: on for name, on in said.items() if on is not None}


def _parameter(flag: Flag, both_ways: bool, kept: bool) -> inspect.Parameter:
    name = flag.name or f"--{flag.option.replace('_', '-')}"
    option: Any = typer.Option(
        f"{name}/--no-{name[2:]}" if both_ways and flag.kind is bool and "/" not in name else name,
        help=flag.help if kept else f"{flag.help}{_default(flag)}",
        metavar=flag.metavar or None,
        show_default=False,
        rich_help_panel=flag.panel,
    )
    return _keyword(flag.option, Annotated[flag.kind | None, option])


def _default(flag: Flag) -> str:
    default = flag.default or getattr(Options(), flag.option)
    if default in ("", (), None) or isinstance(default, bool):
        return ""
    making = GENERATION_DEFAULTS.get(flag.option)
    return f" Default: {default}{'' if making is None else f'; {making} where something is made'}."


def _plain(name: str, value: Any) -> Any:
    if name in THRESHOLDS:
        return read_threshold(name, value)
    return tuple(cast("list[str]", value)) if isinstance(value, list) else value


def _items(flag: Flag, text: str) -> Sequence[Any]:
    """Read a text with commas.

    Raises:
        UserError: a part of it cannot be read.
    """
    read = flag.each or str
    try:
        return tuple(read(item.strip()) for item in text.split(",") if item.strip())
    except ValueError as error:
        flag_name = f"--{flag.option.replace('_', '-')}"
        raise UserError(f"{flag_name} {text!r} must be numbers with commas between them") from error


def _switch(name: str, both_ways: bool) -> inspect.Parameter:
    what = SWITCH_WORDS.get(name, name.replace("-", " "))
    panel = (
        EXPERIENCE
        if name in EXPERIENCE_SWITCHES
        else TEAMS
        if name in (*TEAM_SWITCH_NAMES, NO_TEAMS)
        else REFLECTION
    )
    flag = f"--{name}/--no-{name}" if both_ways else f"--no-{name}"
    text = f"Switch {'on or ' if both_ways else ''}off: {what}."
    option: Any = typer.Option(flag, help=text, show_default=False, rich_help_panel=panel)
    if both_ways:
        return _keyword(_option_name(name), Annotated[bool | None, option])
    return _keyword(_switch_name(name), Annotated[bool, option], default=False)


def _returns() -> inspect.Parameter:
    option: Any = typer.Option(
        "--returns",
        help="JSON schema of the answer, in a file.",
        metavar="FILE",
        show_default=False,
        rich_help_panel=WHAT,
    )
    return _keyword(RETURNS, Annotated[str | None, option])


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _switch_name(name: str) -> str:
    return f"no_{_option_name(name)}"


def _option_name(switch: str) -> str:
    return switch.replace("-", "_")
