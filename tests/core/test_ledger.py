"""The hash chain: the stored format of a link, which can never change for events that exist."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.ledger import GENESIS, body_digest, link


def test_a_link_covers_the_one_before_it_the_position_and_the_exact_header() -> None:
    """SPEC E2, E3: the stored format; it can never change for events that exist."""
    previous, header = bytes(range(32)), b'{"type":"memory.revoked"}'

    expected = hashlib.sha256(previous + b"\x00\x00\x00\x00\x00\x00\x00\x07" + header).digest()

    assert expected == link(previous, 7, header)
    assert bytes(32) == GENESIS
    assert hashlib.sha256(b"sealed").digest() == body_digest(b"sealed")


@MODEST
@given(
    previous=st.binary(min_size=32, max_size=32),
    seq=st.integers(min_value=1, max_value=2**62),
    header=st.binary(max_size=80),
)
def test_no_two_places_or_headers_share_a_link(previous: bytes, seq: int, header: bytes) -> None:
    """SPEC E2: the position has a fixed length, so nothing can be moved between it and the header."""
    one = link(previous, seq, header)

    assert one != link(previous, seq + 1, header)
    assert one != link(previous, seq, header + b"\x00")
    assert one != link(previous[::-1] if previous != previous[::-1] else bytes(31) + b"\x01", seq, header)
