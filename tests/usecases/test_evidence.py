"""The log as evidence: pages without content, exports that parse, a chain that is walked (SPEC E1-E4)."""

import json

import pytest
from tests.clock import START
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    held,
    judgement,
    proposal,
    question,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.identity import Grants, Role
from tenure.core.ledger import GENESIS, link
from tenure.core.vocabulary import Claim
from tenure.usecases.access import create_key
from tenure.usecases.evidence import READ_LOG, LogPage, ReadLog, export, verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE

WORDS = ("Okapi", "Quokka", "Axolotl", "Pangolin", "Numbat")


def read(pipeline: Pipeline, after: int = 0, limit: int = 100) -> LogPage:
    """A page of the log, as an auditor sees it."""
    pipeline.store.settle()
    return pipeline.run(READ_LOG, AUDITOR, ReadLog(after=after, limit=limit))


def tell(pipeline: Pipeline) -> str:
    """A story with a word that cannot be missed wherever content may go; gives back a token."""
    memory = held(
        pipeline,
        f"Likes the {WORDS[0]}",
        key=WORDS[1],
        claim=Claim(entity=WORDS[2], attribute="is", value="liked"),
    )
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1, reason=f"said {WORDS[3]}"))
    pipeline.run(RECALL, BOT, question(f"which {WORDS[4]}?"))
    grants = Grants(roles=frozenset({Role.READER}))
    token = create_key(pipeline, OPERATOR, CreateKey(name="ci", grants=grants)).token
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))
    return token


def test_a_page_says_who_did_what_when_and_to_what(pipeline: Pipeline) -> None:
    """SPEC E1, A4: every event in its place, tied to the one before."""
    tell(pipeline)
    page = read(pipeline)

    assert [(entry.seq, entry.type) for entry in page.items] == [
        (1, "memory.quarantined"),
        (2, "memory.promoted"),
        (3, "recall.answered"),
        (4, "key.created"),
        (5, "subject.forgotten"),
    ]
    promoted = page.items[1]
    assert (promoted.actor, promoted.at, promoted.memory_version, promoted.subject) == (
        REVIEWER.id,
        START,
        2,
        SUBJECT,
    )
    assert promoted.data["trust"] == "reviewer_verified"
    assert page.head == 5


def test_a_page_holds_no_content_and_no_hash_of_a_secret(pipeline: Pipeline) -> None:
    """SPEC E6, A1: what an auditor sees opens nothing and quotes nobody."""
    token = tell(pipeline)
    said = repr(read(pipeline))

    assert [word for word in (*WORDS, token.rpartition(".")[2], "secret") if word in said] == []


def test_pages_follow_one_another_to_the_head(pipeline: Pipeline) -> None:
    """SPEC E4, E2: to the head that the first page tells of, since each page is itself a read."""
    for number in range(5):
        written(pipeline, f"Memory {number}")
    first = read(pipeline, 0, 2)
    pages = [[entry.seq for entry in read(pipeline, after, 2).items] for after in (2, 4)]

    assert (first.head, [entry.seq for entry in first.items]) == (5, [1, 2])
    assert pages == [[3, 4], [5, 6]]
    assert read(pipeline, 2**53 - 1).items == ()


def test_an_auditor_sees_their_own_tenant_alone(pipeline: Pipeline) -> None:
    """SPEC M2, A4: and nobody without the role sees any."""
    written(pipeline)
    stranger = caller(Role.AUDITOR, tenant="globex")

    assert pipeline.run(READ_LOG, stranger, ReadLog()) == LogPage(items=(), head=0)
    for who in (BOT, REVIEWER, OFFICER):
        with pytest.raises(Forbidden):
            pipeline.run(READ_LOG, who, ReadLog())


@pytest.mark.parametrize(("after", "limit"), [(-1, 10), (2**53, 10), (0, 0), (0, 1_001)])
def test_a_page_that_cannot_be_is_refused(pipeline: Pipeline, after: int, limit: int) -> None:
    """SPEC S2: the bounds are said."""
    with pytest.raises(InvalidRequest):
        read(pipeline, after, limit)


def test_an_export_is_lines_that_chain(pipeline: Pipeline) -> None:
    """SPEC E4, E2: whoever has the file can walk the chain without us."""
    tell(pipeline)
    pipeline.store.settle()
    lines = [json.loads(line) for line in export(pipeline)]

    previous = GENESIS
    for number, line in enumerate(lines, start=1):
        assert (line["tenant"], line["seq"]) == (TENANT, number)
        previous = link(previous, line["seq"], line["header"].encode())
        assert line["link"] == previous.hex()
        assert json.loads(line["header"])["tenant"] == TENANT
    assert len(lines) == 5


def test_an_export_holds_no_content_and_no_key(pipeline: Pipeline) -> None:
    """SPEC F7, E6: bodies stay sealed, each on one line of its own."""
    token = tell(pipeline)
    pipeline.store.settle()
    lines = list(export(pipeline))

    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    text = b"".join(lines).decode()
    assert [word for word in (*WORDS, token.rpartition(".")[2]) if word in text] == []
    bodies = [bytes.fromhex(json.loads(line).get("body") or "") for line in lines]
    assert bodies[0]
    assert not any(word.encode() in body for body in bodies for word in WORDS)


def test_an_export_goes_tenant_by_tenant_or_holds_those_asked_for(pipeline: Pipeline) -> None:
    """SPEC E4, M2: all by default, in order."""
    for number, tenant in enumerate(("globex", TENANT, "globex")):
        pipeline.run(REMEMBER, caller(tenant=tenant), proposal(f"Memory {number}"))

    def tenants(asked: list[str] | None) -> list[str]:
        return [json.loads(line)["tenant"] for line in export(pipeline, asked)]

    assert tenants(None) == [TENANT, "globex", "globex"]
    assert tenants(["globex"]) == ["globex", "globex"]
    assert tenants(["initech"]) == []


def test_an_export_is_longer_than_one_page(pipeline: Pipeline) -> None:
    """SPEC E4: every event once, whatever the size of the log."""
    commands = [(proposal(f"Memory {number}", subject=f"s-{number % 9}"), None) for number in range(2_100)]
    pipeline.run_many(REMEMBER, BOT, commands)

    assert [json.loads(line)["seq"] for line in export(pipeline)] == list(range(1, 2_101))
    assert verify(pipeline, TENANT).events == 2_100


def test_a_log_that_is_whole_verifies_while_others_write(pipeline: Pipeline) -> None:
    """SPEC E2: it is walked up to the head that it had."""
    for number in range(3):
        written(pipeline, f"Memory {number}")

    verified = verify(pipeline, TENANT)

    assert (verified.tenant, verified.holds, verified.events) == (TENANT, True, 3)
    assert (verified.first_bad_seq, verified.because) == (None, None)
