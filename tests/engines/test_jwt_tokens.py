"""Tokens of an outside issuer: what is accepted, and each attack that is not (SPEC A1, A2)."""

import hashlib
import hmac
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jwk, jws
from tests.engines.jwt_issuer import (
    AUDIENCE,
    GRANTS,
    ISSUER,
    NO_FITTING_KEY,
    NOW,
    WRONG_SIGNATURE,
    claims,
    encoded,
    key_for,
    published,
    sign,
    verifier_of,
)

from tenure.config.settings import Algorithm
from tenure.engines.jwt_tokens import SIGNATURE_ALGORITHMS, JwtVerifier, Unverified, Verified


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> JwtVerifier:
    """A verifier of an issuer with one EC key, named first."""
    return verifier_of(tmp_path_factory.mktemp("issuer"), published(key_for("ES256", "first")))


def test_a_good_token_gives_its_subject_and_its_grants(verifier: JwtVerifier) -> None:
    """SPEC A1: what the issuer signed is handed on as it was signed."""
    actual = verifier.verify(sign(claims()), now=NOW)

    assert actual == Verified(subject="user-7", claims=GRANTS)


@pytest.mark.parametrize("algorithm", sorted(SIGNATURE_ALGORITHMS))
def test_every_algorithm_that_may_be_allowed_verifies(tmp_path: Path, algorithm: str) -> None:
    """SPEC A1: what configuration offers works, and warns of nothing."""
    key = key_for(algorithm, "first")
    verifier = verifier_of(tmp_path, published(key), algorithms=(algorithm,))

    assert isinstance(verifier.verify(sign(claims(), algorithm=algorithm), now=NOW), Verified)


def test_configuration_offers_the_algorithms_that_the_verifier_knows() -> None:
    """SPEC S3: no setting is accepted at start and refused later."""
    assert set(get_args(Algorithm)) == SIGNATURE_ALGORITHMS


@pytest.mark.parametrize("name", ["none", "None", "NONE"])
def test_a_token_without_a_signature_is_refused(verifier: JwtVerifier, name: str) -> None:
    """SPEC A1, attack: the header says that nothing was signed."""
    token = f"{encoded({'alg': name})}.{encoded(claims())}."

    assert verifier.verify(token, now=NOW) == Unverified(because="its signature algorithm is not allowed")


def test_a_public_key_is_never_a_shared_secret(tmp_path: Path) -> None:
    """SPEC A1, attack: HS256 with the issuer's public key, which everybody has, as its secret."""
    key = key_for("RS256", "first")
    verifier = verifier_of(tmp_path, published(key))
    start = f"{encoded({'alg': 'HS256', 'kid': 'first'})}.{encoded(claims())}"
    secret = key.as_pem(private=False) if isinstance(key, jwk.RSAKey) else b""
    forged = f"{start}.{encoded(hmac.digest(secret, start.encode(), hashlib.sha256))}"

    assert verifier.verify(forged, now=NOW) == Unverified(because="its signature algorithm is not allowed")


@pytest.mark.parametrize("algorithms", [(), ("HS256",), ("none",), ("ES256", "HS256"), ("RS256", "dir")])
def test_a_verifier_cannot_be_built_to_allow_shared_secrets(
    tmp_path: Path, algorithms: tuple[str, ...]
) -> None:
    """SPEC A1: closed by default; an empty list admits nothing, so it is refused as a mistake."""
    with pytest.raises(ValueError, match="algorithms must be one or more of"):
        verifier_of(tmp_path, b"", algorithms=algorithms)


def test_an_algorithm_outside_the_list_is_refused(tmp_path: Path) -> None:
    """SPEC A1: a true signature by a published key is not enough."""
    verifier = verifier_of(tmp_path, published(key_for("RS512", "first")), algorithms=("RS256",))

    actual = verifier.verify(sign(claims(), algorithm="RS512"), now=NOW)

    assert actual == Unverified(because="its signature algorithm is not allowed")


@pytest.mark.parametrize("name", ["jwk", "jku", "x5u", "x5c"])
def test_a_key_that_the_token_brings_along_counts_for_nothing(verifier: JwtVerifier, name: str) -> None:
    """SPEC A1, attack: the token names or carries the attacker's own key."""
    own = jwk.ECKey.generate_key("P-256", {"kid": "first"})
    brought = {
        "jwk": own.as_dict(private=False),
        "jku": "https://attacker.example/keys",
        "x5u": "https://attacker.example/chain",
        "x5c": ["MII="],
    }

    forged = sign(claims(), key=own, header={name: brought[name]})

    assert verifier.verify(forged, now=NOW) == WRONG_SIGNATURE


