"""Two tenants whose rows are the same in all but the tenant, and each statement with its filter taken out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from msgspec.structs import replace
from psycopg import sql
from tests.clock import START
from tests.stores.engine import PostgresEngine
from tests.stores.forgetting_items import (
    LEAF,
    NAME,
    VALUE,
    alert_raised,
    erasure_begun,
    expired,
    hold_placed,
    key_forgotten,
    memory_forgotten,
)
from tests.stores.items import (
    HOUR,
    SUBJECT,
    TENANT,
    accepted,
    created,
    forgotten,
    item_of,
    number,
    put,
    revoked,
    source_revoked,
)
from tests.stores.truth_items import (
    DIET,
    contradiction_found,
    contradiction_resolved,
    corroborated,
    merged,
)
from tests.usecases.asking import OPERATOR

from tenure.core.access import CreateKey
from tenure.core.boundary_rows import place_number
from tenure.core.events import Event, EventData, Recalled, Superseded
from tenure.core.identity import Grants, Role
from tenure.core.incident_events import Influenced, PolicySwitched
from tenure.core.rows import FOREVER, microseconds
from tenure.core.views import value_target
from tenure.core.wording import Language, analyse, analyser
from tenure.engines.embedding.static import shipped_table
from tenure.stores.postgres.connecting import APP_ROLE, one_tenant
from tenure.usecases.access import create_key
from tenure.usecases.ports import Append, Checkpoint, Keyring

OTHER: Final = "globex"
OWN: Final = object()
"""Where the tenant stands in the bindings of a statement."""
SWITCHED_SEQ, REVOKED_SEQ = 19, 20
"""Where two of the events lie that are made here."""
KEY: Final = "the same key in both"
Connection = psycopg.Connection[tuple[Any, ...]]
Bindings = Sequence[Any] | Mapping[str, Any]

NOW: Final = microseconds(START)
ANALYSER: Final = analyser(Language.ENGLISH)
MODEL: Final = shipped_table().model
LATER: Final = microseconds(START + HOUR * 24 * 365)
BOUNDARY: Final = place_number("support", "answering")
TERMS: Final = sorted(analyse("the e-mail or the phone"))
FILTERED: Final = {
    "agent": "support",
    "purpose": "answering",
    "subject": SUBJECT,
    "subject_number": place_number(SUBJECT),
    "boundary": BOUNDARY,
    "terms": TERMS,
    "now": NOW,
    "valid_at": NOW,
    "written_from": 0,
    "written_until": FOREVER,
    "trust_min": 0,
    "kinds": None,
    "scopes": None,
    "hidden": None,
    "key_from": None,
    "key_until": None,
    "key_digest": None,
    "model": MODEL,
    "seqs": [1, 2],
    "limit": 50,
}
LISTED: Final = {
    "now": NOW,
    "limit": 50,
    "before_seq": None,
    **dict.fromkeys(("agents", "purposes", "subjects", "kind", "source_type", "source_id")),
    **dict.fromkeys(("key_digest", "status")),
}
CONTRADICTIONS: Final = {
    "before": FOREVER,
    "limit": 50,
    **dict.fromkeys(("agents", "purposes", "subjects")),
}
BINDINGS: Final[dict[str, tuple[Any, ...] | dict[str, Any]]] = {
    "lock_head": (),
    "head": (),
    "put_head": {"seq": 99, "link": b"link"},
    "put_written": {"events": "[]", "memories": "[]", "sources": "[]", "seq": 99, "link": b"link"},
    "event": (1,),
    "log": (0, 50),
    "stream": (number(1),),
    "first_answer": (KEY,),
    "first_answers": ([KEY],),
    "answers": ("", 50),
    "memory_row": (number(1),),
    "streams": {"streams": [number(1), number(2)]},
    "drop_subject": (SUBJECT,),
    "subject_memories": (SUBJECT,),
    "drop_rows": ([1, 2],),
    "drop_derivations": (SUBJECT,),
    "subject_values": {"subject": SUBJECT, "seq": 99, "at": NOW},
    "drop_values": (SUBJECT,),
    "with_derived": {"ids": [number(1)]},
    "ended_in_scope": (SUBJECT, "support", "answering", str(LEAF.tier), LEAF.id),
    "standing": (SUBJECT,),
    "key_rows": ("support", "answering", SUBJECT, NAME),
    "floors": {
        "subject": SUBJECT,
        "kinds": ["value"],
        "targets": [value_target("support", "answering", VALUE)],
    },
    "forgot_seq": (),
    "drop_suppression": (number(20),),
    "drop_suppressions": (SUBJECT,),
    "probe_again": {"probe_at": 99, "forget_id": number(20)},
    "suppressions": (SUBJECT, NOW),
    "suppression": (number(20),),
    "probes_due": (LATER, 50),
    "scopes_ended": (LATER, 50),
    "end_hold": ("held",),
    "hold": ("held",),
    "erasure": ("erased",),
    "erasures_begun": (),
    "alerts": {"before": FOREVER, "subjects": None, "kind": None, "limit": 50},
    "alerts_behind": (0, 50),
    "subject_events": (SUBJECT, 0, 50),
    "subject_streams": (SUBJECT, FOREVER),
    "purge_bodies": (SUBJECT, FOREVER),
    "bodies_left": (SUBJECT, FOREVER),
    "words_left": (place_number(SUBJECT), FOREVER),
    "keys": (),
    "key": (number(7),),
    "due": (LATER, 50),
    "listing": LISTED,
    **{
        f"{question}_of_{place}": FILTERED
        for question in ("passing", "columns", "postings", "keyed")
        for place in ("subject", "boundary")
    },
    "built": (ANALYSER,),
    "put_words": {"documents": "[]", "model": MODEL, "analyser": ANALYSER, "seq": 99, "after": 30},
    "unembedded": {"model": "another model", "after": 0, "limit": 50},
    "models": {},
    "put_vectors": {"model": MODEL, "vectors": '[{"created_seq": 1, "version": 1, "vector": "AAAA"}]'},
    "drop_models": ("another model",),
    "drop_subject_vectors": {"subject": place_number(SUBJECT), "standing": [1]},
    "drop_vectors": {"seqs": [1, 2]},
    "clear_vectors": (),
    "drop_subject_postings": {"subject": place_number(SUBJECT), "standing": [1]},
    "drop_subject_documents": {"subject": place_number(SUBJECT), "standing": [1]},
    "drop_postings": {"seqs": [1, 2]},
    "drop_documents": {"seqs": [1, 2]},
    "clear_postings": (),
    "clear_documents": (),
    "clear_built": (),
    "source_memories": {"source_type": None, "source_id": "crm-1"},
    "connector_memories": {"source_id": "bot"},
    "waiting": {**LISTED, "after_seq": 0},
    "source_record": {**LISTED, "source_type": "application", "source_id": "crm-1"},
    "rows_of": {"ids": [number(1), number(2)]},
    "shown_in": {"ids": [number(1)]},
    "recalls_of": {"ids": [number(1)], "limit": 50},
    "used_in": {"ids": [number(1)]},
    "displaced": {"ids": [number(9)]},
    "events_at": {"seqs": [1, 2]},
    "events_of": {"ids": [number(1)]},
    "revoked_source": ("application", "crm-9"),
    "revocations_begun": (),
    "end_revocation": (99, OWN, REVOKED_SEQ),
    "policy": (),
    "end_examination": (99, OWN, SWITCHED_SEQ),
    "memories_ever": {"agent": "support", "purpose": "answering", "subjects": None, "limit": 50},
    "memory_page": (0, 50),
    "links": (0, 50),
    "tree_blocks": (),
    "checkpoints": (FOREVER, 50),
    "progress": ("worker", OWN),
    "drop_edge": (number(10), number(11)),
    "end_contradiction": {"seq": 99, "kept": None, "contradiction_id": number(50)},
    **{f"drop_{kind}_of_subject": (SUBJECT,) for kind in ("things", "support", "contradictions", "backing")},
    "drop_things_of": {"ids": [number(10)]},
    "drop_support_of": {"ids": [number(10)]},
    "drop_contradictions_of": {"ids": [number(10)]},
    "drop_backing_from": {"ids": [number(10)]},
    "drop_backing_by": {"ids": [number(11)]},
    "claiming": {
        "agent": "support",
        "purpose": "answering",
        "subject": SUBJECT,
        "things": [DIET],
        "now": NOW,
        "limit": 50,
    },
    "things_of": {"ids": [number(10)]},
    "edges": {"kinds": ["merged"], "parents": [number(10)], "children": []},
    "support": {"ids": [number(10)]},
    "contradiction": (number(50),),
    "contradictions_of": {"ids": [number(12)]},
    "contradictions_beside": {"ids": [number(12)], "found_by": FOREVER, "limit": 50},
    "contradictions": {**CONTRADICTIONS, "is_open": None},
    "contradictions_open": CONTRADICTIONS,
    "stranded": (50,),
    "claims_left": {"subject": SUBJECT, "up_to_seq": FOREVER},
}
"""What each statement that has a filter is asked with here, behind its tenant, or with it where OWN is."""

_FILTER: Final = re.compile(r"(?:\w+\.)?tenant_id = (%s|%\(tenant\)s|\w+\.tenant_id\b)")


class Outcome(NamedTuple):
    """What a statement did: rows touched, rows given back, and a table that one of them changes aside."""

    touched: int
    rows: list[tuple[Any, ...]]
    built: list[tuple[Any, ...]]


def furnished(engine: PostgresEngine) -> None:
    """Make rows of every kind in one tenant, and copy them all to the other."""
    opened = engine.open()
    try:
        keys = opened.keyring
        items = [
            created(keys, 1, key=KEY, key_digest=NAME, fingerprint=b"a value that is."),
            created(keys, 2, derived_from=(number(1),)),
            created(keys, 3, scope=LEAF, expires_at=START),
            expired(keys, 3),
            created(keys, 4, fingerprint=VALUE),
            memory_forgotten(keys, 4),
            created(keys, 5, subject="gone"),
            forgotten(keys, subject="gone"),
            key_forgotten(keys, 20, floors=["task:t-9"], probe_at=START + HOUR),
            hold_placed(keys, subject="held"),
            erasure_begun(keys, 30, subject="erased"),
            alert_raised(keys),
        ]
        accepted(put(opened, *items))
        create_key(
            opened.pipeline, OPERATOR, CreateKey(name="ci", grants=Grants(roles=frozenset({Role.READER})))
        )
        accepted(put(opened, *incidents(keys)))
        accepted(put(opened, *claims(keys)))
        opened.store.keep_checkpoint(Checkpoint(TENANT, 1, b"r" * 32, "note", NOW))
        opened.store.keep_tree_blocks(TENANT, {0: b"r" * 32})
        opened.store.keep_progress("worker", TENANT, 1)
    finally:
        opened.close()
    with engine.superuser() as connection:
        connection.execute("UPDATE caller_key SET key_id = %s", (number(7),))
        connection.execute("UPDATE memory SET status = 'quarantined' WHERE memory_id = %s", (number(9),))
        for table, columns in tenant_tables(connection).items():
            others = sql.SQL(", ").join(map(sql.Identifier, columns[1:]))
            copy = sql.SQL(
                "INSERT INTO {table} SELECT {other}, {others} FROM {table} WHERE tenant_id = {own}"
            )
            names = {"table": sql.Identifier(table), "other": sql.Literal(OTHER), "own": sql.Literal(TENANT)}
            if len(columns) > 1:
                connection.execute(copy.format(others=others, **names))
        # What a statement gives one of, whatever tenants it sees, must not be the same in both.
        connection.execute(
            "UPDATE event SET version = version + 1 WHERE tenant_id = %s AND stream_id = %s",
            (OTHER, number(1)),
        )
        connection.execute("UPDATE forget_floor SET floor_seq = floor_seq + 1 WHERE tenant_id = %s", (OTHER,))
        for statement in APART:
            connection.execute(statement, {"other": OTHER, "old": number(8), "new": number(88)})


APART: Final = (
    "UPDATE shown SET seq = seq + 1 WHERE tenant_id = %(other)s",
    "UPDATE used SET seq = seq + 1 WHERE tenant_id = %(other)s",
    "UPDATE revoked_source SET seq = seq + 1 WHERE tenant_id = %(other)s AND source_id = 'crm-9'",
    "UPDATE derivation SET parent = %(new)s WHERE tenant_id = %(other)s AND parent = %(old)s",
    "UPDATE event SET stream_id = %(new)s WHERE tenant_id = %(other)s AND stream_id = %(old)s",
    "UPDATE provenance SET memory_id = %(new)s WHERE tenant_id = %(other)s AND memory_id = %(old)s",
)
"""What keeps questions that give each thing once from giving the same for both tenants."""


def incidents(keys: Keyring) -> list[Append]:
    """What receipts, corrections, switches of the policy and revocations of sources leave."""

    def happened(data: EventData, stream: int | None = None, version: int | None = None) -> Append:
        one = Event(tenant=TENANT, at=START, actor="bot", data=data, version=version)
        return item_of(keys, replace(one, stream=number(stream) if stream else None))

    shown = Recalled(
        agent="support", purpose="answering", query_fingerprint=b"q", memory_ids=(number(1),), limit=9
    )
    return [
        happened(shown, 40),
        happened(Influenced(response_id="r-1", used_memory_ids=(number(1),)), 40),
        created(keys, 8),
        created(keys, 9, supersedes=number(8)),
        happened(Superseded(by=number(9)), 8, 2),
        happened(PolicySwitched(version="strict-2", digest="ab12")),
        source_revoked(keys, "crm-8"),
        source_revoked(keys, "crm-9"),
    ]


def claims(keys: Keyring) -> list[Append]:
    """What merges and contradictions leave, one of which waits for a person."""
    return [
        *(created(keys, one, things=(DIET,)) for one in (10, 11, 12)),
        merged(keys, 11, 10),
        corroborated(keys, 10, 12),
        contradiction_found(keys, 50, 12, 10),
        contradiction_found(keys, 51, 10, 12),
        contradiction_resolved(keys, 51, 10),
        revoked(keys, 10, to_version=2),
    ]


def tenant_tables(connection: Connection) -> dict[str, list[str]]:
    """The columns of each table of the store that has a tenant, which is the first of them."""
    tables: dict[str, list[str]] = {}
    found = connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'tenure'"
        " ORDER BY table_name, ordinal_position"
    )
    for table, column in found:
        tables.setdefault(table, []).append(column)
    return {table: columns for table, columns in tables.items() if columns[0] == "tenant_id"}


def without_filter(statement: str) -> str:
    """The statement of somebody who never thought of tenants; it takes the same bindings."""
    return _FILTER.sub(
        lambda found: "TRUE" if "." in found[1] else f"{found[1]}::text IS NOT NULL", statement
    )


def bindings(name: str, tenant: str) -> Bindings:
    """What a statement is asked with."""
    rest = BINDINGS[name]
    if isinstance(rest, dict):
        return {"tenant": tenant, **rest}
    return [tenant if one is OWN else one for one in (rest if OWN in rest else (OWN, *rest))]


@contextmanager
def as_the_program(connection: Connection, tenant: str | None) -> Iterator[None]:
    """A transaction with the program's role and one tenant set, or none, which is undone at its end."""
    with connection.transaction(force_rollback=True):
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(APP_ROLE)))
        if tenant is not None:
            connection.execute(one_tenant(tenant))
        yield


def outcome(connection: Connection, statement: str, asked: Bindings) -> Outcome:
    """What a statement did; whoever runs it is the superuser for the rest of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement.encode(), asked)
        rows = sorted(cursor.fetchall(), key=repr) if cursor.description is not None else []
        touched = cursor.rowcount
        cursor.execute("SET LOCAL ROLE NONE")
        return Outcome(touched, rows, cursor.execute("SELECT * FROM search_built ORDER BY 1").fetchall())
