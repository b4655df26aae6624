"""An outside issuer for the tests: keys, tokens signed with them, and the key set on a file or over HTTP."""

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from joserfc import jwk, jws

from tenure.engines.jwt_tokens import JwtSettings, JwtVerifier, Unverified

NOW = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
ISSUER = "https://issuer.example"
AUDIENCE = "tenure-tests"
GRANTS: dict[str, object] = {"tenant": "acme", "roles": ["reader"]}
NO_FITTING_KEY = Unverified(because="the issuer publishes no key that fits it")
WRONG_SIGNATURE = Unverified(because="its signature does not match")


@cache
def key_for(algorithm: str, kid: str | None = None) -> jwk.Key:
    """A private key that can sign with the algorithm, made once."""
    parameters: jwk.KeyParameters = {"kid": kid} if kid else {}
    if algorithm.startswith("ES"):
        curves = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
        return jwk.ECKey.generate_key(curves[algorithm], parameters)
    if algorithm.startswith("Ed"):
        return jwk.OKPKey.generate_key("Ed25519", parameters)
    return jwk.RSAKey.generate_key(2_048, parameters)


def published(*keys: jwk.Key, **extra: object) -> bytes:
    """The public halves as an issuer publishes them."""
    return json.dumps({"keys": [{**key.as_dict(private=False), **extra} for key in keys]}).encode()


def encoded(part: object) -> str:
    """One part of a token."""
    content = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def claims(**changes: object) -> dict[str, object]:
    """Claims that are accepted, but for the changes; `None` leaves a claim out."""
    issued = int(NOW.timestamp())
    good = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "user-7",
        "iat": issued,
        "exp": issued + 600,
        "tenure": GRANTS,
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


def sign(
    payload: object,
    *,
    algorithm: str = "ES256",
    key: jwk.Key | None = None,
    header: Mapping[str, object] | None = None,
) -> str:
    """A token signed without any library's opinion of what may be signed."""
    signer = key or key_for(algorithm, "first")
    start = f"{encoded({'alg': algorithm, 'kid': signer.kid, **(header or {})})}.{encoded(payload)}"
    signature = jws.JWSRegistry.algorithms[algorithm].sign(start.encode(), signer)
    return f"{start}.{encoded(signature)}"


def verifier_of(folder: Path, key_set: bytes, **changes: object) -> JwtVerifier:
    """A verifier whose issuer publishes this key set in a file."""
    file = folder / "jwks.json"
    file.write_bytes(key_set)
    given_settings = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_file": str(file), **changes}
    return JwtVerifier(JwtSettings(**given_settings))  # type: ignore[arg-type]


class Issuer(ThreadingHTTPServer):
    """An issuer on this machine that counts how often its keys are fetched."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.key_set = published(key_for("ES256", "first"))
        self.status = 200
        self.fetches = 0

    @property
    def address(self) -> str:
        """Where the keys are."""
        return f"http://127.0.0.1:{self.server_port}/keys"


class Answer(BaseHTTPRequestHandler):
    """One answer of the issuer."""

    server: Issuer

    def do_GET(self) -> None:
        """Answer with the key set, or with the status that the test wants."""
        self.server.fetches += 1
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.key_set)))
        self.send_header("Location", self.server.address)
        self.end_headers()
        self.wfile.write(self.server.key_set)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the library names it so)
        """Write nothing."""


@contextmanager
def running() -> Iterator[Issuer]:
    """Run an issuer on this machine."""
    with Issuer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def verifier_at(issuer: Issuer) -> JwtVerifier:
    """A verifier that fetches the issuer's keys over HTTP."""
    return JwtVerifier(JwtSettings(issuer=ISSUER, audience=AUDIENCE, jwks_url=issuer.address))