def test_a_changed_payload_breaks_the_signature(verifier: JwtVerifier) -> None:
    """SPEC A1, attack: another tenant is written into a true token."""
    header, _, signature = sign(claims()).split(".")
    forged = f"{header}.{encoded(claims(tenure={'tenant': 'other'}))}.{signature}"

    assert verifier.verify(forged, now=NOW) == WRONG_SIGNATURE


@pytest.mark.parametrize("signature", ["", "AAAA", "*", "A" * 86])
def test_a_made_up_signature_is_refused(verifier: JwtVerifier, signature: str) -> None:
    """SPEC A1, attack: a signature that is empty, short, not base64, or all zeros."""
    start = sign(claims()).rpartition(".")[0]

    assert verifier.verify(f"{start}.{signature}", now=NOW) == WRONG_SIGNATURE


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"iss": "https://other.example"}, "it is from another issuer"),
        ({"iss": ISSUER + "/"}, "it is from another issuer"),
        ({"iss": None}, "it is from another issuer"),
        ({"aud": "another"}, "it is meant for another audience"),
        ({"aud": ["another", AUDIENCE + "2"]}, "it is meant for another audience"),
        ({"aud": {AUDIENCE: 1}}, "it is meant for another audience"),
        ({"aud": None}, "it is meant for another audience"),
        ({"exp": None}, "it has no expiry, or a time that is not a number"),
        ({"exp": "9999999999"}, "it has no expiry, or a time that is not a number"),
        ({"exp": True}, "it has no expiry, or a time that is not a number"),
        ({"nbf": "soon"}, "it has no expiry, or a time that is not a number"),
        ({"iat": []}, "it has no expiry, or a time that is not a number"),
        ({"sub": None}, "it names no subject"),
        ({"sub": ""}, "it names no subject"),
        ({"sub": 7}, "it names no subject"),
        ({"tenure": None}, "the claim that should hold its grants is missing or not an object"),
        ({"tenure": "admin"}, "the claim that should hold its grants is missing or not an object"),
        ({"tenure": [GRANTS]}, "the claim that should hold its grants is missing or not an object"),
    ],
)
def test_a_true_signature_under_wrong_claims_is_refused(
    verifier: JwtVerifier, changes: dict[str, object], because: str
) -> None:
    """SPEC A1, A2: by our issuer, for our audience, ending, about somebody, with grants as an object."""
    assert verifier.verify(sign(claims(**changes)), now=NOW) == Unverified(because=because)


@pytest.mark.parametrize("payload", [b"", b"[]", b"null", b"7", b"\xff", b"{", b"[" * 9_000])
def test_a_signed_payload_that_is_no_object_is_refused(verifier: JwtVerifier, payload: bytes) -> None:
    """SPEC A1: a payload without claims lacks the required ones."""
    assert verifier.verify(sign(payload), now=NOW) == Unverified(because="it is from another issuer")


def test_one_audience_of_several_is_enough(verifier: JwtVerifier) -> None:
    """SPEC A1: a token may be meant for others too."""
    assert isinstance(verifier.verify(sign(claims(aud=["another", AUDIENCE])), now=NOW), Verified)


@pytest.mark.parametrize(
    ("changes", "seconds", "because"),
    [
        ({}, 600 + 29, None),
        ({}, 600 + 30, "it has expired"),
        ({"nbf": int(NOW.timestamp()) + 100}, 70, None),
        ({"nbf": int(NOW.timestamp()) + 100}, 69, "it is not valid yet"),
        ({}, -30, None),
        ({}, -31, "it is not valid yet"),
    ],
)
def test_times_are_kept_to_the_second_with_the_leeway(
    verifier: JwtVerifier, changes: dict[str, object], seconds: int, because: str | None
) -> None:
    """SPEC A1: expiry, beginning and issue at the given moment, with 30 seconds of leeway either way."""
    actual = verifier.verify(sign(claims(**changes)), now=NOW + timedelta(seconds=seconds))

    assert (actual.because if isinstance(actual, Unverified) else None) == because


