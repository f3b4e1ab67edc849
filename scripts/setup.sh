#!/bin/sh
# Make .venv with the locked versions of everything needed for development, and Plait itself editable.
# PYTHON names the interpreter; otherwise the first one on the path that is new enough is taken.
set -eu
cd "$(dirname "$0")/.."

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=${PYTHON:-}
if [ -n "$python" ]; then
    new_enough "$python" || { echo "setup: PYTHON=$python is not Python 3.11 or newer" >&2; exit 1; }
else
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if new_enough "$candidate"; then python=$candidate; break; fi
    done
    [ -n "$python" ] || { echo "setup: no Python 3.11 or newer found; install one or say PYTHON=/path/to/python3" >&2; exit 1; }
fi

# A virtual environment that was moved, or whose interpreter is gone, is made anew.
if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "setup: making .venv with $($python --version)"
    rm -rf .venv
    # Debian splits ensurepip off into python3-venv; where it is missing, the system's pip fills the environment.
    if "$python" -c 'import ensurepip' 2>/dev/null; then
        "$python" -m venv .venv
    elif "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --without-pip .venv
        "$python" -m pip --python .venv/bin/python install --quiet pip
    else
        echo "setup: $python has neither ensurepip nor pip; on Debian or Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
fi

echo "setup: installing $(grep -c == requirements.lock) locked packages (a minute or two the first time)"
# Compiled is what is used, when it is first used.
.venv/bin/python -m pip install --quiet --no-deps --no-compile --progress-bar off --requirement requirements.lock
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
echo "setup: ready; the command is .venv/bin/plait"
