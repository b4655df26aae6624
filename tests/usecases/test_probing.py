"""Looking at what memories name, whatever the probers do (SPEC T6)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from tenure.core.probe_rules import Allowances, allowances
from tenure.core.probing import ProbeOutcome, Reason, Target, TargetKind
from tenure.usecases.probing import KEPT_MAX, TARGETS_MAX, ProbeLimits, Probing
from tenure.usecases.probing_ports import Permits

START = datetime(2026, 3, 1, tzinfo=UTC)
FLAGS = allowances(["acme flag:*"])
LIMITS = ProbeLimits(seconds_max=5.0, all_seconds_max=10.0, at_once_max=4, cache_seconds=60.0)
BRIEF = ProbeLimits(seconds_max=0.05, all_seconds_max=0.1, at_once_max=2, cache_seconds=60.0)


class Time:
    """Time that moves when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def passed(self) -> float:
        """Seconds since the start."""
        return self.seconds

    def now(self) -> datetime:
        """The same as a date."""
        return START + timedelta(seconds=self.seconds)


class Flags:
    """A prober that does what a test tells it to, and counts."""

    kind = TargetKind.FLAG

    def __init__(self, does: Callable[[Target, Permits], Reason] | None = None) -> None:
        self.does = does or (lambda _one, _permits: Reason.EXISTS)
        self.looked: list[str] = []
        self.seconds: list[float] = []
        self.is_closed = False

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """One look."""
        self.looked.append(target.what)
        self.seconds.append(seconds_max)
        return self.does(target, permits)

    def close(self) -> None:
        """Let go."""
        self.is_closed = True


def flag(name: str) -> Target:
    """A flag of that name."""
    return Target(kind=TargetKind.FLAG, what=name)


def probing(
    prober: Flags,
    *,
    time: Time | None = None,
    limits: ProbeLimits = LIMITS,
    rules: Allowances = FLAGS,
) -> Probing:
    """A runner by moving time, or by the machine's where there is none."""
    time_now = time or Time()
    return Probing(
        [prober],
        rules,
        limits=limits,
        now=time_now.now,
        passed=monotonic if time is None else time.passed,
    )


@contextmanager
def hanging() -> Iterator[Callable[[Target, Permits], Reason]]:
    """A look that does not come back before the block is over."""
    over = threading.Event()

    def hang(_one: Target, _permits: Permits) -> Reason:
        over.wait(10)
        return Reason.EXISTS

    try:
        yield hang
    finally:
        over.set()


def test_each_target_has_a_verdict_with_its_time() -> None:
    """SPEC T6: looked at once each; the prober is told to be back before nobody waits any more."""
    time = Time()
    time.seconds = 90.0
    prober = Flags(lambda one, _: Reason.EXISTS if one.what == "a" else Reason.NOT_FOUND)

    found = probing(prober, time=time).probe("acme", [flag("a"), flag("b"), flag("a")])

    assert {one.what: verdict.outcome for one, verdict in found.items()} == {
        "a": ProbeOutcome.HOLDS,
        "b": ProbeOutcome.FAILS,
    }
    assert {verdict.probed_at for verdict in found.values()} == {START + timedelta(seconds=90)}
    assert sorted(prober.looked) == ["a", "b"]
    assert prober.seconds == [4.5, 4.5]


def test_what_a_tenant_may_not_have_looked_at_reaches_no_prober() -> None:
    """SPEC T6: off unless allowed, tenant by tenant."""
    prober = Flags()
    runner = probing(prober, time=Time())

    assert runner.probe("other", [flag("a")])[flag("a")].reason is Reason.NOT_ALLOWED
    assert prober.looked == []


def test_a_kind_that_nothing_looks_at_is_unknown() -> None:
    """SPEC T6: probers are pluggable, and one may be missing."""
    runner = probing(Flags(), time=Time(), rules=allowances(["acme dns:a.example"]))
    name = Target(kind=TargetKind.DNS_NAME, what="a.example")

    assert runner.probe("acme", [name])[name].reason is Reason.NO_PROBER