@pytest.mark.parametrize(
    ("header", "because"),
    [
        ({"crit": ["exp"], "exp": 1}, "its header asks for something that is not supported"),
        ({"b64": False, "crit": ["b64"]}, "its header asks for something that is not supported"),
        ({"typ": "logout+jwt"}, "it is another type of token, not one for access"),
        ({"typ": 7}, "it is not a signed JSON Web Token"),
        ({"kid": 7}, "it is not a signed JSON Web Token"),
        ({"kid": None}, "it is not a signed JSON Web Token"),
        ({"padding": "x" * 600}, "it is not a signed JSON Web Token"),
    ],
)
def test_a_header_that_asks_for_more_is_refused(
    verifier: JwtVerifier, header: dict[str, object], because: str
) -> None:
    """SPEC A1: what we do not understand and must, is refused before any key is tried."""
    assert verifier.verify(sign(claims(), header=header), now=NOW) == Unverified(because=because)


@pytest.mark.parametrize("header", [{"typ": "JWT"}, {"typ": "at+jwt"}, {"vendor": "x"}])
def test_usual_headers_are_accepted(verifier: JwtVerifier, header: dict[str, object]) -> None:
    """SPEC A1: access tokens say what they are, and a vendor's own field is ignored."""
    assert isinstance(verifier.verify(sign(claims(), header=header), now=NOW), Verified)


@pytest.mark.parametrize(
    "token",
    ["", ".", "..", "a.b.c", "a.b.c.d", "a.b.c.d.e", "\ud800.a.b", "é.a.b", "\0.\0.\0", "x" * 20_000],
)
def test_text_that_is_no_token_is_an_answer_and_no_exception(verifier: JwtVerifier, token: str) -> None:
    """SPEC S2: bad input never raises."""
    assert isinstance(verifier.verify(token, now=NOW), Unverified)


@pytest.mark.parametrize(
    "header",
    [
        [],
        "alg",
        ["alg"],
        7,
        None,
        {},
        {"alg": []},
        {"alg": None},
        {"alg": "ES256", "crit": 5},
        b"[" * 380,
        b"\xff",
    ],
)
def test_a_header_of_any_shape_is_an_answer_and_no_exception(verifier: JwtVerifier, header: object) -> None:
    """SPEC S2: bad input never raises."""
    assert isinstance(verifier.verify(f"{encoded(header)}.e30.AAAA", now=NOW), Unverified)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(place=st.integers(0, 2_000), characters=st.text(max_size=2), length=st.integers(0, 3))
def test_no_edit_of_a_token_is_accepted_or_raises(
    verifier: JwtVerifier, place: int, characters: str, length: int
) -> None:
    """SPEC A1, S2: a token holds as it was signed, or not at all."""
    token = sign(claims())
    start = place % len(token)
    edited = token[:start] + characters + token[start + length :]

    expected = Verified if edited == token else Unverified
    assert isinstance(verifier.verify(edited, now=NOW), expected)


def test_a_key_verifies_only_what_it_was_published_for(tmp_path: Path) -> None:
    """SPEC A1, attack: a key for encrypting, or for another algorithm, is no proof here."""
    key = key_for("ES256", "first")
    purposes: list[dict[str, object]] = [
        {"use": "enc"},
        {"key_ops": ["encrypt"]},
        {"alg": "ES384"},
        {"kid": "other"},
    ]

    for purpose in purposes:
        verifier = verifier_of(tmp_path, published(key, **purpose))
        assert verifier.verify(sign(claims()), now=NOW) == NO_FITTING_KEY


def test_a_token_that_names_no_key_is_tried_with_each_that_fits(tmp_path: Path) -> None:
    """SPEC A1: issuers need not name their keys; others cannot sign for them all the same."""
    ours, other = key_for("ES256"), key_for("ES256", "other")
    verifier = verifier_of(tmp_path, published(key_for("RS256", "rsa"), other, ours))
    start = f"{encoded({'alg': 'ES256'})}.{encoded(claims())}"

    def nameless(key: jwk.Key) -> str:
        return f"{start}.{encoded(jws.JWSRegistry.algorithms['ES256'].sign(start.encode(), key))}"

    assert isinstance(verifier.verify(nameless(ours), now=NOW), Verified)
    assert verifier.verify(nameless(key_for("ES256", "stranger")), now=NOW) == WRONG_SIGNATURE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"issuer": ""}, "must be named"),
        ({"audience": ""}, "must be named"),
        ({"claim": ""}, "must be named"),
        ({"jwks_file": None}, "Exactly one of jwks_file and jwks_url"),
        ({"jwks_url": "https://issuer.example/keys"}, "Exactly one of jwks_file and jwks_url"),
    ],
)
def test_half_of_a_configuration_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """SPEC A1: without an issuer, an audience or its keys any token would do."""
    with pytest.raises(ValueError, match=message):
        verifier_of(tmp_path, b"", **changes)
