"""`tenure key` makes, lists and ends credentials, with and without a running server."""

from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import Serving, at, ran
from tests.stores.engine import Engine

from tenure.core.errors import Unauthenticated
from tenure.core.identity import Role, SourceType
from tenure.wiring import authenticator

CREATE = ("key", "create", "--tenant", "acme", "--name", "bot")


def test_a_created_keys_token_opens_what_was_granted_and_no_more(engine: Engine) -> None:
    """SPEC A1, A2, A3, A4: every repeatable option is taken as often as it is given."""
    sides = (
        *("--role", "writer", "--role", "reader"),
        *("--agent", "a", "--agent", "b", "--purpose", "p", "--subject", "s", "--subject", "t"),
        *("--source-type", "email", "--source-type", "web", "--model-driven"),
    )

    made = ran(*CREATE, *sides, *at(engine), "--json").json

    with engine.open() as node:
        caller = authenticator(node)(made["token"])
    assert (caller.tenant, caller.id, caller.name) == ("acme", made["id"], "bot")
    assert caller.grants.roles == {Role.WRITER, Role.READER}
    assert caller.grants.agents == frozenset({"a", "b"})
    assert caller.grants.purposes == frozenset({"p"})
    assert caller.grants.subjects == frozenset({"s", "t"})
    assert caller.grants.source_types == frozenset({SourceType.EMAIL, SourceType.WEB})
    assert caller.grants.model_driven


def test_sides_that_are_left_out_are_not_narrowed(engine: Engine) -> None:
    """SPEC A2: and the answer shows it by their absence."""
    made = ran(*CREATE, "--role", "reader", *at(engine), "--json").json

    assert made["grants"] == {"roles": ["reader"]}


def test_the_token_is_shown_once_and_never_listed(engine: Engine) -> None:
    """SPEC A1: it is stored hashed, so nobody can read it back."""
    made = ran(*CREATE, "--role", "reader", *at(engine))
    listed = ran("key", "list", *at(engine))

    token = next(line.split()[1] for line in made.out.splitlines() if line.startswith("token"))
    assert token.startswith("tnr.")
    assert "bot" in listed.out
    assert token not in listed.out
    assert token.rpartition(".")[2] not in listed.out


def test_a_revoked_key_opens_nothing_and_stays_in_the_list(engine: Engine) -> None:
    """SPEC A1: ending it twice changes nothing."""
    made = ran(*CREATE, "--role", "reader", *at(engine), "--json").json

    first = ran("key", "revoke", made["id"], *at(engine), "--json")
    again = ran("key", "revoke", made["id"], "--tenant", "acme", *at(engine))

    assert (first.code, again.code) == (0, 0)
    assert first.json["revoked_at"]
    assert "revoked" in ran("key", "list", *at(engine)).out
    with engine.open() as node, pytest.raises(Unauthenticated):
        authenticator(node)(made["token"])


def test_keys_are_listed_by_tenant_or_all_together(engine: Engine) -> None:
    """SPEC M2: the machine's owner may look at every tenant's keys, and name one."""
    for tenant in ("acme", "other"):
        ran("key", "create", "--tenant", tenant, "--name", "n", "--role", "reader", *at(engine))

    everything = ran("key", "list", *at(engine), "--json").json["items"]
    one = ran("key", "list", "--tenant", "other", *at(engine), "--json").json["items"]
    none = ran("key", "list", "--tenant", "nobody", *at(engine))

    assert [key["tenant"] for key in everything] == ["acme", "other"]
    assert [key["tenant"] for key in one] == ["other"]
    assert none.code == 1


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--role", "wizard"), 2, "Known: writer"),
        (("--role", "reader", "--source-type", "fax"), 2, "Known: direct_user"),
        (("--role", "reviewer", "--model-driven"), 1, "model-driven"),
        (("--role", "subject"), 2, "must name its subject"),
        (("--role", "reader", "--agent", " "), 2, "agent"),
    ],
)
def test_grants_that_cannot_be_are_refused(
    engine: Engine, options: tuple[str, ...], code: int, said: str
) -> None:
    """SPEC A4, A5: the rule is named, and no key is made."""
    result = ran(*CREATE, *options, *at(engine))

    assert result.code == code
    assert said in result.err


def test_an_unknown_word_makes_no_store(tmp_path: Path) -> None:
    """SPEC S2: a slip of the hand leaves nothing behind."""
    ran(*CREATE, "--role", "wizard", "--data", tmp_path / "store")

    assert not (tmp_path / "store").exists()


def test_keys_are_made_and_ended_while_a_server_runs(served: Serving) -> None:
    """SPEC S1, A1: through its control socket; the server obeys at once."""
    made = ran(*CREATE, "--role", "reader", "--data", served.folder, "--json").json
    listed = ran("key", "list", "--data", served.folder, "--json").json["items"]
    revoked = ran("key", "revoke", made["id"], "--data", served.folder)

    assert {"bootstrap", "bot"} <= {key["name"] for key in listed}
    assert revoked.code == 0
