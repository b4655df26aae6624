"""A file of conversations is read piece by piece, and what is wrong with it is named with its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli.chat_files import ChatFile

TURN = {"id": "t1", "session": 1, "date": "March-15-2024", "speaker": "Ann", "text": "the secret sentence"}


def written(path: Path, content: object) -> Path:
    """A file with this content, as JSON or as the bytes that it is."""
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def read(path: Path) -> list[tuple[str, str]]:
    """The scope and turn ids of a file."""
    with ChatFile(path) as chats:
        return [(scope_id, str(turn.id)) for scope_id, turn in chats.turns()]


def conversation(scope_id: str, *turn_ids: str) -> dict[str, Any]:
    """A conversation of the layout, with its questions."""
    return {
        "id": scope_id,
        "lang": "en",
        "turns": [TURN | {"id": turn_id} for turn_id in turn_ids],
        "questions": [{"id": "q", "question": "?", "evidence": ["t1"]}],
    }


def test_turns_come_in_order_with_their_conversations_id(tmp_path: Path) -> None:
    """SPEC M4: and every member of theirs."""
    path = written(tmp_path / "chat.json", [conversation("a", "t1", "t2"), conversation("b", "t1")])

    with ChatFile(path) as chats:
        turns = list(chats.turns())
        counted, share = chats.turns_read, (chats.bytes_read, chats.bytes_total)

    assert [(scope_id, turn.id) for scope_id, turn in turns] == [("a", "t1"), ("a", "t2"), ("b", "t1")]
    assert (turns[0][1].speaker, turns[0][1].session, turns[0][1].date) == ("Ann", 1, "March-15-2024")
    assert counted == 3
    assert share[0] == share[1] == path.stat().st_size


def test_a_gzipped_file_is_known_by_its_content(tmp_path: Path) -> None:
    """SPEC S1: whatever it is called."""
    path = written(tmp_path / "chat.json", gzip.compress(json.dumps([conversation("a", "t1")]).encode()))

    assert read(path) == [("a", "t1")]


def test_unknown_members_are_passed_over_and_the_id_may_come_last(tmp_path: Path) -> None:
    """SPEC E3: JSON objects have no order, and files have more than we need."""
    talk = {"turns": [TURN | {"mood": {"deep": [1, {"text": "no"}]}}], "made": {"by": ["x"]}, "id": 7}

    assert read(written(tmp_path / "chat.json", [talk, conversation("b", "t1")])) == [
        ("7", "t1"),
        ("b", "t1"),
    ]


def test_a_file_without_conversations_has_no_turns(tmp_path: Path) -> None:
    """SPEC S2: nothing is not a mistake."""
    assert read(written(tmp_path / "chat.json", [])) == []


def test_turns_are_given_as_they_are_read(tmp_path: Path) -> None:
    """SPEC S1: a file of any size; what stands before a mistake is not lost."""
    whole = json.dumps([conversation("a", "t1", "t2"), conversation("b", "t1")]).encode()
    path = written(tmp_path / "chat.json", whole[: whole.index(b'"t2"') + 20])
    given: list[object] = []

    with ChatFile(path) as chats, pytest.raises(InvalidRequest, match="ends in the middle") as caught:
        given.extend(turn.id for _, turn in chats.turns())

    assert given[0] == "t1"
    assert "in conversation 1 ('a'), behind turn" in caught.value.message


GOOD = conversation("a", "t1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "ends in the middle, at its very start"),
        (b"no JSON at all", "not valid JSON"),
        (b'[{"id": "a", "turns": [}]', "not valid JSON"),
        (b'[{"id": "\xff\xff"}]', "not valid JSON"),
        (b"[] []", "not valid JSON"),
        (gzip.compress(b"[]", mtime=0)[:10] + b"\xff" * 50, "damaged"),
        (gzip.compress(b"[]", mtime=0) + b"more", "damaged"),
        (gzip.compress(b'[{"id": "a"', mtime=0)[:-6], "ends in the middle"),
        ({"id": "a", "turns": []}, "a list of conversations"),
        ("text", "a list of conversations"),
        (7, "a list of conversations"),
        ([GOOD, "text"], "a conversation must be an object, in conversation 1"),
        ([[]], "a conversation must be an object"),
        ([{"turns": []}], "no id, in conversation 1"),
        ([{"id": "a"}], "no turns, in conversation 1 ('a')"),
        ([{"id": "a", "turns": {}}], "turns must be a list"),
        ([{"id": "a", "turns": "text"}], "turns must be a list"),
        ([{"id": "a", "turns": ["text"]}], "a turn must be an object"),
        ([{"id": {}, "turns": []}], "the id of a conversation"),
        ([{"id": " ", "turns": []}], "the id of a conversation"),
        ([{"id": "a", "turns": [TURN, {"id": "t2"}]}], "`text`"),
        ([{"id": "a", "turns": [TURN, TURN | {"text": 7}]}], "behind turn 1"),
        ([{"id": "a", "turns": [TURN | {"text": ["the secret sentence"]}]}], "`text`"),
        ([{"id": "a", "turns": [TURN | {"id": True}]}], "$.id"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong_and_where(
    tmp_path: Path, content: object, said: str
) -> None:
    """SPEC S2, E6: the layout is in the hint, and no turn is quoted."""
    path = written(tmp_path / "chat.json", content)

    with pytest.raises(InvalidRequest) as caught:
        read(path)

    assert said in caught.value.message
    assert str(path) in caught.value.message
    assert "secret" not in caught.value.message
    assert caught.value.field == "file"
    assert caught.value.hint
    assert "turns" in caught.value.hint


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    """SPEC S2: and it is said why."""
    with pytest.raises(InvalidRequest, match="cannot be read"):
        ChatFile(tmp_path / name)
