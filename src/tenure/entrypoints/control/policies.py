"""Replaying a policy over a store: one item a memory that would change, then what it comes to (SPEC I4)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

import msgspec

from tenure.core.policy_replay import Change
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, Progress, item, result
from tenure.usecases.policy_replay import Over, Replayed, Walked, candidate, replay
from tenure.wiring import Node


class ReplayPolicyArguments(Arguments, frozen=True, kw_only=True):
    """The policy as a document, and the tenant that it is tried on, or all."""

    operation: ClassVar[str] = "policy.replay"

    policy: str
    tenant: str | None = None


class TenantChange(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that would change, and whose it is."""

    tenant: str
    change: Change


class PolicyReplayed(msgspec.Struct, frozen=True, kw_only=True):
    """What the policy would say, tenant by tenant."""

    tenants: tuple[Replayed, ...]


def replay_policy(node: Node, arguments: ReplayPolicyArguments) -> Iterator[Line]:
    """What another policy would say of what is stored; nothing is written."""
    policy = candidate(arguments.policy, node.pipeline.rules)
    found: list[Replayed] = []
    for tenant in tenants(node.pipeline, arguments.tenant):
        steps = replay(Over.of(node.pipeline), tenant, policy)
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                found.append(end.value)
                break
            if isinstance(step, Walked):
                yield Line(progress=Progress(done=step.done, total=step.total))
            else:
                yield item(TenantChange(tenant=tenant, change=step))
    yield result(PolicyReplayed(tenants=tuple(found)))


POLICY_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(ReplayPolicyArguments, replay_policy),
)
