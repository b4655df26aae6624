"""The scanners outside this process that an operator chose (SPEC L3-L5)."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal, Protocol

from tenure.core.errors import Unavailable
from tenure.core.scanning import FindingKind
from tenure.engines.entra import EntraTokens, default_credential
from tenure.engines.http_classifier import HttpClassifier
from tenure.engines.prompt_shields import KeyHeader, PromptShields
from tenure.usecases.scanning_ports import RemoteScanner


class Chosen(Protocol):
    """Which, and how they are reached; as the settings have it."""

    @property
    def prompt_shields_endpoint(self) -> str | None:
        """The resource whose Prompt Shields are asked."""

    @property
    def prompt_shields_key(self) -> str | None:
        """Its key; None for Entra ID."""

    @property
    def http_classifier_url(self) -> str | None:
        """The classifier."""

    @property
    def http_classifier_token(self) -> str | None:
        """The bearer token that it is sent."""

    @property
    def http_classifier_kind(self) -> Literal["attack", "sensitive"]:
        """What its findings are."""

    @property
    def http_classifier_threshold(self) -> float:
        """From which score on a verdict is a finding."""

    @property
    def http_classifier_harmless_labels(self) -> tuple[str, ...]:
        """Labels that are none."""

    @property
    def http_classifier_version(self) -> str:
        """Its version."""


def remote_scanners(chosen: Chosen, now: Callable[[], datetime]) -> tuple[RemoteScanner, ...]:
    """The scanners; nothing is connected to yet. Raises Unavailable where the extra ``azure`` is missing."""
    found: list[RemoteScanner] = []
    if chosen.prompt_shields_endpoint is not None:
        key = chosen.prompt_shields_key
        identity = _entra(now) if key is None else KeyHeader(key)
        found.append(PromptShields(chosen.prompt_shields_endpoint, identity))
    if chosen.http_classifier_url is not None:
        found.append(
            HttpClassifier(
                chosen.http_classifier_url,
                token=chosen.http_classifier_token,
                kind=FindingKind(chosen.http_classifier_kind),
                threshold=chosen.http_classifier_threshold,
                harmless_labels=chosen.http_classifier_harmless_labels,
                model_version=chosen.http_classifier_version,
            )
        )
    return tuple(found)


def _entra(now: Callable[[], datetime]) -> EntraTokens:
    try:
        return EntraTokens(default_credential(), now)
    except ImportError as fault:
        raise Unavailable(
            "asking Prompt Shields without a key needs a package that is not installed",
            hint="Install it: pip install 'tenure[azure]'; or set scanning.prompt_shields_key.",
        ) from fault
