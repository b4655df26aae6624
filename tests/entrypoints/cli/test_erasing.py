"""`tenure erase`, `tenure hold` and `tenure export` (SPEC F7, F8, F10, F12)."""

import json
from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import Serving, ran
from tests.entrypoints.cli.customers import ABOUT, ADDRESS, STORE, SUBJECT, customer, recalled, talk
from typer.testing import CliRunner

from tenure.core.erasure import Certificate, decoded
from tenure.entrypoints.cli import erasing
from tenure.entrypoints.cli.main import app


def certificate(file: str) -> Certificate:
    """What stands in a certificate's file."""
    return decoded(Path(file).read_bytes())


def test_a_subject_is_erased_and_its_certificate_lies_beside() -> None:
    """SPEC F7, F8: nothing is left in the files, and only its owner may read the certificate."""
    memory_id = customer()

    done = ran("erase", *ABOUT)

    assert done.code == 0
    assert "certificate  erasure-customer-7.json" in done.out
    assert certificate("erasure-customer-7.json").statement.memory_ids == (memory_id,)
    assert Path("erasure-customer-7.json").stat().st_mode & 0o777 == 0o600
    assert recalled() == []
    assert not [path for path in STORE.iterdir() if path.is_file() and ADDRESS.encode() in path.read_bytes()]


def test_erasing_again_gives_the_same_certificate() -> None:
    """SPEC F8: with --json on standard output, where no file is asked for."""
    customer()
    ran("erase", *ABOUT)
    written = Path("erasure-customer-7.json").read_bytes()
    Path("erasure-customer-7.json").unlink()

    again = ran("erase", *ABOUT, "--json")

    assert decoded(again.out) == decoded(written)
    assert not Path("erasure-customer-7.json").exists()
    ran("erase", *ABOUT, "--json", "--out", "mine.json")
    assert Path("mine.json").read_bytes() == written


def test_the_certificate_of_an_earlier_erasure_is_not_replaced_by_chance() -> None:
    """SPEC F8: each is evidence of its own."""
    customer()
    ran("erase", *ABOUT)
    first = certificate("erasure-customer-7.json")
    ran("erase", *ABOUT)
    assert len(list(Path.cwd().glob("erasure-*.json"))) == 1
    customer()

    second = ran("erase", *ABOUT)

    assert certificate("erasure-customer-7.json") == first
    (other,) = Path.cwd().glob("erasure-customer-7-*.json")
    assert certificate(other.name).statement.certificate_id != first.statement.certificate_id
    assert other.name in second.out


def test_a_name_that_no_file_may_have_is_made_safe() -> None:
    """SPEC S2: a subject's name is never a path."""
    customer("../ann/7 ü")

    done = ran("erase", "--tenant", "acme", "--subject", "../ann/7 ü")

    assert "certificate  erasure-.._ann_7__.json" in done.out
    assert certificate("erasure-.._ann_7__.json").statement.subject == "../ann/7 ü"


@pytest.mark.parametrize(("says", "code"), [("n\n", 1), ("", 1), ("y\n", 0)])
def test_on_a_terminal_it_asks_first(monkeypatch: pytest.MonkeyPatch, says: str, code: int) -> None:
    """SPEC F7: what cannot be undone is said so; the question does not mix with the answer."""
    customer()
    monkeypatch.setattr(erasing, "on_a_terminal", lambda: True)

    result = CliRunner().invoke(app, ["erase", *ABOUT, "--json"], input=says)

    assert result.exit_code == code
    assert "cannot be undone" in result.stderr
    assert (result.stdout == "") is bool(code)
    assert len(recalled()) == code


