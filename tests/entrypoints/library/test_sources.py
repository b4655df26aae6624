"""One constructor for each source type, with the place where it stood (SPEC M4)."""

from collections.abc import Callable

import pytest
from tests.clock import START

from tenure import Source, Tenure

CONSTRUCTORS: dict[str, Callable[..., Source]] = {
    "direct_user": Source.direct_user,
    "application": Source.application,
    "email": Source.email,
    "document": Source.document,
    "web": Source.web,
    "tool": Source.tool,
    "other_agent": Source.other_agent,
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_source_says_its_type_and_place(name: str) -> None:
    """SPEC M4: an immutable reference, and what is known of where it stood."""
    source = CONSTRUCTORS[name](
        "ref-1", uri="https://example.com", version="2", observed_at=START, thread="t-1", position=3
    )

    assert source.type == name
    assert (source.id, source.uri, source.version) == ("ref-1", "https://example.com", "2")
    assert (source.observed_at, source.thread, source.position) == (START, "t-1", 3)


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_source_comes_back_with_the_memory(store: Tenure, name: str) -> None:
    """SPEC M1, M4: as it was given, also after the memory was stored and read again."""
    bot = store.session("acme", "support", "support", "customer-7", roles=("writer", "reviewer"))
    source = CONSTRUCTORS[name]("ref-1", thread="t-1", position=3)

    memory = bot.remember("Prefers e-mail", kind="preference", source=source)

    kept = bot.get(memory.id).source
    assert (kept.type, kept.id, kept.thread, kept.position) == (name, "ref-1", "t-1", 3)


def test_an_unknown_place_is_a_mistake_of_the_program() -> None:
    """SPEC S3: a misspelled word is not passed over."""
    with pytest.raises(TypeError):
        Source.web("ref-1", url="https://example.com")
