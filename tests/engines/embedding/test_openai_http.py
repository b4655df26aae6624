"""Any service that speaks OpenAI's embeddings call: the contract, and whatever else comes is a failure."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.engines.receiver import Receiver, receiver

from tenure.engines.embedding.openai_http import OpenAiEmbedder, embeddings_address
from tenure.usecases.embedding_ports import EmbeddingFailed

MODEL = "text-embedding-x"
DIMENSIONS = 3
SECRET = "the colour of the vault"


@pytest.fixture
def server() -> Iterator[Receiver]:
    """The service, on this machine."""
    with receiver() as it:
        it.says = speaks
        yield it


@pytest.fixture
def opened(server: Receiver) -> Iterator[Callable[..., OpenAiEmbedder]]:
    """Embedders that ask the service, closed at the end."""
    made: list[OpenAiEmbedder] = []

    def make(**chosen: Any) -> OpenAiEmbedder:
        given = {"model": MODEL, "dimensions": DIMENSIONS, "seconds_max": 10.0, "query_seconds_max": 10.0}
        made.append(OpenAiEmbedder(server.url, **{**given, **chosen}))
        return made[-1]

    yield make
    for one in made:
        one.close()


def speaks(asked: bytes) -> bytes:
    """The contract: for each text a vector that tells its length, last text first, as the places allow."""
    texts = msgspec.json.decode(asked)["input"]
    data = [
        {"object": "embedding", "index": at, "embedding": [len(text), 0, 1]} for at, text in enumerate(texts)
    ]
    return msgspec.json.encode({"object": "list", "data": data[::-1], "model": MODEL, "usage": {}})


def answer(*vectors: list[float]) -> bytes:
    """An answer with these vectors."""
    return msgspec.json.encode(
        {"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]}
    )


def test_it_is_told_the_texts_and_nothing_else(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC E6: one request, with the key where there is one; vectors come by the places it names."""
    vectors = opened(key="k-1").passages(["tea", "green tea"])

    (got,) = server.got
    assert msgspec.json.decode(got.body) == {"model": MODEL, "input": ["tea", "green tea"]}
    assert (got.path, got.headers["authorization"]) == ("/hook/embeddings", "Bearer k-1")
    assert [list(vector.round(3)) for vector in vectors] == [
        pytest.approx([0.949, 0, 0.316], abs=1e-3),
        pytest.approx([0.994, 0, 0.110], abs=1e-3),
    ]
    assert all(vector.dtype == np.float32 for vector in vectors)


def test_without_a_key_none_is_sent(server: Receiver, opened: Callable[..., OpenAiEmbedder]) -> None:
    """SPEC E6: a service on this machine needs none."""
    opened().query("tea")

    assert "authorization" not in server.got[0].headers


