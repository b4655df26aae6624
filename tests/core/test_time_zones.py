"""Time zones by name: what is no name never reaches the file system."""

from datetime import datetime, timedelta

import pytest

from tenure.core.errors import InvalidRequest
from tenure.core.time_zones import time_zone


@pytest.mark.parametrize(
    ("name", "hours"),
    [("UTC", 0), ("Europe/Paris", 2), ("America/Argentina/Buenos_Aires", -3), ("Etc/GMT+5", -5)],
)
def test_a_zone_is_known_by_its_iana_name(name: str, hours: int) -> None:
    """SPEC R2: the days of whoever asks, summer time included."""
    moment = datetime(2031, 7, 1, 12, tzinfo=time_zone(name))

    assert moment.utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "Europe", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe/Paris/",
        "Europe//Paris", "Europe/Paris\x00", "zone.tab", "tzdata.zi", "a" * 65, "Európa/Párizs", "+02:00",
    ],
)  # fmt: skip
def test_what_is_no_zone_is_refused(name: str) -> None:
    """SPEC S2: by its field, and without what was sent."""
    with pytest.raises(InvalidRequest) as refused:
        time_zone(name)

    assert refused.value.details["field"] == "time_zone"
    assert len(name) < 3 or name not in refused.value.message
