"""Tokens of Microsoft Entra ID for Azure AI services, kept as long as they hold (extra ``azure``)."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

SCOPE: Final = "https://cognitiveservices.azure.com/.default"
RENEWED_BEFORE_END: Final = timedelta(minutes=5)


class Token(Protocol):
    """A token, as azure-identity gives it."""

    @property
    def token(self) -> str:
        """The token itself."""

    @property
    def expires_on(self) -> int:
        """When it ends, in seconds since 1970."""


class Credential(Protocol):
    """What gives tokens, as azure-identity has it."""

    def get_token(self, *scopes: str) -> Token:
        """A fresh token, or one that it kept itself."""

    def close(self) -> None:
        """Let go of what it holds."""


class EntraTokens:
    """The header that a token makes; a new token is asked for shortly before the old one ends."""

    def __init__(self, credential: Credential, now: Callable[[], datetime]) -> None:
        self._credential = credential
        self._now = now
        self._lock = threading.Lock()
        self._kept: tuple[str, datetime] | None = None

    def headers(self) -> dict[str, str]:
        """Who asks; raises what the credential raises."""
        with self._lock:
            if self._kept is None or self._now() >= self._kept[1] - RENEWED_BEFORE_END:
                token = self._credential.get_token(SCOPE)
                self._kept = token.token, datetime.fromtimestamp(token.expires_on, tz=UTC)
            return {"Authorization": f"Bearer {self._kept[0]}"}

    def refused(self) -> None:
        """The service did not take it: the next question comes with another."""
        with self._lock:
            self._kept = None

    def close(self) -> None:
        """Let go of the credential."""
        self._credential.close()


def default_credential() -> Credential:
    """Whatever Azure's own tools would use here: a managed identity, the environment, a login."""
    # Loaded when needed: an extra, and large.
    from azure.identity import DefaultAzureCredential  # noqa: PLC0415

    credential: Credential = DefaultAzureCredential()
    return credential
