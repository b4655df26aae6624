"""A store is reached through the server that runs on it, otherwise by opening it; the lines are the same."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.entrypoints.control.standing import Standing, standing

from tenure import wiring
from tenure.config import Settings
from tenure.core.access import Key
from tenure.core.admission import Policy, bounded, default_policy
from tenure.core.erasure import Certificate
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.core.forgetting import ForgetKey, Forgotten
from tenure.core.holds import Hold
from tenure.core.identity import Scope, Tier
from tenure.core.incidents import AskImpact, Impact, RevokeSource, SourceRevocation
from tenure.core.policy_documents import encode
from tenure.core.review_statistics import ReviewStatistics
from tenure.entrypoints.control import reaching, subjects
from tenure.entrypoints.control.arguments import Arguments
from tenure.entrypoints.control.checkpoints import (
    CheckpointArguments,
    ProofArguments,
    VerifierKey,
    VerifierKeysArguments,
)
from tenure.entrypoints.control.client import Connection, connect
from tenure.entrypoints.control.histories import HistoryArguments
from tenure.entrypoints.control.log_evidence import LogVerified, VerifyLogArguments
from tenure.entrypoints.control.operations import (
    OPERATIONS,
    BackupArguments,
    Counted,
    CreatedKey,
    CreateKeyArguments,
    Exported,
    ExportLogArguments,
    ImportArguments,
    ListKeysArguments,
    RebuildArguments,
    RevokeKeyArguments,
)
from tenure.entrypoints.control.policies import PolicyReplayed, ReplayPolicyArguments, TenantChange
from tenure.entrypoints.control.reaching import Opened, Reached, answer, items, reach
from tenure.entrypoints.control.reviews import ReviewStatisticsArguments
from tenure.entrypoints.control.sources import ImpactArguments, RevokeSourceArguments
from tenure.entrypoints.control.subjects import (
    EraseArguments,
    ExportedSubject,
    ExportSubjectArguments,
    ForgetKeyArguments,
    ForgetMemoryArguments,
    ForgetSubjectArguments,
    PlaceHoldArguments,
    PublicKey,
    PublicKeyArguments,
    ReadAlertsArguments,
    ReleaseHoldArguments,
    ShowHoldArguments,
)
from tenure.usecases.alerts import AlertPage
from tenure.usecases.checkpoints import SignedCheckpoint
from tenure.usecases.evidence import LogLine, Verified
from tenure.usecases.exporting import SubjectExport
from tenure.usecases.forgetting import ForgetMemory, ForgetSubject
from tenure.usecases.importing import Conversion, Imported, Turn
from tenure.usecases.ports import Rebuilt
from tenure.usecases.proofs import InclusionProof, ReadProof
from tenure.usecases.reading import History


def settings(folder: Path) -> Settings:
    """The settings of a store in this folder."""
    return Settings(data_dir=str(folder))


def through(reached: Reached) -> list[object]:
    """A walk through every operation, and what each gave, without what chance and time decide."""
    created = answer(
        reached,
        CreateKeyArguments(tenant="acme", name="bot", roles=["writer"], agents=["a"], source_types=["email"]),
        CreatedKey,
    )
    listed = list(items(reached, ListKeysArguments(), Key))
    revoked = answer(reached, RevokeKeyArguments(key_id=created.id), Key)
    proposals = Conversion(agent="a", purpose="p").proposals("talk", Turn(id=1, text="The van is red."))
    imported = answer(reached, ImportArguments(tenant="acme", items=list(proposals)), Imported)
    lines = list(items(reached, ExportLogArguments(tenant="acme"), LogLine))
    exported = answer(reached, ExportLogArguments(), Exported)
    verified = list(items(reached, VerifyLogArguments(), Verified))
    rebuilt = answer(reached, RebuildArguments(), Rebuilt)
    copied = [line for line in reached.lines(BackupArguments()) if isinstance(line.item, msgspec.Raw)]
    return [
        created.token.startswith("tnr."),
        [(key.name, key.revoked_at) for key in listed],
        revoked.revoked_at is not None,
        imported,
        [(line.tenant, line.seq, msgspec.json.decode(line.header)["type"]) for line in lines],
        exported,
        verified,
        rebuilt,
        len(copied) > exported.events,
    ]


def test_every_operation_on_a_store_gives_the_same_with_and_without_a_server(tmp_path: Path) -> None:
    """SPEC S1: one copy of each operation, whichever way it is reached."""
    with reach(settings(tmp_path / "one")) as opened:
        alone = through(opened)
        assert isinstance(opened, Opened)
    with standing(tmp_path / "two"), reach(settings(tmp_path / "two")) as connected:
        served = through(connected)
        assert isinstance(connected, Connection)

    assert alone == served
    assert alone == [
        True,
        [("bot", None)],
        True,
        Imported(proposals=1, admitted=1),
        [
            ("acme", 1, "key.created"),
            ("acme", 2, "read.answered"),
            ("acme", 3, "key.revoked"),
            ("acme", 4, "memory.admitted"),
        ],
        Exported(events=4, tenants=1),
        [Verified(tenant="acme", holds=True, events=4)],
        Rebuilt(events=4, identical=True),
        True,
    ]


def exported(reached: Reached) -> SubjectExport:
    """Everything held about the one whom the walk is about."""
    pieces = items(reached, ExportSubjectArguments(tenant="acme", subject="talk"), str)
    return msgspec.json.decode("".join(pieces), type=SubjectExport)


def about_a_subject(reached: Reached) -> list[object]:
    """A walk through every operation on a subject, and what each gave, without what time decides."""
    whom: dict[str, Any] = {"tenant": "acme", "subject": "talk"}
    conversion = Conversion(agent="a", purpose="p")
    turns = [conversion.proposals("talk", Turn(id=number, text=f"Van {number} is red.")) for number in (1, 2)]
    proposals = [proposal for turn in turns for proposal in turn]
    answer(reached, ImportArguments(tenant="acme", items=proposals), Imported)
    counted = answer(reached, ExportSubjectArguments(**whom), ExportedSubject)
    one = exported(reached).memories[0].memory
    story = answer(reached, HistoryArguments(memory_id=one.id), History)
    memory = ForgetMemory(memory_id=one.id, expected_version=one.version)
    scope = Scope(tier=Tier.TASK, id="t1")
    key = ForgetKey(agent="a", purpose="p", subject="talk", key="colour", scope=scope)
    forgotten = [
        answer(reached, ForgetMemoryArguments(tenant="acme", forget=memory), Forgotten),
        answer(reached, ForgetKeyArguments(tenant="acme", forget=key), Forgotten),
        answer(
            reached, ForgetSubjectArguments(tenant="acme", forget=ForgetSubject(subject="talk")), Forgotten
        ),
    ]
    placed = answer(reached, PlaceHoldArguments(**whom, reason="court"), Hold)
    shown = answer(reached, ShowHoldArguments(**whom), Hold)
    released = answer(reached, ReleaseHoldArguments(**whom, reason="settled"), Hold)
    certificate = answer(reached, EraseArguments(**whom), Certificate)
    key_of = answer(reached, PublicKeyArguments(), PublicKey)
    alerts = answer(reached, ReadAlertsArguments(tenant="acme", limit=5), AlertPage)
    return [
        counted,
        [happened.event for happened in story.items],
        [(each.status.value, each.forgotten, each.durable) for each in forgotten],
        placed == shown,
        released.released_at is not None,
        certificate.statement.memories_erased,
        certificate.statement.requested_by,
        certificate.public_key == key_of.public_key,
        alerts,
        [held.memory.content for held in exported(reached).memories],
    ]


def test_what_is_done_about_a_subject_is_the_same_with_and_without_a_server(tmp_path: Path) -> None:
    """SPEC S1, F1-F12: forgotten, held, exported, erased; in the log the owner of the store did it."""
    with reach(settings(tmp_path / "one")) as opened:
        alone = about_a_subject(opened)
    with standing(tmp_path / "two"), reach(settings(tmp_path / "two")) as connected:
        served = about_a_subject(connected)
        assert isinstance(connected, Connection)

    assert alone == served
    assert alone == [
        ExportedSubject(memories=2, recalls=0, events=2),
        ["memory.admitted"],
        [("forgotten", 1, True), ("already_forgotten", 0, True), ("forgotten", 1, True)],
        True,
        True,
        2,
        "local:operator",
        True,
        AlertPage(items=()),
        [None, None],
    ]


def test_an_export_longer_than_a_line_may_be_comes_whole(
    stands: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC F12, S3: a line has a limit, and what is held about somebody has none."""
    monkeypatch.setattr(subjects, "PIECE_CHARACTERS", 7)
    with reach(settings(stands.folder)) as reached:
        proposals = Conversion(agent="a", purpose="p").proposals("talk", Turn(id=1, text="Grün — 緑 🟢."))
        answer(reached, ImportArguments(tenant="acme", items=list(proposals)), Imported)

        (held,) = exported(reached).memories

    assert held.memory.content == "Grün — 緑 🟢."


