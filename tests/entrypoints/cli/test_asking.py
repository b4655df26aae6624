"""`tenure recall` and `tenure neighbours`: what an agent would be shown (SPEC S1, R1, R6, R7)."""

from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import Serving, ran
from tests.entrypoints.cli.customers import ADDRESS, STORE, SUBJECT, WALLS, customer, talk

from tenure import Source, Tenure
from tenure.core.identity import Scope, Tier
from tenure.core.vocabulary import Claim

ASK = ("--tenant", "acme", *WALLS)


def test_what_an_agent_would_be_shown_is_printed_with_what_came_of_it() -> None:
    """SPEC R6: the very block, and below it how much, by what, and the receipt."""
    customer()

    told = ran("recall", "where do parcels go?", *ASK, "--subject", SUBJECT)
    said = ran("recall", "where do parcels go?", *ASK, "--subject", SUBJECT, "--explain", "--json")

    assert told.code == 0, told.err
    opening, item, closing, count, ranked, receipt = told.out.splitlines()
    assert opening.startswith("<memory-data nonce=")
    assert ADDRESS in item
    assert closing.startswith("</memory-data nonce=")
    assert count.startswith("1 memory, ")
    assert ranked.startswith("ranked by  words, ")
    assert receipt.startswith("receipt    ")
    assert [one["memory"]["content"] for one in said.json["items"]] == [ADDRESS]
    assert set(said.json["items"][0]["why"]) >= {"words"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("parcels", "lane", "nothing at all"), [ADDRESS]),
        (("--key-prefix", "addr"), [ADDRESS]),
        (("--key-prefix", "phone"), []),
        (("--kind", "fact", "--kind", "skill"), [ADDRESS]),
        (("--kind", "skill"), []),
        (("--since", "2001-01-31"), [ADDRESS]),
        (("--until", "2001-01-31T09:30:00+02:00"), []),
        (("parcels", "--min-trust", "reviewer_verified"), []),
        (("parcels", "--scope", f"user:{SUBJECT}"), [ADDRESS]),
        (("parcels", "--scope", "user:customer-8"), []),
        (("parcels", "--as-of", "2001-01-31"), []),
        (("parcels", "--valid-at", "2001-01-31"), [ADDRESS]),
        (("parcels", "--subject", "customer-8"), []),
        (("parcels", "--budget-tokens", "1"), []),
        (("parcels", "--time-zone", "Europe/Paris", "--limit", "1"), [ADDRESS]),
    ],
    ids=" ".join,
)
def test_every_option_narrows_as_over_http(options: tuple[str, ...], expected: list[str]) -> None:
    """SPEC R1: the names are the same on every way in."""
    customer()

    said = ran("recall", *options, *ASK, "--json")

    assert said.code == 0, said.out
    assert [one["memory"]["content"] for one in said.json["items"]] == expected


def test_what_gives_way_to_what_is_believed_first_is_counted() -> None:
    """SPEC T3: and whoever reads is told that somebody has to decide."""
    task = Scope(tier=Tier.TASK, id="t-1")
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        for name, scope in (("nginx", None), ("Caddy", task)):
            claim = Claim(entity="shop", attribute="proxy", value=name)
            text, source = f"The proxy of the shop is {name}", Source.application("crm-1")
            bot.remember(text, kind="fact", source=source, claim=claim, scope=scope)

    told = ran("recall", "proxy", *ASK)

    assert told.code == 0, told.err
    assert "left out: 1 since another is believed before; a person has to decide" in told.out
    assert '"note":"Contradicted by memory' in told.out


def test_what_cannot_be_seen_is_spelled_out() -> None:
    """SPEC R6: no text moves the cursor of whoever reads, or turns a line around."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        bot.remember("Shelf\x9b2J nine\u0085", kind="fact", source=Source.application("crm-1"))

    told = ran("recall", "shelf nine", *ASK)

    assert told.code == 0
    assert all(one.isprintable() or one == "\n" for one in told.out)
    assert (
        ran("recall", "--kind", "fact", *ASK, "--json")
        .json["items"][0]["memory"]["content"]
        .startswith("Shelf")
    )


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ((), "query"),
        (("",), "queries"),
        (("a", "--kind", "rumour"), "kind"),
        (("a", "--min-trust", "blind"), "min-trust"),
        (("a", "--scope", "town:1"), "scope"),
        (("a", "--time-zone", "Mars"), "time_zone"),
        (("a", "--limit", "0"), "limit"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_a_usage_error(options: tuple[str, ...], field: str) -> None:
    """SPEC S2: exit code 2, with the field."""
    customer()

    told = ran("recall", *options, *ASK, "--json")

    assert (told.code, told.json["field"]) == (2, field)


@pytest.mark.parametrize("options", [(), ("--tenant", "acme")], ids=["any tenant", "named tenant"])
def test_neighbours_are_printed_in_their_order(options: tuple[str, ...]) -> None:
    """SPEC R2a: as many as are asked for on either side."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        turns = [
            bot.remember(
                f"Van {number} is red",
                kind="fact",
                source=Source.application(f"crm-{number}", thread="vans", position=number),
            )
            for number in range(5)
        ]

    said = ran("neighbours", str(turns[2].id), "--before", "1", "--after", "2", *options, "--json")
    told = ran("neighbours", str(turns[2].id), *options)

    assert [one["memory"]["id"] for one in said.json["items"]] == [str(turn.id) for turn in turns[1:]]
    assert (told.code, told.out.count("is red")) == (0, 5)


def test_a_server_that_runs_is_asked(served: Serving) -> None:
    """SPEC S1: through its socket."""
    talk(served.folder, "asking", "talk")

    said = ran("recall", "lane", "--tenant", "asking", *WALLS, "--data", served.folder, "--json")

    assert next(one["memory"]["content"] for one in said.json["items"]) == ADDRESS


def test_a_recall_has_what_stale_memories_name_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6: where an operator allows it, by the settings of this command or of the server."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        text = f"The configuration lives in {tmp_path}/gone.conf."
        bot.remember(text, kind="fact", source=Source.application("crm-1"))
    monkeypatch.setenv("TENURE_RECALL__STALE_AFTER_SECONDS", "0")

    off = ran("recall", "configuration", *ASK, "--probe")
    monkeypatch.setenv("TENURE_PROBES__ALLOW", f"acme file:{tmp_path}/*")
    monkeypatch.setenv("TENURE_PROBES__ROOTS", str(tmp_path))
    looked = ran("recall", "configuration", *ASK, "--probe")

    assert "WITHOUT    probes" in off.out.splitlines()
    assert "Do not act on this" in looked.out
    assert any(line.startswith("probe      ") and "fails: " in line for line in looked.out.splitlines())
