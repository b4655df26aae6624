"""Settings of embedders: nothing leaves the machine unless it is set, no key is ever shown (SPEC S3, E6)."""

import pytest
from tests.test_config import problems_of

from tenure.config import Embedding, Settings, load

KEY = "TENURE_EMBEDDING__KEY"
URL = "TENURE_EMBEDDING__URL"


def test_meaning_is_found_on_this_machine_unless_something_else_is_set() -> None:
    """SPEC E6: the engine of the package, and nobody is asked."""
    embedding = Settings().embedding

    assert (embedding.engine, embedding.url, embedding.older) == ("local", None, ())


def test_everything_can_be_set_in_the_environment() -> None:
    """SPEC S3: older engines are parted by commas."""
    embedding = load(
        environment={
            "TENURE_EMBEDDING__ENGINE": "openai",
            "TENURE_EMBEDDING__OLDER": "local, openai:m-768/1",
            URL: "http://127.0.0.1:11434/v1",
            KEY: "k-1",
            "TENURE_EMBEDDING__MODEL": "m-2",
            "TENURE_EMBEDDING__DIMENSIONS": "1024",
            "TENURE_EMBEDDING__ASKS_FOR_DIMENSIONS": "true",
            "TENURE_EMBEDDING__QUERY_SECONDS_MAX": "0.5",
        }
    ).settings.embedding

    assert embedding == Embedding(
        engine="openai",
        older=("local", "openai:m-768/1"),
        url="http://127.0.0.1:11434/v1",
        key="k-1",
        model="m-2",
        dimensions=1024,
        asks_for_dimensions=True,
        query_seconds_max=0.5,
    )


def test_a_key_for_nobody_is_refused() -> None:
    """SPEC S3: nothing is silently off."""
    (problem,) = problems_of({KEY: "hunter2"})

    assert problem.startswith("embedding.url (default): it is not set but is needed beside embedding.key")
    assert "hunter2" not in problem


def test_the_key_is_never_shown() -> None:
    """SPEC S3: in no list, no repr and no explanation."""
    loaded = load(environment={KEY: "hunter2", URL: "https://models.example/v1"})

    shown = [repr(loaded.settings), repr(loaded.settings.embedding), repr(loaded.explain())]
    shown.append(repr(loaded.settings.embedding.__rich_repr__()))
    assert [one for one in shown if "hunter2" in one] == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TENURE_EMBEDDING__ENGINE", "word2vec"),
        (URL, "http://models.example/v1"),
        (URL, "https://user:word@models.example/v1"),
        ("TENURE_EMBEDDING__DIMENSIONS", "0"),
        ("TENURE_EMBEDDING__VERSION", "a b"),
    ],
)
def test_what_cannot_be_used_is_refused(variable: str, value: str) -> None:
    """SPEC S3: a plain connection to another machine among it."""
    assert len(problems_of({variable: value})) == 1
