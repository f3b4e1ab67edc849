"""What a program is made of, read from its files without running it: main file, modules, imports.

Knows nothing of quality.
"""

import ast
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from plait.domains.software.libraries import DISTRIBUTIONS

_MAIN_GUARD = re.compile(r"^if\s+__name__\s*==\s*['\"]__main__['\"]\s*:", re.MULTILINE)
_READS_INPUT = re.compile(r"\binput\s*\(|\bsys\.stdin\b|\bgetpass\b|\bfileinput\b")


def python_files(files: Mapping[str, str]) -> dict[str, str]:
    """Return the Python files of a program."""
    return {path: text for path, text in files.items() if path.endswith(".py")}


def parsed(text: str) -> ast.Module | SyntaxError:
    """Return the syntax tree of a Python file, or why it has none."""
    with warnings.catch_warnings():
        # Doubtful escapes and comparisons are the program's own affair.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error) or "it is nested too deeply")


def main_file(files: Mapping[str, str]) -> str | None:
    """Return the file that starts a program; None where no file is the obvious one.

    It is main.py, else app.py, else a package's __main__.py, of several the outermost; else the only one with
    a main guard, or at all.
    """
    sources = python_files(files)
    by_depth = sorted(sources, key=lambda path: (path.count("/"), path))
    for name in ("main.py", "app.py", "__main__.py"):
        for path in by_depth:
            if PurePosixPath(path).name == name:
                return path
    guarded = [path for path in by_depth if _MAIN_GUARD.search(sources[path])]
    candidates = guarded or by_depth
    return candidates[0] if len(candidates) == 1 else None


def reads_input(files: Mapping[str, str]) -> bool:
    """Whether a program asks for something to be typed in."""
    return any(_READS_INPUT.search(text) for text in python_files(files).values())


def own_modules(files: Mapping[str, str]) -> set[str]:
    """Return the names under which the program's own files and folders can be imported."""
    names: set[str] = set()
    for path in python_files(files):
        parts = PurePosixPath(path).with_suffix("").parts
        names.update(parts)
    return names


def third_party(files: Mapping[str, str]) -> list[str]:
    """Return the libraries that a program imports and that are neither its own nor Python's, sorted."""
    own = own_modules(files)
    found: set[str] = set()
    for text in python_files(files).values():
        tree = parsed(text)
        if not isinstance(tree, SyntaxError):
            found.update(_imported(tree))
    return sorted(found - own - sys.stdlib_module_names - {"__future__"})


def requirements(files: Mapping[str, str]) -> str:
    """Return requirements.txt: one line for each library, empty where there are none."""
    names: Collection[str] = {DISTRIBUTIONS.get(name, name) for name in third_party(files)}
    return "".join(f"{name}\n" for name in sorted(names, key=str.lower))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
