"""The call that tries a policy out over what is stored (SPEC I4)."""

from typing import Any, Final

from tenure.core.errors import TooLarge
from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.usecases.policy_replay import REPLAY_POLICY, PolicyReplay, ReplayPolicy


class PolicyBody(ReplayPolicy, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The policy to try out: a document in TOML."""


def _replay(visit: Visit[PolicyBody]) -> Ask[Any, Any, Any]:
    return Ask(REPLAY_POLICY, visit.given, plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/policy/replay",
        name="replay_policy",
        summary="What another policy would say of what is stored; nothing is changed.",
        work=_replay,
        takes=PolicyBody,
        answers={200: PolicyReplay},
        problems=(TooLarge,),
    ),
)
