"""The contract of what memories are found by: words, keys and vectors, on every engine (SPEC R1, R2)."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.clock import START
from tests.stores.engine import Engine, Opened
from tests.stores.items import SUBJECT, TENANT, created, forgotten, item_of, number, put, revoked

from tenure.config import Settings
from tenure.config.settings import Recall
from tenure.core.boundary_rows import Rows
from tenure.core.events import Event, Revised, Secret
from tenure.core.identity import SourceType
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.vectors import packed
from tenure.core.vocabulary import Trust
from tenure.core.wording import Language, analyse
from tenure.engines.embedding.static import shipped_table
from tenure.usecases.ports import Append, Keyring

NOW = microseconds(START)
STATIC = shipped_table().model
OTHER = "another-model/1"
WHERE = Filter(tenant=TENANT, agent="support", purpose="answering", subjects=frozenset({SUBJECT}), now=NOW)
EVERYBODY = replace(WHERE, subjects=None)


def rows(opened: Opened, model: str | None = STATIC, where: Filter = WHERE) -> Rows:
    """What passes."""
    with opened.store.reading() as reading:
        return reading.search(where, (), model).rows


def embedded(found: Rows) -> list[bool]:
    """Which of the rows have a vector."""
    assert found.vectors is not None
    return [bool(scale) for scale in found.vectors.scales]


def keyed(keys: Keyring, memory: int, key: str, **sides: Any) -> Append:
    """An item that creates a memory with a key."""
    whole = created(keys, memory, **sides)
    [sealed] = whole.events
    secret = replace(sealed.event.secret or Secret(), key=key, key_digest=key.encode())
    return item_of(keys, replace(sealed.event, secret=secret))


def corrected(keys: Keyring, memory: int, content: str) -> Append:
    """An item that gives a memory other words, in its second version."""
    data = Revised(
        source_type=SourceType.APPLICATION,
        source_id="crm-1",
        trust=Trust.APPLICATION_VERIFIED,
        confidence=0.5,
        rule="application",
        reason="an application vouches for it",
        policy_version="default-1",
        tokens=5,
    )
    event = Event(
        tenant=TENANT,
        at=START,
        actor="bot",
        data=data,
        stream=number(memory),
        version=2,
        subject=SUBJECT,
        secret=Secret(content=content),
    )
    return item_of(keys, event)


def test_what_was_written_has_a_vector_at_once(opened: Opened) -> None:
    """SPEC R2: a caller finds by meaning what it just wrote, in one subject and over all of them."""
    put(opened, created(opened.keyring, 1), created(opened.keyring, 2, subject="customer-8"))

    assert embedded(rows(opened)) == [True]
    assert embedded(rows(opened, where=EVERYBODY)) == [True, True]


def test_vectors_are_of_the_model_that_is_asked_for(opened: Opened) -> None:
    """SPEC R2: vectors of two models are never compared."""
    put(opened, created(opened.keyring, 1))

    assert embedded(rows(opened, OTHER)) == [False]
    assert rows(opened, None).vectors is None


def test_the_vector_is_that_of_the_text(opened: Opened) -> None:
    """SPEC R2: what is kept is what the engine said, to a hundredth of a cosine."""
    put(opened, created(opened.keyring, 1, content="The proxy listens on port 8080"))
    vectors = rows(opened).vectors
    said = shipped_table().passages(["The proxy listens on port 8080"])[0]

    assert vectors is not None
    assert float(vectors.steps[0] @ said * vectors.scales[0]) == pytest.approx(1.0, abs=0.01)


def test_a_correction_has_the_words_and_the_vector_of_what_it_says(opened: Opened) -> None:
    """SPEC L10: and it keeps the key."""
    keys = opened.keyring
    put(opened, keyed(keys, 1, "net.proxy", content="The giraffe eats leaves"))
    before = rows(opened).vectors
    put(opened, corrected(keys, 1, "The harbour is closed"))
    after = rows(opened).vectors
    with opened.store.reading() as reading:
        postings = reading.search(WHERE, analyse("giraffe harbour"), None).postings

    assert before is not None
    assert after is not None
    assert not np.array_equal(before.steps, after.steps)
    assert set(postings) == set(analyse("harbour"))
    assert rows(opened, where=replace(WHERE, key_prefix="net.")).seqs.tolist() == [1]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("net.", [1, 2]), ("net.proxy", [1]), ("n", [1, 2, 3]), ("net_", []), ("%", []), ("nets", [])],
)
def test_a_prefix_finds_the_keys_that_begin_so(opened: Opened, prefix: str, expected: list[int]) -> None:
    """SPEC R1: letter by letter; signs that mean something to a database mean themselves."""
    keys = opened.keyring
    put(opened, keyed(keys, 1, "net.proxy"), keyed(keys, 2, "net.dns"), keyed(keys, 3, "name"))
    put(opened, created(keys, 4), keyed(keys, 5, "net.proxy", agent="sales"))

    assert rows(opened, where=replace(WHERE, key_prefix=prefix)).seqs.tolist() == expected


def test_what_has_no_vector_of_a_model_is_told_until_it_has(opened: Opened) -> None:
    """SPEC R2: some at a time, oldest first, and none of another tenant."""
    keys = opened.keyring
    put(opened, *(created(keys, one) for one in (1, 2, 3)), created(keys, 9, tenant="globex"))
    vector = packed(np.array([1.0, 0.0], dtype=np.float32))
    with opened.store.reading() as reading:
        first = reading.unembedded(TENANT, OTHER, after=0, limit=2)
        assert reading.unembedded(TENANT, STATIC, after=0, limit=10) == []
    opened.store.put_vectors(TENANT, OTHER, [(one.created_seq, one.version, vector) for one in first])
    with opened.store.reading() as reading:
        second = reading.unembedded(TENANT, OTHER, after=0, limit=2)
        models = reading.models(TENANT)

    assert [one.memory_id.int for one in first] == [1, 2]
    assert [one.memory_id.int for one in second] == [3]
    assert models == {OTHER: 2, STATIC: 3}
    assert embedded(rows(opened, OTHER)) == [True, True, False]


def test_a_vector_of_what_a_memory_said_before_is_not_kept(opened: Opened) -> None:
    """SPEC L10: whoever was embedding while it was corrected or forgotten comes too late."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2))
    with opened.store.reading() as reading:
        waiting = reading.unembedded(TENANT, OTHER, after=0, limit=10)
    put(opened, corrected(keys, 1, "Moved to Bern"), revoked(keys, 2, to_version=2))
    vector = packed(np.array([1.0, 0.0], dtype=np.float32))
    opened.store.put_vectors(TENANT, OTHER, [(one.created_seq, one.version, vector) for one in waiting])

    with opened.store.reading() as reading:
        assert OTHER not in reading.models(TENANT)


