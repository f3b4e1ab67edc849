#!/bin/sh
# Three real jobs with the model on this machine: an office task with tools, the same kind of task again with
# what the first taught, and a small program by one team. Each run works on its own copy of the office.
set -eu
cd "$(dirname "$0")/.."
# A memory of its own, so that the first run has nothing to go by however often this is run.
memory="demo-$(date +%s)"
echo "1. A task with tools, in a copy of an office"
.venv/bin/plait run "Delete my first meeting on December 13" --tools plait.tools.office --yes --memory "$memory"
echo
echo "2. The same for another day, with what was learned"
.venv/bin/plait run "Delete my first meeting on December 20" --tools plait.tools.office --yes --memory "$memory"
echo
echo "Side by side, the second above the first:"
.venv/bin/plait runs --limit 2
echo
echo "3. A small program, by one team with a short chain; it is run in the sandbox"
exec .venv/bin/plait run "a game for the terminal: guess a number from 1 to 100, with hints and a count of the tries" \
  --domain software --teams 1 --phases coding,test --memory "$memory"
