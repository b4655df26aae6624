"""Time zones by their names, for the days of whoever asks. Pure, but for the table that Python reads."""

import re
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from tenure.core.errors import InvalidRequest

TIME_ZONE_CHARACTERS_MAX: Final = 64
_NAME: Final = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def time_zone(name: str, *, field: str = "time_zone") -> tzinfo:
    """The zone of this IANA name; raises InvalidRequest for a name that is in no table."""
    # Only what is spelled like a name is looked for, since zones are files.
    if len(name) <= TIME_ZONE_CHARACTERS_MAX and _NAME.fullmatch(name):
        try:
            return ZoneInfo(name)
        except (LookupError, ValueError, OSError):
            pass
    raise InvalidRequest(
        f"{field} is not a time zone that is known here",
        field=field,
        hint="Use a name of the IANA's, such as Europe/Paris or UTC.",
    )
