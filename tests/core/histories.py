"""Lives of one memory, drawn at random along the life-cycle table."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import NOW, SECRET, admitted, event, id_of, quarantined, revised

from tenure.core.events import (
    Endorsed,
    Event,
    EventData,
    Expired,
    Promoted,
    Rejected,
    Renewed,
    Revoked,
    Superseded,
)
from tenure.core.identity import SourceType
from tenure.core.incident_events import Held
from tenure.core.memory import LIFE_CYCLE, STEP_OF, next_status
from tenure.core.truth_events import Merged, Reinstated, Unmerged, ValidUntil
from tenure.core.vocabulary import Status, Trust

_shares: Final = st.floats(min_value=0, max_value=1)
_trusts: Final = st.sampled_from(Trust)
_days: Final = st.integers(min_value=1, max_value=300).map(lambda days: NOW + timedelta(days=days))
_ends: Final = st.none() | _days
_sources: Final = st.sampled_from(SourceType)

BIRTHS: Final[Sequence[st.SearchStrategy[EventData]]] = (
    st.builds(
        admitted,
        trust=_trusts,
        confidence=_shares,
        expires_at=_days,
        source_type=_sources,
    ),
    st.builds(quarantined, confidence=_shares, expires_at=_days, source_type=_sources),
)
STEPS: Final[Sequence[st.SearchStrategy[EventData]]] = (
    st.builds(Promoted, trust=_trusts),
    st.builds(Endorsed),
    st.builds(Rejected),
    st.builds(Superseded, by=st.just(id_of(2)), valid_to=_ends),
    st.builds(Merged, into=st.just(id_of(2)), voices=st.just(2), trusted_voices=st.just(1)),
    st.builds(
        Unmerged,
        out_of=st.just(id_of(2)),
        voices=st.just(1),
        trusted_voices=st.just(1),
        source_id=st.just("message-1"),
    ),
    st.builds(Reinstated, instead_of=st.just(id_of(2)), source_id=st.just("message-1"), valid_to=_ends),
    st.builds(ValidUntil, because_of=st.just(id_of(2)), valid_to=_ends),
    st.builds(revised, trust=_trusts, confidence=_shares, source_type=_sources),
    st.builds(Renewed, expires_at=_days),
    st.builds(Revoked),
    st.builds(Expired, expired_at=st.just(NOW)),
    st.builds(
        Held, rule=st.just("strict"), reason=st.just("a later policy"), policy_version=st.just("strict-2")
    ),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """The events of one memory, from its birth on, each legal where it stands."""
    birth = draw(st.one_of(BIRTHS))
    events = [event(birth)]
    status = next_status(Status.PROPOSED, STEP_OF[type(birth)])
    for step in draw(st.lists(st.one_of(STEPS), max_size=6)):
        following = LIFE_CYCLE.get((status, STEP_OF[type(step)]))
        if following is None:
            continue
        status = following
        version = len(events) + 1
        secret = replace(SECRET, content=f"version {version}")
        events.append(event(step, version=version, at=NOW + timedelta(minutes=version), secret=secret))
    return events
