"""What deciding on a write takes: what an operator set, and what was read before (SPEC L1, L3). Pure."""

import msgspec

from tenure.core.admission import Policy, Proposal, Ruling, rule_on
from tenure.core.comparing import Compared
from tenure.core.custom_rules import CustomRule, tightened
from tenure.core.memory import Memory
from tenure.core.retention import Ladder
from tenure.core.rows import FloorRow
from tenure.core.scanning import Finding
from tenure.core.statements import Statement
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Outcome


class WriteRules(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator set for writing."""

    policy: Policy
    ladder: Ladder
    truth: TruthRules = TruthRules()
    custom: tuple[CustomRule, ...] = ()
    """Rules in code, asked after the policy."""
    on_failure: Outcome = Outcome.QUARANTINE
    defers_failures: bool = False
    """Whether what could not be judged is refused for now, with nothing stored."""

    def judge(self, proposal: Proposal) -> Ruling:
        """The policy's word, made stricter by the custom rules."""
        ruling = rule_on(self.policy, proposal)
        return tightened(ruling, proposal, self.policy, self.custom, on_failure=self.on_failure)


class WriteFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read before deciding: all that the decision may know of the world."""

    findings: tuple[Finding, ...]
    fingerprint: bytes
    key_digest: bytes | None = None
    present: Memory | None = None
    corrected: Memory | None = None
    parents: tuple[Memory, ...] = ()
    floors: tuple[FloorRow, ...] = ()
    revoked: tuple[FloorRow, ...] = ()
    forgot_seq: int = 0
    said: Statement | None = None
    """The memory as it would be compared, with no trust yet; None where nothing is compared."""
    compared: tuple[Compared, ...] = ()
    things: tuple[bytes, ...] = ()
