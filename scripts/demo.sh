#!/bin/sh
# Two real jobs with the model on this machine: an office task with tools, and a small program by one team.
# Each run of the office task works on its own copy of the office.
set -eu
cd "$(dirname "$0")/.."
echo "1. A task with tools, in a copy of an office"
.venv/bin/plait run "Delete my first meeting on December 13" --tools plait.tools.office --yes
echo
echo "2. A small program, by one team with a short chain; it is run in the sandbox"
exec .venv/bin/plait run "a game for the terminal: guess a number from 1 to 100, with hints and a count of the tries" \
  --domain software --teams 1 --phases coding,test