def test_only_the_vectors_of_one_model_stay_where_that_is_asked(opened: Opened) -> None:
    """SPEC R2: those of a former model go, those of another tenant do not."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2, tenant="globex"))
    vector = packed(np.array([1.0, 0.0], dtype=np.float32))
    for tenant in (TENANT, "globex"):
        opened.store.put_vectors(tenant, OTHER, [(1, 1, vector)])

    opened.store.drop_models(TENANT, keep=OTHER)

    with opened.store.reading() as reading:
        assert reading.models(TENANT) == {OTHER: 1}
        assert reading.models("globex") == {OTHER: 1, STATIC: 1}


def test_what_is_forgotten_leaves_no_vector(opened: Opened) -> None:
    """SPEC F1, F7: of whatever model."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2, subject="customer-8"))
    vector = packed(np.array([1.0, 0.0], dtype=np.float32))
    opened.store.put_vectors(TENANT, OTHER, [(1, 1, vector), (2, 1, vector)])
    put(opened, forgotten(keys))

    with opened.store.reading() as reading:
        assert reading.models(TENANT) == {OTHER: 1, STATIC: 1}


def test_a_rebuild_makes_the_vectors_anew(opened: Opened) -> None:
    """SPEC E1: from the log, while the keys are there."""
    put(opened, created(opened.keyring, 1))
    before = rows(opened).vectors
    opened.store.rebuild()
    after = rows(opened).vectors

    assert before is not None
    assert after is not None
    assert np.array_equal(before.steps, after.steps)


def test_an_index_that_another_analyser_made_is_made_anew(engine: Engine) -> None:
    """SPEC R1: what was indexed in one language is found by a question in the one that is set now."""
    opened = engine.open()
    put(opened, created(opened.keyring, 1, content="Die Rechnungen wurden bezahlt"))
    opened.close()

    german = engine.open(settings=Settings(recall=Recall(language=Language.GERMAN)))
    with german.store.reading() as reading:
        postings = reading.search(WHERE, analyse("bezahlte Rechnung", Language.GERMAN), None).postings
    german.close()

    assert set(postings) == set(analyse("Rechnung bezahlt", Language.GERMAN))
