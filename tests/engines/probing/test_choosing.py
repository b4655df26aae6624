"""Which probers a node has (SPEC T6): those that its rules need, and those that an operator named."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.engines.probing.talker import talker, with_status

from tenure.core.probe_rules import allowances
from tenure.core.probing import Reason, Target, TargetKind, targets_of
from tenure.engines.clock import SystemClock, seconds_passed
from tenure.engines.probing.choosing import BadProber, probers
from tenure.engines.probing.flags import MissingFlags
from tenure.usecases.probing import ProbeLimits, Probing

MODULE = """
from tenure.core.probing import Reason

class HouseFlags:
    kind = "flag"
    def look(self, target, *, permits, seconds_max):
        return Reason.AS_SAID
    def close(self):
        pass

made = HouseFlags()

class Odd(HouseFlags):
    kind = "weather"

class Mute:
    kind = "flag"
    look = close = None

class Broken:
    def __init__(self):
        raise RuntimeError("hunter2")
"""

Install = Callable[[str, str], None]


class Settings(NamedTuple):
    """Settings of probes."""

    allow: tuple[str, ...] = ()
    open_networks: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with a prober under this name."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "acme_tenure_prober.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "acme_tenure_prober", raising=False)

    def installed(name: str, thing: str) -> None:
        folder = tmp_path / f"{thing.lower()}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {thing.lower()}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[tenure.probers]\n{name} = acme_tenure_prober:{thing}\n")

    return installed


def test_without_a_rule_there_is_no_prober() -> None:
    """SPEC T6: off by default."""
    assert probers(Settings()) == []


def test_each_kind_that_a_rule_names_has_its_prober() -> None:
    """SPEC T6: and no other kind has one."""
    rules = ("acme https://a.example", "acme tcp://a.example:1", "* dns:a.example", "* file:/srv/x")

    found = probers(Settings(rules))

    assert [prober.kind for prober in found] == [
        TargetKind.URL,
        TargetKind.ENDPOINT,
        TargetKind.DNS_NAME,
        TargetKind.PATH,
    ]


def test_rules_probers_and_runner_work_together() -> None:
    """SPEC T6: what is allowed is looked at, and a redirect leads nowhere else, by any path."""
    with talker() as server:
        here = f"127.0.0.1:{server.port}"
        server.says = lambda request: [
            with_status("302 Found", "Location: /secret")
            if request.split()[1] == b"/ok/on"
            else with_status("200 OK")
        ]
        rules = (f"acme http://{here}/ok/*", f"acme tcp://{here}", "acme tcp://127.0.0.2:1")
        clock = SystemClock()
        runner = Probing(
            probers(Settings(rules, open_networks=("127.0.0.1/32",))),
            allowances(rules),
            limits=ProbeLimits(seconds_max=5.0, all_seconds_max=10.0, at_once_max=4, cache_seconds=60.0),
            now=clock.now,
            passed=seconds_passed,
        )
        named = targets_of(
            [
                (TargetKind.URL, f"http://{here}/ok/"),
                (TargetKind.URL, f"http://{here}/ok/on"),
                (TargetKind.URL, f"http://{here}/secret"),
                (TargetKind.ENDPOINT, here),
                (TargetKind.ENDPOINT, "127.0.0.2:1"),
            ]
        )

        found = runner.probe("acme", named)

    assert [verdict.reason for verdict in found.values()] == [
        Reason.ANSWERS,
        Reason.LEADS_ELSEWHERE,
        Reason.NOT_ALLOWED,
        Reason.CONNECTS,
        Reason.INTERNAL_ADDRESS,
    ]
    assert not any(b"/secret" in request for request in server.got)


def test_a_rule_about_flags_needs_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T6: what is missing is said at the start."""
    monkeypatch.setitem(sys.modules, "openfeature", None)

    with pytest.raises(MissingFlags):
        probers(Settings(("acme flag:x",)))


@pytest.mark.parametrize("thing", ["HouseFlags", "made"])
def test_a_named_prober_takes_the_place_of_ours(install: Install, thing: str) -> None:
    """SPEC T6: probes are pluggable; a class is made, anything else is taken as it is."""
    install("house", thing)

    (prober,) = probers(Settings(("acme flag:x",), plugins=("house", "house")))

    flag = Target(kind=TargetKind.FLAG, what="x")
    assert prober.look(flag, permits=lambda _one: True, seconds_max=1.0) is Reason.AS_SAID


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("Odd", r"cannot be used \(ValueError\)"),
        ("Mute", r"must have look\(\) and close\(\)"),
        ("Broken", r"cannot be used \(RuntimeError\)"),
        ("Gone", r"cannot be used \(AttributeError\)"),
    ],
)
def test_what_is_no_prober_is_refused(install: Install, thing: str, message: str) -> None:
    """SPEC T6, E6: at the start, by its name, without a word of the fault."""
    install("house", thing)

    with pytest.raises(BadProber, match=message) as refusal:
        probers(Settings(("acme flag:x",), plugins=("house",)))
    assert "hunter2" not in str(refusal.value)


def test_a_name_that_nothing_has_or_two_have_is_refused(install: Install) -> None:
    """SPEC T6: which one is meant must be sure."""
    with pytest.raises(BadProber, match="no installed package has 'house'"):
        probers(Settings(plugins=("house",)))
    install("house", "HouseFlags")
    install("house", "made")
    with pytest.raises(BadProber, match="more than one installed package has 'house'"):
        probers(Settings(plugins=("house",)))


def test_two_probers_of_one_kind_are_refused(install: Install) -> None:
    """SPEC T6: one look, one prober."""
    install("house", "HouseFlags")
    install("barn", "made")

    with pytest.raises(BadProber, match="as another that is named does"):
        probers(Settings(plugins=("house", "barn")))
