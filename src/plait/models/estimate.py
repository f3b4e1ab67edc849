"""What a call may consume at most, before it is made.

Knows nothing of budgets.
"""

import math

from plait.models.encoding import encoded
from plait.models.protocol import FunctionCalling, Request, TokenUsage, Typed

BYTES_PER_TOKEN = 3
"""Of a prompt in UTF-8; most texts have about four, so the estimate is rather too high."""


def estimate(request: Request) -> TokenUsage:
    """Return about what a call may consume at most: its prompt and its form, and the longest reply."""
    texts = [message.content for message in request.messages]
    match request.form:
        case Typed(schema=schema):
            texts.append(encoded(schema).decode())
        case FunctionCalling(tools=tools):
            texts.append(encoded(tools).decode())
        case _:
            pass  # A grammar is held against the reply, never read as a prompt.
    prompt = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return TokenUsage(
        input_tokens=math.ceil(prompt / BYTES_PER_TOKEN), output_tokens=request.settings.max_tokens
    )
