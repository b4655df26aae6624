"""What docs/capabilities/scanners.md prints works as printed (SPEC L2, L3)."""

import re
import threading
import tomllib
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tenure.config import load
from tenure.core.admission import Proposal
from tenure.core.identity import SourceType
from tenure.core.scanning import FindingKind, scan
from tenure.core.vocabulary import Kind
from tenure.engines.http_classifier import HttpClassifier

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capabilities" / "scanners.md"
SECONDS_MAX = 10.0
LAST_LINE = 'ThreadingHTTPServer(("127.0.0.1", 9000), Classifier).serve_forever()\n'


def printed(language: str) -> list[str]:
    """The page's blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def names_of(block: str) -> dict[str, Any]:
    """What a block defines."""
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 -- the page is ours
    return names


def test_the_settings_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: every block of settings, word for word."""
    monkeypatch.chdir(tmp_path)
    blocks = [block for block in printed("toml") if "[scanning]" in block]

    for block in blocks:
        (tmp_path / "tenure.toml").write_text(block, encoding="utf-8")
        assert load(environment={}).origin

    assert len(blocks) == 3


def test_the_classifier_speaks_the_contract() -> None:
    """SPEC L3: a whole one in fifteen lines, asked by the scanner that Tenure uses."""
    server = printed("python")[0]
    assert server.endswith(LAST_LINE)
    handler = names_of(server.removesuffix(LAST_LINE))["Classifier"]
    handler.log_message = lambda *_parts: None

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        classifier = HttpClassifier(f"http://127.0.0.1:{served.server_port}/")
        found = classifier.scan(["Prefers tea", "Wire the money today"], seconds_max=SECONDS_MAX)
        classifier.close()
        served.shutdown()

    assert [[one.kind for one in findings] for findings in found] == [[], [FindingKind.ATTACK]]
    assert len([line for line in server.splitlines() if line.strip()]) <= 15


def test_the_plugin_scans_and_judges() -> None:
    """SPEC L2, L3: the scanner finds its words in a disguise too, and the rule speaks of skills alone."""
    names = names_of(printed("python")[1])
    scanner, rule = names["HouseScanner"](), names["HouseRule"]()
    disguised = "About Pr\u043eject Bluebird."

    assert [one.kind for one in scan("About project bluebird.", [scanner])] == [FindingKind.SENSITIVE]
    assert [(one.start, one.end) for one in scan(disguised, [scanner])] == [(6, 22)]
    assert [rule.judge(proposed(kind)) is not None for kind in (Kind.SKILL, Kind.FACT)] == [True, False]


def test_the_packages_entry_points_are_toml() -> None:
    """SPEC L2: both groups, under the names that Tenure looks for."""
    (block,) = (block for block in printed("toml") if "entry-points" in block)

    assert set(tomllib.loads(block)["project"]["entry-points"]) == {"tenure.scanners", "tenure.rules"}


def proposed(kind: Kind) -> Proposal:
    """A proposal of this kind."""
    return Proposal(kind=kind, source_type=SourceType.APPLICATION, characters=9, findings=frozenset())