def test_a_replay_says_the_same_on_both_ways(stands: Standing) -> None:
    """SPEC I4, S1: what would change, one item a memory, and what it comes to."""
    nothing = Policy(version="none", rules=())
    arguments = ReplayPolicyArguments(
        policy=encode(bounded(nothing, content_characters_max=9)), tenant="acme"
    )
    said: list[tuple[list[TenantChange], PolicyReplayed]] = []
    with reach(settings(stands.folder)) as connected:
        proposals = Conversion(agent="a", purpose="p").proposals("talk", Turn(id=1, text="Prefers tea"))
        answer(connected, ImportArguments(tenant="acme", items=list(proposals)), Imported)
        for reached in (connected, Opened(stands.node)):
            changes = list(items(reached, arguments, TenantChange))
            said.append((changes, answer(reached, arguments, PolicyReplayed)))

    assert said[0] == said[1]
    assert [one.change.after_rule for one in said[0][0]] == ["content_bound"]


def test_evidence_and_incidents_are_the_same_on_both_ways(tmp_path: Path) -> None:
    """SPEC E2, I1, S1: signed, proven, what a source touched, its revocation, and who decided on what."""
    with reach(settings(tmp_path / "one")) as opened:
        alone = about_a_source(opened)
    with standing(tmp_path / "two"), reach(settings(tmp_path / "two")) as connected:
        served = about_a_source(connected)
        assert isinstance(connected, Connection)

    assert alone == served == ([1, "acme", 1, 1, ()], [1, "revoked", 1, 0])


