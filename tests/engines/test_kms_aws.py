"""Wrapping by AWS KMS: what is kept, what is sent, what is said; the service is played by moto, in memory.

How the service deletes keys is its own affair and is played differently; what is tested is what Tenure does
with what it answers.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from moto import mock_aws

from tenure.core.errors import Unavailable
from tenure.engines.kms_aws import AwsKmsWrapping
from tenure.stores.wrapping import WrongRootKey, unwrap, wrap

REGION = "eu-west-1"
KEY = bytes(range(32))
PLACE = {"tenant": "acme", "name": "wrap", "epoch": "1"}


@pytest.fixture(scope="module", autouse=True)
def service() -> Iterator[Any]:
    """A client of the service, which lives in this process; nothing leaves it."""
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        for name in ("AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
            environment.delenv(name, raising=False)
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        yield boto3.client("kms", region_name=REGION)


@pytest.fixture
def arn(service: Any) -> str:
    """A key of the service."""
    return str(service.create_key()["KeyMetadata"]["Arn"])


def refused(action: Callable[[], object]) -> Unavailable:
    """What an action is refused with."""
    with pytest.raises(Unavailable) as caught:
        action()
    return caught.value


def answering(wrapping: AwsKmsWrapping, monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    """Let the service fail from now on."""

    def fail(**_arguments: object) -> None:
        raise fault

    monkeypatch.setattr(wrapping._client, "encrypt", fail)  # noqa: SLF001 -- the service cannot be made to fail
    monkeypatch.setattr(wrapping._client, "decrypt", fail)  # noqa: SLF001


def test_a_key_opens_at_its_place_and_at_no_other(arn: str) -> None:
    """SPEC F7: tenant, name and epoch are the encryption context, which the service itself checks."""
    wrapping = AwsKmsWrapping(arn)
    kept = wrap(wrapping, KEY, PLACE)

    assert KEY not in kept
    assert unwrap(wrapping, kept, PLACE) == KEY
    for side in PLACE:
        assert wrapping.unwrap(wrapping.wrap(KEY, PLACE), PLACE | {side: "2"}) is None


def test_the_context_is_what_the_service_sees(service: Any, arn: str) -> None:
    """SPEC F7: an auditor of the service reads there whose key was asked for."""
    wrapped = AwsKmsWrapping(arn).wrap(KEY, PLACE)

    assert service.decrypt(CiphertextBlob=wrapped, EncryptionContext=PLACE)["Plaintext"] == KEY


def test_the_installations_own_keys_have_no_tenant(service: Any, arn: str) -> None:
    """SPEC F7: what is empty is left out of the context."""
    wrapping = AwsKmsWrapping(arn)
    own = {"tenant": "", "name": "sign", "epoch": "1"}
    wrapped = wrapping.wrap(KEY, own)

    assert wrapping.unwrap(wrapped, own) == KEY
    sent = {"name": "sign", "epoch": "1"}
    assert service.decrypt(CiphertextBlob=wrapped, EncryptionContext=sent)["Plaintext"] == KEY


def test_an_alias_is_resolved_at_the_start_and_never_kept(service: Any, arn: str) -> None:
    """SPEC F7, attack: an alias that is moved must not make all keys unreadable, or new ones another's."""
    service.create_alias(AliasName="alias/tenure", TargetKeyId=arn)
    wrapping = AwsKmsWrapping("alias/tenure", region=REGION)
    kept = wrap(wrapping, KEY, PLACE)
    other = service.create_key()["KeyMetadata"]["Arn"]
    service.update_alias(AliasName="alias/tenure", TargetKeyId=other)

    assert wrapping.id == arn
    assert arn.encode() in kept
    assert b"alias" not in kept
    assert unwrap(wrapping, kept, PLACE) == KEY
    with pytest.raises(WrongRootKey, match=f"wrapped by {arn}, not by {other}"):
        unwrap(AwsKmsWrapping("alias/tenure", region=REGION), kept, PLACE)


