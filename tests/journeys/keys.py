"""A key that is kept in scopes, and every way in which a reader could come upon it."""

from collections.abc import Callable
from typing import Final

from tests.usecases.asking import AGENT, BOT, OFFICER, PURPOSE, SUBJECT, question, written

from tenure.core.errors import NotFound
from tenure.core.forgetting import ForgetKey, Forgotten
from tenure.core.identity import Scope, Tier
from tenure.core.memory import Memory
from tenure.usecases.forgetting import FORGET_KEY
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.retrieval import RECALL
from tenure.usecases.scopes import RESOLVE, ResolveKey

KEY: Final = "contact"
CONTENT: Final = "Prefers e-mail to phone"
USER: Final = Scope(tier=Tier.USER, id=SUBJECT)
SESSION: Final = Scope(tier=Tier.SESSION, id="session-1", user=SUBJECT)
TASK: Final = Scope(tier=Tier.TASK, id="task-1", session="session-1", user=SUBJECT)
OTHER_TASK: Final = Scope(tier=Tier.TASK, id="task-2", session="session-1", user=SUBJECT)


def kept(pipeline: Pipeline, scope: Scope = USER, content: str = CONTENT, **sides: object) -> Memory:
    """A memory with the key, in a scope."""
    return written(pipeline, content, key=KEY, scope=scope, **sides)


def forget_key(pipeline: Pipeline, scope: Scope = TASK, *, leaf_only: bool = False) -> Forgotten:
    """Forget the key at a scope."""
    command = ForgetKey(
        agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key=KEY, scope=scope, leaf_only=leaf_only
    )
    return pipeline.run(FORGET_KEY, OFFICER, command)


def resolved(pipeline: Pipeline, scope: Scope) -> str | None:
    """What the key means at a scope; None where it is absent."""
    command = ResolveKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key=KEY, scope=scope)
    try:
        return pipeline.run(RESOLVE, BOT, command).content
    except NotFound:
        return None


def recalled(pipeline: Pipeline, scope: Scope | None) -> set[str | None]:
    """What a recall shows, at a scope or, without one, in all of them."""
    found = pipeline.run(RECALL, BOT, question(scope=scope, limit=20)).items
    return {item.memory.content for item in found}


def listed(pipeline: Pipeline) -> set[str | None]:
    """What stands in the list of the key, whatever the scope."""
    page = pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT, key=KEY))
    return {memory.content for memory in page.items}


def ways(pipeline: Pipeline) -> dict[str, Callable[[], bool]]:
    """Every way to the memory: at the leaf, from the scopes around it, from a neighbour, and by wildcard."""
    scopes = {"task": TASK, "other task": OTHER_TASK, "session": SESSION, "user": USER}
    by_key: dict[str, Callable[[], bool]] = {
        f"key at {name}": lambda scope=scope: resolved(pipeline, scope) == CONTENT  # type: ignore[misc]
        for name, scope in scopes.items()
    }
    by_words: dict[str, Callable[[], bool]] = {
        f"recall at {name}": lambda scope=scope: CONTENT in recalled(pipeline, scope)  # type: ignore[misc]
        for name, scope in scopes.items()
    }
    wild: dict[str, Callable[[], bool]] = {
        "recall anywhere": lambda: CONTENT in recalled(pipeline, None),
        "list of the key": lambda: CONTENT in listed(pipeline),
    }
    return by_key | by_words | wild


def seen(pipeline: Pipeline) -> set[str]:
    """The ways by which the memory can be come upon now."""
    return {way for way, finds in ways(pipeline).items() if finds()}
