"""What a write changes among those that stand: duplicates, contradictions, closed times (SPEC T2-T4, L10)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    SUBJECT,
    TENANT,
    another,
    caller,
    happened,
    held,
    judgement,
    log,
    proposal,
    question,
    source,
    written,
)

from tenure.config import Settings, Truth
from tenure.core.contradictions import WAITS_RULE, pair_id
from tenure.core.events import Secret
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.rows import MERGED, ContradictionRow, SupportRow
from tenure.core.vocabulary import Claim, Kind, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE


def proxy(value: str) -> Claim:
    """What the shop's proxy is said to be."""
    return Claim(entity="shop", attribute="proxy", value=value)


def now(pipeline: Pipeline, memory: Memory) -> Memory:
    """A memory as it stands now."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def found(pipeline: Pipeline, *memories: Memory) -> list[ContradictionRow]:
    """The contradictions that these memories have a part in."""
    with pipeline.store.reading() as reading:
        return reading.contradictions_of(TENANT, [memory.id for memory in memories])


def support(pipeline: Pipeline, memory: Memory) -> SupportRow | None:
    """How many sources say what a memory says."""
    with pipeline.store.reading() as reading:
        return next(iter(reading.support(TENANT, [memory.id])), None)


def by_a_user(pipeline: Pipeline, content: str, **sides: Any) -> Memory:
    """A memory that a user asserted, which the gate approves."""
    return written(
        pipeline, content, source=source(SourceType.DIRECT_USER, "kim"), kind=Kind.PREFERENCE, **sides
    )


def test_the_later_word_of_equal_trust_stands_and_closes_the_other(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T3, T4: the older is superseded, its time ends where the newer begins, and a person is told."""
    nginx = written(pipeline, "The proxy is nginx")
    clock.pass_time(days=1)
    answer = pipeline.run(REMEMBER, BOT, proposal("The proxy is caddy"))
    caddy = answer.memory
    assert caddy is not None

    assert (caddy.status, caddy.valid_from) == (Status.ACTIVE, clock.now())
    older = now(pipeline, nginx)
    assert (older.status, older.superseded_by) == (Status.SUPERSEDED, caddy.id)
    assert (older.valid_from, older.valid_to) == (None, clock.now())
    (row,) = found(pipeline, nginx)
    assert (row.believed, row.doubted, row.effect) == (caddy.id, nginx.id, "superseded")
    assert answer.contradictions == (pair_id(nginx.id, caddy.id),)
    assert happened(pipeline) == [
        "memory.admitted",
        "memory.admitted",
        "memory.superseded",
        "contradiction.found",
    ]


