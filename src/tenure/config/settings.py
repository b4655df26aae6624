"""What can be set: each setting with its default, the values it accepts and one line of help.

Every field of a section is `Annotated[type, Meta(description=…)]`; the list for people is made from that. The
value of a secret stays out of every `repr`.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tenure.config.embedding import Embedding
from tenure.config.kinds import MASK, Name, SafeAddress
from tenure.config.probes import Probes
from tenure.config.scanners import Scanning
from tenure.config.tools import ToolTable, UndeclaredTools
from tenure.config.truth import Truth
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind
from tenure.core.wording import Language

DAY_SECONDS = 86_400
TEN_YEARS_SECONDS = 3_650 * DAY_SECONDS
WATCHED_COUNT_MAX = 10_000

# Signatures only: a shared secret or no signature at all can never be allowed, not even by configuration.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"
]


LogName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._~/-]+$", max_length=200)]
Key = Annotated[bytes, Meta(min_length=32, max_length=32)]
WebAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/@\\]+(/[^\s\\]*)?$", max_length=2_000)]
WebhookSecret = Annotated[bytes, Meta(min_length=24, max_length=64)]


class Server(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the HTTP server listens and how much it takes on."""

    host: Annotated[Name, Meta(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(description="Port to listen on; 0 takes any free one.", ge=0, le=65_535)] = 8080
    request_bytes_max: Annotated[
        int, Meta(description="Largest request body that is read.", ge=1_024, le=67_108_864)
    ] = 1_048_576
    threads: Annotated[
        int, Meta(description="Worker threads, so requests in progress at once.", ge=1, le=1_024)
    ] = 32


class Database(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a node behaves towards the PostgreSQL database that it is a node of."""

    commit_timeout_seconds: Annotated[
        float,
        Meta(
            description="Longest wait for a commit, as when no standby is left to confirm it, or for a lock.",
            ge=0.1,
            le=600,
        ),
    ] = 10.0


class RateLimit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often one credential may call."""

    per_minute: Annotated[
        int, Meta(description="Requests per minute and credential; 0 sets no limit.", ge=0, le=10_000_000)
    ] = 6_000


class Retention(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long each retention scope lasts."""

    task_seconds: Annotated[
        int, Meta(description="Lifetime of a task scope (default one hour).", ge=1, le=TEN_YEARS_SECONDS)
    ] = 3_600
    session_seconds: Annotated[
        int, Meta(description="Lifetime of a session scope (default one day).", ge=1, le=TEN_YEARS_SECONDS)
    ] = DAY_SECONDS
    user_seconds: Annotated[
        int, Meta(description="Lifetime of a user scope (default 90 days).", ge=1, le=TEN_YEARS_SECONDS)
    ] = 90 * DAY_SECONDS
    task_inherits: Annotated[
        bool, Meta(description="Whether a read in a task scope goes on outward where the task has no answer.")
    ] = True
    session_inherits: Annotated[
        bool, Meta(description="Whether a read in a session scope goes on outward, to the user scope.")
    ] = True
    probe_margin_seconds: Annotated[
        int,
        Meta(
            description="How long after a leaf scope's time a forget of it alone is probed.",
            ge=0,
            le=DAY_SECONDS,
        ),
    ] = 60


class Admission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the gate takes in."""

    content_characters_max: Annotated[
        int, Meta(description="Longest content of a memory; anything longer is rejected.", ge=1, le=100_000)
    ] = 2_000
    on_scanner_failure: Annotated[
        Literal["quarantine", "reject", "defer"],
        Meta(
            description="What happens to a memory whose scan failed; it is never admitted. To defer is to "
            "answer 503 and store nothing."
        ),
    ] = "quarantine"


class Recall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a recall returns and when it warns."""

    items_max: Annotated[int, Meta(description="Most memories in one recall.", ge=1, le=1_000)] = 20
    language: Annotated[
        Language,
        Meta(
            description="In which language words are brought to their stems; none: as they are written. "
            "A change makes the search data anew.",
            extra={"accepts": "english, french, german or another (docs/capabilities/text.md), or none"},
        ),
    ] = Language.ENGLISH
    stale_after_seconds: Annotated[
        int, Meta(description="Age past which a memory is marked stale.", ge=0, le=TEN_YEARS_SECONDS)
    ] = 7 * DAY_SECONDS
    stale_below_freshness: Annotated[
        float, Meta(description="Freshness under which a memory is marked stale.", ge=0, le=1)
    ] = 0.35
    source_share_max: Annotated[
        float,
        Meta(
            description="Share of each five places that one source takes where others come close; "
            "1: not bounded.",
            ge=0.2,
            le=1,
        ),
    ] = 0.5


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What it takes to let in what waits."""

    second_reviewer_kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="Kinds of memories that it takes two reviewers to let in.",
            extra={"accepts": "kinds of memories, such as sensitive_change"},
        ),
    ] = ()
    second_reviewer_findings: Annotated[
        tuple[FindingKind, ...],
        Meta(
            description="Kinds of findings that it takes two reviewers to overrule.",
            extra={"accepts": "kinds of findings: credential, attack, sensitive, failure"},
        ),
    ] = ()


class Upkeep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The background rounds, such as writing expiries into the log."""

    interval_seconds: Annotated[
        float, Meta(description="Pause between two rounds.", ge=0.05, le=DAY_SECONDS)
    ] = 60.0
    batch_size: Annotated[
        int, Meta(description="Most memories that one round works on.", ge=1, le=100_000)
    ] = 500


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the log says about reads, and how it can be held against what was signed."""

    reads: Annotated[
        Literal["batched", "durable", "recalls"],
        Meta(
            description="What reads leave in the log: an event each, written just after the answer or before "
            "it; or the receipts of recalls alone, written just after."
        ),
    ] = "batched"
    checkpoint_seconds: Annotated[
        int,
        Meta(
            description="Age of a tenant's last checkpoint past which upkeep signs a log that grew.",
            ge=1,
            le=DAY_SECONDS,
        ),
    ] = 300
    checkpoint_dir: Annotated[
        Name | None,
        Meta(description="Folder outside the store where upkeep puts each checkpoint; one for each store."),
    ] = None
    log_name: Annotated[
        LogName | None,
        Meta(
            description="Name of this installation in its checkpoints; otherwise one made of its public key.",
            extra={"accepts": "up to 200 letters, digits and . _ ~ - /, such as example.com/memory"},
        ),
    ] = None


class Alerts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is watched for in the log, and who is told of it."""

    write_surge_count: Annotated[
        int,
        Meta(
            description="Proposals from outside that one connector may write in the window; 0: not watched.",
            ge=0,
            le=WATCHED_COUNT_MAX,
        ),
    ] = 300
    write_surge_seconds: Annotated[
        int, Meta(description="Window of a write surge.", ge=1, le=DAY_SECONDS)
    ] = 60
    repeated_sensitive_count: Annotated[
        int,
        Meta(
            description="Sensitive proposals of one connector or source that are an alert; 0: not watched.",
            ge=0,
            le=WATCHED_COUNT_MAX,
        ),
    ] = 5
    repeated_sensitive_seconds: Annotated[
        int, Meta(description="Window of repeated sensitive proposals.", ge=1, le=DAY_SECONDS)
    ] = 600
    spread_fingerprint_count: Annotated[
        int,
        Meta(
            description="Subjects that one text is proposed for that are an alert; 0: not watched.",
            ge=0,
            le=WATCHED_COUNT_MAX,
        ),
    ] = 5
    spread_fingerprint_seconds: Annotated[
        int, Meta(description="Window of a text that spreads.", ge=1, le=DAY_SECONDS)
    ] = DAY_SECONDS
    wide_source_count: Annotated[
        int,
        Meta(
            description="Agents that one source from outside reaches that are an alert; 0: not watched.",
            ge=0,
            le=WATCHED_COUNT_MAX,
        ),
    ] = 3
    wide_source_seconds: Annotated[
        int, Meta(description="Window of a source that reaches many.", ge=1, le=DAY_SECONDS)
    ] = DAY_SECONDS
    webhook_url: Annotated[
        WebAddress | None,
        Meta(
            description="Address that each alert is sent to.",
            extra={"accepts": "an http:// or https:// address without user or password"},
        ),
    ] = None
    webhook_secret: Annotated[
        WebhookSecret | None,
        Meta(
            description="Secret that what is sent is signed with; its receiver needs the same.",
            extra={"is_secret": True, "accepts": "standard base64 of 24 to 64 bytes"},
        ),
    ] = None
    webhook_allow: Annotated[
        tuple[Name, ...],
        Meta(
            description="What the webhook may reach inside; anything else must be on the public internet.",
            extra={"accepts": "hosts, addresses and networks, such as alerts.lan or 10.1.0.0/16"},
        ),
    ] = ()

    def __repr__(self) -> str:
        """Say whether there is a secret, never which."""
        return f"Alerts({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Mask the secret for pretty printers as well."""
        shown = msgspec.structs.asdict(self) | {"webhook_secret": MASK if self.webhook_secret else None}
        return list(shown.items())


class Keys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The key-encryption key that wraps every other key; made in the data folder where none is given."""

    kek: Annotated[
        Key | None,
        Meta(
            description="Key-encryption key itself; keep it out of files that are shared.",
            extra={"is_secret": True, "accepts": "standard base64 of exactly 32 bytes"},
        ),
    ] = None
    kek_file: Annotated[Name | None, Meta(description="File that holds the key-encryption key.")] = None
    kms_aws_key_id: Annotated[
        Name | None,
        Meta(
            description="Key in AWS KMS that wraps the keys of tenants instead (extra `kms-aws`).",
            extra={"accepts": "the key's id or ARN, or alias/NAME, which is resolved at the start"},
        ),
    ] = None
    kms_aws_region: Annotated[
        Name | None,
        Meta(description="Region of the KMS key; otherwise its ARN's, or what AWS's own tools use."),
    ] = None
    kms_aws_endpoint_url: Annotated[
        SafeAddress | None,
        Meta(
            description="Address of AWS KMS where it is not the public one, such as a VPC endpoint.",
            extra={"accepts": "an https:// address, or http:// to this machine, without user or password"},
        ),
    ] = None
    database_url: Annotated[
        str | None,
        Meta(
            description="PostgreSQL database for the keyring; otherwise a schema of its own beside the data.",
            extra={"is_secret": True, "accepts": "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"},
        ),
    ] = None

    def __repr__(self) -> str:
        """Say whether a key is set, never which."""
        return f"Keys({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Mask the key for pretty printers as well."""
        return [
            ("kek", MASK if self.kek else None),
            ("kek_file", self.kek_file),
            ("kms_aws_key_id", self.kms_aws_key_id),
        ]


class Jwt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens of an outside issuer; off unless issuer, audience and one key set are given."""

    issuer: Annotated[Name | None, Meta(description="Issuer that a token must name, exactly.")] = None
    audience: Annotated[Name | None, Meta(description="Audience that a token must be meant for.")] = None
    jwks_file: Annotated[Name | None, Meta(description="File with the issuer's public keys (JWKS).")] = None
    jwks_url: Annotated[
        SafeAddress | None,
        Meta(
            description="Address of the issuer's public keys (JWKS).",
            extra={"accepts": "an https:// address, or http:// to this machine, without user or password"},
        ),
    ] = None
    algorithms: Annotated[
        tuple[Algorithm, ...], Meta(description="Signature algorithms that are accepted.", min_length=1)
    ] = ("RS256", "ES256", "EdDSA")
    claim: Annotated[Name, Meta(description="Claim of the token that holds the grants, as an object.")] = (
        "tenure"
    )
    leeway_seconds: Annotated[
        int, Meta(description="Tolerated difference between the issuer's clock and ours.", ge=0, le=300)
    ] = 30

    @property
    def is_on(self) -> bool:
        """Whether tokens of an outside issuer are accepted at all."""
        named = self.issuer is not None and self.audience is not None
        return named and (self.jwks_file is not None or self.jwks_url is not None)


class Log(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the process says about itself; never any content of a memory."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Least severe entry that is written.")
    ] = "info"
    format: Annotated[
        Literal["json", "text"], Meta(description="Shape of an entry: for machines, or for people.")
    ] = "json"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set, valid as a whole."""

    data_dir: Annotated[
        Name, Meta(description="Folder of the embedded store; created where it is missing.")
    ] = "./tenure-data"
    database_url: Annotated[
        str | None,
        Meta(
            description="PostgreSQL database of a store with many nodes; without it the store is embedded.",
            extra={"is_secret": True, "accepts": "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"},
        ),
    ] = None
    policy_file: Annotated[
        Name | None,
        Meta(
            description="File with the policy that decides what is let in; otherwise the one that ships.",
            extra={"accepts": "a policy document, see docs/capabilities/policy.md"},
        ),
    ] = None
    database: Database = Database()
    server: Server = Server()
    rate_limit: RateLimit = RateLimit()
    retention: Retention = Retention()
    admission: Admission = Admission()
    scanning: Scanning = Scanning()
    recall: Recall = Recall()
    embedding: Embedding = Embedding()
    review: Review = Review()
    upkeep: Upkeep = Upkeep()
    truth: Truth = Truth()
    probes: Probes = Probes()
    evidence: Evidence = Evidence()
    alerts: Alerts = Alerts()
    tools: Annotated[
        ToolTable,
        Meta(
            description="Sensitive parameters of tools, and what alone may say their values.",
            extra={
                "accepts": 'a table for each, [tools.TOOL.parameters."PARAMETER"], with a resolver; '
                "in the environment all of them as JSON"
            },
        ),
    ] = {}
    tools_undeclared: Annotated[
        UndeclaredTools, Meta(description="What the guard says of a call of a tool that is not declared.")
    ] = "allow"
    keys: Keys = Keys()
    jwt: Jwt = Jwt()
    log: Log = Log()

    def __repr__(self) -> str:
        """Everything that is set, but for the password of the database."""
        shown = msgspec.structs.asdict(self) | {"database_url": MASK if self.database_url else None}
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Mask the database for pretty printers as well."""
        shown = msgspec.structs.asdict(self) | {"database_url": MASK if self.database_url else None}
        return list(shown.items())
