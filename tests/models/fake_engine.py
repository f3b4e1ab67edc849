"""Stands for the engine's child process: the same script interface, no weights. Standard library only.

What it should do comes in the environment: FAKE_ENGINE=refuse|die|slow. What it was asked is written
to the file that FAKE_ENGINE_TOLD names, one line of JSON each.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {}
HELD: dict[int, str] = {}
"""The text that each slot has read."""
LOCK = threading.Lock()


def tell(**what: Any) -> None:
    with LOCK, open(os.environ["FAKE_ENGINE_TOLD"], "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        if self.headers["Authorization"] != f"Bearer {SETTINGS['api_keys'][0]}":
            self._answer({"error": {"message": "Invalid API Key"}}, 401)
            return
        path, _, query = self.path.partition("?")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if path.startswith("/slots/"):
            self._slot(int(path.removeprefix("/slots/")), query, body)
        else:
            {
                "/apply-template": self._template,
                "/completion": self._read,
                "/v1/chat/completions": self._chat,
            }[path](body)

    def _template(self, body: dict[str, Any]) -> None:
        self._answer({"prompt": "".join(f"<{m['role']}>{m['content']}" for m in body["messages"])})

    def _read(self, body: dict[str, Any]) -> None:
        slot, text = body["id_slot"], body["prompt"]
        read = len(text) - shared(HELD.get(slot, ""), text)
        HELD[slot] = text
        tell(read=read, slot=slot)
        if os.environ.get("FAKE_ENGINE") == "slow":
            time.sleep(0.1)
        self._answer({"timings": {"prompt_n": read, "cache_n": len(text) - read}})

    def _slot(self, slot: int, query: str, body: dict[str, Any]) -> None:
        file = Path(SETTINGS["slot_save_path"]) / body["filename"]
        tell(slot=slot, did=query)
        if query == "action=save":
            file.write_text(HELD[slot], encoding="utf-8")
        elif file.exists():
            HELD[slot] = file.read_text(encoding="utf-8")
        else:
            self._answer({"error": {"message": "Unable to restore slot"}}, 400)
            return
        self._answer({})

    def _chat(self, body: dict[str, Any]) -> None:
        slot = body["id_slot"]
        text = "".join(f"<{m['role']}>{m['content']}" for m in body["messages"])
        last = body["messages"][-1]["content"]
        if last == "die":
            os._exit(9)
        if last == "too long":
            error = {"type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8, "message": "m"}
            self._answer({"error": error}, 400)
            return
        cached = shared(HELD.get(slot, ""), text)
        HELD[slot] = text
        tell(chat=last, slot=slot, body={key: body[key] for key in body if key != "messages"})
        if last == "in circles":
            self._begin()
            self._circle(len(text))
            return
        self._stream("forever" if last == "forever" else reply_to(body), len(text), cached)

    def _circle(self, length: int) -> None:
        self._piece({"choices": [], "prompt_progress": {"total": length, "cache": 2, "processed": length}})
        try:
            for number in range(100_000):
                word = f"{number} " if number < 100 else "again "
                self._piece({"choices": [{"delta": {"content": word}, "finish_reason": None}]})
        except OSError:
            tell(gave_up=True)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def _stream(self, reply: str, length: int, cached: int) -> None:
        self._begin()
        try:
            while reply == "forever":
                self._piece({"choices": [{"delta": {"content": "."}, "finish_reason": None}]})
                time.sleep(0.01)
        except OSError:
            tell(gave_up=True)
            return
        for word in reply:
            self._piece({"choices": [{"delta": {"content": word}, "finish_reason": None}]})
        if reply != "broken":
            self._piece({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        usage = {
            "prompt_tokens": length,
            "completion_tokens": len(reply),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        self._piece({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _piece(self, piece: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(piece).encode() + b"\n\n")

    def _answer(self, answer: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


def reply_to(body: dict[str, Any]) -> str:
    if "response_format" in body:
        name = body["response_format"]["json_schema"]["schema"]["anyOf"][0]["properties"]["name"]["const"]
        return json.dumps({"name": name, "arguments": {"city": "Rome"}})
    return "broken" if body["messages"][-1]["content"] == "break off" else "done"


def shared(one: str, other: str) -> int:
    differing = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def main() -> None:
    SETTINGS.update(json.loads(sys.stdin.readline()))
    tell(started=os.getpid(), spin_count=os.environ.get("GOMP_SPINCOUNT"))
    how = os.environ.get("FAKE_ENGINE")
    if how == "refuse":
        print(json.dumps({"error": "RuntimeError: Failed to init server"}), flush=True)
        return
    if how == "die":
        os.kill(os.getpid(), 9)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