def test_less_trust_waits_however_new_it_is(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T3, L10: a user's word does not displace what an application verified, and says why it waits."""
    nginx = written(pipeline, "The proxy is nginx")
    clock.pass_time(days=1)
    caddy = by_a_user(pipeline, "The proxy is caddy")

    assert (caddy.status, caddy.decision.rule) == (Status.QUARANTINED, WAITS_RULE)
    assert now(pipeline, nginx) == nginx
    (row,) = found(pipeline, nginx)
    assert (row.believed, row.doubted, row.effect) == (nginx.id, caddy.id, "waits")


def test_what_the_gate_holds_back_displaces_nothing_and_is_recorded(pipeline: Pipeline) -> None:
    """SPEC T3, L6: text from outside waits anyway; that it contradicts what stands is for a person to see."""
    nginx = written(pipeline, "The proxy is nginx")
    copies = [
        written(pipeline, "The proxy is envoy", source=source(SourceType.WEB, f"page-{number}"))
        for number in range(3)
    ]

    assert {one.status for one in copies} == {Status.QUARANTINED}
    assert now(pipeline, nginx) == nginx
    assert {(row.believed, row.effect) for row in found(pipeline, nginx)} == {(nginx.id, "waits")}
    assert len(found(pipeline, nginx)) == len(copies)


def test_a_reviewers_word_takes_the_place_of_what_it_contradicts(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T3, L7: promotion weighs again, with the reviewer's trust, and records no pair twice."""
    nginx = written(pipeline, "The proxy is nginx")
    envoy = held(pipeline, "The proxy is envoy")
    other = written(pipeline, "The shop sells shoes")
    clock.pass_time(hours=1)
    promoted = pipeline.run(PROMOTE, REVIEWER, judgement(envoy.id, envoy.version))

    assert (promoted.status, promoted.trust) == (Status.ACTIVE, Trust.REVIEWER_VERIFIED)
    assert now(pipeline, other) == other
    assert len(found(pipeline, nginx)) == 1
    assert now(pipeline, nginx).status is Status.ACTIVE


def test_a_promoted_memory_displaces_what_was_not_there_when_it_came(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T3: what was written while it waited is weighed when it is let in."""
    envoy = held(pipeline, "The proxy is envoy")
    nginx = written(pipeline, "The proxy is nginx")
    clock.pass_time(hours=1)
    promoted = pipeline.run(PROMOTE, REVIEWER, judgement(envoy.id, envoy.version))

    assert promoted.valid_from == clock.now()
    assert now(pipeline, nginx).superseded_by == envoy.id
    assert len(found(pipeline, envoy)) == 1


def test_the_same_said_again_is_one_memory_with_its_evidence(pipeline: Pipeline) -> None:
    """SPEC T2: the one said last stands as it was said, the other is kept whole behind it."""
    first = written(pipeline, "The cache is Redis", source=source(id_="crm-1"))
    again = written(pipeline, "The cache is Redis.", source=source(id_="wiki-2"))

    behind = now(pipeline, first)
    assert (behind.status, behind.merged_into) == (Status.SUPERSEDED, again.id)
    assert (behind.content, behind.source, behind.trust) == (first.content, first.source, first.trust)
    assert now(pipeline, again).version == 1
    assert support(pipeline, again) == SupportRow(TENANT, again.id, SUBJECT, 2, 2)
    with pipeline.store.reading() as reading:
        (edge,) = reading.edges(TENANT, [MERGED], parents=[again.id])
    assert edge.child == first.id
    shown = pipeline.run(RECALL, BOT, question("which cache is it?"))
    assert [item.memory.id for item in shown.items] == [again.id]


def test_what_took_the_place_of_another_can_be_said_again(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T2, T4: said again without a date, it holds since it began, and stands once."""
    written(pipeline, "The proxy is nginx")
    clock.pass_time(days=1)
    caddy = written(pipeline, "The proxy is caddy")
    clock.pass_time(days=1)
    again = written(pipeline, "The proxy is caddy.", source=source(id_="wiki-2"))

    assert (again.status, again.valid_from) == (Status.ACTIVE, caddy.valid_from)
    assert now(pipeline, caddy).merged_into == again.id
    shown = pipeline.run(RECALL, BOT, question("what is the proxy?"))
    assert [item.memory.id for item in shown.items] == [again.id]
    before = question("what is the proxy?", valid_at=START)
    assert [item.memory.content for item in pipeline.run(RECALL, BOT, before).items] == ["The proxy is nginx"]


def test_copies_from_one_source_are_one_voice(pipeline: Pipeline) -> None:
    """SPEC M5a: repeating something is no evidence that it is true."""
    last = written(pipeline, "The cache is Redis")
    for _ in range(3):
        last = written(pipeline, "The cache is Redis")

    counted = support(pipeline, last)
    assert counted is not None
    assert (counted.voices, counted.trusted_voices) == (1, 1)
    assert now(pipeline, last).trust is last.trust


def test_a_duplicate_of_less_trust_stands_behind_what_has_more(pipeline: Pipeline) -> None:
    """SPEC T2, M5: it adds a voice, and neither its date nor its trust moves to the one that stands."""
    first = written(pipeline, "The cache is Redis", kind=Kind.PREFERENCE)
    again = by_a_user(pipeline, "The cache is Redis")

    assert (again.status, again.merged_into, again.version) == (Status.SUPERSEDED, first.id, 2)
    stands = now(pipeline, first)
    assert (stands.status, stands.version, stands.trust) == (Status.ACTIVE, 1, first.trust)
    counted = support(pipeline, first)
    assert counted is not None
    assert counted.voices == 2


def test_other_words_for_the_same_claim_bear_it_out(pipeline: Pipeline) -> None:
    """SPEC T2, M5a: both stand, and the one that was there counts another voice."""
    first = written(pipeline, "The docs are at https://docs.example.com/", source=source(id_="crm-1"))
    second = written(pipeline, "The docs are at https://docs.example.com:443", source=source(id_="wiki-2"))

    assert [now(pipeline, one).status for one in (first, second)] == [Status.ACTIVE, Status.ACTIVE]
    counted = support(pipeline, first)
    assert counted is not None
    assert (counted.voices, counted.trusted_voices) == (2, 2)


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"subject": "customer-8"},
        {"agent": "billing"},
        {"purpose": "billing"},
    ],
    ids=str,
)
def test_nothing_is_compared_across_walls(pipeline: Pipeline, elsewhere: dict[str, str]) -> None:
    """SPEC T2, T3, A2: another agent, purpose or subject is another memory."""
    first = written(pipeline, "The proxy is nginx")
    written(pipeline, "The proxy is caddy", **elsewhere)
    written(pipeline, "The proxy is nginx", **elsewhere)

    assert now(pipeline, first) == first
    assert found(pipeline, first) == []


