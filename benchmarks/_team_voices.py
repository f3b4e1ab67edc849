"""What a good model would reply to teams that make software: texts, programs, opinions and merges.

Every reply follows from its request alone, so that runs of any timing are served alike. Knows nothing of
endpoints or clocks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from plait.teams.ensemble import SEEDS_PER_TEAM

REMARKS = "\n# critique: The messages to the player could say more.\n# score: 9"
FIRST, REVISED = "first", "revised"
UNFINISHED = "pass  # TODO: keep only the ten best"
FINISHED = "return sorted(scores, key=lambda entry: entry[1])[:MOST_SCORES]"

REQUIREMENTS = """- The program shows a greeting and asks for the player's name.
- It chooses a whole number from 1 to 100 that the player is to guess.
- After each guess it says whether the number is higher or lower, and counts the guess.
- Input that is no number from 1 to 100 is refused with a hint and not counted.
- When the number is found it says how many guesses that took.
- The ten best results are kept in highscores.txt, with names, and shown after each game.
- The player is asked whether to play again; "n" ends the program with a farewell."""
LANGUAGE = """- Python, in the terminal
- random for the number to be guessed
- pathlib for the file of high scores"""
DESIGN = """- main.py: play() runs one game and returns the guesses; read_guess() asks until a number is
  given; main() greets, plays, keeps the score and asks whether to play again.
- scores.py: load() returns the list of (name, guesses), best first; save(scores) writes it; best(scores)
  keeps the ten best; add(name, guesses) puts a result in; table(scores) returns the lines to be shown."""
MAIN = '''"""A number guessing game for the terminal ({mark})."""

import random

import scores

LOWEST, HIGHEST = 1, 100


def read_guess():
    """Ask until the player gives a number in the range; None at the end of the input."""
    while True:
        try:
            text = input(f"Your guess ({{LOWEST}}-{{HIGHEST}}): ").strip()
        except EOFError:
            return None
        if text.isdigit() and LOWEST <= int(text) <= HIGHEST:
            return int(text)
        print(f"Please type a whole number from {{LOWEST}} to {{HIGHEST}}.")


def play():
    """Play one game and return how many guesses it took; None where the player left."""
    number = random.randint(LOWEST, HIGHEST)
    guesses = 0
    while True:
        guess = read_guess()
        if guess is None:
            return None
        guesses += 1
        if guess < number:
            print("Higher!")
        elif guess > number:
            print("Lower!")
        else:
            print(f"Right! It took you {{guesses}} guesses.")
            return guesses


def ask(question, default):
    """Ask for a text; the default at the end of the input."""
    try:
        return input(question).strip() or default
    except EOFError:
        return default


def main():
    """Greet, play until the player has enough, and say goodbye."""
    print("Welcome to the number guessing game!")
    name = ask("Your name: ", "Player")
    again = "y"
    while again.lower() != "n":
        guesses = play()
        if guesses is None:
            break
        scores.add(name, guesses)
        print("\\n".join(scores.table(scores.load())))
        again = ask("Play again (y/n)? ", "n")
    print(f"Goodbye, {{name}}!")


if __name__ == "__main__":
    main()'''
SCORES = '''"""The high scores of the game, best first ({mark})."""

from pathlib import Path

FILE = Path("highscores.txt")
MOST_SCORES = 10


def load():
    """Return the scores on file as pairs of a name and a number of guesses."""
    if not FILE.exists():
        return []
    pairs = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, _, guesses = line.rpartition(";")
        if name and guesses.isdigit():
            pairs.append((name, int(guesses)))
    return pairs


def save(scores):
    """Write the scores to the file, one a line."""
    lines = [f"{{name}};{{guesses}}" for name, guesses in scores]
    FILE.write_text("\\n".join(lines) + "\\n", encoding="utf-8")


def best(scores):
    """Return the ten best scores, best first."""
    {best}


def add(name, guesses):
    """Put a result among the scores and keep the best."""
    save(best([*load(), (name.replace(";", ","), guesses)]))


def table(scores):
    """Return the lines of the table of high scores."""
    lines = ["High scores"]
    for place, (name, guesses) in enumerate(scores, start=1):
        lines.append(f"{{place:2}}. {{name:20}} {{guesses:3}}")
    return lines'''
MANUAL = """# Number guessing game

A game for the terminal: find the number from 1 to 100 that the computer thinks of, with few guesses.

## Start it

    python main.py

## Play

- Type your name and press Enter.
- Type a number from 1 to 100. The game answers "Higher!" or "Lower!" until you find it.
- What is no such number is refused and does not count.
- At the end you see how many guesses it took and the ten best results so far.
- Answer "y" to play again, or "n" to leave.

The results are kept in highscores.txt, in the folder that the game is started in."""
ANALYSIS = (
    "+ It asks until a number in the range is given, and counts only such guesses.",
    "+ High scores are kept apart from the game and survive a missing file.",
    "- The messages to the player are short, and the range is told only in the question.",
)

_SOLUTION = re.compile(r"^# Solution (\d+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Voices:
    """A model that knows one program; what varies is how much there is to talk about."""

    changes: bool = True
    """Each instructor wants one change before it agrees."""
    unfinished: bool = False
    """Programs lack a body, also merged ones, until code completion writes it."""

    def reply(self, body: Mapping[str, Any]) -> str:
        """Return the reply to the body of a Chat Completions request."""
        text = "\n".join(message["content"] for message in body["messages"])
        team = int(body.get("seed") or 0) // SEEDS_PER_TEAM + 1
        return self._said(text, f"team {team}") + REMARKS

    def _said(self, text: str, author: str) -> str:
        version = REVISED if "This is not finished. Change this:" in text else FIRST
        if "Compare the solutions." in text:
            return "\n".join(_points(int(number)) for number in sorted(set(_SOLUTION.findall(text))))
        if "Now write one solution" in text:
            mark = f"merged, {sha256(text.encode()).hexdigest()[:8]}"
            changes = "I took the reading of guesses from solution 1 and the high scores from solution 2."
            return f"{self._program(mark)}\n# changes: {changes}"
        if "reply AGREED" in text:
            wanted = self.changes and "You asked for this before:" not in text
            return "CHANGE: Say more clearly what happens at the end of a game." if wanted else "AGREED"
        if "Write the whole program in Python." in text:
            return self._program(f"{author}, {version}")
        if "Write what is missing, with full bodies" in text:
            return _file("scores.py", SCORES.format(mark=f"{author}, completed", best=FINISHED))
        return f"{_text(text)}\n- ({author}, {version})"

    def _program(self, mark: str) -> str:
        best = UNFINISHED if self.unfinished else FINISHED
        return "\n\n".join(
            [
                _file("main.py", MAIN.format(mark=mark)),
                _file("scores.py", SCORES.format(mark=mark, best=best)),
            ]
        )


def _text(asked: str) -> str:
    """Return the reply in words that a phase asks for."""
    texts = {
        "Write down what the program must do": REQUIREMENTS,
        "Say in at most 4 short lines": LANGUAGE,
        "Design the program.": DESIGN,
        "Write the manual": MANUAL,
    }
    return next(text for words, text in texts.items() if words in asked)


def _file(path: str, content: str) -> str:
    return f"```python {path}\n{content}\n```"


def _points(number: int) -> str:
    return "\n".join([f"Solution {number}", *ANALYSIS])
