"""What is counted in this process, in the text that Prometheus reads (SPEC S4).

Open to everybody, so it says how many and how long alone: no tenant, subject, id or content is ever a label
(SPEC E6). What another node stored is counted there.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from importlib.metadata import version
from time import perf_counter
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from tenure.core import access_events, events, truth_events
from tenure.core.errors import VersionConflict
from tenure.core.events import Event
from tenure.core.incident_events import Held, SourceRevocationFinished, SourceRevoked
from tenure.core.read_scanning import FOUND_AT_READ
from tenure.entrypoints.http_api.transport import Headers
from tenure.usecases.outward import Probes
from tenure.usecases.upkeep import Worked

HEADERS: Final[Headers] = (
    (b"content-type", CONTENT_TYPE_LATEST.encode()),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
RECALL: Final = "recall"
OTHER: Final = "other"

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_RECALL_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_RECALL_ITEMS: Final = (0, 1, 2, 5, 10, 20, 50, 100)
_REVOCATION_SECONDS: Final = (0.1, 1, 5, 30, 60, 300, 1_800, 3_600, 21_600, 86_400, 604_800)

_WRITTEN: Final = {
    events.Admitted: "approved",
    events.Revised: "approved",
    events.Quarantined: "quarantined",
    events.Refused: "rejected",
}
_COUNTED: Final[dict[type, str]] = {
    events.Promoted: "promotions",
    events.Expired: "expirations",
    events.Superseded: "supersessions",
    events.SubjectForgotten: "forgets",
    events.MemoryForgotten: "forgets",
    events.ScopedKeyForgotten: "forgets",
    events.SubjectErased: "erasures",
    events.Revoked: "revocations",
    SourceRevoked: "source_revocations",
    access_events.AccessDenied: "denials",
    truth_events.ContradictionFound: "contradictions_found",
    truth_events.ContradictionResolved: "contradictions_resolved",
    truth_events.Merged: "merges",
    truth_events.Unmerged: "unmerges",
    truth_events.Pruned: "prunes",
}
_HELP: Final = {
    "promotions": "Quarantined memories that a reviewer let in.",
    "expirations": "Memories whose time had passed.",
    "supersessions": "Memories whose place a correction took.",
    "forgets": "Forgets of a subject, a memory or a key.",
    "erasures": "Erasures of subjects that were completed.",
    "revocations": "Memories that were withdrawn, alone or with their source.",
    "source_revocations": "Sources that were revoked.",
    "denials": "Calls beyond the caller's grants.",
    "contradictions_found": "Pairs of memories that cannot both be true.",
    "contradictions_resolved": "Contradictions that a person decided.",
    "merges": "Memories that were merged with another that says the same.",
    "unmerges": "Merges that were undone.",
    "prunes": "Memories that are no longer kept at hand.",
    "conflicts": "Commands that somebody else was first to.",
    "upkeep_rounds": "Rounds of upkeep that this node asked for.",
    "upkeep_failures": "Rounds of upkeep that failed.",
    "embedded": "Memories that were embedded after they were written.",
    "embedding_failures": "Rounds of embedding in which the engine gave nothing.",
    "responses_influenced_by_revoked": "Responses that memories of revoked sources had a part in.",
    "tool_calls_influenced_by_revoked": "Tool calls that followed from those responses.",
}


class Metrics:
    """The Observer of one process; each application has its own registry."""

    def __init__(self) -> None:
        # When each series began doubles the page and tells nobody anything. The library leaves it untyped.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._counters = {
            name: Counter(f"tenure_{name}", text, registry=self.registry) for name, text in _HELP.items()
        }
        self._writes = self._counter("writes", "Proposals that were decided on, by outcome.", "outcome")
        self._alerts = self._counter("alerts", "Alerts that were raised, by kind.", "kind")
        self._deliveries = self._counter(
            "webhook_deliveries", "Deliveries to the receiver of alerts, by result.", "result"
        )
        self._read_blocks = self._counter(
            "read_blocks",
            "Memories that went back to quarantine when they were to be shown.",
            "source_type",
            "policy_version",
        )
        self._requests = self._counter("http_requests", "Requests, by route.", "method", "route", "status")
        self._turns = self._counter(
            "upkeep_turns", "Turns of the workers of upkeep, by result.", "worker", "result"
        )
        self._turn_seconds = self._counter("upkeep_seconds", "Time of those turns.", "worker")
        self._turned_at = Gauge(
            "tenure_upkeep_last_success_timestamp_seconds",
            "When a worker's turn last ended as it should.",
            ["worker"],
            registry=self.registry,
        )
        self._recall_seconds = self._histogram("recall_seconds", "Time of a recall.", _RECALL_SECONDS)
        self._recall_items = self._histogram("recall_items", "Memories in a recall.", _RECALL_ITEMS)
        self._revocation_seconds = self._histogram(
            "detection_to_revocation_seconds",
            "Time from the detection of a bad source until its revocation held.",
            _REVOCATION_SECONDS,
        )
        self._without_expiry = self._gauge("without_expiry", "Memories stored without an end; must be 0.")
        self._without_provenance = self._gauge(
            "without_provenance", "Memories stored without a source; must be 0."
        )
        build = Gauge("tenure_build_info", "The program that runs.", ["version"], registry=self.registry)
        build.labels(version("tenure")).set(1)
        self._probed = _Probed()
        self.registry.register(self._probed)
        for outcome in sorted(set(_WRITTEN.values())):
            self._writes.labels(outcome)

    def read_probes(self, probes: Probes | None) -> None:
        """Show what these probes count, from now on."""
        self._probed.probes = probes

    def stored(self, stored: Sequence[Event]) -> None:
        """Count events that were stored."""
        for event in stored:
            self._count(event)

    def began(self, use_case: str) -> Callable[[Sequence[str | None]], None]:
        """Commands were given; what comes back is told how they ended."""
        started = perf_counter()

        def ended(error_codes: Sequence[str | None]) -> None:
            seconds = perf_counter() - started
            for code in error_codes:
                if code == VersionConflict.code:
                    self._counters["conflicts"].inc()
                elif code is None and use_case == RECALL:
                    self._recall_seconds.observe(seconds)

        return ended

    def delivered(self, result: str, number: int) -> None:
        """Count deliveries to the receiver of alerts."""
        self._deliveries.labels(result).inc(number)

    def requested(self, *, method: str, route: str, status: int) -> None:
        """Count a request; a method that nobody knows is no label of its own."""
        self._requests.labels(method if method in _METHODS else OTHER, route, str(status)).inc()

    def upkeep_done(self) -> None:
        """Count a round of upkeep."""
        self._counters["upkeep_rounds"].inc()

    def upkeep_failed(self) -> None:
        """Count a round of upkeep that failed."""
        self._counters["upkeep_failures"].inc()

    def upkeep_worked(self, worked: Worked) -> None:
        """Count a turn of a worker of upkeep; only the node that does the rounds has any."""
        self._turns.labels(worked.worker, "failed" if worked.failed else "done").inc()
        self._turn_seconds.labels(worked.worker).inc(worked.seconds)
        if not worked.failed:
            self._turned_at.labels(worked.worker).set_to_current_time()

    def embedded(self, number: int) -> None:
        """Count memories that were embedded in the background."""
        self._counters["embedded"].inc(number)

    def embedding_failed(self) -> None:
        """Count a round that gave no vectors."""
        self._counters["embedding_failures"].inc()

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)

    def _count(self, event: Event) -> None:
        shape = type(event.data)
        if shape in _WRITTEN:
            self._writes.labels(_WRITTEN[shape]).inc()
        if shape in _COUNTED:
            self._counters[_COUNTED[shape]].inc()
        match event.data:
            case events.Admitted() | events.Quarantined() as memory:
                self._governed(memory, event.at)
            case events.Recalled(memory_ids=shown, around=None):
                self._recall_items.observe(len(shown))
            case Held(rule=rule, source_type=source_type, policy_version=policy) if rule == FOUND_AT_READ:
                self._read_blocks.labels(str(source_type), policy).inc()
            case events.AlertRaised(kind=kind):
                self._alerts.labels(kind).inc()
            case SourceRevocationFinished(seconds=seconds, responses=responses, tool_calls=tool_calls):
                self._revocation_seconds.observe(seconds)
                self._counters["responses_influenced_by_revoked"].inc(responses)
                self._counters["tool_calls_influenced_by_revoked"].inc(tool_calls)
            case _:
                pass

    def _governed(self, memory: events.Remembered, at: datetime) -> None:
        """Look whether what was stored has an end and a source, as everything must (SPEC L11, M4)."""
        if memory.expires_at <= at:
            self._without_expiry.inc()
        if not memory.source_id:
            self._without_provenance.inc()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"tenure_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(f"tenure_{name}", text, buckets=buckets, registry=self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"tenure_memories_{name}", text, registry=self.registry)


class _Probed(Collector):
    """What the probes of the node count themselves, read whenever the page is."""

    def __init__(self) -> None:
        self.probes: Probes | None = None

    def collect(self) -> Iterator[CounterMetricFamily]:
        """How many looks came to what, and how many were refused."""
        looks = CounterMetricFamily(
            "tenure_probes", "Probes, by what they came to.", labels=["kind", "outcome"]
        )
        refused = CounterMetricFamily(
            "tenure_probes_refused", "Probes that are not allowed.", labels=["kind"]
        )
        if self.probes is not None:
            for (kind, outcome), number in sorted(self.probes.counts().items()):
                looks.add_metric([kind, outcome], number)
            for kind, number in sorted(self.probes.refused().items()):
                refused.add_metric([kind], number)
        yield looks
        yield refused
