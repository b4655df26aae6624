"""`tenure policy`: shown, checked, and tried out, directly and through a server (SPEC I4, L2)."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.entrypoints.cli.commands import Serving, ran
from tests.entrypoints.cli.customers import STORE, customer, talk

from tenure import Source, Tenure
from tenure.core.admission import default_policy
from tenure.core.identity import SourceType
from tenure.core.policy_documents import parse

STRICT = """version = "strict-2"

[[rules]]
name = "found"
reason = "scanners decide"
outcome = "reject"
when = { findings = ["credential", "attack", "sensitive", "failure"] }

[[rules]]
name = "facts_wait"
reason = "facts wait for a person"
outcome = "quarantine"
when = { kinds = ["fact"] }
"""


def policy_file(text: str = STRICT, name: str = "strict.toml") -> Path:
    """A policy in the current folder."""
    file = Path(name)
    file.write_text(text, encoding="utf-8")
    return file


def test_the_policy_in_force_is_printed_as_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC L3: the one that ships, until a file takes its place."""
    shipped = ran("policy", "show")
    monkeypatch.setenv("TENURE_POLICY_FILE", str(policy_file()))
    chosen = ran("policy", "show", "--json")

    assert parse(shipped.out) == default_policy()
    assert chosen.json["version"] == "strict-2"
    assert [rule.name for rule in parse(chosen.json["document"]).rules] == [
        "content_bound",
        "found",
        "facts_wait",
    ]


def test_a_good_policy_is_shown_rule_by_rule() -> None:
    """SPEC L2: what decides, in the order in which it decides."""
    text = ran("policy", "check", policy_file())
    as_json = ran("policy", "check", policy_file(), "--json")

    lines = text.out.splitlines()
    assert (text.code, lines[0].split(",")[0]) == (0, "strict-2: 2 rules")
    assert lines[3].split() == ["2", "facts_wait", "quarantine", "kinds", '["fact"]']
    assert (as_json.json["valid"], as_json.json["warnings"]) == (True, [])
    assert {gap["source_type"]: len(gap["kinds"]) for gap in as_json.json["gaps"]} == dict.fromkeys(
        SourceType, 6
    )
    assert lines[4].startswith("gap: no rule is surely about direct_user with preference, skill")
    assert [rule["rule"] for rule in as_json.json["rules"]] == ["found", "facts_wait"]


def test_what_is_seldom_meant_is_a_warning() -> None:
    """SPEC S2: it is said, and the command succeeds."""
    mail = STRICT.replace('"quarantine"', '"approve"\ntrust = "user_asserted"')

    checked = ran("policy", "check", policy_file(mail))

    assert checked.code == 0
    assert checked.out.splitlines()[-1].startswith("warning: rule facts_wait lets in text from outside")


TESTED = """
[[tests]]
name = "facts wait"
kind = "fact"
source_type = "application"
expect = "quarantine"
rule = "facts_wait"
"""


def test_the_tests_of_a_policy_are_run() -> None:
    """SPEC L2: how many passed is said; one that fails is named with what was decided and by which rule."""
    good = ran("policy", "check", policy_file(STRICT + TESTED))
    bad = ran("policy", "check", policy_file(STRICT + TESTED.replace('"quarantine"', '"approve"')))

    assert (good.code, good.out.splitlines()[0].split(",")[1]) == (0, " 1 tests passed")
    assert bad.code == 1
    assert bad.out.startswith(
        "strict.toml: line 19: test 1: facts wait: expected approve by facts_wait; it is quarantine by "
    )


