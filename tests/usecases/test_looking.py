"""What a node keeps of what it found, by memory (SPEC T6)."""

from datetime import timedelta

import pytest
from tests.core.examples import NOW, id_of, memory
from tests.usecases.test_probing import LIMITS, Flags, Time

from tenure.core.memory import Memory
from tenure.core.probe_advice import Advice, ProbeOutcome, TargetKind
from tenure.core.probe_rules import allowances
from tenure.core.probing import Reason
from tenure.usecases import looking
from tenure.usecases.looking import MemoryProbes
from tenure.usecases.outward import Looked
from tenure.usecases.probing import Probing


def probes(flags: Flags, time: Time, *, cache_seconds: float = 60.0) -> MemoryProbes:
    """Probes of flags for acme, by moving time."""
    probing = Probing([flags], allowances(["acme flag:*"]), limits=LIMITS, now=time.now, passed=time.passed)
    return MemoryProbes(probing, cache_seconds=cache_seconds, passed=time.passed)


def flagged(number: int = 1, **changes: object) -> Memory:
    """A memory that names a flag."""
    return memory(id=id_of(number), content=f"flag-{number} is enabled.", **changes)


def looked(it: MemoryProbes, *memories: Memory) -> list[Looked]:
    """What a look at these says, kept."""
    found = it.look("acme", memories)
    it.keep(found, found[0].advice.probed_at)
    return found


def test_what_names_nothing_is_not_looked_at() -> None:
    """SPEC T6: nothing is said of it either."""
    flags, time = Flags(), Time()

    found = probes(flags, time).look("acme", [memory(content="Prefers tea"), flagged(7)])

    assert [(one.memory.id, one.advice.outcome, one.about) for one in found] == [
        (id_of(7), ProbeOutcome.HOLDS, TargetKind.FLAG)
    ]
    assert flags.looked == ["flag-7=on"]


def test_what_was_found_is_kept_for_that_tenant_version_and_time() -> None:
    """SPEC T6: a corrected memory and another tenant's are not marked; its time begins with the look."""
    flags, time = Flags(), Time()
    it = probes(flags, time)
    before = it.keeps_any

    (found,) = looked(it, flagged())

    assert (before, it.keeps_any) == (False, True)
    assert it.known(flagged()) == found.advice
    assert it.known(flagged(version=2)) is None
    assert it.known(flagged(tenant="globex")) is None
    it.keep([found], found.advice.probed_at + timedelta(seconds=50))
    time.seconds = 9.9
    assert it.known(flagged()) == found.advice
    time.seconds = 10
    assert it.known(flagged()) is None


def test_that_nothing_could_be_found_out_takes_the_place_of_nothing() -> None:
    """SPEC T6: unknown is not kept, and what failed a moment ago still did."""
    flags, time = Flags(lambda _one, _permits: Reason.NOT_FOUND), Time()
    it = probes(flags, time)
    (failed,) = looked(it, flagged())
    unknown = failed._replace(advice=Advice(outcome=ProbeOutcome.UNKNOWN, probed_at=NOW, note="too many"))

    it.keep([unknown], NOW)

    assert it.known(flagged()) == failed.advice


def test_what_is_kept_has_an_end_and_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T8: memory is bounded, by time and by number."""
    monkeypatch.setattr(looking, "KEPT_MAX", 3)
    flags, time = Flags(), Time()
    it = probes(flags, time)

    looked(it, *(flagged(number) for number in range(1, 6)))
    kept = [number for number in range(1, 6) if it.known(flagged(number)) is not None]
    time.seconds = 61
    looked(it, flagged(9))

    assert kept == [3, 4, 5]
    assert len(it._kept) == 1  # noqa: SLF001 -- what is bounded is what is kept


def test_refused_looks_are_counted_beside_the_others() -> None:
    """SPEC S4: by kind; they are unknown as well."""
    flags, time = Flags(), Time()
    it = probes(flags, time)

    it.look("globex", [flagged()])
    it.look("acme", [flagged()])

    assert it.refused() == {TargetKind.FLAG: 1}
    assert it.counts() == {
        (TargetKind.FLAG, ProbeOutcome.UNKNOWN): 1,
        (TargetKind.FLAG, ProbeOutcome.HOLDS): 1,
    }


def test_closing_lets_go_of_the_probers() -> None:
    """SPEC T8: with the node."""
    flags = Flags()

    probes(flags, Time()).close()

    assert flags.is_closed