def test_an_answer_that_names_no_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC F7: whatever the service says, an alias is not kept."""
    about = {"Arn": f"arn:aws:kms:{REGION}:1:alias/tenure", "KeyState": "Enabled"}
    monkeypatch.setattr("tenure.engines.kms_aws._quietly", lambda _call, **_arguments: {"KeyMetadata": about})

    assert "an alias can be moved" in str(refused(lambda: AwsKmsWrapping("alias/tenure", region=REGION)).hint)


def test_the_region_comes_from_the_arn(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: without an ARN it must be said, by the settings or by the environment of AWS."""
    key_id = arn.rpartition("/")[2]

    assert AwsKmsWrapping(arn).id == arn
    assert "TENURE_KEYS__KMS_AWS_REGION" in str(refused(lambda: AwsKmsWrapping(key_id)).hint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    assert AwsKmsWrapping(key_id).id == arn


def test_what_was_altered_does_not_open(arn: str) -> None:
    """SPEC E5: refused, never misread; not a fault of the service."""
    wrapping = AwsKmsWrapping(arn)
    wrapped = wrapping.wrap(KEY, PLACE)

    assert wrapping.unwrap(wrapped[:-1] + bytes([wrapped[-1] ^ 1]), PLACE) is None
    assert wrapping.unwrap(b"no such thing", PLACE) is None


def test_what_another_key_wrapped_does_not_open(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E5: the service is told by which key to open, and says so when it was another."""
    wrapping = AwsKmsWrapping(arn)
    told = {"Error": {"Code": "IncorrectKeyException", "Message": "not this key"}}
    answering(wrapping, monkeypatch, ClientError(told, "Decrypt"))

    assert wrapping.unwrap(b"wrapped", PLACE) is None


def test_a_key_that_is_disabled_or_not_for_this_is_refused_at_the_start(service: Any, arn: str) -> None:
    """SPEC S3: at the start, not at the first memory."""
    service.disable_key(KeyId=arn.rpartition("/")[2])
    signing = service.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["Arn"]

    assert "disabled" in refused(lambda: AwsKmsWrapping(arn)).message
    assert "not one to encrypt" in refused(lambda: AwsKmsWrapping(signing)).message


@pytest.mark.parametrize("name", ["alias/none", "0f1e2d3c-0000-0000-0000-000000000000"])
def test_a_key_that_is_not_there_is_refused_at_the_start(name: str) -> None:
    """SPEC S3: the hint names the settings."""
    refusal = refused(lambda: AwsKmsWrapping(name, region=REGION))

    assert refusal.message == "AWS KMS has no such key in this region"
    assert "TENURE_KEYS__KMS_AWS_KEY_ID" in str(refusal.hint)


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("AccessDeniedException", "denies", "kms:Decrypt"),
        ("DisabledException", "is disabled", "Enable"),
        ("KMSInvalidStateException", "waits for its deletion", "Cancel its deletion"),
        ("ExpiredTokenException", "credentials", "role"),
        ("ThrottlingException", "cannot serve now (ThrottlingException)", "Try again"),
        ("", "cannot serve now (no reason given)", "Try again"),
    ],
)
def test_what_the_service_refuses_is_said_with_what_to_do(
    arn: str, monkeypatch: pytest.MonkeyPatch, code: str, message: str, hint: str
) -> None:
    """SPEC S2: by its reason; the service's own text, which names accounts and roles, is not passed on."""
    wrapping = AwsKmsWrapping(arn)
    told = {"Error": {"Code": code, "Message": "User: arn:aws:iam::1:user/ann is not authorized"}}
    answering(wrapping, monkeypatch, ClientError(told, "Encrypt"))

    for action in (lambda: wrapping.wrap(KEY, PLACE), lambda: wrapping.unwrap(b"x", PLACE)):
        refusal = refused(action)
        assert message in refusal.message
        assert hint in str(refusal.hint)
        assert "ann" not in f"{refusal.message} {refusal.hint}".replace("cannot", "")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (EndpointConnectionError(endpoint_url="https://kms.example"), "cannot be reached"),
        (NoCredentialsError(), "credentials"),
    ],
)
def test_a_service_out_of_reach_is_unavailable(
    arn: str, monkeypatch: pytest.MonkeyPatch, fault: Exception, message: str
) -> None:
    """SPEC S2: 503, with what to look at; nothing is half-done."""
    wrapping = AwsKmsWrapping(arn)
    answering(wrapping, monkeypatch, fault)

    assert message in refused(lambda: wrapping.wrap(KEY, PLACE)).message


def test_the_wait_for_the_service_is_bounded(arn: str) -> None:
    """SPEC E5: a service that hangs makes nobody hang."""
    config = AwsKmsWrapping(arn)._client.meta.config  # noqa: SLF001 -- the only place where it shows

    assert (config.connect_timeout, config.read_timeout) == (2, 4)
    assert config.retries["total_max_attempts"] == 3


def test_no_key_is_in_any_log(arn: str, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC E6, attack: at the level debug the service's library logs what it sends and receives."""
    wrapping = AwsKmsWrapping(arn)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="botocore")
    caplog.clear()

    assert wrapping.unwrap(wrapping.wrap(KEY, PLACE), PLACE) == KEY

    assert [record for record in caplog.records if record.name.startswith("botocore")] == []
