"""`tenure contradictions` and `tenure unmerge`, as their users run them (SPEC S1, T2, T3)."""

from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import ran
from tests.entrypoints.cli.customers import STORE, customer

from tenure import Claim, Source, Tenure
from tenure.core.memory import Memory

KEY = Path("ann.key")
TENANT = ("--tenant", "acme")
DECIDING = ("--reason", "looked at the host", "--key-file", str(KEY))


def disputed() -> list[Memory]:
    """Two memories that cannot both be true, two that say the same, and ann's key in a file."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", "shop")
        memories = [
            bot.remember(
                f"The proxy of the shop\nis {value}\x1b[2J",
                kind="fact",
                source=Source.application("deploy-1"),
                claim=Claim(entity="shop", attribute="proxy", value=value),
            )
            for value in ("nginx", "caddy")
        ]
        memories += [
            bot.remember("The shop opens at nine", kind="fact", source=Source.application(name))
            for name in ("deploy-1", "crm-1")
        ]
    made = ran("key", "create", *TENANT, "--name", "ann", "--role", "reviewer", "--json")
    KEY.write_text(f"{made.json['token']}\n", encoding="utf-8")
    return memories


def contradiction() -> str:
    """The id of the one that waits."""
    (one,) = ran("contradictions", "list", *TENANT, "--json").json["items"]
    return str(one["id"])


def test_what_cannot_both_be_true_is_listed() -> None:
    """SPEC T3: each with its two sides, and nothing in it that moves the cursor; `list` may be left out."""
    nginx, caddy, *_same = disputed()

    told, short = ran("contradictions", "list", *TENANT), ran("contradictions", *TENANT)

    assert (told.code, told.err) == (0, "")
    assert told.out == short.out
    head, believed, doubted = told.out.splitlines()
    assert head.endswith(f"{contradiction()}  superseded")
    said = "The proxy of the shop is caddy\\u001b[2J"
    assert believed.split() == ["believed", str(caddy.id), "active", *said.split()]
    assert doubted.split()[:3] == ["doubted", str(nginx.id), "superseded"]


def test_a_reviewer_decides_with_a_key_of_their_own() -> None:
    """SPEC T3, A5: once, for a reason."""
    nginx, caddy, *_same = disputed()
    which = contradiction()

    done = ran("contradictions", "resolve", which, "--keep", str(nginx.id), *DECIDING)
    again = ran("contradictions", "resolve", which, "--keep", "both", *DECIDING, "--json")

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"kept: {nginx.id}",
        f"memory {nginx.id} is active",
        f"memory {caddy.id} is superseded",
    ]
    assert (again.code, again.json["kept"]) == (1, str(nginx.id))
    assert ran("contradictions", *TENANT).out == "There are no contradictions.\n"
    decided = ran("contradictions", "list", *TENANT, "--open", "false")
    assert decided.out.splitlines()[0].endswith(f"decided: {nginx.id}")


def test_both_are_kept_by_the_word() -> None:
    """SPEC T3: said as it is everywhere."""
    disputed()

    done = ran("contradictions", "resolve", contradiction(), "--keep", "both", *DECIDING, "--json")

    assert (done.code, done.json["contradiction"]["kept"]) == (0, "both")
    assert [one["status"] for one in done.json["memories"]] == ["active"]


def test_a_merge_is_undone() -> None:
    """SPEC T2: once; it stands for itself again."""
    *_pair, copy, _stands = disputed()

    done, again = ran("unmerge", str(copy.id), *DECIDING), ran("unmerge", str(copy.id), *DECIDING)

    assert (done.code, done.err) == (0, "")
    assert done.out == f"memory {copy.id} is active, at version 3\n"
    assert (again.code, "not merged" in again.err) == (1, True)


@pytest.mark.parametrize("written", [None, "", "nonsense", "\xff"])
def test_a_key_that_is_none_decides_on_nothing(written: str | None) -> None:
    """SPEC A1, A5: no error repeats what the file holds."""
    nginx, *_others = disputed()
    which = contradiction()
    if written is None:
        KEY.unlink()
    else:
        KEY.write_bytes(written.encode("latin-1"))

    refused = ran("contradictions", "resolve", which, "--keep", str(nginx.id), *DECIDING)

    assert refused.code != 0
    assert "nonsense" not in refused.err + refused.out
    assert contradiction() == which


def test_pages_and_narrowing_and_slips() -> None:
    """SPEC S2: where there is more is said beside; a word that is none is named."""
    with Tenure.open(STORE) as store:
        for number in range(2):
            bot = store.session("acme", "support", "support", f"shop-{number}")
            for value in ("nginx", "caddy"):
                bot.remember(
                    f"The proxy is {value}",
                    kind="fact",
                    source=Source.application("deploy-1"),
                    claim=Claim(entity="shop", attribute="proxy", value=value),
                )

    first = ran("contradictions", *TENANT, "--limit", "1")
    cursor = first.err.strip().rpartition(" ")[2]
    second = ran("contradictions", *TENANT, "--limit", "1", "--cursor", cursor)

    assert first.err.startswith("tenure: there may be more: --cursor before:")
    assert len({first.out, second.out}) == 2
    assert ran("contradictions", *TENANT, "--subject", "shop-1").out == first.out
    assert ran("contradictions", *TENANT, "--agent", "sales").out == "There are no contradictions.\n"
    assert ran("contradictions", *TENANT, "--purpose", "else", "--json").json["items"] == []
    assert (ran("contradictions", *TENANT, "--open", "maybe").code, ran("contradictions").code) == (2, 2)
    assert "no such tenant" in ran("contradictions", "--tenant", "acne").err


def test_nothing_to_decide_is_said_in_words() -> None:
    """SPEC S1: an empty list says nothing."""
    customer()

    assert ran("contradictions", *TENANT).out == "There are no contradictions.\n"
    assert "list" in ran("contradictions", "--help").out
