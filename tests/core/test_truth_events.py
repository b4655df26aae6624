"""Events about duplicates and contradictions: they survive storage, and hold nothing that a memory says."""

import msgspec
import pytest
from tests.core import examples

from tenure.core import truth_events

EXAMPLES = [one for one in examples.EXAMPLES if type(one).__module__ == truth_events.__name__]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: type(one).__name__)
def test_an_event_comes_back_as_it_was_stored(example: msgspec.Struct) -> None:
    """SPEC E3: with every field given, and with what may be left out left out."""
    assert msgspec.json.decode(msgspec.json.encode(example), type=type(example)) == example


def test_every_shape_has_an_example() -> None:
    """SPEC E3: none is added without being tried."""
    shapes = {
        one
        for one in vars(truth_events).values()
        if isinstance(one, type) and issubclass(one, msgspec.Struct)
    }

    assert shapes == {type(one) for one in EXAMPLES}


def test_no_shape_has_room_for_what_a_memory_says() -> None:
    """SPEC E6: the header is open text, so that contents, claims and reasons are in none of its fields."""
    names = {field.name for one in EXAMPLES for field in msgspec.structs.fields(type(one))}

    assert not names & {"content", "claim", "entity", "attribute", "value", "reason", "fingerprint"}
