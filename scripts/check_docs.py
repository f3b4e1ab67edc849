"""Check the documentation against the code, or with `--write` bring the generated parts up to date.

Generated: the reference of the commands, from the commands themselves; that of the events, from their
classes; and the file tree in the README, from the first line of every module. Checked: links lead
somewhere, every `plait` command that a page shows exists with its options, and every piece of Python
can be compiled.
"""

import ast
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import typer
from typer.cli import get_docs_for_click
from typer.core import TyperGroup

from plait.cli.app import plait_command
from plait.cli.lazy import LazyCommand
from plait.events import Event, Record

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
REFERENCE = ROOT / "docs" / "reference" / "cli.md"
TREE = re.compile(r"(<!-- file tree -->\n)(.*?)(<!-- end of file tree -->)", re.DOTALL)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)[^)\s]*\)")
REFERENCE_TOP = """# Commands

This page is generated from the program (`make docs`).

"""
EVENTS = ROOT / "docs" / "reference" / "events.md"
EVENTS_TOP = """# Events

Every record of the [run log](../concepts/run-log.md) holds one of these events. This page is generated from
`plait.events` (`make docs`); [events.schema.json](events.schema.json) says the same as a JSON schema.

"""


def pages() -> Sequence[Path]:
    """Return every Markdown page that is written for people."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def loaded_command() -> TyperGroup:
    """Return the command line with every command really loaded."""
    group = plait_command()
    for name, command in list(group.commands.items()):
        if isinstance(command, LazyCommand):
            group.commands[name] = command.load()
    return group


def cli_reference() -> str:
    """Return the page that describes every command."""
    group = loaded_command()
    context = typer.Context(group, info_name="plait")
    text = REFERENCE_TOP + get_docs_for_click(obj=group, ctx=context, name="plait", title="`plait`", indent=1)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).rstrip() + "\n"


def events_reference() -> str:
    """Return the page that describes every event."""
    nodes = {
        node.name: node
        for module in (ROOT / "src" / "plait" / "events").glob("*.py")
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    classes = [*get_args(Event), Record]
    return EVENTS_TOP + "\n".join(_event(nodes[each.__name__]) for each in classes)


def _event(node: ast.ClassDef) -> str:
    lines: list[str] = []
    title = node.name
    for field, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if field.target.id == "kind" and isinstance(field.value, ast.Constant):
            title = f"`{field.value.value}`"
            continue
        told = after.value if isinstance(after, ast.Expr) else None
        text = str(told.value) if isinstance(told, ast.Constant) else ""
        kind = ast.unparse(field.annotation).replace("|", "\\|")
        lines.append(f"| `{field.target.id}` | `{kind}` | {' '.join(text.split())} |")
    table = "\n".join(["| field | type | |", "|---|---|---|", *lines])
    return f"## {title}\n\n{ast.get_docstring(node)}\n\n{table}\n"


def file_tree() -> str:
    """Return every module of the package with the first line of its docstring."""
    package = ROOT / "src" / "plait"
    lines = ["src/plait/"]
    lines += _branch(package, depth=1)
    return "\n".join(lines)


def _branch(folder: Path, depth: int) -> Iterator[str]:
    entries = sorted(folder.iterdir(), key=lambda entry: (entry.is_dir(), entry.name))
    for entry in entries:
        if entry.is_dir() and any(entry.rglob("*.py")):
            yield _tree_line(depth, f"{entry.name}/", _summary(entry / "__init__.py"))
            yield from _branch(entry, depth + 1)
        elif entry.suffix == ".py" and (entry.name != "__init__.py" or depth == 1):
            yield _tree_line(depth, entry.name, _summary(entry))


def _tree_line(depth: int, name: str, summary: str) -> str:
    return f"{'  ' * depth}{name:<{26 - 2 * depth}} {summary}".rstrip()


def _summary(file: Path) -> str:
    if not file.exists():
        return ""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n\n", 1)[0].replace("\n", " ").rstrip(".")


def generated() -> dict[Path, str]:
    """Return what the pages with generated parts should say."""
    readme = README.read_text(encoding="utf-8")
    tree = f"```text\n{file_tree()}\n```\n"
    return {
        README: TREE.sub(lambda match: match[1] + tree + match[3], readme),
        REFERENCE: cli_reference(),
        EVENTS: events_reference(),
    }


def stale() -> list[str]:
    """Return a line for every page whose generated part is not up to date."""
    return [
        f"{page.relative_to(ROOT)}: out of date; run `make docs`"
        for page, text in generated().items()
        if not page.exists() or page.read_text(encoding="utf-8") != text
    ]


def broken_links(page: Path) -> list[str]:
    """Return a line for every link to a file that is not there."""
    targets = LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return [
        f"{page.relative_to(ROOT)}: link to {target!r} leads nowhere"
        for target in targets
        if "://" not in target and not (page.parent / target).exists()
    ]


def broken_examples(page: Path, group: TyperGroup) -> list[str]:
    """Return a line for every example that cannot work as it stands."""
    lines: list[str] = []
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            lines += _uncompilable(body)
        elif language in ("sh", "console", "bash") and page != REFERENCE:
            for command in _plait_commands(body):
                lines += unknown_words(group, command)
    return [f"{page.relative_to(ROOT)}: {line}" for line in lines]


def _uncompilable(source: str) -> list[str]:
    try:
        compile(source, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return [f"Python example: {error.msg}: {(error.text or '').strip()!r}"]
    return []


def _plait_commands(body: str) -> Iterator[list[str]]:
    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and words[0].rpartition("/")[2] == "plait":
            yield words[1:]


def unknown_words(group: TyperGroup, words: Sequence[str]) -> list[str]:
    """Return a line for every command or option in the words that the program does not have."""
    command: Any = group
    rest = list(words)
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            # A group such as `plait runs` also works without one of its commands.
            return (
                [] if command.invoke_without_command and command is not group else [f"no command {rest[0]!r}"]
            )
        command = command.commands[rest.pop(0)]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    asked = (word.partition("=")[0] for word in rest if re.match(r"--?[A-Za-z]", word))
    return [f"`plait {' '.join(words)}`: no option {option}" for option in asked if option not in known]


def problems() -> list[str]:
    """Return a line for everything that is wrong with the documentation."""
    group = loaded_command()
    found = stale()
    for page in pages():
        found += broken_links(page) + broken_examples(page, group)
    return found


def main(arguments: Sequence[str]) -> int:
    if "--write" in arguments:
        for page, text in generated().items():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    found = problems()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