def test_a_prober_is_told_what_its_tenant_may_have_looked_at() -> None:
    """SPEC T6: what it is led on to must be permitted too."""
    said: list[bool] = []

    def ask(_one: Target, permits: Permits) -> Reason:
        said.extend([permits(flag("b")), permits(Target(kind=TargetKind.PATH, what="/etc/passwd"))])
        return Reason.EXISTS

    probing(Flags(ask), time=Time()).probe("acme", [flag("a")])

    assert said == [True, False]


@pytest.mark.parametrize("fault", [RuntimeError("content"), OSError("content"), KeyError("content")])
def test_a_prober_that_raises_is_a_fault_and_nothing_more(fault: Exception) -> None:
    """SPEC T6, E6: nothing is raised, and no word of the fault is kept."""

    def fail(_one: Target, _permits: Permits) -> Reason:
        raise fault

    verdict = probing(Flags(fail), time=Time()).probe("acme", [flag("a")])[flag("a")]

    assert verdict.reason is Reason.FAULT
    assert verdict.outcome is ProbeOutcome.UNKNOWN


def test_a_prober_that_says_what_is_no_reason_is_a_fault() -> None:
    """SPEC T6: a plugged-in prober may say anything."""
    prober = Flags(lambda _one, _permits: "host db-7 says no")  # type: ignore[arg-type, return-value]

    assert probing(prober, time=Time()).probe("acme", [flag("a")])[flag("a")].reason is Reason.FAULT


def test_what_was_found_is_kept_for_a_short_time() -> None:
    """SPEC T6: cached by a clock that moves, and looked at anew after it."""
    time, prober = Time(), Flags()
    runner = probing(prober, time=time)

    first = runner.probe("acme", [flag("a")])
    time.seconds = 59.0
    assert runner.probe("acme", [flag("a")]) == first
    time.seconds = 61.0
    assert runner.probe("acme", [flag("a")]) != first
    assert prober.looked == ["a", "a"]


def test_what_one_tenant_had_looked_at_is_not_anothers() -> None:
    """SPEC L1, T6: nobody learns from the time of an answer what others ask about."""
    prober = Flags()
    runner = probing(prober, time=Time(), rules=allowances(["* flag:*"]))

    runner.probe("acme", [flag("a")])
    runner.probe("other", [flag("a")])

    assert prober.looked == ["a", "a"]


def test_only_so_much_is_kept() -> None:
    """SPEC T6: a limit on everything."""
    time = Time()
    prober = Flags()
    runner = probing(prober, time=time)
    runner._kept.update(  # noqa: SLF001 -- to fill it by looks would take long
        {("acme", flag(f"f{place}")): (99.0, None) for place in range(KEPT_MAX)}  # type: ignore[misc]
    )

    runner.probe("acme", [flag("a")])

    assert len(runner._kept) == KEPT_MAX  # noqa: SLF001


def test_a_look_that_hangs_is_late_and_nobody_waits_longer() -> None:
    """SPEC T6: time-boxed, whatever a prober does; and what was late is no failure."""
    with hanging() as hang:
        began = monotonic()
        found = probing(Flags(hang), limits=BRIEF).probe("acme", [flag("a"), flag("b")])

        assert [verdict.reason for verdict in found.values()] == [Reason.LATE, Reason.LATE]
        assert monotonic() - began < 2


def test_what_hangs_takes_up_room_and_is_not_looked_at_again() -> None:
    """SPEC T6: at most so many looks are under way, those included that nobody waits for."""
    with hanging() as hang:
        prober = Flags(hang)
        runner = probing(prober, limits=BRIEF)
        runner.probe("acme", [flag("a"), flag("b")])

        again = runner.probe("acme", [flag("a"), flag("c")])

        assert [verdict.reason for verdict in again.values()] == [Reason.LATE, Reason.NO_ROOM]
        assert sorted(prober.looked) == ["a", "b"]


def test_what_comes_late_is_kept_for_the_next_who_asks() -> None:
    """SPEC T6: a slow target is known a moment later, and makes room."""
    over = threading.Event()

    def slow(_one: Target, _permits: Permits) -> Reason:
        over.wait(10)
        return Reason.EXISTS

    prober = Flags(slow)
    runner = probing(prober, limits=BRIEF)
    assert runner.probe("acme", [flag("a")])[flag("a")].reason is Reason.LATE
    (look,) = runner._under_way.values()  # noqa: SLF001 -- to wait for its end
    over.set()
    look.ended.wait(10)

    assert runner.probe("acme", [flag("a")])[flag("a")].reason is Reason.EXISTS
    assert prober.looked == ["a"]