def about_a_source(reached: Reached) -> tuple[list[object], list[object]]:
    """One mail comes in, its event is signed and proven, and the mail is revoked."""
    conversion = Conversion(agent="a", purpose="p")
    proposals = conversion.proposals("talk", Turn(id=1, text="Prefers tea"))
    answer(reached, ImportArguments(tenant="acme", items=list(proposals)), Imported)
    (stored,) = items(reached, ExportLogArguments(tenant="acme"), LogLine)
    source_id = msgspec.json.decode(stored.header)["data"]["source_id"]
    signed = answer(reached, CheckpointArguments(tenant="acme"), SignedCheckpoint)
    (key,) = items(reached, VerifierKeysArguments(), VerifierKey)
    proof = answer(reached, ProofArguments(tenant="acme", proof=ReadProof(seq=1)), InclusionProof)
    before = answer(reached, ImpactArguments(tenant="acme", ask=AskImpact(source_id=source_id)), Impact)
    wish = RevokeSource(source_id=source_id, reason="phished")
    revoked = answer(reached, RevokeSourceArguments(tenant="acme", revoke=wish, limit=10), SourceRevocation)
    told = answer(reached, ReviewStatisticsArguments(tenant="acme"), ReviewStatistics)
    evidence: list[object] = [signed.size, key.tenant, proof.seq, proof.size, told.reviewers]
    return evidence, [
        before.counts.memories,
        str(revoked.status),
        revoked.revoked,
        revoked.impact.counts.recalls,
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (CreateKeyArguments(tenant="a", name="n", roles=["wizard"]), InvalidRequest),
        (CreateKeyArguments(tenant="no\nname", name="n", roles=["reader"]), InvalidRequest),
        (ListKeysArguments(tenant="nobody"), NotFound),
        (ExportLogArguments(tenant="nobody"), NotFound),
        (VerifyLogArguments(tenant="nobody"), NotFound),
        (EraseArguments(tenant="nobody", subject="talk"), NotFound),
        (PlaceHoldArguments(tenant="nobody", subject="talk", reason="court"), NotFound),
        (ForgetSubjectArguments(tenant="nobody", forget=ForgetSubject(subject="talk")), NotFound),
        (ReviewStatisticsArguments(tenant="nobody"), NotFound),
        (ReadAlertsArguments(tenant="no\nname"), InvalidRequest),
        (ReplayPolicyArguments(policy="version = 1"), InvalidRequest),
        (ReplayPolicyArguments(policy=encode(default_policy()), tenant="nobody"), NotFound),
        (RevokeKeyArguments(key_id="0191f3a0-0000-7000-8000-000000000000"), NotFound),  # type: ignore[arg-type]
    ],
)
def test_a_refusal_is_the_same_error_on_both_ways(
    stands: Standing, arguments: Arguments, expected: type[Exception]
) -> None:
    """SPEC S2: neither way knows more errors than the other."""
    caught = []
    with reach(settings(stands.folder)) as connected:
        for reached in (connected, Opened(stands.node)):
            with pytest.raises(expected) as refusal:
                answer(reached, arguments, Counted)
            caught.append(str(refusal.value))

    assert caught[0] == caught[1]


