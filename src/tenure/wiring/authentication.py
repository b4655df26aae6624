"""Who a bearer token stands for."""

from collections.abc import Callable

import msgspec

from tenure.core.errors import Unauthenticated, Unavailable
from tenure.core.identity import Caller
from tenure.usecases import access
from tenure.wiring.node import Node

Authenticator = Callable[[str | None], Caller]


def authenticator(node: Node) -> Authenticator:
    """From a bearer token to its caller: Tenure's own keys, and JWTs of the configured issuer (SPEC A1)."""
    if not node.settings.jwt.is_on:
        return lambda token: access.authenticate(node.pipeline, token)
    # Loaded when needed: its libraries cost a fifth of a second at every start.
    from tenure.engines.jwt_tokens import (  # noqa: PLC0415
        JwtSettings,
        JwtVerifier,
        KeysUnavailable,
        Verified,
    )

    chosen = msgspec.structs.asdict(node.settings.jwt)
    verifier = JwtVerifier(JwtSettings(**chosen))

    def authenticate(token: str | None) -> Caller:
        if token is None or not access.looks_like_jwt(token):
            return access.authenticate(node.pipeline, token)
        try:
            verdict = verifier.verify(token, now=node.pipeline.clock.now())
        except KeysUnavailable as fault:
            raise Unavailable(
                "the issuer's keys cannot be read now", hint="Try again in a moment."
            ) from fault
        if not isinstance(verdict, Verified):
            raise Unauthenticated(f"this token does not hold: {verdict.because}", hint="Get a new token.")
        return access.caller_from_claims(verdict.subject, verdict.claims)

    return authenticate
