"""Scanners and rules of installed packages: only what is named is loaded, and must be one (SPEC L2, L5)."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.core.scanning.running import scan
from tenure.engines.plugins import BadPlugin, load

MODULE = """
from tenure.core.custom_rules import Objection
from tenure.core.scanning import Finding, FindingKind
from tenure.core.vocabulary import Outcome

class HouseScanner:
    name, version = "house", "3"
    def find(self, view):
        if "yacht" not in view.folded:
            return []
        return [Finding(kind=FindingKind.SENSITIVE, rule="sensitive.yacht", scanner="house/3",
                        start=0, end=len(view.content), confidence=0.9)]

class HouseRule:
    name, version = "house", "1"
    def judge(self, proposal):
        return Objection(outcome=Outcome.QUARANTINE, reason="not on Sundays")

made = HouseScanner()

class Nameless:
    version = "1"
    def find(self, view):
        return []

class Oddly(Nameless):
    name = "a b"

class Mute:
    name, version = "mute", "1"

class Broken:
    def __init__(self):
        raise RuntimeError("hunter2")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package that has these entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "acme_tenure_plugin.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "acme_tenure_plugin", raising=False)

    def installed(name: str = "acme", **groups: dict[str, str]) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [
            line
            for group, entries in groups.items()
            for line in (
                f"[tenure.{group}]",
                *(f"{entry} = acme_tenure_plugin:{thing}" for entry, thing in entries.items()),
            )
        ]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")

    return installed


def test_an_installed_package_alone_changes_nothing(install: Install) -> None:
    """SPEC L2: it must be named."""
    install(scanners={"house": "HouseScanner"}, rules={"house": "HouseRule"})

    assert load([]) == ((), ())


def test_one_name_brings_a_scanner_and_a_rule(install: Install) -> None:
    """SPEC L2: what stands under it in either group, once however often it is named."""
    install(scanners={"house": "HouseScanner"}, rules={"house": "HouseRule"})

    scanners, rules = load(["house", "house"])

    assert [(one.name, one.version) for one in scanners] == [("house", "3")]
    assert [(one.name, one.version) for one in rules] == [("house", "1")]
    assert [one.rule for one in scan("Owns a yacht", scanners)] == ["sensitive.yacht"]


def test_an_entry_point_may_lead_to_what_is_made_already(install: Install) -> None:
    """SPEC L2: an object instead of its class."""
    install(scanners={"house": "made"})

    assert [one.name for one in load(["house"]).scanners] == ["house"]


@pytest.mark.parametrize(
    ("thing", "because"),
    [
        ("Missing", r"cannot be loaded \(AttributeError\)"),
        ("Broken", r"cannot be loaded \(RuntimeError\)"),
        ("Nameless", r"cannot be loaded \(AttributeError\)"),
        ("Oddly", "must have a name and a version"),
        ("Mute", r"cannot be loaded \(AttributeError\)"),
    ],
)
def test_what_is_no_scanner_is_refused(install: Install, thing: str, because: str) -> None:
    """SPEC S3: at the start, and without the words of its fault."""
    install(scanners={"house": thing})

    with pytest.raises(BadPlugin, match=because) as caught:
        load(["house"])

    assert "hunter2" not in str(caught.value)


def test_what_nobody_installed_is_refused() -> None:
    """SPEC S3: a scanner that was meant to run would silently not."""
    with pytest.raises(BadPlugin, match=r"no installed package has 'house' under tenure.scanners or"):
        load(["house"])


def test_two_packages_with_one_name_are_refused(install: Install) -> None:
    """SPEC S3: nobody knows which is meant."""
    install("one", scanners={"house": "HouseScanner"})
    install("two", scanners={"house": "made"})

    with pytest.raises(BadPlugin, match="more than one installed package has 'house'"):
        load(["house"])


def test_a_scanner_may_not_take_the_name_of_another(install: Install) -> None:
    """SPEC R5: a verdict's scanner would be either."""
    install(scanners={"house": "HouseScanner", "again": "made"})

    with pytest.raises(BadPlugin, match="there is one of that name"):
        load(["house"], taken=["house"])
    with pytest.raises(BadPlugin, match="there is one of that name"):
        load(["house", "again"])
