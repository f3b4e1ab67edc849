#!/bin/sh
# A real office task, solved by the model on this machine. Each run works on its own copy of the office.
set -eu
cd "$(dirname "$0")/.."
exec .venv/bin/plait run "Delete my first meeting on December 13" --tools plait.tools.office --yes
