"""Looks at feature flags (SPEC T6): what providers say, and what they say where they know nothing."""

import sys
from importlib import import_module
from typing import NamedTuple

import pytest

from tenure.core.probing import Reason, Target, TargetKind
from tenure.engines.probing.flags import FlagProber, MissingFlags, open_feature


class Details(NamedTuple):
    """What a provider says."""

    value: bool
    error_code: str | None = None


class Flags:
    """Flags with their values; a text is an error, and None answers as if no provider were set."""

    def __init__(self, **flags: bool | str | None) -> None:
        self.flags = flags
        self.asked: list[str] = []

    def get_boolean_details(self, flag_key: str, default_value: bool) -> Details:  # noqa: FBT001
        """The value, or the default with an error."""
        self.asked.append(flag_key)
        value = self.flags.get(flag_key, "FLAG_NOT_FOUND")
        if isinstance(value, str):
            return Details(default_value, value)
        return Details(default_value if value is None else value)


@pytest.mark.parametrize(
    ("flags", "what", "reason"),
    [
        ({"x": True}, "x", Reason.EXISTS),
        ({"x": False}, "x", Reason.EXISTS),
        ({"x": True}, "x=on", Reason.AS_SAID),
        ({"x": True}, "x=off", Reason.OTHERWISE),
        ({"x": False}, "x=off", Reason.AS_SAID),
        ({}, "x", Reason.NOT_FOUND),
        ({}, "x=off", Reason.NOT_FOUND),
        ({"x": "TYPE_MISMATCH"}, "x", Reason.EXISTS),
        ({"x": "TYPE_MISMATCH"}, "x=on", Reason.NO_VALUE),
        ({"x": "PROVIDER_NOT_READY"}, "x", Reason.NO_VALUE),
        ({"x": "GENERAL"}, "x=on", Reason.NO_VALUE),
        ({"x": None}, "x", Reason.NO_VALUE),
        ({"x": None}, "x=off", Reason.NO_VALUE),
    ],
)
def test_a_flag_is_there_and_has_the_value_that_was_said(
    flags: dict[str, bool | str | None], what: str, reason: Reason
) -> None:
    """SPEC T6: a provider that only repeats the default knows nothing."""
    one = Target(kind=TargetKind.FLAG, what=what)

    assert FlagProber(Flags(**flags)).look(one, permits=lambda _one: True, seconds_max=1.0) is reason


def test_a_flag_that_is_not_permitted_is_not_asked_for() -> None:
    """SPEC T6: the name itself would tell the provider something."""
    flags = Flags(x=True)
    one = Target(kind=TargetKind.FLAG, what="x")

    reason = FlagProber(flags).look(one, permits=lambda _one: False, seconds_max=1.0)

    assert reason is Reason.NOT_ALLOWED
    assert flags.asked == []


def test_without_its_packages_the_message_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T6: flags are an extra."""
    monkeypatch.setitem(sys.modules, "openfeature", None)

    with pytest.raises(MissingFlags, match=r"pip install 'tenure\[flags\]'"):
        open_feature()


def test_a_real_provider_is_asked() -> None:
    """SPEC T6: OpenFeature's own provider in memory, and none at all."""
    api = import_module("openfeature.api")
    memory = import_module("openfeature.provider.in_memory_provider")
    flag = memory.InMemoryFlag("on", {"on": True, "off": False})
    text = memory.InMemoryFlag("a", {"a": "words"})
    api.set_provider(memory.InMemoryProvider({"x": flag, "text": text}), "tenure-test")
    try:
        found = {
            what: open_feature("tenure-test").look(
                Target(kind=TargetKind.FLAG, what=what), permits=lambda _one: True, seconds_max=1.0
            )
            for what in ("x", "x=on", "x=off", "text", "gone")
        }
        unset = open_feature("nobody").look(
            Target(kind=TargetKind.FLAG, what="x"), permits=lambda _one: True, seconds_max=1.0
        )
    finally:
        api.clear_providers()

    assert found == {
        "x": Reason.EXISTS,
        "x=on": Reason.AS_SAID,
        "x=off": Reason.OTHERWISE,
        "text": Reason.EXISTS,
        "gone": Reason.NOT_FOUND,
    }
    assert unset is Reason.NO_VALUE
