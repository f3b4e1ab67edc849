"""How near a program is to its task, as the paper's scripts see it and without what only repeats the task."""

import ast
from collections.abc import Sequence

import pytest

from plait.domains.software.consistency import bare_code, consistency, without_long_texts
from plait.models.embeddings import HashEmbedder

TASK = "A number guessing game for the terminal with a high score file"
GAME = """
import random

def guess_number(secret: int) -> bool:
    number = int(input("Guess: "))
    return number == secret

def save_score(score: int) -> None:
    with open("scores.txt", "a") as high_scores:
        high_scores.write(f"{score}\\n")

while not guess_number(random.randint(1, 9)):
    save_score(1)
"""


async def test_a_program_is_nearer_to_its_own_task_and_length_does_not_hide_that():
    code = {"main.py": "\n".join(["x = 1"] * 400 + ["def tally_chess_moves(): return chess_moves"] * 40)}
    embedder = HashEmbedder()
    own = await consistency(embedder, "tally chess moves", code)
    other = await consistency(embedder, "bake bread quickly", code)
    assert 0 <= other["official"] < own["official"] <= 1
    assert 0 <= other["strict"] < own["strict"] <= 1


async def test_the_code_is_compared_without_comments_docstrings_and_blank_lines():
    code = "\"\"\"About\nit.\"\"\"\n# a comment\n\nx = 1  # stays\n'''more'''\n"
    assert bare_code({"a/main.py": code, "notes.txt": "no"}) == "main.py\nx = 1  # stays"
    assert bare_code({"notes.txt": "no"}) == "None"
    assert (await consistency(HashEmbedder(), "x", {"notes.txt": "no"}))["strict"] >= 0


@pytest.mark.parametrize(
    "echo",
    [
        f"print('{TASK}')\n",
        f"# {TASK}\nprint('ok')  # {TASK}\n",
        f"TASK = f'{TASK} {{1}}'\nprint(TASK)\n",
        f"def main():\n    '{TASK}'\n    print(b'x', '{TASK[:30]}' '{TASK[30:]}')\n",
    ],
)
async def test_a_program_that_only_repeats_its_task_is_strictly_less_near_than_one_that_works(echo: str):
    works = await consistency(HashEmbedder(), TASK, {"main.py": GAME})
    repeats = await consistency(HashEmbedder(), TASK, {"main.py": echo})
    assert repeats["strict"] < works["strict"]


async def test_the_official_reading_is_that_of_the_papers_scripts():
    near = await consistency(HashEmbedder(), TASK, {"main.py": f"print('{TASK}')\n"})
    assert near["official"] > 0.8 > near["strict"]


class Counting(HashEmbedder):
    """Knows how many texts it was given."""

    texts = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += len(texts)
        return await super().embed(texts)


async def test_what_is_the_same_in_both_readings_is_embedded_once():
    embedder = Counting()
    near = await consistency(embedder, "x", {"main.py": "x = 1\n"})
    assert embedder.texts == 2
    assert near["official"] == near["strict"]


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("x = 'menu'  # a comment", "x = 'menu'"),
        ("x = {'key': 'a text that is as long as a task'}", "x = {'key': ''}"),
        ("x = f'a text that is {y} as long as a task'", "x = f'{y}'"),
        ("def f(:", "def f(:"),
        ("x = " + "+".join("1" * 1500), "x = " + "+".join("1" * 1500)),
    ],
)
def test_what_is_left_of_a_file_without_long_texts(code: str, left: str):
    assert without_long_texts(code) == left


async def test_a_program_with_an_f_string_that_python_cannot_write_anew_is_compared_all_the_same():
    code = "print(f\"{'\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}'} works\")\n"
    assert ast.dump(ast.parse(without_long_texts(code))) == ast.dump(ast.parse(code))
    assert (await consistency(HashEmbedder(), "a worker", {"main.py": code}))["strict"] >= 0
