"""The guards of the test suite hold."""

import importlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from plait.paths import data_folder


def test_the_data_folder_belongs_to_the_test(tmp_path: Path):
    assert data_folder().is_relative_to(tmp_path)


def test_no_paid_key_reaches_a_test():
    assert not [name for name in os.environ if name.endswith("_API_KEY")]


def test_remote_addresses_are_out_of_reach():
    with socket.socket() as remote, pytest.raises(pytest.fail.Exception, match=r"192\.0\.2\.1"):
        remote.connect(("192.0.2.1", 80))
    with pytest.raises(pytest.fail.Exception, match=r"example\.com"):
        socket.create_connection(("example.com", 80))


def test_this_machine_is_in_reach():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()


@pytest.mark.parametrize("name", ["xllamacpp", "fastembed"])
def test_real_models_are_out_of_reach(name: str):
    with pytest.raises(pytest.fail.Exception, match="embedded"):
        _ = importlib.import_module(name).Server


@pytest.mark.parametrize("name", ["xllamacpp", "fastembed"])
def test_real_models_are_out_of_reach_of_child_processes(name: str):
    ended = subprocess.run([sys.executable, "-P", "-c", f"import {name}"], capture_output=True, check=False)
    assert b"embedded" in ended.stderr
