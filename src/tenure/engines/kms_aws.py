"""Wrapping by a key in AWS KMS, which never leaves there (the extra ``kms-aws``).

Laws: a key is kept under the ARN of the KMS key that wrapped it, never under an alias, which can be moved to
another key; the encryption context binds it to its tenant, name and epoch; what is wrapped is in no log.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)

from tenure.core.errors import Unavailable

CONNECT_TIMEOUT_SECONDS: Final = 2
READ_TIMEOUT_SECONDS: Final = 4
TRIES_MAX: Final = 3
_NOT_OURS: Final = frozenset({"IncorrectKeyException", "InvalidCiphertextException"})
_CREDENTIALS: Final = frozenset(
    {
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_SILENT: Final = logging.WARNING
_KEEP_IT: Final = "Without this key nothing in the store can be opened."
_RIGHTS: Final = "Allow this identity kms:DescribeKey, kms:Encrypt and kms:Decrypt on the key."
_ADVICE: Final[dict[str, tuple[str, str]]] = {
    "AccessDeniedException": ("AWS KMS denies the use of the key", _RIGHTS),
    "DisabledException": ("the KMS key is disabled", f"Enable it again. {_KEEP_IT}"),
    "KMSInvalidStateException": (
        "the KMS key cannot be used: it is disabled, or waits for its deletion",
        f"Cancel its deletion while there is time, and enable it. {_KEEP_IT}",
    ),
    "InvalidKeyUsageException": (
        "the KMS key is not one to encrypt and decrypt with",
        "Name a symmetric key for encryption with TENURE_KEYS__KMS_AWS_KEY_ID.",
    ),
    "InvalidArnException": (
        "this is not the name of a KMS key",
        "Give its id or ARN, or an alias as alias/NAME, with TENURE_KEYS__KMS_AWS_KEY_ID.",
    ),
    "NotFoundException": (
        "AWS KMS has no such key in this region",
        "Check TENURE_KEYS__KMS_AWS_KEY_ID and TENURE_KEYS__KMS_AWS_REGION.",
    ),
}


class AwsKmsWrapping:
    """The port for wrapping, over AWS KMS. ``id`` is the ARN of the key, whatever name was given for it."""

    def __init__(self, key_id: str, *, region: str | None = None, endpoint_url: str | None = None) -> None:
        with _explained():
            self._client: Any = Session().client(
                "kms",
                region_name=region or _region_in(key_id),
                endpoint_url=endpoint_url,
                config=Config(
                    connect_timeout=CONNECT_TIMEOUT_SECONDS,
                    read_timeout=READ_TIMEOUT_SECONDS,
                    retries={"mode": "standard", "total_max_attempts": TRIES_MAX},
                ),
            )
            about = _quietly(self._client.describe_key, KeyId=key_id)["KeyMetadata"]
        self.id: str = _usable(about)

    def wrap(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The key, wrapped."""
        with _explained():
            answer = _quietly(
                self._client.encrypt, KeyId=self.id, Plaintext=plaintext, EncryptionContext=_given(context)
            )
        return bytes(answer["CiphertextBlob"])

    def unwrap(self, wrapped: bytes, context: Mapping[str, str]) -> bytes | None:
        """The key, or None where this did not wrap it for this context."""
        try:
            with _explained():
                answer = _quietly(
                    self._client.decrypt,
                    KeyId=self.id,
                    CiphertextBlob=wrapped,
                    EncryptionContext=_given(context),
                )
        except _NotWrappedByThis:
            return None
        return bytes(answer["Plaintext"])


class _NotWrappedByThis(Exception):
    """Another key wrapped it, or this one for another context, or it was altered."""


def _usable(about: Mapping[str, Any]) -> str:
    """The ARN of a key that can wrap; raises Unavailable for any other."""
    arn = str(about["Arn"])
    if ":key/" not in arn:
        raise Unavailable(
            "AWS KMS did not say which key the name given stands for",
            hint="Give the key's own id or ARN with TENURE_KEYS__KMS_AWS_KEY_ID: an alias can be moved.",
        )
    if about.get("KeyUsage", "ENCRYPT_DECRYPT") != "ENCRYPT_DECRYPT":
        raise _unavailable("InvalidKeyUsageException")
    if about.get("KeyState", "Enabled") != "Enabled":
        raise _unavailable("KMSInvalidStateException")
    return arn


def _region_in(key_id: str) -> str | None:
    """The region that an ARN names; else what the environment of AWS says."""
    parts = key_id.split(":")
    return parts[3] if parts[0] == "arn" and len(parts) > len(("arn", "aws", "kms", "region")) else None


def _given(context: Mapping[str, str]) -> dict[str, str]:
    """The context without what is empty: the installation's own keys have no tenant."""
    return {name: value for name, value in context.items() if value}


def _quietly(call: Callable[..., Any], **arguments: Any) -> Any:
    """Call the service. Its library logs whole requests at the level debug, and those hold keys."""
    library = logging.getLogger("botocore")
    if not library.level or library.level < _SILENT:
        library.setLevel(_SILENT)
    return call(**arguments)


@contextmanager
def _explained() -> Iterator[None]:
    """Say what is wrong in words that help; the service's own text is not passed on."""
    try:
        yield
    except ClientError as fault:
        code = str(fault.response.get("Error", {}).get("Code", ""))
        if code in _NOT_OURS:
            raise _NotWrappedByThis from fault
        raise _unavailable(code) from fault
    except NoRegionError as fault:
        raise Unavailable(
            "no region is known for the KMS key", hint="Name it with TENURE_KEYS__KMS_AWS_REGION."
        ) from fault
    except (NoCredentialsError, PartialCredentialsError) as fault:
        raise _unavailable("UnrecognizedClientException") from fault
    except BotoCoreError as fault:
        raise Unavailable(
            f"AWS KMS cannot be reached ({type(fault).__name__})",
            hint="Check the network and TENURE_KEYS__KMS_AWS_ENDPOINT_URL, then try again.",
            retry_after_seconds=1,
        ) from fault


def _unavailable(code: str) -> Unavailable:
    if code in _CREDENTIALS:
        return Unavailable(
            "AWS does not accept the credentials, or there are none",
            hint=f"Give them as AWS's own tools take them (environment, profile, role). {_RIGHTS}",
        )
    if code in _ADVICE:
        message, hint = _ADVICE[code]
        return Unavailable(message, hint=hint)
    return Unavailable(
        f"AWS KMS cannot serve now ({code or 'no reason given'})", hint="Try again.", retry_after_seconds=1
    )
