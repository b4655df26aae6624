"""The contract of append_soon: never a wait for the disk, never lost by closing in order."""

from tests.stores.engine import Engine, Opened
from tests.stores.items import created, log_of, put, receipt


def test_what_waits_is_durable_after_settling(opened: Opened) -> None:
    """SPEC R7: a receipt that somebody refers to can be made durable at once."""
    for stream in range(1, 4):
        opened.store.append_soon(receipt(opened.keyring, stream))

    opened.store.settle()

    assert [stored.seq for stored in log_of(opened)] == [1, 2, 3]


def test_what_waits_is_stored_with_the_next_batch(opened: Opened) -> None:
    """SPEC R7, E1: receipts keep their place before what was written after them."""
    opened.store.append_soon(receipt(opened.keyring, 1))

    put(opened, created(opened.keyring, 2))

    assert [b"recall.answered" in stored.header for stored in log_of(opened)] == [True, False]


def test_closing_stores_what_waits(engine: Engine) -> None:
    """SPEC R7: only a crash may lose a receipt."""
    opened = engine.open()
    for stream in range(1, 4):
        opened.store.append_soon(receipt(opened.keyring, stream))
    opened.close()

    again = engine.open()
    try:
        assert len(log_of(again)) == 3
    finally:
        again.close()


def test_settling_with_nothing_waiting_changes_nothing(opened: Opened) -> None:
    """SPEC E1: it may be called at any time."""
    opened.store.settle()

    assert log_of(opened) == []
