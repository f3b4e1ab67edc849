"""Finds secrets by where they stand: in addresses, behind options, under names that say so.

Knows nothing of where the texts come from, nor of what becomes of what is found.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_OPTION = re.compile(
    r"(key|token|secret|password|passwd|pwd|passphrase|credentials?|auth|bearer)$", re.IGNORECASE
)
"""How options end whose value is secret; others, such as `--max-tokens` or `--key-file`, only contain it."""
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
_PASSWORD_WITH_SIGNS = re.compile(r"://[^\s/:@]*:(?!\d+/)([^\s]+)@")
"""Written as it is, a password may hold what ends one elsewhere; a number before a slash is a port."""
_USER = re.compile(r"://([^\s/:@]{16,})@")
"""So long a name in front of a host is a token, as of `https://TOKEN@github.com`."""
_QUERY = re.compile(r"[?&]([^=&\s]+)=([^&#\s]+)")
_HEADER = re.compile(r"([\w-]+):\s*(?:\S+\s+)*(\S+)")


def is_secret_name(name: str) -> bool:
    """Tell whether a variable of this name holds a secret."""
    return _NAME.search(name) is not None


def secrets_in_url(text: str) -> Iterator[str]:
    """Yield the passwords and keys of the addresses in a text, as written and as meant."""
    found = [match[1] for form in (_PASSWORD, _PASSWORD_WITH_SIGNS, _USER) for match in form.finditer(text)]
    found += [match[2] for match in _QUERY.finditer(text) if _OPTION.search(match[1])]
    for secret in found:
        yield from (secret, unquote(secret))


def secrets_in_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the secrets of a command line: `--key=V`, `--key V`, `NAME_KEY=V` and `Authorization: V`."""
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        name, equals, value = argument.partition("=")
        is_option = name.startswith("-")
        if equals and (_OPTION.search(name) or (not is_option and is_secret_name(name))):
            yield value
        elif not equals and is_option and _OPTION.search(name) and not following.startswith("-"):
            yield following
        headers = (_HEADER.fullmatch(text) for text in (argument, value))
        yield from (header[2] for header in headers if header and is_secret_name(header[1]))
