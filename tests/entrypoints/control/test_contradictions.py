"""Contradictions on the machine of the store: seen by its owner, decided by a reviewer (SPEC S1, T3, A5)."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.entrypoints.control.standing import Standing, standing
from tests.usecases.asking import written

from tenure.config import Settings
from tenure.core.access import CreateKey
from tenure.core.errors import Forbidden, NotFound, Unauthenticated
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim
from tenure.entrypoints.control.arguments import Arguments
from tenure.entrypoints.control.client import Connection
from tenure.entrypoints.control.contradictions import (
    ContradictionsArguments,
    ResolveArguments,
    UnmergeArguments,
)
from tenure.entrypoints.control.reaching import Opened, Reached, answer, reach
from tenure.usecases.access import create_key, grants_from, local_operator
from tenure.usecases.contradictions import ContradictionPage, Resolved
from tenure.usecases.pipeline import Pipeline
from tenure.wiring import Node

LISTED = ContradictionsArguments(tenant="acme")


def key(node: Node, *roles: str) -> str:
    """A fresh key of acme."""
    command = CreateKey(name="ann", grants=grants_from(roles=list(roles)))
    return create_key(node.pipeline, local_operator("acme"), command).token


def dispute(pipeline: Pipeline) -> list[Memory]:
    """Two memories that cannot both be true, and two that say the same."""
    memories = [
        written(
            pipeline,
            f"The proxy of the shop is {value}",
            claim=Claim(entity="shop", attribute="proxy", value=value),
        )
        for value in ("nginx", "caddy")
    ]
    return [*memories, *(written(pipeline, "The shop opens at nine") for _time in range(2))]


def decided(reached: Reached, token: str, nginx: UUID, copy: UUID) -> list[Any]:
    """What is listed, a decision on it, and a merge undone."""
    (one,) = answer(reached, LISTED, ContradictionPage).items
    word = ResolveArguments(token=token, contradiction_id=one.id, keep=str(nginx), reason="looked")
    resolved = answer(reached, word, Resolved)
    undone = UnmergeArguments(token=token, memory_id=copy, reason="of the other shop")
    memory = answer(reached, undone, Memory)
    left = answer(reached, LISTED, ContradictionPage).items
    return [one.doubted.content, [other.status for other in resolved.memories], memory.status, left]


def test_what_is_decided_is_the_same_with_and_without_a_server(tmp_path: Path) -> None:
    """SPEC S1: one copy of each operation, whichever way it is reached; the reviewer stands in the log."""
    outcomes = []
    for name in ("one", "two"):
        with standing(tmp_path / name) as stands:
            nginx, _caddy, copy, _stands = dispute(stands.node.pipeline)
            token = key(stands.node, "reviewer")
            if name == "one":
                outcomes.append(decided(Opened(stands.node), token, nginx.id, copy.id))
                continue
            with reach(Settings(data_dir=str(tmp_path / name))) as connected:
                assert isinstance(connected, Connection)
                outcomes.append(decided(connected, token, nginx.id, copy.id))

    assert outcomes[0] == outcomes[1]
    assert outcomes[0] == ["The proxy of the shop is nginx", ["active", "superseded"], "active", ()]


@pytest.mark.parametrize(
    ("token", "expected"), [("nonsense", Unauthenticated), ("", Unauthenticated), (None, Forbidden)]
)
def test_a_decision_takes_a_reviewers_own_key(
    stands: Standing, token: str | None, expected: type[Exception]
) -> None:
    """SPEC A5: whoever owns the machine is no reviewer, nor is every caller one."""
    nginx, _caddy, copy, _stands = dispute(stands.node.pipeline)
    (one,) = answer(Opened(stands.node), LISTED, ContradictionPage).items
    given = token if token is not None else key(stands.node, "writer", "reader", "operator")
    words: tuple[tuple[Arguments, Any], ...] = (
        (ResolveArguments(token=given, contradiction_id=one.id, keep=str(nginx.id), reason="r"), Resolved),
        (UnmergeArguments(token=given, memory_id=copy.id, reason="r"), Memory),
    )

    for arguments, kind in words:
        with pytest.raises(expected):
            answer(Opened(stands.node), arguments, kind)
    assert len(answer(Opened(stands.node), LISTED, ContradictionPage).items) == 1


def test_a_tenant_that_is_not_there_has_no_contradictions_to_list(stands: Standing) -> None:
    """SPEC S2: a slip of the hand is no empty list."""
    with pytest.raises(NotFound):
        answer(Opened(stands.node), ContradictionsArguments(tenant="acne"), ContradictionPage)
