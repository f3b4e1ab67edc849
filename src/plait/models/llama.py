"""One running llama.cpp: a child process with one model, started once and shared by all agents.

Knows how to start, watch and stop it, and nothing of prompts or replies. The child ends with this
process, however this process ends. What llama.cpp says goes to a log file.
"""

import atexit
import hashlib
import importlib.metadata
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from plait.errors import ModelError, TransientModelError, UserError
from plait.models import engine_process
from plait.models.gguf import read_shape
from plait.models.machine import GIB, available_memory_bytes
from plait.models.sizing import EngineSize, engine_size
from plait.paths import log_folder, prefixes_folder

# Small batches let other slots write on, and let a call that was given up be noticed, between two of them.
_BATCH_TOKENS = 256
WAIT_ROUNDS = "1000"
_LOG_LIMIT_BYTES = 4 << 20
_STOP_SECONDS = 5.0
_IDENTITY_BYTES = 1 << 16


class Engine:
    """A running engine."""

    def __init__(self, name: str, file: Path) -> None:
        """Start llama.cpp and wait until the model is loaded, which takes seconds.

        Raises:
            UserError: the extra is missing, the file is damaged, or memory is too small.
            ModelError: llama.cpp could not be started.
        """
        self.name = name
        self.file = file
        try:
            shape = read_shape(file)
        except UserError as error:
            raise UserError(f"{error.message} {_remedy(name)}") from error
        self.size = engine_size(name, shape)
        self.bytes_per_token = shape.bytes_per_token
        self.version = require_engine()
        self.key = secrets.token_urlsafe(24)
        self.log = log_folder() / f"engine-{name.replace('/', '_')}.log"
        self._process = self._start()
        self.address = self._await_address()

    @property
    def identity(self) -> str:
        """What a saved prefix state depends on: the model's bytes, llama.cpp's version, the settings."""
        digest = hashlib.sha256()
        with self.file.open("rb") as file:
            digest.update(file.read(_IDENTITY_BYTES))
            digest.update(str(file.seek(0, os.SEEK_END)).encode())
            file.seek(-min(_IDENTITY_BYTES, file.tell()), os.SEEK_END)
            digest.update(file.read())
        return f"{digest.hexdigest()} {self.version} {self.size.context_tokens}"

    @property
    def running(self) -> bool:
        """Whether the child still lives."""
        return self._process.poll() is None

    def ends_within(self, seconds: float) -> bool:
        """Wait at most so long for the child to end by itself, and return whether it did."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        """End the child; safe to call twice."""
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _pipe(self._process.stdout).close()

    def died(self) -> ModelError:
        """Return the error for a call whose engine is gone."""
        return TransientModelError(
            f"The embedded engine of {self.name!r} ended unexpectedly ({_ending(self._process.poll())}); "
            f"see {str(self.log)!r}."
        )

    def _start(self) -> subprocess.Popen[str]:
        script = str(Path(engine_process.__file__))
        _make_prefixes_folder()
        with _open_log(self.log) as log:
            return subprocess.Popen(
                # -P: nothing in the user's folder may be taken for a module.
                [sys.executable, "-P", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_environment(),
                text=True,
                start_new_session=True,  # Ctrl-C is for us; we stop the engine when we are done with it
            )

    def _await_address(self) -> str:
        settings = _parameters(self.file, self.size, self.key, prefixes_folder())
        try:
            _pipe(self._process.stdin).write(json.dumps(settings) + "\n")
            _pipe(self._process.stdin).flush()
            line = _pipe(self._process.stdout).readline()
        except OSError:
            line = ""
        said: dict[str, str] = json.loads(line) if line else {}
        if "address" not in said:
            self.stop()
            raise self._load_error(said.get("error", ""))
        return said["address"]

    def _load_error(self, said: str) -> ModelError | UserError:
        if said.startswith(("ImportError", "ModuleNotFoundError", "OSError")):
            return UserError(
                f"The embedded engine cannot be loaded ({said}); run: pip install 'plait[local]'"
            )
        free = available_memory_bytes()
        if self._process.returncode < 0 or free < self.size.memory_bytes:
            return UserError(
                f"Model {self.name!r} could not be loaded: it takes about "
                f"{self.size.memory_bytes / GIB:.1f} GiB and {free / GIB:.1f} GiB are free "
                f"({_ending(self._process.returncode)}); close other programs or choose a smaller model."
            )
        return UserError(
            f"Model {self.name!r} could not be loaded: {str(self.file)!r} is damaged or of a kind that this "
            f"llama.cpp does not know; details: {str(self.log)!r}. {_remedy(self.name)}"
        )


def _remedy(name: str) -> str:
    return f"Run `plait models pull {name}`; one that you added: `plait models rm {name}`, and add it again."


def _environment() -> Mapping[str, str]:
    """Return this process's environment, with threads that sleep soon when they wait for each other.

    Measured on two processors: alone it costs nothing; beside another busy process a reply of 24 tokens
    took 4 s, and with OpenMP's long default wait 20 to 70 s.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return os.environ
    return {"GOMP_SPINCOUNT": WAIT_ROUNDS, **os.environ}


