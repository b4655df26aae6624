"""What can be looked at, and what a reader is told of it (SPEC T6); every recall loads it, so it is small."""

from datetime import datetime
from enum import StrEnum

import msgspec


class TargetKind(StrEnum):
    """What can be looked at."""

    URL = "url"
    ENDPOINT = "endpoint"
    DNS_NAME = "dns_name"
    PATH = "path"
    FLAG = "flag"


class ProbeOutcome(StrEnum):
    """What a look says about the memory."""

    HOLDS = "holds"
    FAILS = "fails"
    UNKNOWN = "unknown"


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader is told about an item whose targets were looked at."""

    outcome: ProbeOutcome
    probed_at: datetime
    note: str