def test_a_policy_whose_tests_fail_is_not_put_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: the start fails with the test that failed, so nothing is ever decided by it."""
    customer()
    file = policy_file(STRICT + TESTED.replace('"quarantine"', '"approve"'))
    monkeypatch.setenv("TENURE_POLICY_FILE", str(file))

    started = ran("log", "verify")

    assert started.code == 2
    assert "policy_file (strict.toml), line 19: test 1: facts wait" in started.err


@pytest.mark.parametrize("command", ["check", "replay"])
def test_a_bad_policy_fails_with_every_mistake_and_its_line(command: str) -> None:
    """SPEC S3: before any store is looked for."""
    bad = policy_file(STRICT.replace('"reject"', '"no"').replace('kinds = ["fact"]', "kindz = 1"))

    text = ran("policy", command, bad)
    as_json = ran("policy", command, bad, "--json")

    assert (text.code, as_json.code) == (1, 1)
    assert [line.split(": ")[:2] for line in text.out.splitlines()] == [
        ["strict.toml", "line 6"],
        ["strict.toml", "line 13"],
    ]
    assert as_json.json["valid"] is False
    assert [mistake["line"] for mistake in as_json.json["mistakes"]] == [6, 13]


def test_a_file_that_is_not_there_is_said() -> None:
    """SPEC S2: asked wrongly."""
    Path("binary.toml").write_bytes(b"\xff")

    assert (ran("policy", "check", "none.toml").code, ran("policy", "check", "binary.toml").code) == (2, 2)


def test_a_replay_names_what_would_change_and_writes_nothing() -> None:
    """SPEC I4: a table for people, everything for programs."""
    memory_id = customer()
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        bot.remember("Prefers tea", kind="preference", source=Source.direct_user("m-1"))
    before = ran("log", "export", "-").out

    text = ran("policy", "replay", policy_file())
    as_json = ran("policy", "replay", policy_file(), "--tenant", "acme", "--json")

    (tenant,) = as_json.json["tenants"]
    changed = {one["change"]["memory_id"]: one["change"] for one in as_json.json["changes"]}
    assert text.code == 0, text.err
    assert text.out.splitlines()[0] == "acme: default-1 → strict-2"
    assert "  2 are active and would be held back for review" in text.out.splitlines()
    assert [line.split()[-1] for line in text.out.splitlines()[-2:]] == ["held", "held"]
    assert (tenant["examined"], tenant["held"], len(changed)) == (2, 2, 2)
    assert (changed[str(memory_id)]["before_rule"], changed[str(memory_id)]["after_rule"]) == (
        "application",
        "facts_wait",
    )
    assert ran("log", "export", "-").out == before
    assert "Mill Lane" not in text.out + as_json.out


def test_a_version_that_is_taken_is_pointed_out() -> None:
    """SPEC L2: stored decisions name the version alone."""
    customer()

    replayed = ran("policy", "replay", policy_file(STRICT.replace("strict-2", "default-1")))

    assert "give it a version of its own" in replayed.err


def test_a_replay_through_a_server_is_the_same(served: Serving) -> None:
    """SPEC S1, I4: whichever way the store is reached; a bad document is refused there too."""
    talk(served.folder, "replays", "ann")
    file = policy_file()

    replayed = ran("policy", "replay", file, "--tenant", "replays", "--data", served.folder, "--json")
    missing = ran("policy", "replay", file, "--tenant", "nobody", "--data", served.folder)

    assert replayed.code == 0, replayed.err
    assert replayed.json["tenants"][0]["examined"] == 2
    assert missing.code == 1


def test_a_bad_policy_file_fails_every_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: with each mistake, its file and its line; nothing is opened by guesswork."""
    customer()
    monkeypatch.setenv("TENURE_POLICY_FILE", str(policy_file("version = 3", "bad.toml")))

    started = ran("log", "verify")

    assert started.code == 2
    assert "policy_file (bad.toml), line 1: version must be a text" in started.err


def test_the_answer_is_one_object(served: Serving) -> None:
    """SPEC S2: also where nothing would change."""
    shipped = policy_file(ran("policy", "show").out, "shipped.toml")
    talk(served.folder, "same", "ann")

    same = ran("policy", "replay", shipped, "--tenant", "same", "--data", served.folder, "--json")

    assert json.loads(same.out)["changes"] == []
    assert msgspec.json.decode(same.out)["tenants"][0]["held"] == 0
