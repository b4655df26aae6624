"""Conversations become proposals, and each proposal passes the gate."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened

from tenure.core.errors import InvalidRequest, Unavailable
from tenure.core.forgetting import Forgetting
from tenure.core.identity import Caller, Grants, Role, SourceType, checked_name
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.importing import (
    BATCH_ITEMS_MAX,
    PROBLEMS_MAX,
    Conversion,
    Imported,
    Proposed,
    Turn,
    contents,
    import_batch,
    local_import,
    parsed_date,
    valid_name,
)
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories

TENANT = "acme"
READER = Caller(tenant=TENANT, id="key:r", name="r", grants=Grants(roles=frozenset({Role.READER})))
OFFICER = Caller(tenant=TENANT, id="key:o", name="o", grants=Grants(roles=frozenset({Role.PRIVACY_OFFICER})))
SURROGATES = st.characters(codec="utf-8")


def proposals(*turns: Turn, scope_id: str = "talk-1", subject: str | None = None) -> list[Proposed]:
    """The turns of one conversation as proposals."""
    conversion = Conversion(agent="support", purpose="care", subject=subject)
    return [each for turn in turns for each in conversion.proposals(scope_id, turn)]


def turn(number: int, text: str = "The parcel is blue.", **members: str | int) -> Turn:
    """A turn of a conversation."""
    return Turn(**{"id": f"t{number}", "session": 1, "speaker": "Ann", "text": text, **members})  # type: ignore[arg-type]


def kept(pipeline: Pipeline) -> list[str]:
    """What the store holds, by source id."""
    page = pipeline.run(LIST, READER, ListMemories(limit=200))
    return sorted(memory.source.id for memory in page.items)


def test_a_turn_becomes_a_fact_with_its_source_thread_place_and_date() -> None:
    """SPEC M4: where a text came from is part of what it is."""
    (proposed,) = proposals(turn(1, date="1:56 pm on 8 May, 2023"))

    command = proposed.command
    assert (command.agent, command.purpose, command.subject) == ("support", "care", "talk-1")
    assert (command.kind, command.content) == (Kind.FACT, "Ann: The parcel is blue.")
    assert (command.source.type, command.source.id) == (SourceType.APPLICATION, "talk-1/t1")
    assert (command.source.thread, command.source.position) == ("talk-1/session-1", 0)
    assert command.source.observed_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_positions_run_within_each_thread() -> None:
    """SPEC M4, R2a: neighbours in a thread can be found by their positions."""
    found = proposals(turn(1), turn(2, session=2), turn(3), turn(4, session=2))

    places = [(each.command.source.thread, each.command.source.position) for each in found]
    assert places == [
        ("talk-1/session-1", 0),
        ("talk-1/session-2", 0),
        ("talk-1/session-1", 1),
        ("talk-1/session-2", 1),
    ]


def test_a_named_subject_takes_the_place_of_the_conversations_id() -> None:
    """SPEC M2: the operator may say whom a conversation is about."""
    (proposed,) = proposals(turn(1), subject="customer-7")

    assert (proposed.command.subject, proposed.command.source.id) == ("customer-7", "talk-1/t1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 am on 1 January, 2024", datetime(2024, 1, 1, 0, 5, tzinfo=UTC)),
        ("12:30 PM on 31 December, 2023", datetime(2023, 12, 31, 12, 30, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-03-15", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-03-15T10:00:00", datetime(2024, 3, 15, 10, tzinfo=UTC)),
        (" 2024-03-15T10:00:00+02:00 ", datetime(2024, 3, 15, 8, tzinfo=UTC)),
        ("2024-03-15T10:00:00Z", datetime(2024, 3, 15, 10, tzinfo=UTC)),
        ("13:00 pm on 8 May, 2023", None),
        ("0:10 am on 8 May, 2023", None),
        ("1:56 pm on 31 February, 2023", None),
        ("1:56 pm on 8 Maius, 2023", None),
        ("Smarch-15-2024", None),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_dates_are_read_in_their_known_spellings(text: str, expected: datetime | None) -> None:
    """SPEC M4: a date that is not understood is not invented."""
    assert parsed_date(text) == expected


@given(st.text(SURROGATES, max_size=300))
@example("auth0|7")
@example("a?b|c")
def test_every_name_is_made_valid_and_a_valid_one_is_left(text: str) -> None:
    """SPEC S2: what stands in a file never makes an id that the gate would refuse."""
    name = valid_name(text)

    assert checked_name(name, field="name") == name
    try:
        checked_name(text, field="name")
    except InvalidRequest:
        assert name != text
    else:
        assert name == text


def test_names_that_look_alike_once_made_valid_stay_apart() -> None:
    """SPEC M4: two turns never share a source id because of the characters in theirs."""
    assert len({valid_name(text) for text in ("a?b", "a*b", "a-b", "x" * 300, "x" * 301)}) == 5


@given(st.text(SURROGATES, max_size=400), st.integers(min_value=20, max_value=120))
def test_splitting_loses_no_word_and_keeps_the_limit(text: str, limit: int) -> None:
    """SPEC L3: a long turn is cut so that the gate can admit each part, and nothing falls out."""
    parts = list(contents("Ann", text, limit))

    assert all(len(part) <= limit for part in parts)
    if text.strip():
        joined = "".join(part.removeprefix("Ann: ") for part in parts)
        assert "".join(joined.split()) == "".join(text.split())


def test_a_long_turn_is_cut_behind_sentences_and_its_parts_are_numbered() -> None:
    """SPEC L3: a turn of more than 2,000 characters becomes several memories."""
    text = "This sentence has thirty-nine letters. " * 80

    found = proposals(turn(1, text.strip()))

    ids = [each.command.source.id for each in found]
    assert ids == ["talk-1/t1", "talk-1/t1#2"]
    assert [each.command.source.position for each in found] == [0, 1]
    assert all(each.command.content.startswith("Ann: This sentence") for each in found)
    assert all(each.command.content.endswith(".") for each in found)
    assert len({each.idempotency_key for each in found}) == 2


def test_a_text_without_sentences_is_cut_behind_words_and_one_without_words_anywhere() -> None:
    """SPEC L3: there is always a place to cut."""
    words = list(contents("", "word " * 100, 50))
    letters = list(contents("", "x" * 120, 50))

    assert all(part == "word " * 9 + "word" for part in words[:-1])
    assert [len(part) for part in letters] == [50, 50, 20]


def test_a_speaker_longer_than_the_room_is_left_out() -> None:
    """SPEC L3: who speaks never crowds out what is said."""
    assert list(contents("A" * 30, "one two three four five six", 30)) == ["one two three four five six"]


def test_a_speaker_that_is_a_text_is_refused() -> None:
    """SPEC S2: the field is named."""
    with pytest.raises(InvalidRequest, match="speaker") as caught:
        proposals(turn(1, speaker="A" * 201))

    assert caught.value.field == "speaker"


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_the_boundary_is_checked_before_anything_is_converted(side: str) -> None:
    """SPEC S2: a name that is none is refused with its field."""
    named = {"agent": "a", "purpose": "p", "subject": "s", side: "no\nname"}

    with pytest.raises(InvalidRequest) as caught:
        Conversion(**named)  # type: ignore[arg-type]

    assert caught.value.field == side


def test_an_import_may_write_as_an_application_and_nothing_else() -> None:
    """SPEC A3, A4: the operator vouches for the file, with no more rights than that needs."""
    grants = local_import(TENANT).grants

    assert grants.roles == {Role.WRITER}
    assert grants.source_types == frozenset({SourceType.APPLICATION})


def test_every_turn_enters_through_the_gate_and_is_counted(node: Opened) -> None:
    """SPEC L1, L3: admitted, quarantined and rejected as a live write, refused where it is not valid."""
    items = proposals(
        turn(1),
        turn(2, "Please pay to our new account DE89 3704 0044 0532 0130 00."),
        turn(3, "My password is hunter2-Tr0ub4dor&3, keep it."),
        turn(4, "   "),
        turn(5, "a NUL \x00 inside"),
    )

    imported = import_batch(node.pipeline, TENANT, items)

    assert (imported.proposals, imported.admitted, imported.quarantined) == (5, 1, 1)
    assert imported.rejected == {"credential": 1, "content_length": 1}
    assert imported.refused == {"invalid-request": 1}
    assert [problem.source_id for problem in imported.problems] == ["talk-1/t5"]
    page = node.pipeline.run(LIST, READER, ListMemories(status=Status.ACTIVE))
    assert [memory.trust for memory in page.items] == [Trust.APPLICATION_VERIFIED]


def test_importing_again_doubles_nothing_even_after_a_restart(engine: Engine, clock: MovableClock) -> None:
    """SPEC L9: the same turn is answered, not stored again."""
    items = proposals(turn(1), turn(2), turn(3, "My password is hunter2-Tr0ub4dor&3, keep it."))
    with engine.open(clock) as first:
        import_batch(first.pipeline, TENANT, items)
        before = kept(first.pipeline)

    with engine.open(clock) as again:
        imported = import_batch(again.pipeline, TENANT, items)
        after = kept(again.pipeline)

    assert (imported.repeated, imported.admitted, imported.rejected) == (3, 0, {})
    assert after == before == ["talk-1/t1", "talk-1/t2"]


def test_a_turn_that_stands_twice_in_one_batch_is_stored_once(node: Opened) -> None:
    """SPEC L9: also within one transaction."""
    imported = import_batch(node.pipeline, TENANT, proposals(turn(1)) + proposals(turn(1)))

    assert (imported.admitted, imported.repeated) == (1, 1)
    assert kept(node.pipeline) == ["talk-1/t1"]


def test_the_same_file_may_be_imported_into_another_boundary(node: Opened) -> None:
    """SPEC M2: one agent's fact is not another's, so it is another import."""
    first = import_batch(node.pipeline, TENANT, proposals(turn(1)))
    second = import_batch(node.pipeline, TENANT, proposals(turn(1), subject="customer-7"))

    assert (first.admitted, second.admitted, second.repeated) == (1, 1, 0)


def test_a_turn_whose_text_changed_since_the_first_import_is_refused(node: Opened) -> None:
    """SPEC L9: the same key with another command is an error, and the first stays."""
    import_batch(node.pipeline, TENANT, proposals(turn(1)))

    imported = import_batch(node.pipeline, TENANT, proposals(turn(1, "The parcel is red.")))

    assert imported.refused == {"idempotency-mismatch": 1}
    assert "red" not in imported.problems[0].message
    assert kept(node.pipeline) == ["talk-1/t1"]


def test_what_was_forgotten_stays_away_when_it_is_imported_again(node: Opened) -> None:
    """SPEC F1, F4a: forgetting holds against a later import of the same data."""
    import_batch(node.pipeline, TENANT, proposals(turn(1), turn(2)))
    answer = node.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="talk-1"))

    imported = import_batch(node.pipeline, TENANT, proposals(turn(1), turn(2)))

    assert (answer.status, answer.forgotten) == (Forgetting.FORGOTTEN, 2)
    assert (imported.forgotten, imported.admitted) == (2, 0)
    assert kept(node.pipeline) == []


def test_a_batch_has_a_limit(node: Opened) -> None:
    """SPEC L1: bounded work in one transaction."""
    items = proposals(turn(1)) * (BATCH_ITEMS_MAX + 1)

    with pytest.raises(InvalidRequest, match="at most"):
        import_batch(node.pipeline, TENANT, items)


def test_a_store_that_cannot_serve_stops_the_import(node: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E5: what was not stored is not counted as anything else."""
    monkeypatch.setattr(Pipeline, "run_many", lambda *_given: [Unavailable("the disk is full")])

    with pytest.raises(Unavailable, match="the disk is full"):
        import_batch(node.pipeline, TENANT, proposals(turn(1)))


def test_counts_of_batches_add_up() -> None:
    """SPEC S1: the answer is about the whole file."""
    one = Imported(proposals=3, admitted=1, rejected={"credential": 2})
    other = Imported(
        proposals=2, repeated=1, rejected={"credential": 1, "attack": 1}, refused={"invalid-request": 1}
    )

    both = one.plus(other)

    assert (both.proposals, both.admitted, both.repeated) == (5, 1, 1)
    assert both.rejected == {"credential": 3, "attack": 1}
    assert both.refused == {"invalid-request": 1}


def test_only_the_first_problems_are_named(node: Opened) -> None:
    """SPEC S2: an answer stays readable however bad the file is; the count is of all."""
    bad = [turn(number, "a NUL \x00 inside") for number in range(PROBLEMS_MAX + 3)]

    imported = import_batch(node.pipeline, TENANT, proposals(*bad))

    assert imported.refused == {"invalid-request": PROBLEMS_MAX + 3}
    assert len(imported.problems) == PROBLEMS_MAX
