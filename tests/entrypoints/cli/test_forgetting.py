"""`tenure forget` and `tenure alerts`: out of every read, by subject, by memory, by key (SPEC F1-F6)."""

from pathlib import Path

import pytest
from tests.clock import MovableClock
from tests.entrypoints.cli.commands import Serving, ran
from tests.entrypoints.cli.customers import ABOUT, STORE, SUBJECT, WALLS, customer, recalled, talk, told

from tenure import Tenure
from tenure.core.identity import Scope, Tier

KEY = ("--key", "address", *ABOUT, *WALLS)


def test_a_subject_is_forgotten_and_again_says_so() -> None:
    """SPEC F1: one step, and everybody else stays."""
    customer()
    customer("customer-8")

    first = ran("forget", *ABOUT)
    again = ran("forget", *ABOUT, "--json")

    assert (first.code, first.out) == (0, "1 memory forgotten; anchored at subject\n")
    assert (again.json["status"], again.json["forgotten"]) == ("already_forgotten", 0)
    assert (recalled(), len(recalled("customer-8"))) == ([], 1)


def test_one_memory_is_forgotten_at_the_version_that_was_seen() -> None:
    """SPEC L8: another version is a conflict, and nothing is changed."""
    memory_id = str(customer())
    named = ("--tenant", "acme", "--memory-id", memory_id)

    stale = ran("forget", *named, "--expected-version", "7", "--json")
    missing = ran("forget", *named)
    assert len(recalled()) == 1
    done = ran("forget", *named, "--expected-version", "1", "--json")

    assert (stale.code, stale.json["type"].rpartition("/")[2]) == (1, "version-conflict")
    assert (missing.code, missing.out) == (2, "")
    assert (done.code, done.json["forgotten"], done.json["anchored_at"]) == (0, 1, "memory")
    assert recalled() == []


def test_a_key_is_forgotten_for_good_at_its_scope_and_outward() -> None:
    """SPEC F4: and what a read at the scope could be served from is named."""
    customer()

    done = ran("forget", *KEY, "--scope", "task:t1", "--session", "s1", "--user", SUBJECT, "--json")

    assert (done.code, done.json["durable"], done.json["anchored_at"]) == (0, True, f"user:{SUBJECT}")
    assert recalled() == []


def test_the_leaf_alone_is_said_not_to_be_durable_and_alerts_when_it_does_not_hold() -> None:
    """SPEC F5, F6: until when, and what still holds it."""
    customer()
    done = ran("forget", *KEY, "--scope", "task:t1", "--user", SUBJECT, "--leaf-only")

    assert done.code == 0
    assert "NOT DURABLE" in done.out
    assert f"still held in user:{SUBJECT} until" in done.out
    assert "probed at" in done.out
    assert ran("alerts", "--tenant", "acme").out == "There are no alerts.\n"


def test_alerts_are_listed_newest_first_and_page_by_page() -> None:
    """SPEC F6: what failed its probe is for a person to look at."""
    clock = MovableClock()
    with Tenure.open(STORE, clock=clock) as store:
        told(store)
        pia = store.session("acme", "support", "support", SUBJECT, roles=("privacy_officer",), name="pia")
        for task in ("t1", "t2"):
            scope = Scope(tier=Tier.TASK, id=task, session="s1", user=SUBJECT)
            pia.forget(key="address", scope=scope, leaf_only=True)
        clock.pass_time(days=1)
        assert store.upkeep().probed == 2

    first = ran("alerts", "--tenant", "acme", "--limit", "1", "--json").json
    rest = ran("alerts", "--tenant", "acme", "--cursor", first["next_cursor"], "--json").json
    text = ran("alerts", "--tenant", "acme", "--limit", "1")
    other = ran("alerts", "--tenant", "acme", "--kind", "write_surge")

    assert other.out == "There are no alerts.\n"
    assert [alert["kind"] for page in (first, rest) for alert in page["items"]] == ["forget-failed"] * 2
    assert first["items"][0]["seq"] > rest["items"][0]["seq"]
    assert rest["next_cursor"] is None
    assert "forget-failed" in text.out
    assert first["next_cursor"] in text.err
    assert ran("alerts", "--tenant", "acme", "--limit", "0").code == 2


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (("--tenant", "acme"), "say what to forget"),
        (("--tenant", "acme", "--key", "k", "--scope", "task:t1", *WALLS), "--subject is missing"),
        (("--tenant", "acme", "--key", "k", "--scope", "task:t1", "--subject", "s"), "--agent is missing"),
        (KEY, "at which scope"),
        ((*KEY, "--scope", "t1"), "a tier, a colon and an id"),
        ((*KEY, "--scope", "year:t1"), "Tiers: task, session, user"),
        ((*KEY, "--scope", "task:"), "scope"),
        ((*KEY, "--session", "s1"), "go with --scope"),
        ((*ABOUT, "--leaf-only"), "leaf_only goes with key"),
        ((*ABOUT, "--scope", "task:t1"), "scope goes with key"),
        ((*ABOUT, "--memory-id", "0191f3a0-0000-7000-8000-000000000000"), "exactly one thing"),
        ((*ABOUT, "--expected-version", "1"), "goes with memory_id"),
        ((*ABOUT, "--memory-id", "address"), "memory-id"),
    ],
    ids=str,
)
def test_a_wish_that_could_mean_another_or_more_is_refused(wish: tuple[str, ...], said: str) -> None:
    """SPEC F4, S2: asked wrongly, and nothing is forgotten."""
    customer()

    result = ran("forget", *wish)

    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert len(recalled()) == 1


def test_a_tenant_or_a_store_that_is_not_there_is_a_slip(tmp_path: Path) -> None:
    """SPEC S2: and makes nothing new."""
    nowhere = ran("forget", *ABOUT)
    assert not (tmp_path / "tenure-data").exists()
    customer()
    nobody = ran("forget", "--tenant", "nobody", "--subject", SUBJECT)

    assert (nowhere.code, nobody.code) == (1, 1)
    assert "no such tenant" in nobody.err
    assert ran("key", "list", "--tenant", "nobody").code == 1


def test_it_works_while_a_server_runs(served: Serving) -> None:
    """SPEC S1: through its control socket."""
    talk(served.folder, "forgets", "ann")

    done = ran("forget", "--tenant", "forgets", "--subject", "ann", "--data", served.folder, "--json")
    alerts = ran("alerts", "--tenant", "forgets", "--data", served.folder, "--json")

    assert (done.json["forgotten"], alerts.json["items"]) == (2, [])
