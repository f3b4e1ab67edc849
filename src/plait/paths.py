"""Where Plait keeps its files: one data folder, moved as a whole by `PLAIT_HOME`.

Knows nothing of what the files are. No folder is made by asking for its path.
"""

import os
from pathlib import Path

import platformdirs

from plait.errors import UserError


def data_folder() -> Path:
    """Return the folder of everything Plait keeps: models, runs, the database.

    Raises:
        UserError: PLAIT_HOME names the home of a user that there is not.
    """
    home = os.environ.get("PLAIT_HOME", "").strip()
    if not home:
        return platformdirs.user_data_path("plait", appauthor=False)
    try:
        return Path(home).expanduser().absolute()
    except RuntimeError as error:
        raise UserError(f"PLAIT_HOME is {home!r}, and there is no such user: give a whole path") from error


def models_folder() -> Path:
    """Return the folder of model weights."""
    return data_folder() / "models"


def prefixes_folder() -> Path:
    """Return the folder of saved prefix states."""
    return data_folder() / "prefixes"


def runs_folder() -> Path:
    """Return the folder of the files that runs work on."""
    return data_folder() / "runs"


def log_folder() -> Path:
    """Return the folder of diagnostic logs, such as the embedded engine's."""
    return data_folder() / "logs"


def pins_file() -> Path:
    """Return the file of what the user has come to know of the tools of servers."""
    return data_folder() / "pins.json"


def database_file() -> Path:
    """Return the default SQLite database."""
    return data_folder() / "plait.db"
