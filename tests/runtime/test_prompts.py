"""Prompts come back as they were, and what two prompts share is stored once."""

import random

import pytest

from plait.errors import LogError
from plait.runtime import prompts

PIECES = ("word ", "\n", "\n\n", "\n\n\n", "é✓", "\x00", "role", "a long line without any blank one " * 9, "")


def random_chat(generator: random.Random) -> list[dict[str, str]]:
    return [
        {
            "role": generator.choice(("system", "user", "assistant")),
            "content": "".join(generator.choices(PIECES, k=generator.randrange(40))),
        }
        for _ in range(generator.randrange(1, 6))
    ]


def test_any_chat_is_restored_exactly() -> None:
    generator = random.Random(7)
    for _ in range(200):
        chat, other = random_chat(generator), random_chat(generator)
        parts = prompts.parts(chat)
        by_id = {part.id: part for part in (*parts, *prompts.parts(other))}

        assert prompts.restore(by_id, parts[-1].id) == chat


def test_different_chats_have_different_heads() -> None:
    generator = random.Random(7)
    chats = [random_chat(generator) for _ in range(400)]
    heads = {prompts.parts(chat)[-1].id: chat for chat in chats}

    assert all(heads[prompts.parts(chat)[-1].id] == chat for chat in chats)


def test_split_of_a_message_tells_chats_apart() -> None:
    whole = [{"role": "user", "content": "ab"}]
    halves = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]

    assert prompts.parts(whole)[-1].id != prompts.parts(halves)[-1].id


def test_a_longer_prompt_shares_its_beginning() -> None:
    blocks = [f"Fact {number}: " + "x" * 300 for number in range(10)]
    stored: set[str] = set()
    sizes: list[int] = []
    for count in range(1, 11):
        chat = [{"role": "system", "content": "\n\n".join(blocks[:count])}]
        new = [part for part in prompts.parts(chat) if part.id not in stored]
        stored |= {part.id for part in new}
        sizes.append(sum(len(part.text) for part in new))

    assert max(sizes) < 2 * (len(blocks[0]) + 2) + 10


def test_chunks_end_after_blank_lines_and_are_not_small() -> None:
    text = "\n\n".join(["short"] * 200)

    pieces = list(prompts.chunks(text))

    assert "".join(pieces) == text
    assert all(piece.endswith("\n\n") and len(piece) >= prompts.CHUNK_CHARACTERS for piece in pieces[:-1])
    assert len(pieces) > 3


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "text",
        [{"role": "user"}],
        [{"role": "", "content": "x"}],
        [{"role": "user", "content": ["parts"]}],
        [{"role": "user", "content": "x", "name": "n"}],
        ["text"],
    ],
)
def test_what_is_no_plain_chat_is_left_alone(value: object) -> None:
    assert not prompts.is_chat(value)


def test_a_missing_part_is_said() -> None:
    parts = prompts.parts([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])

    with pytest.raises(LogError, match="no prompt part"):
        prompts.restore({part.id: part for part in parts[1:]}, parts[-1].id)
