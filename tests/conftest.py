"""What holds for every test: a data folder of its own, no paid keys, no network, no real model by accident.

A test marked `embedded` may run the embedded engine; its weights are those of the user's own data folder,
so that they are downloaded once. Nothing else may leave this machine or load weights.
"""

import importlib.machinery
import os
import socket
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.models.embeddings import local_embedder
from plait.paths import models_folder

EMBEDDED_TIMEOUT_SECONDS = 600
REAL_MODEL_MODULES = ("xllamacpp", "fastembed")
NO_MODELS = Path(__file__).parent / "support" / "no_models"
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")
USER_MODELS = models_folder()


PROCESSES = ("crash/", "faults/", "runtime/test_crash.py", "tools/test_mcp.py")
"""Tests that start, kill and starve whole processes, by their place here."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(PROCESSES):
            item.add_marker("processes")
        if item.get_closest_marker("embedded") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(EMBEDDED_TIMEOUT_SECONDS))


def is_embedded(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("embedded") is not None


@pytest.fixture(autouse=True)
def own_data_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty data folder; embedded tests find the user's weights in theirs."""
    home = tmp_path / "plait-home"
    monkeypatch.setenv("PLAIT_HOME", str(home))
    own = ("PLAIT_DATABASE_URL", "PLAIT_SETTINGS")
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name in own]:
        monkeypatch.delenv(name)
    if is_embedded(request):
        home.mkdir()
        USER_MODELS.mkdir(parents=True, exist_ok=True)
        (home / "models").symlink_to(USER_MODELS)
    return home


@pytest.fixture(autouse=True)
def no_real_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the modules that run weights by ones whose every attribute fails the test."""
    if is_embedded(request):
        return
    local_embedder.cache_clear()
    for name in REAL_MODEL_MODULES:
        monkeypatch.setitem(sys.modules, name, forbidden_module(name))
    # The same for child processes, and no weights by way of the package installers.
    monkeypatch.setenv("PYTHONPATH", str(NO_MODELS), prepend=os.pathsep)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")


def forbidden_module(name: str) -> types.ModuleType:
    def forbid(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        pytest.fail(f"{name}.{attribute}: a test that runs a real model must be marked `embedded`")

    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__dict__["__getattr__"] = forbid
    return module


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sockets reach this machine only; names under `.invalid` fail to resolve, as they should."""
    if is_embedded(request):
        return
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    resolve = socket.getaddrinfo

    def resolve_locally(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and str(name).endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        forbid_remote(name)
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_locally)


def guarded(connect: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def connect_locally(self: socket.socket, address: Any) -> Any:
        if self.family != socket.AF_UNIX:
            forbid_remote(address[0])
        return connect(self, address)

    return connect_locally


def forbid_remote(host: Any) -> None:
    if host not in (None, "") and not str(host).startswith(LOOPBACK):
        pytest.fail(f"a test tried to reach {host!r}: tests use addresses of this machine only")
