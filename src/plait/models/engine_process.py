"""The child process in which llama.cpp runs. Run as a script; knows nothing of Plait.

Reads one line of JSON with parameters, writes one line of JSON with its address or its error, serves
until its standard input closes, and so ends with whoever started it, however that ends. It is a process
of its own because loading a model holds Python's lock for seconds, and because a fault in native code
then ends an engine and not a run. Everything llama.cpp says goes to standard error.
"""

import importlib
import json
import os
import sys
from typing import Any


def _set(parameters: Any, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        parameters = getattr(parameters, parent)
    setattr(parameters, name, value)


def _serve(settings: dict[str, Any]) -> Any:
    llama: Any = importlib.import_module("xllamacpp")  # has no type stubs
    parameters = llama.CommonParams()
    for path, value in settings.items():
        _set(parameters, path, value)
    return llama.Server(parameters)


def main() -> None:
    """Serve until standard input closes."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what native code prints must not be taken for the answer
    try:
        server = _serve(json.loads(sys.stdin.readline()))
        said = {"address": server.listening_address}
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), file=answer, flush=True)
    if "address" in said:
        sys.stdin.read()
    # Nothing is left to save, and destructors would first finish the batch at hand.
    os._exit(0)


if __name__ == "__main__":
    main()
