"""What in a value or a text may tell about a person, or open a door: it leaves only when its owner says so.

By form alone, without a model: what looks personal is asked about, and a false alarm costs one question.
Knows nothing of records or files.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from plait.experience.words.goals import masked
from plait.experience.words.vocabulary import ORDINARY
from plait.journal import JSON
from plait.tools.masking import SHORTEST_SECRET_CHARACTERS
from plait.tools.secret_finding import is_secret_name, secrets_in_url

LONG_TEXT_CHARACTERS = 40
LONG_NUMBER = 1_000
"""A number from here on may be an amount, a telephone number or an id."""
_SECRET = re.compile(
    r"""(?<![A-Za-z0-9])(?:
    (?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}
    |gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
    |(?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{30,} | ya29\.[\w-]{20,}
    |xox[abeoprs]-[\w-]{10,} | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,}
    |eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
    |bearer\s+[\w.~+/-]{12,}
    |-----BEGIN\ [A-Z ]*PRIVATE\ KEY)""",
    re.VERBOSE | re.IGNORECASE,
)
_MIXED = re.compile(r"(?<![\w-])(?=[A-Za-z0-9+/_=-]*[0-9])(?=[A-Za-z0-9+/_=-]*[A-Za-z])[A-Za-z0-9+/_=-]{20,}")
"""So long a word of letters and digits is a key, a token or a hash."""
_SECRET_WORD = re.compile(
    r"(?<![a-z0-9])(?:passwords?|passwd|passcodes?|passphrases?|pwd|pin|otp|cvv|cvc|secrets?|tokens?|credentials?"
    r"|pass|(?:api|access|private|secret)[ _-]keys?|(?:door|entry|access|security)[ _-]?codes?)(?![a-z0-9])",
    re.IGNORECASE,
)
"""What is said beside it may open a door, however short it is and however plain it looks."""
_SEAM = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
"""Where a name without spaces begins another word."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.\w+")
_LINK = re.compile(r"\w+://|www\.")
_PATH = re.compile(r"(?:^|[\s'\"(=])(?:~?/[\w.-]+/|[A-Za-z]:\\|\\\\\w)")
_IDENTIFIER = re.compile(r"\d{4,}|(?<!\w)(?=\w*\d)(?=\w*[A-Za-z])[\w-]{4,}|[0-9a-f]{8}-[0-9a-f]{4}")
_HANDLE = re.compile(r"(?<!\w)[@#]\w+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def secrets_of(text: str, secrets: Collection[str] = ()) -> list[str]:
    """Return the parts of a text that look like a secret or are one of `secrets`, the longest first."""
    found = {known for known in secrets if len(known) >= SHORTEST_SECRET_CHARACTERS and known in text}
    found.update(match[0] for form in (_SECRET, _MIXED) for match in form.finditer(text))
    return sorted(found.union(secrets_in_url(text)), key=len, reverse=True)


def names_secret(text: str) -> bool:
    """Whether a name or a text speaks of something that opens a door, such as a password or a pin."""
    return any(_SECRET_WORD.search(each) for each in (text, _SEAM.sub(" ", text)))


def why_model(name: str, secrets: Collection[str] = ()) -> str:
    """Return in a few words why the name of a model may be personal; empty for that of a public one."""
    if any(len(known) >= SHORTEST_SECRET_CHARACTERS and known in name for known in secrets):
        return "it holds a secret"
    if _SECRET.search(name) or any(secrets_in_url(name)):
        return "it has the form of a secret"
    if _LINK.search(name):
        return "an address of a page"
    if _ADDRESS.search(name):
        return "an e-mail address"
    return "a path" if any(_PATH.search(part) for part in (name, name.partition(":")[2])) else ""


def why_personal(value: JSON, name: str = "", secrets: Collection[str] = ()) -> str:
    """Return in a few words why a constant may be personal; empty where it is a plain setting.

    Args:
        value: Of an argument; lists and objects are looked through.
        name: Of the argument.
        secrets: Values that are secret whatever they look like.
    """
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return ""
    if names_secret(name) or (is_secret_name(name) and isinstance(value, str)):
        return "an argument of that name holds a secret"
    if isinstance(value, int | float):
        return "a number that may be an amount or an id" if abs(value) >= LONG_NUMBER else ""
    if isinstance(value, str):
        return why_text(value, secrets) or _why_words(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, JSON]", value)
        why = (why_personal(item, key, secrets) or _why_words(key) for key, item in fields.items())
        return next(filter(None, why), "")
    items = cast("Sequence[JSON]", value)
    return next(filter(None, (why_personal(item, name, secrets) for item in items)), "")


def why_text(text: str, secrets: Collection[str] = ()) -> str:
    """Return in a few words why a text without the values of its goal may still be personal."""
    if secrets_of(text, secrets):
        return "it has the form of a secret"
    if any(not address.endswith("@example.com") for address in _ADDRESS.findall(text)):
        return "an e-mail address"
    if _LINK.search(text):
        return "an address of a page"
    if _PATH.search(text):
        return "a path"
    return "a name of an account" if _HANDLE.search(text) else ""


def _why_words(text: str) -> str:
    """Return why a value may be personal that is no goal but only a few words."""
    if len(text) > LONG_TEXT_CHARACTERS:
        return "a long text"
    if _IDENTIFIER.search(text):
        return "it may be an id"
    if any(span.kind in ("name", "date", "email", "quoted") for span in masked(text).spans):
        return "a name or a date"
    # A value stands alone, where no words around it tell a name.
    unusual = [word for word in _WORD.findall(text) if word.casefold() not in ORDINARY]
    return "it may be a name" if unusual else ""
