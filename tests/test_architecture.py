"""Rules of the house that neither ruff nor the import contract can check."""

import ast
from collections.abc import Iterator
from pathlib import Path

import plait

PACKAGE = Path(plait.__file__).parent
MOST_LINES = 500
MOST_FUNCTION_LINES = 60


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield str(file.relative_to(PACKAGE)), ast.parse(file.read_text(encoding="utf-8"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def own_imports(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "." * node.level]
        yield from (name for name in names if name.split(".")[0] in ("plait", ""))


def test_our_own_modules_are_imported_at_the_top_only():
    hidden = [
        f"{name}: {function.name} imports {imported}"
        for name, tree in modules()
        for function in functions(tree)
        for imported in own_imports(function)
    ]
    assert hidden == []


def test_a_hidden_import_is_found():
    tree = ast.parse("def late():\n    from plait.task import Task\n    import json\n    import plait.errors")
    assert list(own_imports(tree)) == ["plait.task", "plait.errors"]


def test_no_error_is_raised_where_python_may_put_it_into_a_group():
    # Python 3.11.0 to 3.11.3 wraps what `except*` raises; `agents.together` raises the one that matters.
    starred = [
        name for name, tree in modules() if any(isinstance(node, ast.TryStar) for node in ast.walk(tree))
    ]
    assert starred == []


def test_every_module_says_what_it_is():
    empty = [name for name, tree in modules() if tree.body and not ast.get_docstring(tree)]
    assert empty == []


def test_modules_and_functions_stay_small():
    large = [
        f"{name}: {function.name} has {(function.end_lineno or 0) - function.lineno + 1} lines"
        for name, tree in modules()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno >= MOST_FUNCTION_LINES
    ]
    large += [
        f"{file.name} has more than {MOST_LINES} lines"
        for file in PACKAGE.rglob("*.py")
        if len(file.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ]
    assert large == []