def test_more_targets_than_room_are_looked_at_a_few_at_once() -> None:
    """SPEC T6: concurrent with a cap, and the cap is kept."""
    lock, under_way, most = threading.Lock(), [0], [0]
    # Nobody goes on before as many are there as there is room for.
    together = threading.Barrier(LIMITS.at_once_max, timeout=10)

    def look(_one: Target, _permits: Permits) -> Reason:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        together.wait()
        with lock:
            under_way[0] -= 1
        return Reason.EXISTS

    found = probing(Flags(look)).probe("acme", [flag(f"f{place}") for place in range(20)])

    assert {verdict.reason for verdict in found.values()} == {Reason.EXISTS}
    assert most[0] == LIMITS.at_once_max


def test_many_who_ask_for_the_same_wait_for_one_look() -> None:
    """SPEC T6: a stampede of recalls is one probe."""
    gate, begun = threading.Event(), threading.Event()

    def look(_one: Target, _permits: Permits) -> Reason:
        begun.set()
        gate.wait(10)
        return Reason.EXISTS

    prober = Flags(look)
    runner = probing(prober)
    found: list[Reason] = []
    askers = [
        threading.Thread(target=lambda: found.append(runner.probe("acme", [flag("a")])[flag("a")].reason))
        for _ in range(8)
    ]
    for asker in askers:
        asker.start()
    begun.wait(10)
    gate.set()
    for asker in askers:
        asker.join()

    assert found == [Reason.EXISTS] * 8
    assert prober.looked == ["a"]


def test_a_look_that_could_not_have_all_its_time_does_not_begin() -> None:
    """SPEC T6: that a hurried look found nothing would be taken for a failure."""
    limits = ProbeLimits(seconds_max=5.0, all_seconds_max=5.0, at_once_max=1, cache_seconds=60.0)
    prober = Flags()
    runner = probing(prober, time=Time(), limits=limits)
    runner._room.acquire()  # noqa: SLF001 -- a look of somebody else is under way

    assert runner.probe("acme", [flag("a")])[flag("a")].reason is Reason.NO_ROOM
    assert prober.looked == []


def test_a_call_looks_at_so_many_things_and_no_more() -> None:
    """SPEC T6: one recall cannot have a whole network looked at."""
    prober = Flags()
    targets = [flag(f"f{place}") for place in range(TARGETS_MAX + 3)]

    found = probing(prober).probe("acme", targets)

    assert list(found) == targets
    assert len(prober.looked) == TARGETS_MAX
    assert [found[one].reason for one in targets[TARGETS_MAX:]] == [Reason.NO_ROOM] * 3


def test_a_machine_without_room_for_a_thread_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T6: nothing is raised, and the room is given back."""
    limits = ProbeLimits(seconds_max=5.0, all_seconds_max=10.0, at_once_max=1, cache_seconds=0.0)
    runner = probing(Flags(), time=Time(), limits=limits)

    def full(_self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        assert runner.probe("acme", [flag("a")])[flag("a")].reason is Reason.NO_ROOM
    assert runner.probe("acme", [flag("a")])[flag("a")].reason is Reason.EXISTS


def test_looks_are_counted_by_kind_and_outcome() -> None:
    """SPEC T6, T8: visible in metrics; no target is named, and what was kept is not counted again."""
    prober = Flags(lambda one, _: Reason.EXISTS if one.what == "a" else Reason.NOT_FOUND)
    runner = probing(prober, time=Time())

    runner.probe("acme", [flag("a"), flag("b")])
    runner.probe("acme", [flag("a")])
    runner.probe("other", [flag("a")])

    assert runner.counts() == {
        (TargetKind.FLAG, ProbeOutcome.HOLDS): 1,
        (TargetKind.FLAG, ProbeOutcome.FAILS): 1,
        (TargetKind.FLAG, ProbeOutcome.UNKNOWN): 1,
    }


def test_closing_lets_go_of_every_prober() -> None:
    """SPEC T6: with the node."""
    prober = Flags()

    probing(prober).close()

    assert prober.is_closed
