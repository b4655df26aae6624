"""The contract of the ledger over a stored log: whatever somebody does to the file is found, and where."""

import pytest
from tests.stores.engine import ALTERATIONS, Engine
from tests.stores.items import TENANT, created, put, renewed

from tenure.usecases.evidence import verify


def test_an_untouched_log_verifies(engine: Engine) -> None:
    """SPEC E2: the chain holds from the first event to the head, for every tenant, after a restart too."""
    opened = engine.open()
    put(opened, created(opened.keyring, 1), created(opened.keyring, 2, tenant="globex"))
    put(opened, renewed(opened.keyring, 1, to_version=2))
    opened.close()

    again = engine.open()
    try:
        verified = [verify(again.pipeline, tenant) for tenant in (TENANT, "globex", "initech")]
    finally:
        again.close()

    assert [(one.holds, one.events) for one in verified] == [(True, 2), (True, 1), (True, 0)]


@pytest.mark.parametrize("seq", [1, 3, 5])
@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_an_alteration_is_found_and_located(engine: Engine, alteration: str, seq: int) -> None:
    """SPEC E2: altering, dropping, inserting or reordering is detected, and the first bad event named."""
    opened = engine.open()
    put(opened, *(created(opened.keyring, memory) for memory in range(1, 7)))
    opened.close()

    engine.alter_event(TENANT, seq, alteration)

    again = engine.open()
    try:
        verified = verify(again.pipeline, TENANT)
    finally:
        again.close()
    place = seq + 1 if alteration == "inserted" else seq
    assert (verified.holds, verified.first_bad_seq, verified.events) == (False, place, place - 1)
    assert verified.because


def test_a_tail_that_was_cut_off_is_missed(engine: Engine) -> None:
    """SPEC E2: the head says how long the log was."""
    opened = engine.open()
    put(opened, *(created(opened.keyring, memory) for memory in range(1, 4)))
    opened.close()

    engine.alter_event(TENANT, 3, "dropped")

    again = engine.open()
    try:
        verified = verify(again.pipeline, TENANT)
    finally:
        again.close()
    assert (verified.holds, verified.first_bad_seq) == (False, 3)


def test_an_alteration_in_one_tenant_says_nothing_of_another(engine: Engine) -> None:
    """SPEC E2, M2: each tenant's log is verified by itself."""
    opened = engine.open()
    put(opened, created(opened.keyring, 1), created(opened.keyring, 2, tenant="globex"))
    opened.close()

    engine.alter_event("globex", 1, "altered header")

    again = engine.open()
    try:
        assert verify(again.pipeline, TENANT).holds
        assert not verify(again.pipeline, "globex").holds
    finally:
        again.close()
