"""The settings of scanners: how long they may take, which others are asked, which packages bring some."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from tenure.config.kinds import MASK, Name, SafeAddress

_ADDRESS: Final = "an https:// address, or http:// to this machine, without user or password"
_SECRETS: Final = ("prompt_shields_key", "http_classifier_token")


class Scanning(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which scanners look at what is written, and for how long."""

    local_seconds_max: Annotated[
        float,
        Meta(
            description="Longest work of one local scanner on one text; longer is a failure.", ge=0.01, le=60
        ),
    ] = 1.0
    seconds_max: Annotated[
        float,
        Meta(description="Longest wait for a remote scanner, its retries included.", ge=0.05, le=60),
    ] = 3.0
    together_max: Annotated[
        int, Meta(description="Questions to remote scanners that may be out at once.", ge=1, le=256)
    ] = 16
    prompt_shields_endpoint: Annotated[
        SafeAddress | None,
        Meta(
            description="Azure AI Content Safety resource whose Prompt Shields are asked about writes.",
            extra={"accepts": _ADDRESS},
        ),
    ] = None
    prompt_shields_key: Annotated[
        Name | None,
        Meta(
            description="Key of that resource; without one, Entra ID says who asks (extra `azure`).",
            extra={"is_secret": True},
        ),
    ] = None
    http_classifier_url: Annotated[
        SafeAddress | None,
        Meta(
            description="Classifier of your own that is asked about writes.",
            extra={"accepts": _ADDRESS},
        ),
    ] = None
    http_classifier_token: Annotated[
        Name | None,
        Meta(description="Bearer token that the classifier is sent.", extra={"is_secret": True}),
    ] = None
    http_classifier_kind: Annotated[
        Literal["attack", "sensitive"], Meta(description="What its findings are: rejected, or held back.")
    ] = "attack"
    http_classifier_threshold: Annotated[
        float, Meta(description="Score from which on a verdict is a finding.", ge=0, le=1)
    ] = 0.5
    http_classifier_harmless_labels: Annotated[
        tuple[Name, ...],
        Meta(
            description="Labels that are no finding; every other one is.",
            extra={"accepts": "one or more labels, parted by commas"},
            min_length=1,
        ),
    ] = ("harmless",)
    http_classifier_version: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,40}$")],
        Meta(
            description="Version of the classifier; raise it when its verdicts change.",
            extra={"accepts": "up to 40 letters, digits and . _ -"},
        ),
    ] = "1"
    classifier: Annotated[
        bool, Meta(description="Whether the classifier of the package may hold what it suspects for review.")
    ] = True
    plugins: Annotated[
        tuple[Name, ...],
        Meta(
            description="Scanners and rules of installed packages that are used.",
            extra={"accepts": "names of entry points under tenure.scanners and tenure.rules"},
        ),
    ] = ()

    def __repr__(self) -> str:
        """Say whether there are secrets, never which."""
        return f"Scanning({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Mask the secrets for pretty printers as well."""
        shown = msgspec.structs.asdict(self)
        return [(name, MASK if name in _SECRETS and value else value) for name, value in shown.items()]