def test_with_yes_it_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S1: for scripts that have a terminal."""
    customer()
    monkeypatch.setattr(erasing, "on_a_terminal", lambda: True)

    assert (ran("erase", *ABOUT, "--yes").code, recalled()) == (0, [])


@pytest.mark.parametrize("out", ["nowhere/certificate.json", "."])
def test_without_a_place_for_the_certificate_nothing_is_erased(out: str) -> None:
    """SPEC F8: found before, not after."""
    customer()

    done = ran("erase", *ABOUT, "--out", out)

    assert (done.code, done.out) == (1, "")
    assert "cannot be written" in done.err
    assert len(recalled()) == 1


def test_a_hold_forbids_it_until_it_is_released() -> None:
    """SPEC F10: exit 1, the reason and the hint, and nothing is changed."""
    customer()
    placed = ran("hold", "place", *ABOUT, "--reason", "court", "--review-at", "2099-01-31", "--json")

    refused = ran("erase", *ABOUT, "--json")

    assert placed.json["review_at"] == "2099-01-31T00:00:00Z"
    assert ran("hold", "show", *ABOUT, "--json").json == placed.json
    assert (refused.code, refused.json["type"].rpartition("/")[2]) == (1, "on-hold")
    assert len(recalled()) == 1
    assert not list(Path.cwd().glob("erasure-*"))
    released = ran("hold", "release", *ABOUT, "--reason", "settled")
    assert "on hold no longer" in released.out
    assert ran("hold", "show", *ABOUT).code == ran("hold", "release", *ABOUT, "--reason", "x").code == 1
    assert ran("erase", *ABOUT).code == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--reason", "court", "--review-at", "2001-01-31"), 2),
        (("--reason", "court", "--review-at", "soon"), 2),
        (("--reason", ""), 2),
        ((), 2),
        (("--reason", "court", "--review-at", "2099-01-31T12:00:00+02:00"), 0),
    ],
    ids=["past", "words", "empty", "none", "zone"],
)
def test_a_hold_needs_a_reason_and_a_date_that_lies_ahead(options: tuple[str, ...], code: int) -> None:
    """SPEC F10: asked wrongly, nothing is placed."""
    customer()

    placed = ran("hold", "place", *ABOUT, *options)

    assert (placed.code, ran("hold", "show", *ABOUT).code) == (code, min(code, 1))


def test_a_holds_text_says_who_and_until_when() -> None:
    """SPEC F10: the reason is in the log, sealed, and not here."""
    customer()

    placed = ran("hold", "place", *ABOUT, "--reason", "court", "--review-at", "2099-01-31T12:00:00+02:00")

    assert "by local:operator" in placed.out
    assert "2099-01-31 10:00 UTC" in placed.out
    assert "court" not in placed.out


def test_an_export_is_whole_and_its_owners_alone_to_read() -> None:
    """SPEC F12: what is forgotten is still held, so it is in it."""
    customer()
    ran("forget", *ABOUT)

    done = ran("export", *ABOUT, "--json")

    export = json.loads(Path("export-customer-7.json").read_text(encoding="utf-8"))
    assert done.json == {"file": "export-customer-7.json", "memories": 1, "recalls": 1, "events": 3}
    assert Path("export-customer-7.json").stat().st_mode & 0o777 == 0o600
    assert [(held["memory"]["content"], held["readable"]) for held in export["memories"]] == [
        (ADDRESS, False)
    ]
    assert export["recalls"][0]["memory_ids"] == [export["memories"][0]["memory"]["id"]]


def test_an_export_goes_to_standard_output_or_to_a_named_file() -> None:
    """SPEC F12, E2: the same but for the time and the export before it; and one of two answers."""
    customer()

    shown = ran("export", "-", *ABOUT)
    named = ran("export", "mine.json", *ABOUT)
    both = ran("export", "-", *ABOUT, "--json")

    written = json.loads(Path("mine.json").read_text(encoding="utf-8"))
    (first,) = written["events"][len(shown.json["events"]) :]
    assert (first["event"], first["data"]["what"]) == ("read.answered", "export-subject")
    assert shown.json | {"exported_at": "", "events": [*shown.json["events"], first]} == written | {
        "exported_at": ""
    }
    assert named.out == f"1 memories, 1 recalls, 3 events of {SUBJECT} in mine.json\n"
    assert both.code == 2
    assert ran("export", "nowhere/mine.json", *ABOUT).code == 1


def test_after_an_erasure_an_export_holds_no_content() -> None:
    """SPEC F7, F12: the ids stay, as the certificate says."""
    customer()
    ran("erase", *ABOUT)

    export = ran("export", "-", *ABOUT)

    assert ADDRESS not in export.out
    assert [held["memory"]["status"] for held in export.json["memories"]] == ["erased"]


def test_all_of_it_works_while_a_server_runs(served: Serving) -> None:
    """SPEC S1: through its control socket, with the same answers."""
    talk(served.folder, "erases", "ann")
    about = ("--tenant", "erases", "--subject", "ann", "--data", served.folder)

    assert ran("export", "all.json", *about, "--json").json["memories"] == 2
    assert ran("hold", "place", *about, "--reason", "court").code == 0
    assert ran("erase", *about, "--json").json["status"] == 409
    assert ran("hold", "release", *about, "--reason", "settled").code == 0
    assert ran("erase", *about).code == 0
    verified = ran("certificate", "verify", "erasure-ann.json", "--data", served.folder, "--json").json
    assert (verified["holds"], verified["key_checked"]) == (True, True)