def test_a_service_may_be_asked_to_shorten_its_vectors(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC R2: only if the operator says so, since not every service knows the word."""
    opened(asks_for_dimensions=True).query("tea")

    assert msgspec.json.decode(server.got[0].body)["dimensions"] == DIMENSIONS


def test_what_the_model_wants_before_a_text_is_put_there(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC R2: questions and memories may want different words."""
    embedder = opened(query_prefix="query: ", passage_prefix="passage: ")

    embedder.query("tea")
    embedder.passages(["tea"])

    assert [msgspec.json.decode(got.body)["input"] for got in server.got] == [
        ["query: tea"],
        ["passage: tea"],
    ]


def test_texts_go_in_batches_and_long_ones_are_cut(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC S4: no question is larger than the settings say."""
    vectors = opened(batch_size=2, text_characters_max=100).passages(["a" * 500, "b", "c", "d", "e"])

    assert [len(msgspec.json.decode(got.body)["input"]) for got in server.got] == [2, 2, 1]
    assert len(msgspec.json.decode(server.got[0].body)["input"][0]) == 100
    assert len(vectors) == 5


def test_an_empty_text_is_not_asked_about(server: Receiver, opened: Callable[..., OpenAiEmbedder]) -> None:
    """SPEC R2: services refuse one; it is like nothing."""
    empty, tea = opened().passages([" \n", "tea"])

    assert (not empty.any(), bool(tea.any())) == (True, True)
    assert msgspec.json.decode(server.got[0].body)["input"] == ["tea"]
    assert opened().passages([]) == []


def test_half_a_character_is_no_fault(server: Receiver, opened: Callable[..., OpenAiEmbedder]) -> None:
    """SPEC R2: what JSON cannot hold is sent as a question mark."""
    assert opened().query("tea \ud800").any()
    assert msgspec.json.decode(server.got[0].body)["input"] == ["tea ?"]


def test_the_name_says_model_dimensions_and_version(opened: Callable[..., OpenAiEmbedder]) -> None:
    """SPEC R2: vectors of different names are never compared; the address is no part of it."""
    embedder = opened(version="2")

    assert (embedder.model, embedder.is_immediate) == ("openai:text-embedding-x-3/2", False)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"not json",
        b"\xff",
        b"{}",
        b"[]",
        b'{"data":[]}',
        answer([1, 0]),
        answer([1, 0, 0, 0]),
        answer([]),
        answer([1, 0, 0], [1, 0, 0]),
        b'{"data":[{"index":0,"embedding":[1,NaN,0]}]}',
        b'{"data":[{"index":0,"embedding":[1,1e999,0]}]}',
        b'{"data":[{"index":0,"embedding":[1,"0",0]}]}',
        b'{"data":[{"index":0,"embedding":"AAAA"}]}',
        b'{"data":[{"index":7,"embedding":[1,0,0]}]}',
        b'{"data":[{"index":0}]}',
        b'{"data":[null]}',
        b'{"error":{"message":"no"}}',
    ],
    ids=lambda said: f"{said!r}",
)
def test_any_other_answer_is_a_failure(
    server: Receiver, opened: Callable[..., OpenAiEmbedder], said: bytes
) -> None:
    """SPEC R2: wrong dimensions, too few, too many, no numbers, numbers without an end."""
    server.says, server.body = None, said

    with pytest.raises(EmbeddingFailed) as caught:
        opened().query(SECRET)

    assert SECRET not in str(caught.value)
    assert server.url not in str(caught.value)


def test_two_vectors_of_one_place_are_a_failure(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC R2: it is not guessed whose a vector is."""
    server.says = None
    server.body = b'{"data":[{"index":0,"embedding":[1,0,0]},{"index":0,"embedding":[0,1,0]}]}'

    with pytest.raises(EmbeddingFailed, match="whose"):
        opened().passages(["tea", "coffee"])


def test_vectors_without_places_are_taken_in_their_order(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC R2: some services leave the places out."""
    server.says, server.body = None, b'{"data":[{"embedding":[2,0,0]},{"embedding":[0,0,0]}]}'

    one, zeros = opened().passages(["tea", "coffee"])

    assert (list(one), list(zeros)) == ([1, 0, 0], [0, 0, 0])


def test_an_answer_larger_than_vectors_can_be_is_not_read(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC S4: whatever it says, it takes no memory."""
    server.says, server.body = None, b"[" * 1_000_000

    with pytest.raises(EmbeddingFailed, match="more than"):
        opened().query("tea")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(
    server: Receiver, opened: Callable[..., OpenAiEmbedder], status: int
) -> None:
    """SPEC L5: as late as the service asks."""
    server.statuses, server.headers = [status, status], {"Retry-After": "0"}

    assert opened().query("tea").any()
    assert len(server.got) == 3


@pytest.mark.parametrize("status", [301, 401, 403, 404, 501])
def test_what_will_not_pass_is_told_at_once(
    server: Receiver, opened: Callable[..., OpenAiEmbedder], status: int
) -> None:
    """SPEC L5: a wrong key or model stays wrong; no redirect is followed."""
    server.status, server.headers = status, {"Location": server.url}

    with pytest.raises(EmbeddingFailed, match=f"status {status}"):
        opened(key="k-1").passages(["tea", "coffee"])

    assert len(server.got) == 1


def test_a_text_that_the_service_refuses_has_zeros_and_the_others_their_vectors(
    server: Receiver, opened: Callable[..., OpenAiEmbedder], caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC R2: one text too long keeps no other from being found; the log names neither."""
    server.says = refusing(server, SECRET)

    with caplog.at_level(logging.WARNING, logger="tenure.embedding"):
        vectors = opened().passages(["tea", "coffee", SECRET, "milk"])

    assert [bool(vector.any()) for vector in vectors] == [True, True, False, True]
    assert "refused a text" in caplog.text
    assert SECRET not in caplog.text


def test_a_service_that_refuses_everything_has_failed(
    server: Receiver, opened: Callable[..., OpenAiEmbedder]
) -> None:
    """SPEC R2: a wrong model is not taken for texts without a meaning."""
    server.status = 400

    with pytest.raises(EmbeddingFailed, match="status 400"):
        opened().passages(["tea", "coffee"])


def test_silence_ends_when_its_time_is_over(server: Receiver, opened: Callable[..., OpenAiEmbedder]) -> None:
    """SPEC L5: a question waits for as long as a question may."""
    server.drips = True

    with pytest.raises(EmbeddingFailed, match=r"no answer within 0\.2 seconds"):
        opened(query_seconds_max=0.2).query("tea")


def test_a_service_that_is_not_there_is_a_failure() -> None:
    """SPEC R2: with no word about where it was looked for."""
    embedder = OpenAiEmbedder("http://127.0.0.1:9", model=MODEL, dimensions=DIMENSIONS, query_seconds_max=0.3)

    with pytest.raises(EmbeddingFailed) as caught:
        embedder.query("tea")
    embedder.close()

    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/embeddings"),
        ("https://a.example/v1/embeddings", "https://a.example/v1/embeddings"),
        ("https://a.example/d/x/embeddings?api-version=1", "https://a.example/d/x/embeddings?api-version=1"),
    ],
)
def test_the_address_may_be_given_as_clients_take_it(given: str, asked: str) -> None:
    """SPEC S3: with or without the name of the call."""
    assert embeddings_address(given) == asked


def refusing(server: Receiver, text: str) -> Callable[[bytes], bytes]:
    """A service that answers with 400 to whatever holds a text."""

    def says(asked: bytes) -> bytes:
        if text in msgspec.json.decode(asked)["input"]:
            server.statuses = [400]
            return b'{"error":{"message":"too long"}}'
        return speaks(asked)

    return says
