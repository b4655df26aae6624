"""A store in the current folder with something held about a customer, made as an embedding program would."""

import json
from pathlib import Path
from typing import Final
from uuid import UUID

from tests.entrypoints.cli.commands import ran

from tenure import Source, Tenure
from tenure.core.identity import Scope, Tier

STORE: Final = Path("tenure-data")
SUBJECT: Final = "customer-7"
ABOUT: Final = ("--tenant", "acme", "--subject", SUBJECT)
WALLS: Final = ("--agent", "support", "--purpose", "support")
ADDRESS: Final = "Parcels go to 4 Mill Lane"


def customer(subject: str = SUBJECT) -> UUID:
    """A store in which there is something to forget."""
    with Tenure.open(STORE) as store:
        return told(store, subject)


def told(store: Tenure, subject: str = SUBJECT) -> UUID:
    """Something to forget: an address under a key, that a recall has shown."""
    bot = store.session("acme", "support", "support", subject)
    memory = bot.remember(
        ADDRESS,
        kind="fact",
        source=Source.application("crm-1"),
        key="address",
        scope=Scope(tier=Tier.USER, id=subject),
    )
    bot.recall("where do parcels go?")
    return memory.id


def recalled(subject: str = SUBJECT) -> list[str | None]:
    """What a recall about the customer gives."""
    with Tenure.open(STORE) as store:
        return [one.content for one in store.session("acme", "support", "support", subject).recall("Lane?")]


def talk(folder: Path, tenant: str, subject: str) -> None:
    """Something held in a store that a server may run on: an imported conversation."""
    file = Path(f"{subject}.json")
    turns = [{"id": "t1", "text": ADDRESS}, {"id": "t2", "text": "Rings twice"}]
    file.write_text(json.dumps([{"id": subject, "turns": turns}]), encoding="utf-8")
    done = ran("import", "chat", file, "--tenant", tenant, *WALLS, "--data", folder)
    assert done.code == 0, done.err
