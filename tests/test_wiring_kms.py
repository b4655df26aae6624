"""A store whose keys are wrapped by AWS KMS, which moto plays in memory (SPEC F7)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import boto3
import pytest
from moto import mock_aws
from tests.clock import MovableClock
from tests.usecases.asking import BOT, proposal

from tenure.config import Keys, Settings
from tenure.core.errors import Unavailable
from tenure.core.retrieval import Recall
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.wiring import open_store, rotate_root_key

REGION = "eu-west-1"
CLOCK = MovableClock()


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


def settings(folder: Path, arn: str | None = None) -> Settings:
    """A store in a folder, with its keys wrapped by this key or by a root key beside them."""
    return Settings(data_dir=str(folder), keys=Keys(kms_aws_key_id=arn))


def remember(given: Settings) -> None:
    """Write one memory."""
    with open_store(given.data_dir, settings=given, clock=CLOCK) as node:
        node.pipeline.run(REMEMBER, BOT, proposal())


def recalled(given: Settings) -> int:
    """How many memories a question brings."""
    command = Recall(agent="support", purpose="answering", query="e-mail or phone", subject="customer-7")
    with open_store(given.data_dir, settings=given, clock=CLOCK) as node:
        return len(node.pipeline.run(RECALL, BOT, command).items)


def kept(folder: Path) -> tuple[list[bytes], list[bytes]]:
    """The keys of tenants and the keys of subjects as they are kept."""
    connection = apsw.Connection(str(folder / "keyring.db"))
    try:
        tenant_keys: list[Any] = connection.execute("SELECT wrapped FROM tenant_key").fetchall()
        subject_keys: list[Any] = connection.execute("SELECT wrapped FROM subject_key").fetchall()
    finally:
        connection.close()
    return [row[0] for row in tenant_keys], [row[0] for row in subject_keys]


def test_a_new_store_has_no_root_key_and_only_tenants_keys_at_the_service(tmp_path: Path, arn: str) -> None:
    """SPEC F7: one key of the service for all, so that no erasure waits for the service."""
    remember(settings(tmp_path / "store", arn))

    tenant_keys, subject_keys = kept(tmp_path / "store")
    assert recalled(settings(tmp_path / "store", arn)) == 1
    assert not (tmp_path / "store" / "root.key").exists()
    assert all(arn.encode() in key for key in tenant_keys)
    assert subject_keys
    assert not any(arn.encode() in key for key in subject_keys)


def test_a_store_moves_to_the_service_and_back(tmp_path: Path, arn: str) -> None:
    """SPEC F7: no content is touched; whoever opens it by the old way is told the new one."""
    local, by_service = settings(tmp_path / "store"), settings(tmp_path / "store", arn)
    remember(local)
    _, subject_keys = kept(tmp_path / "store")

    rotated = rotate_root_key(local, to_kms=arn)

    assert rotated.wrapped_by == arn
    assert not (tmp_path / "store" / "root.key").exists()
    assert recalled(by_service) == 1
    with pytest.raises(Unavailable, match=f"wrapped by {arn}, and the settings name no key service"):
        recalled(local)

    rotate_root_key(by_service, to_file=True)

    assert recalled(local) == 1
    assert kept(tmp_path / "store")[1] == subject_keys
    with pytest.raises(Unavailable, match=f"wrapped by a root key of its own, not by {arn}"):
        recalled(by_service)


def test_keys_are_wrapped_anew_by_the_same_service(tmp_path: Path, arn: str) -> None:
    """SPEC F7: after the service has rotated its own key, so that nothing depends on the older one."""
    by_service = settings(tmp_path / "store", arn)
    remember(by_service)
    before, _ = kept(tmp_path / "store")

    rotated = rotate_root_key(by_service)

    after, _ = kept(tmp_path / "store")
    assert rotated == (len(before), arn)
    assert not set(before) & set(after)
    assert recalled(by_service) == 1


def test_a_move_to_another_key_of_the_service(service: Any, tmp_path: Path, arn: str) -> None:
    """SPEC F7: by its alias too; what is kept is the key's own ARN."""
    other = str(service.create_key()["KeyMetadata"]["Arn"])
    service.create_alias(AliasName="alias/other", TargetKeyId=other)
    given = Settings(data_dir=str(tmp_path / "store"), keys=Keys(kms_aws_key_id=arn, kms_aws_region=REGION))
    remember(given)

    assert rotate_root_key(given, to_kms="alias/other").wrapped_by == other
    assert recalled(settings(tmp_path / "store", other)) == 1
    assert not any(b"alias" in key for key in kept(tmp_path / "store")[0])