def test_nothing_is_compared_across_tenants(pipeline: Pipeline) -> None:
    """SPEC A2: not even a claim that is equal to the letter."""
    first = written(pipeline, "The proxy is nginx", claim=proxy("nginx"))
    pipeline.run(REMEMBER, caller(tenant="globex"), proposal("The proxy is caddy", claim=proxy("caddy")))

    assert now(pipeline, first) == first
    assert found(pipeline, first) == []


def test_given_claims_are_compared_however_the_texts_are_worded(pipeline: Pipeline) -> None:
    """SPEC T3: the same thing, another value; names of things are not told apart by case."""
    first = written(pipeline, "We moved to nginx after the outage", claim=proxy("nginx"))
    second = written(
        pipeline,
        "Caddy was installed on the edge",
        claim=Claim(entity="Shop", attribute="Proxy", value="caddy"),
    )

    assert now(pipeline, first).superseded_by == second.id


def test_a_narrower_place_is_another_belief(pipeline: Pipeline) -> None:
    """SPEC T3: what holds for one task does not end what holds for all; both stand, and a person is told."""
    wide = written(pipeline, "The proxy is nginx")
    narrow = written(pipeline, "The proxy is caddy", scope=Scope(tier=Tier.TASK, id="t-1", user=SUBJECT))

    assert (now(pipeline, wide).status, narrow.status) == (Status.ACTIVE, Status.ACTIVE)
    (row,) = found(pipeline, wide)
    assert row.effect == "both"


def test_what_begins_later_ends_the_other_then(pipeline: Pipeline) -> None:
    """SPEC T4: until that day the older one holds, and is shown."""
    moved = START + timedelta(days=3)
    nginx = written(pipeline, "The proxy is nginx")
    caddy = written(pipeline, "The proxy is caddy", valid_from=moved)

    older = now(pipeline, nginx)
    assert (older.status, older.valid_to) == (Status.ACTIVE, moved)
    shown = pipeline.run(RECALL, BOT, question("what is the proxy?"))
    assert [item.memory.id for item in shown.items] == [nginx.id]
    assert caddy.status is Status.ACTIVE


