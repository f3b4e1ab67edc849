"""A small MCP server for tests: `servers.py stdio`, or `servers.py http PORT`."""

import os
import sys
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


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


if __name__ == "__main__":
    print("corner is up", file=sys.stderr, flush=True)
    if sys.argv[1] == "http":
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run(transport="stdio")
