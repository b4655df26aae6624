"""The keys of an outside issuer: where they come from, how often they are fetched, which count (SPEC A1)."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engines.jwt_issuer import (
    AUDIENCE,
    GRANTS,
    ISSUER,
    NO_FITTING_KEY,
    NOW,
    Issuer,
    claims,
    encoded,
    key_for,
    published,
    running,
    sign,
    verifier_at,
    verifier_of,
)

from tenure.engines.jwt_keys import KEY_SET_BYTES_MAX, KEYS_FRESH_FOR, KEYS_KEPT_FOR, REFETCH_AFTER
from tenure.engines.jwt_tokens import JwtSettings, JwtVerifier, KeysUnavailable, Verified


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """A running issuer."""
    with running() as server:
        yield server


def test_an_unusable_key_does_not_spoil_the_others(tmp_path: Path) -> None:
    """SPEC A1: unknown, broken, symmetric and weak keys are left out; the good one verifies."""
    unusable: list[object] = [
        {"kty": "AKP", "kid": "future"},
        {"kty": ["RSA"]},
        {"kid": "typeless"},
        {"kty": "oct", "kid": "first", "k": "c2VjcmV0"},
        {"kty": "RSA", "n": "!", "e": "AQAB"},
        {"kty": "RSA", "e": "AQAB"},
        {"kty": "RSA", "n": encoded(b"\xff" * 128), "e": "AQAB", "kid": "weak"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
        {"kty": "OKP", "crv": "Ed25519", "x": 5},
    ]
    good = key_for("ES256", "first").as_dict(private=False)
    verifier = verifier_of(tmp_path, json.dumps({"keys": [*unusable, good]}).encode())

    assert isinstance(verifier.verify(sign(claims()), now=NOW), Verified)
    with pytest.raises(KeysUnavailable, match="holds no key that can verify"):
        verifier_of(tmp_path, json.dumps({"keys": unusable}).encode()).verify(sign(claims()), now=NOW)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": ["x"]}', b"\xff", b"[" * 9_000]
)
def test_a_key_set_that_is_none_is_a_fault_of_ours_and_not_of_the_token(
    tmp_path: Path, content: bytes
) -> None:
    """SPEC S2: nothing is known about the token, so it is neither accepted nor called bad."""
    with pytest.raises(KeysUnavailable, match="not a JSON Web Key Set"):
        verifier_of(tmp_path, content).verify(sign(claims()), now=NOW)


def test_a_key_set_file_that_is_missing_or_huge_says_so(tmp_path: Path) -> None:
    """SPEC S3: the fault names the setting and what is wrong with it."""
    verifier = verifier_of(tmp_path, b" " * (KEY_SET_BYTES_MAX + 1))

    with pytest.raises(KeysUnavailable, match="jwks_file is larger than"):
        verifier.verify(sign(claims()), now=NOW)

    (tmp_path / "jwks.json").unlink()
    with pytest.raises(KeysUnavailable, match="jwks_file cannot be read: No such file"):
        verifier.verify(sign(claims()), now=NOW + REFETCH_AFTER)


def test_keys_are_fetched_over_http_once_for_many_tokens(issuer: Issuer) -> None:
    """SPEC A1: the issuer is asked at the first token and not again."""
    verifier = verifier_at(issuer)

    answers = [verifier.verify(sign(claims()), now=NOW) for _ in range(3)]

    assert answers == [Verified(subject="user-7", claims=GRANTS)] * 3
    assert issuer.fetches == 1


def test_an_unknown_key_id_causes_one_fetch_a_minute(issuer: Issuer) -> None:
    """SPEC A1, attack: tokens with made-up key ids must not turn us against the issuer."""
    verifier = verifier_at(issuer)
    stranger = sign(claims(), key=key_for("ES256", "stranger"))
    verifier.verify(sign(claims()), now=NOW)

    fetches = []
    for seconds in (0, 59, 60, 61, 119, 120):
        assert verifier.verify(stranger, now=NOW + timedelta(seconds=seconds)) == NO_FITTING_KEY
        fetches.append(issuer.fetches)

    assert fetches == [1, 1, 2, 2, 2, 3]


def test_a_new_key_of_the_issuer_is_found(issuer: Issuer) -> None:
    """SPEC A1: issuers change their keys without telling us."""
    verifier = verifier_at(issuer)
    verifier.verify(sign(claims()), now=NOW)
    issuer.key_set = published(key_for("ES256", "second"))
    token = sign(claims(), key=key_for("ES256", "second"))

    assert isinstance(verifier.verify(token, now=NOW + REFETCH_AFTER), Verified)
    assert issuer.fetches == 2


def test_a_withdrawn_key_is_dropped_within_the_hour(issuer: Issuer) -> None:
    """SPEC A1, attack: a stolen key that the issuer withdrew must stop working."""
    verifier = verifier_at(issuer)
    token = sign(claims(exp=int(NOW.timestamp()) + 7_200))
    verifier.verify(token, now=NOW)
    issuer.key_set = published(key_for("ES256", "second"))

    assert isinstance(verifier.verify(token, now=NOW + KEYS_FRESH_FOR - timedelta(seconds=1)), Verified)
    assert verifier.verify(token, now=NOW + KEYS_FRESH_FOR) == NO_FITTING_KEY


def test_an_issuer_out_of_reach_is_bridged_for_a_day(issuer: Issuer) -> None:
    """SPEC A1: known keys go on for a day, unknown ones are undecided rather than bad, then all are."""
    verifier = verifier_at(issuer)
    token = sign(claims(exp=int(NOW.timestamp()) + 200_000))
    verifier.verify(token, now=NOW)
    issuer.status = 500

    assert isinstance(verifier.verify(token, now=NOW + KEYS_FRESH_FOR), Verified)
    with pytest.raises(KeysUnavailable, match="answered with status 500"):
        verifier.verify(sign(claims(), key=key_for("ES256", "second")), now=NOW + KEYS_FRESH_FOR)
    with pytest.raises(KeysUnavailable, match="answered with status 500"):
        verifier.verify(token, now=NOW + KEYS_KEPT_FOR)


def test_a_first_fetch_that_failed_is_tried_again_soon_but_not_at_once(issuer: Issuer) -> None:
    """SPEC A1: an issuer that starts later than we do costs seconds, and no storm of fetches."""
    verifier = verifier_at(issuer)
    issuer.status = 503
    for seconds in (0, 4):
        with pytest.raises(KeysUnavailable, match="status 503"):
            verifier.verify(sign(claims()), now=NOW + timedelta(seconds=seconds))
    assert issuer.fetches == 1
    issuer.status = 200

    assert isinstance(verifier.verify(sign(claims()), now=NOW + timedelta(seconds=5)), Verified)


def test_a_redirect_is_not_followed(issuer: Issuer) -> None:
    """SPEC A1, attack: the keys come from the configured address or not at all."""
    issuer.status = 302

    with pytest.raises(KeysUnavailable, match="status 302"):
        verifier_at(issuer).verify(sign(claims()), now=NOW)
    assert issuer.fetches == 1


def test_an_endless_key_set_is_cut_off(issuer: Issuer) -> None:
    """SPEC S3: a limit on everything."""
    issuer.key_set = b" " * (KEY_SET_BYTES_MAX + 1)

    with pytest.raises(KeysUnavailable, match="jwks_url is over"):
        verifier_at(issuer).verify(sign(claims()), now=NOW)


def test_an_issuer_that_does_not_answer_is_a_fault_without_its_address(issuer: Issuer) -> None:
    """SPEC A1: callers learn that keys are missing, not where we look for them."""
    verifier = verifier_at(issuer)
    issuer.server_close()

    with pytest.raises(KeysUnavailable, match="jwks_url cannot be read: ") as caught:
        verifier.verify(sign(claims()), now=NOW)
    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://issuer.example/keys",
        "http://127.0.0.1.example/keys",
        "http://10.0.0.1/keys",
        "https://user:secret@issuer.example/keys",
        "https:///keys",
        "ftp://issuer.example/keys",
        "keys.json",
        "https://issuer.example:port/",
    ],
)
def test_an_address_that_others_could_answer_is_refused(address: str) -> None:
    """SPEC A1, attack: over a plain connection anybody on the way can publish keys of their own."""
    with pytest.raises(ValueError, match="jwks_url"):
        JwtVerifier(JwtSettings(issuer=ISSUER, audience=AUDIENCE, jwks_url=address))


@pytest.mark.parametrize(
    "address", ["https://issuer.example/keys", "http://localhost:1/", "http://[::1]:1/keys"]
)
def test_an_address_with_a_safe_way_to_it_is_accepted(address: str) -> None:
    """SPEC A1: https anywhere, plain http on this machine."""
    JwtVerifier(JwtSettings(issuer=ISSUER, audience=AUDIENCE, jwks_url=address))
