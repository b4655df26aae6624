"""Between events as rules see them and as they are stored: sealing, opening, folding (SPEC E1, F7)."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from tests.clock import START
from tests.usecases.asking import OFFICER, SUBJECT, TENANT, written

from tenure.core.events import Event, Secret, SubjectForgotten, decode_header
from tenure.core.ledger import body_digest
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import StoredEvent
from tenure.usecases.sealing import fold, load, open_event, seal


def stored(pipeline: Pipeline) -> list[StoredEvent]:
    """The tenant's log as it lies in the store."""
    return list(pipeline.store.export(TENANT))


def test_a_stored_event_opens_to_what_was_decided(pipeline: Pipeline) -> None:
    """SPEC E1: header and secret come together again; the header covers the sealed body."""
    memory = written(pipeline)
    [one] = stored(pipeline)
    event = open_event(one, pipeline.keyring)

    assert event.secret is not None
    assert (event.stream, event.secret.content) == (memory.id, memory.content)
    assert one.body is not None
    assert decode_header(one.header).body_sha256 == body_digest(one.body)


def test_an_event_without_a_secret_has_no_body(pipeline: Pipeline) -> None:
    """SPEC E1: nothing to seal, no key needed."""
    event = Event(tenant=TENANT, at=START, actor="pia", data=SubjectForgotten(), subject=SUBJECT)
    sealed = seal(event, pipeline.keyring)

    assert sealed.body is None
    assert decode_header(sealed.header).dek is None


def test_sealing_twice_gives_headers_that_differ_in_the_body_alone(pipeline: Pipeline) -> None:
    """SPEC F7: nobody can tell from the log that two memories say the same."""
    written(pipeline)
    event = open_event(stored(pipeline)[0], pipeline.keyring)
    one, two = (decode_header(seal(event, pipeline.keyring).header) for _ in range(2))

    assert one.body_sha256 != two.body_sha256
    assert msgspec.structs.replace(one, body_sha256=None) == msgspec.structs.replace(two, body_sha256=None)


@pytest.mark.parametrize(
    "moved", [{"version": 2}, {"stream": UUID(int=9)}, {"type": "memory.quarantined"}], ids=str
)
def test_a_body_that_was_put_behind_another_header_is_refused(
    pipeline: Pipeline, moved: dict[str, object]
) -> None:
    """SPEC E2, E5: bound to its memory, version and kind of event; never misread."""
    written(pipeline)
    [one] = stored(pipeline)
    header = msgspec.json.encode(msgspec.structs.replace(decode_header(one.header), **moved))

    with pytest.raises(ValueError, match="altered"):
        open_event(StoredEvent(one.seq, header, one.body, one.link), pipeline.keyring)


def test_a_body_that_is_gone_leaves_an_event_without_its_secret(pipeline: Pipeline) -> None:
    """SPEC F7: the log stays readable after bodies were destroyed."""
    written(pipeline)
    [one] = stored(pipeline)

    assert open_event(StoredEvent(one.seq, one.header, None, one.link), pipeline.keyring).secret is None


def test_a_body_of_a_key_that_is_not_there_stays_closed(pipeline: Pipeline) -> None:
    """SPEC F7: without the subject's key the content is gone; the rest can be read."""
    written(pipeline)
    [one] = stored(pipeline)
    header = msgspec.json.encode(msgspec.structs.replace(decode_header(one.header), dek=UUID(int=9)))
    event = open_event(StoredEvent(one.seq, header, one.body, one.link), pipeline.keyring)

    assert event.secret is None
    assert event.subject == SUBJECT


def test_a_memory_folds_from_its_events_up_to_any_position(pipeline: Pipeline) -> None:
    """SPEC E1, M6: what it was at each step of its life."""
    old = written(pipeline, "First", ttl_seconds=int(timedelta(days=1).total_seconds()))
    written(pipeline, "Second", supersedes=old.id)
    with pipeline.store.reading() as reading:
        versions = [fold(reading, pipeline.keyring, TENANT, old.id, up_to_seq=seq) for seq in (0, 1, 2, None)]

    assert versions[0] is None
    assert [(one.version, one.status.value) for one in versions if one] == [
        (1, "active"),
        (1, "active"),
        (2, "superseded"),
    ]


def test_what_was_forgotten_is_not_loaded_though_its_events_stand(pipeline: Pipeline) -> None:
    """SPEC F1, F2: logical absence is not erasure; the log is whole and no read reaches the memory."""
    memory = written(pipeline)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    with pipeline.store.reading() as reading:
        assert load(reading, pipeline.keyring, TENANT, memory.id) is None
        assert len(reading.stream(TENANT, memory.id)) == 1


def test_a_secret_that_names_no_subject_is_not_stored_in_the_clear(pipeline: Pipeline) -> None:
    """SPEC F7: where no key can seal it, the header does not carry it either."""
    event = Event(
        tenant=TENANT, at=START, actor="pia", data=SubjectForgotten(), secret=Secret(content="Okapi")
    )

    sealed = seal(event, pipeline.keyring)

    assert b"Okapi" not in sealed.header
    assert sealed.body is None
