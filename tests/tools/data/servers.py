"""A small MCP server for tests: `servers.py stdio`, `servers.py http PORT`, or `servers.py once FILE`.

The last one hangs when it is started again; it adds the number of its process to FILE at each start.
"""

import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("corner")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(first: int, second: int = 1) -> int:
    """Add two numbers."""
    return first + second


@server.tool()
def key() -> str:
    """Show the key."""
    return f"the key is {os.environ.get('CORNER_KEY')}"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no luck")


@server.tool(name="write-note")
def write_note(file: str, text: str) -> str:
    """Add a line to a file."""
    with Path(file).open("a") as stream:
        stream.write(text + "\n")
    return "written"


@server.tool(name="write.note")
def write_note_anew(file: str, text: str) -> str:
    """Make a file hold one line."""
    Path(file).write_text(text + "\n")
    return "written anew"


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def stumble(file: str) -> str:
    """End the server the first time."""
    if not Path(file).exists():
        Path(file).touch()
        os._exit(3)
    return "here again"


if __name__ == "__main__":
    print(f"corner is up as {os.getpid()}", file=sys.stderr, flush=True)
    if sys.argv[1] == "once":
        with Path(sys.argv[2]).open("a+") as starts:
            starts.write(f"{os.getpid()}\n")
            starts.seek(0)
            again = len(starts.readlines()) > 1
        while again:
            time.sleep(1)
    if sys.argv[1] == "http":
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run(transport="stdio")
