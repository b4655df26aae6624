"""Whatever was forgotten, and however, stays so when old data comes back (SPEC F4a, F9, F11)."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from tests.journeys.installation import Installation
from tests.journeys.keys import CONTENT, KEY, forget_key, kept, seen
from tests.usecases.asking import BOT, OFFICER, SUBJECT, TENANT, happened, source, written

from tenure.core.errors import MemoryRejected, NotFound
from tenure.core.forgetting import Forgotten
from tenure.core.memory import Memory
from tenure.core.vocabulary import Kind
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_MEMORY, FORGET_SUBJECT, ForgetMemory, ForgetSubject
from tenure.usecases.importing import Conversion, Turn, import_batch
from tenure.usecases.pipeline import Pipeline, UseCase
from tenure.usecases.reading import GET, HISTORY, LIST, Get, ListMemories

Form = Callable[[Pipeline, Memory], Forgotten]


def forget_subject(pipeline: Pipeline, _memory: Memory) -> Forgotten:
    """Everything about the subject."""
    return pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))


def forget_memory(pipeline: Pipeline, memory: Memory) -> Forgotten:
    """One memory, with all that was made from it."""
    return pipeline.run(
        FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=memory.id, expected_version=memory.version)
    )


FORMS: Final[dict[str, Form]] = {
    "subject": forget_subject,
    "memory": forget_memory,
    "key": lambda pipeline, _memory: forget_key(pipeline),
}
FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def held(pipeline: Pipeline) -> list[str | None]:
    """What the store still lists of the subject."""
    return [memory.content for memory in pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT)).items]


@FORM
def test_an_older_backup_brings_nothing_back(installation: Installation, tmp_path: Path, form: Form) -> None:
    """SPEC F11: each form is carried out again; a summary made from the memory goes along (SPEC F9)."""
    memory = kept(installation.pipeline)
    summary = written(
        installation.pipeline, "Is best reached in writing", kind=Kind.SUMMARY, derived_from=(memory.id,)
    )
    copy = installation.back_up(tmp_path / "backup")
    answer = form(installation.pipeline, memory)
    before = happened(installation.pipeline)
    installation.clock.pass_time(hours=2)

    restored = installation.restore(copy)

    assert (answer.forgotten, restored.forgets) == (2, 1)
    assert happened(installation.pipeline) == before
    assert seen(installation.pipeline) == set()
    assert held(installation.pipeline) == []
    reads: tuple[UseCase[Get, Any, Any], ...] = (GET, HISTORY)
    for read in reads:
        for memory_id in (memory.id, summary.id):
            with pytest.raises(NotFound):
                installation.pipeline.run(read, BOT, Get(memory_id=memory_id))
    with pytest.raises(MemoryRejected):
        kept(installation.pipeline)
    assert verify(installation.pipeline, TENANT).holds
    assert installation.pipeline.store.rebuild().identical


@FORM
def test_the_second_restore_brings_nothing_back_either(
    installation: Installation, tmp_path: Path, form: Form
) -> None:
    """SPEC F11: a forget is repeated wherever it is missing, and only there."""
    memory = kept(installation.pipeline)
    copy = installation.back_up(tmp_path / "first")
    form(installation.pipeline, memory)

    assert installation.restore(copy).forgets == 1
    later = installation.back_up(tmp_path / "second")
    assert installation.restore(later).forgets == 0
    assert seen(installation.pipeline) == set()
    assert installation.restore(copy).forgets == 1
    assert seen(installation.pipeline) == set()


@FORM
def test_the_same_value_is_refused_after_each_form(installation: Installation, form: Form) -> None:
    """SPEC F4b: under a new id, without a key, from another source."""
    memory = kept(installation.pipeline)
    form(installation.pipeline, memory)
    installation.clock.pass_time(minutes=5)

    with pytest.raises(MemoryRejected, match="forgotten here before") as refused:
        written(installation.pipeline, CONTENT.upper(), source=source(id_="crm-99"))

    assert refused.value.details["rule"] == "forgotten-value"
    assert written(installation.pipeline, "Prefers a letter", key=KEY).content == "Prefers a letter"


def talk(text: str, when: str) -> list[Turn]:
    """A conversation of one turn."""
    return [Turn(id="t1", session=1, speaker="Ann", text=text, date=when)]


def imported(pipeline: Pipeline, turns: list[Turn]) -> tuple[int, int]:
    """Import a conversation about the subject: how many proposals were held or admitted, and rejected."""
    conversion = Conversion(agent="support", purpose="answering", subject=SUBJECT)
    items = [one for turn in turns for one in conversion.proposals("talk-1", turn)]
    found = import_batch(pipeline, TENANT, items)
    return found.admitted + found.quarantined, sum(found.rejected.values())


def test_a_later_import_of_the_same_conversation_is_refused_and_a_newer_one_allowed(
    installation: Installation,
) -> None:
    """SPEC F5, F4a: what the subject said before it was forgotten stays out, under whatever id it comes."""
    before = "9:00 am on 3 May, 2031"
    assert datetime(2031, 5, 3, 9, tzinfo=UTC) < installation.clock.now()
    assert imported(installation.pipeline, talk("The parcel is blue.", before)) == (1, 0)
    forget_subject(installation.pipeline, kept(installation.pipeline))
    installation.clock.pass_time(days=2)

    again = talk("The parcel is blue.", before)
    reworded = [Turn(id="t7", session=1, speaker="Ann", text="My parcel was the blue one.", date=before)]
    newer = [Turn(id="t8", session=1, speaker="Ann", text="It has arrived.", date="9:00 am on 6 May, 2031")]

    assert imported(installation.pipeline, reworded) == (0, 1)
    assert imported(installation.pipeline, again)[0] == 0
    assert imported(installation.pipeline, newer) == (1, 0)