def _parameters(file: Path, size: EngineSize, key: str, states: Path) -> Mapping[str, Any]:
    return {
        "model.path": str(file),
        "hostnames": ["127.0.0.1"],
        "port": 0,
        "api_keys": [key],
        "n_ctx": size.slots * size.context_tokens,
        "n_parallel": size.slots,
        "n_batch": _BATCH_TOKENS,
        "n_ubatch": _BATCH_TOKENS,
        "n_threads_http": size.slots + 4,
        "cpuparams.n_threads": size.threads,
        "cpuparams_batch.n_threads": size.threads,
        "cache_prompt": True,
        "cache_ram_mib": 0,  # slots are chosen by us, and prefixes come from disk
        "cache_idle_slots": False,
        "kv_unified": False,
        "endpoint_slots": True,
        "slot_save_path": str(states) + os.sep,
        "fit_params": False,  # would load the model twice
        "warmup": False,
        "ui": False,
    }


def require_engine() -> str:
    """Return the version of the engine's package.

    Raises:
        UserError: it is not installed.
    """
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError as error:
        raise UserError(
            "Local models need the embedded engine, which is not installed; run: pip install 'plait[local]'"
        ) from error


def _make_prefixes_folder() -> None:
    folder = prefixes_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(
            f"The engine's folder {str(folder)!r} cannot be made: {error.strerror}; set PLAIT_HOME to a "
            "folder that can be written."
        ) from error


def _open_log(file: Path) -> IO[bytes]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > _LOG_LIMIT_BYTES:
            file.unlink()
        return file.open("ab")
    except OSError as error:
        raise UserError(
            f"The engine's log {str(file)!r} cannot be written: {error.strerror}; free the disk, or set "
            "PLAIT_HOME to a folder that can be written."
        ) from error


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise ModelError("The embedded engine was started without a pipe.")
    return pipe


def _ending(status: int | None) -> str:
    if status is None:
        return "it does not answer"
    return f"signal {-status}" if status < 0 else f"exit status {status}"


class Engines:
    """All engines of this process: one for each model file, stopped when nobody holds it for a while."""

    def __init__(self, keep_seconds: float) -> None:
        self._keep_seconds = keep_seconds
        self._engines: dict[Path, Engine] = {}
        self._holders: dict[Path, set[int]] = {}
        self._lock = threading.Lock()
        self._starting: dict[Path, threading.Lock] = {}
        self._timers: dict[Path, threading.Timer] = {}
        atexit.register(self.stop_all)

    def get(self, name: str, file: Path, holder: object) -> Engine:
        """Return the running engine of a file, started if need be; `holder` keeps it alive."""
        with self._lock:
            self._holders.setdefault(file, set()).add(id(holder))
            self._let_be(file)
            starting = self._starting.setdefault(file, threading.Lock())
        with starting:
            engine = self._engines.get(file)
            if engine is not None and not engine.running:
                engine.stop()
                engine = None
            if engine is None:
                engine = self._engines[file] = Engine(name, file)
            return engine

    def release(self, holder: object) -> None:
        """Let go of all engines; one that nobody holds stops after a while, as the next task may need it."""
        with self._lock:
            for file, holders in self._holders.items():
                if id(holder) in holders:
                    holders.discard(id(holder))
                    self._let_be(file)
                    self._timers[file] = timer = threading.Timer(
                        self._keep_seconds, self._stop_unheld, [file]
                    )
                    timer.daemon = True
                    timer.start()

    def stop_all(self) -> None:
        """Stop every engine now."""
        with self._lock:
            engines, self._engines = list(self._engines.values()), {}
        for engine in engines:
            engine.stop()

    def _let_be(self, file: Path) -> None:
        """Stop nothing for what was released before."""
        if timer := self._timers.pop(file, None):
            timer.cancel()

    def _stop_unheld(self, file: Path) -> None:
        with self._lock:
            engine = None if self._holders.get(file) else self._engines.pop(file, None)
        if engine is not None:
            engine.stop()
