"""Tenure inside a program. Its awaited form is in awaited.py."""

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

import msgspec

from tenure.config import Settings
from tenure.config.loading import is_database_url
from tenure.core.access import check_grants
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Caller, checked_name
from tenure.entrypoints.library.sessions import Session
from tenure.usecases import evidence, upkeep
from tenure.usecases.access import grants_from
from tenure.usecases.ports import Clock, Rebuilt
from tenure.wiring import Node, open_node, open_store


class Tenure:
    """A governed memory in this process, safe to use from many threads.

    It owns its folder, or is one of any number of nodes over a database.
    """

    def __init__(self, node: Node) -> None:
        self.node = node

    @classmethod
    def open(
        cls, path: str | Path, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> "Tenure":
        """Open the store in the folder ``path``, or in the database ``postgresql://…``, made where it is new.

        The root key of a store in a database is of the settings, or lies in their ``data_dir``. Raises
        Unavailable when another process owns the folder, it cannot be written, or there is no such database.
        """
        place = str(path)
        if is_database_url(place):
            chosen = msgspec.structs.replace(settings or Settings(), database_url=place)
            return cls(open_node(chosen, clock=clock))
        if "://" in place:
            raise InvalidRequest(
                "this is the address of nothing that can be opened",
                field="path",
                hint="Give the path of a folder, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE; a server "
                "is reached with tenure.Client.",
            )
        return cls(open_store(path, settings=settings, clock=clock))

    def session(
        self,
        tenant: str,
        agent: str | None = None,
        purpose: str | None = None,
        subject: str | None = None,
        *,
        roles: Iterable[str] = ("writer", "reader"),
        source_types: Iterable[str] | None = None,
        name: str = "embedded",
        model_driven: bool = False,
    ) -> Session:
        """An authenticated principal with these grants; the embedding program is the authority for them.

        ``name`` is who it is in the audit: nobody promotes what the same name proposed. Without an agent and
        a purpose it is for the whole tenant, as who operates or audits it needs.
        """
        for field, value in (("tenant", tenant), ("agent", agent), ("purpose", purpose), ("name", name)):
            if value is not None:
                checked_name(value, field=field)
        grants = grants_from(
            roles=list(roles),
            agents=[agent] if agent is not None else None,
            purposes=[purpose] if purpose is not None else None,
            subjects=[checked_name(subject, field="subject")] if subject is not None else None,
            source_types=list(source_types) if source_types is not None else None,
            model_driven=model_driven,
        )
        wrong = check_grants(grants)
        if wrong is not None:
            raise wrong
        caller = Caller(tenant=tenant, id=f"embedded:{name}", name=name, grants=grants)
        return Session(self.node.pipeline, caller, subject=subject)

    def upkeep(self) -> upkeep.Round:
        """One round of upkeep: expiries, duplicates, contradictions, pruning, alerts, vectors, what was left.

        The service does this by itself.
        Over a database it does nothing while another node does the rounds.
        """
        return upkeep.upkeep_round(
            self.node.pipeline,
            batch_size=self.node.settings.upkeep.batch_size,
            watcher=self.node.watcher,
            messenger=self.node.messenger,
            embedding=self.node.embedding,
            passed=monotonic,
        )

    def verify(self, tenant: str) -> evidence.Verified:
        """Walk a tenant's log and say whether it is what was written."""
        return evidence.verify(self.node.pipeline, tenant)

    def rebuild(self) -> Rebuilt:
        """Drop and rebuild every projection from the log, and say whether it came out identical."""
        return self.node.store.rebuild()

    def close(self) -> None:
        """Write what still waits and give the folder or the connections back."""
        self.node.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