def test_a_correction_closes_the_time_of_what_it_corrects(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L10, T4: by name, without any claim; it is not recorded as a contradiction."""
    first = written(pipeline, "Kim works on Mondays")
    clock.pass_time(days=2)
    second = written(pipeline, "Kim is off on Mondays since the new plan", supersedes=first.id)

    older = now(pipeline, first)
    assert (older.status, older.valid_to, second.valid_from) == (
        Status.SUPERSEDED,
        clock.now(),
        clock.now(),
    )
    assert found(pipeline, first) == []


def test_a_correction_that_is_promoted_closes_the_time_then(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L10, T4: until a person let it in, the older one held."""
    first = written(pipeline, "Kim works on Mondays")
    waits = held(pipeline, "Kim is off on Mondays since the new plan", supersedes=first.id)
    clock.pass_time(days=2)
    promoted = pipeline.run(PROMOTE, REVIEWER, judgement(waits.id, waits.version))

    assert now(pipeline, first).valid_to == clock.now()
    assert promoted.valid_from == clock.now()


def test_a_late_import_of_an_older_word_changes_nothing(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T3: of equal trust what was said later stands, whichever was written first."""
    clock.pass_time(days=9)
    caddy = written(pipeline, "The proxy is caddy")
    nginx = written(
        pipeline, "The proxy is nginx", source=source(id_="archive", observed_at=START + timedelta(days=1))
    )

    assert (nginx.status, nginx.superseded_by) == (Status.SUPERSEDED, caddy.id)
    assert now(pipeline, caddy) == caddy


def test_a_revision_is_compared_as_a_new_memory_is(pipeline: Pipeline) -> None:
    """SPEC T3, L10: what is said anew under an old id displaces and waits by the same rules."""
    other = written(pipeline, "The proxy is nginx")
    mine = by_a_user(pipeline, "Kim prefers window seats")
    revised = pipeline.run(
        REVISE,
        BOT,
        ReviseMemory(
            memory_id=mine.id,
            revise=Revise(
                content="The proxy is caddy",
                source=source(SourceType.DIRECT_USER, "kim"),
                expected_version=mine.version,
            ),
        ),
    ).memory
    assert revised is not None

    assert (revised.status, revised.id != mine.id) == (Status.QUARANTINED, True)
    assert now(pipeline, other) == other
    assert now(pipeline, mine) == mine
    assert len(found(pipeline, other)) == 1


def test_a_dry_run_says_what_would_wait_and_stores_nothing(pipeline: Pipeline) -> None:
    """SPEC L1, T3: the same rules decide, and nothing is recorded."""
    nginx = written(pipeline, "The proxy is nginx")
    user = proposal("The proxy is caddy", source=source(SourceType.DIRECT_USER, "kim"), kind=Kind.PREFERENCE)
    decided = pipeline.preview(REMEMBER, BOT, user)

    assert decided.answer.decision.rule == WAITS_RULE
    assert happened(pipeline) == ["memory.admitted"]
    assert found(pipeline, nginx) == []


def test_many_that_are_written_together_end_as_one_after_another(pipeline: Pipeline) -> None:
    """SPEC T3, L8: a batch that was decided on one look is decided again where it moved the same memory."""
    first = written(pipeline, "The proxy is nginx")
    answers = pipeline.run_many(
        REMEMBER, BOT, [(proposal(f"The proxy is {name}"), None) for name in ("caddy", "envoy")]
    )

    stand = [one.memory for one in answers if not isinstance(one, Exception)]
    assert len(stand) == 2
    assert now(pipeline, first).status is Status.SUPERSEDED


def test_digests_of_things_are_sealed_and_say_nothing(pipeline: Pipeline) -> None:
    """SPEC M7, T3: what is claimed of what stands nowhere in plain text, in the log or beside it."""
    memory = written(pipeline, "The proxy is nginx", claim=proxy("nginx"))
    (event,) = [one for one in log(pipeline) if one.stream == memory.id]

    assert isinstance(event.secret, Secret)
    assert event.secret.things
    assert all(len(thing) >= 16 for thing in event.secret.things)
    with pipeline.store.reading() as reading:
        rows = reading.things_of(TENANT, [memory.id])
        stored = reading.stream(TENANT, memory.id)
    assert {row.thing for row in rows} == set(event.secret.things)
    assert b"proxy" not in b"".join(one.header for one in stored)
    assert b"proxy" not in msgspec.json.encode([row.thing for row in rows])


@pytest.fixture
def unequal(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store in which nothing is compared."""
    opened = engine.open(clock, settings=Settings(truth=Truth(compare=False)))
    yield opened
    opened.close()


def test_an_operator_can_leave_all_of_it_out(unequal: Opened) -> None:
    """SPEC T2, T3: then memories stand beside one another, as they were written."""
    pipeline = unequal.pipeline
    texts = ("The proxy is nginx", "The proxy is nginx", "The proxy is caddy")
    memories = [written(pipeline, text) for text in texts]

    assert [now(pipeline, one).status for one in memories] == [Status.ACTIVE] * 3
    assert found(pipeline, *memories) == []
    assert another(pipeline).status is Status.ACTIVE
