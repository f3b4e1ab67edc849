"""Libraries that models like to use: what they are called, and whether a task asks for one.

Knows nothing of which are installed.
"""

import re
import sys
from collections.abc import Mapping

DISTRIBUTIONS: Mapping[str, str] = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "mysql": "mysql-connector-python",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "speech_recognition": "SpeechRecognition",
    "telegram": "python-telegram-bot",
    "usb": "pyusb",
    "wx": "wxPython",
    "yaml": "pyyaml",
}
"""What a library is installed as, where that is not the name it is imported by."""

_LIBRARY = re.compile(
    r"aiohttp|arcade|colorama|customtkinter|django|fastapi|flask\w*|httpx|jinja2|kivy|lxml|matplotlib|nltk|numpy"
    r"|openai|openpyxl|pandas|playsound|plotly|psutil|pydantic|pygame|pyglet|pymongo|pynput|pyperclip|PyQt\d"
    r"|PySide\d|pyttsx3|qrcode|redis|reportlab|requests|rich|schedule|scipy|seaborn|selenium|sqlalchemy|streamlit"
    r"|sympy|tabulate|tensorflow|termcolor|torch|tornado|tqdm|transformers|typer|websockets"
)

_ORDINARY_WORDS = frozenset(
    {"arcade", "flask", "playsound", "redis", "requests", "rich", "schedule", "tabulate", "torch", "tornado"}
)
"""Libraries that are called like something else, which a task may speak of."""

ONLY_ON_WINDOWS = frozenset(
    {"_msi", "_overlapped", "_winapi", "_winreg", "msilib", "msvcrt", "nt", "winreg", "winsound"}
)
"""Parts of Python that no other system has."""


def is_library(name: str) -> bool:
    """Whether a module that is not there is a library that models like to use, and not a file they forgot."""
    return name in DISTRIBUTIONS or _LIBRARY.fullmatch(name) is not None


def is_part_of_python(name: str) -> bool:
    """Whether a module belongs to Python here; if it is missing all the same, Python was built without it."""
    return name in sys.stdlib_module_names and name not in ONLY_ON_WINDOWS


def names_library(task: str, name: str) -> bool:
    """Whether a task asks for a library, by the name it is imported or installed by.

    A name that may be just a word has to be called a library there, or something of the kind.
    """
    distribution = DISTRIBUTIONS.get(name, name)
    stem = re.sub(r"^python-|-python$", "", distribution)
    called = "|".join(re.escape(each) for each in {name, distribution, stem})
    word = rf"(?<!\w)(?:{called})(?!\w)"
    if name in _ORDINARY_WORDS or not is_library(name):
        kind = r"(?:library|module|package|framework)"
        word = rf"{word}[ -]{kind}|{kind} {word}|(?:import|pip install) {word}"
    return re.search(word, task, re.IGNORECASE) is not None
