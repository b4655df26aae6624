"""The tokenizers of the extra: exact counts, without a network, and nothing without the package."""

import threading

import pytest

from tenure.engines import tokenizing
from tenure.engines.tokenizing import BundledTokenizers


def test_without_the_package_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra that is not installed is not there to be named."""
    monkeypatch.setattr(tokenizing, "find_spec", lambda _name: None)

    assert BundledTokenizers().names == ()


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("cl100k_base", "Prefers window seats, not aisle.", 8),
        ("o200k_base", "Prefers window seats, not aisle.", 8),
        ("cl100k_base", "我养了一只橘猫", 12),
        ("o200k_base", "我养了一只橘猫", 7),
        ("o200k_base", "", 0),
        ("o200k_base", "<|endoftext|>", 7),
        ("o200k_base", "a\ud800b", 3),
    ],
)
def test_tokens_are_counted_exactly(name: str, text: str, tokens: int) -> None:
    """SPEC R4: what looks like a special token is the text it is, and no text breaks it."""
    pytest.importorskip("bpe_openai")

    assert BundledTokenizers().count(name, text) == tokens


def test_many_threads_count_at_once() -> None:
    """A vocabulary is loaded once, whoever asks first."""
    pytest.importorskip("bpe_openai")
    tokenizers, counted = BundledTokenizers(), []

    threads = [
        threading.Thread(target=lambda: counted.append(tokenizers.count("cl100k_base", "one two three")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counted == [3] * 8