def test_every_operation_is_in_one_of_the_walks_above() -> None:
    """SPEC S1: a new operation needs its place in a walk, here or in test_recalls or test_contradictions."""
    assert set(OPERATIONS) == {
        "contradictions.list",
        "contradictions.resolve",
        "unmerge",
        "key.create",
        "key.list",
        "key.revoke",
        "log.export",
        "log.verify",
        "log.import",
        "backup",
        "rebuild",
        "import",
        "export",
        "history",
        "recall",
        "neighbours",
        "forget.subject",
        "forget.memory",
        "forget.key",
        "erase",
        "hold.place",
        "hold.release",
        "hold.show",
        "alerts",
        "certificate.public-key",
        "policy.replay",
        "log.checkpoint",
        "log.proof",
        "log.key",
        "review.statistics",
        "source.impact",
        "source.revoke",
    }


def test_an_empty_store_verifies_as_empty(stands: Standing) -> None:
    """SPEC E2: no tenant, no break."""
    with reach(settings(stands.folder)) as reached:
        verified = answer(reached, VerifyLogArguments(), LogVerified)

    assert verified == LogVerified(holds=True, events=0, tenants=0)


def test_a_folder_that_another_program_keeps_to_itself_is_said_to_be_in_use(tmp_path: Path) -> None:
    """SPEC S5: two processes never share an embedded store."""
    folder = tmp_path / "store"

    with wiring.open_store(folder), pytest.raises(Unavailable, match="in use"), reach(settings(folder)):
        pass


def test_a_server_that_starts_between_the_two_tries_is_used(
    stands: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S1: a command that comes while a server starts does not fail for it."""
    tries: list[Path] = []

    def late(folder: Path) -> Connection | None:
        tries.append(folder)
        return connect(folder) if len(tries) > 1 else None

    monkeypatch.setattr(reaching, "connect", late)

    with reach(settings(stands.folder)) as reached:
        assert isinstance(reached, Connection)


def test_a_database_is_opened_whatever_serves_on_the_folder(stands: Standing, postgres_url: str) -> None:
    """SPEC S5: the folder holds a root key, and the server of the embedded store there is not asked."""
    in_database = Settings(data_dir=str(stands.folder), database_url=postgres_url)

    with reach(in_database) as reached:
        assert isinstance(reached, Opened)
        assert all(through(reached))
    with reach(in_database) as again:
        assert len(list(items(again, ListKeysArguments(), Key))) == 1
