"""Alerts on their way to a receiver: each at least once and in order, whatever fails on the way (SPEC I3)."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from tests.clock import MovableClock
from tests.engines.receiver import Receiver, receiver
from tests.stores.engine import Engine, PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import TENANT

from tenure.config import Alerts, Settings
from tenure.core.events import AlertRaised, Event
from tenure.engines.webhook import Webhook, signature
from tenure.usecases.notifying import DELIVERIES_MAX, PROGRESS, Messenger
from tenure.usecases.outward import Notice
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append
from tenure.usecases.sealing import seal
from tenure.usecases.upkeep import upkeep_round
from tenure.wiring import Node

SECRET = b"a secret of thirty-two bytes ..."


class Postbox:
    """A receiver that takes what comes unless a test says why not, and keeps what it was told."""

    def __init__(self, clock: MovableClock | None = None) -> None:
        self.notices: list[Notice] = []
        self.tried = 0
        self.because: str | None = None
        self.given_up: list[tuple[int, str]] = []
        self.takes_seconds = 0.0
        self._clock = clock

    def deliver(self, notice: Notice) -> str | None:
        """Take it, or say why not."""
        self.tried += 1
        if self._clock is not None:
            self._clock.pass_time(seconds=self.takes_seconds)
        if self.because is None:
            self.notices.append(notice)
        return self.because

    def gave_up(self, number: int, because: str) -> None:
        """Keep what was given up."""
        self.given_up.append((number, because))

    @property
    def told(self) -> list[str]:
        """What the alerts were about, in the order in which they came."""
        return [msgspec.json.decode(notice.body)["about"] for notice in self.notices]


def raise_alerts(pipeline: Pipeline, *abouts: str, tenant: str = TENANT) -> None:
    """Raise them as the watch does."""
    for about in abouts:
        event = Event(
            tenant=tenant,
            at=pipeline.clock.now(),
            actor="upkeep",
            data=AlertRaised(kind="write_surge", message="example", about=about),
        )
        pipeline.append([Append(tenant=tenant, events=(seal(event, pipeline.keyring),))])


def kept(pipeline: Pipeline, tenant: str = TENANT) -> int:
    """Where the next round goes on."""
    with pipeline.store.reading() as reading:
        return reading.progress(PROGRESS, tenant)


def test_each_alert_is_told_once_in_order(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: what, about what and when, with an id of its own; the second round has nothing to tell."""
    postbox = Postbox()
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, "one", "two")

    assert [messenger.round(), messenger.round()] == [2, 0]
    first, second = postbox.notices
    told = msgspec.json.decode(first.body)
    raised_at = told.pop("raised_at")
    assert told == {
        "type": "alert.raised",
        "tenant": TENANT,
        "seq": 1,
        "kind": "write_surge",
        "message": "example",
        "about": "one",
    }
    assert msgspec.convert(raised_at, type=type(clock.now()), strict=False) == clock.now()
    assert first.id != second.id
    assert first.id.startswith("msg_")
    assert "." not in first.id


def test_a_failure_is_tried_again_with_the_same_id_after_a_pause(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC I3: what comes behind it waits, so that the order holds."""
    postbox = Postbox()
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, "one", "two")
    postbox.because = "it answered with status 500"
    assert [messenger.round(), messenger.round(), postbox.tried] == [0, 0, 1]

    postbox.because = None
    clock.pass_time(seconds=5)
    assert messenger.round() == 2
    assert postbox.told == ["one", "two"]


def test_the_pause_doubles_up_to_a_quarter_of_an_hour(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: a receiver that is down is not hammered, and one that is back is told soon."""
    postbox = Postbox()
    postbox.because = "down"
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, "one")
    tries: list[int] = []
    for second in range(0, 2_400, 5):
        before = postbox.tried
        messenger.round()
        if postbox.tried > before:
            tries.append(second)
        clock.pass_time(seconds=5)

    pauses = [after - before for before, after in pairwise(tries)]
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 640, 900]


def test_what_could_not_be_told_in_a_day_is_given_up_aloud(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: with everything that is as old; what is younger is still told."""
    postbox = Postbox()
    postbox.because = "down"
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, *(f"old-{number}" for number in range(30)))
    messenger.round()
    clock.pass_time(hours=12)
    raise_alerts(pipeline, "young")
    messenger.round()
    assert postbox.given_up == []

    clock.pass_time(hours=12)
    messenger.round()
    postbox.because = None
    clock.pass_time(minutes=15)

    assert postbox.given_up == [(30, "down")]
    assert messenger.round() == 1
    assert postbox.told == ["young"]


def test_one_that_works_again_is_told_what_is_old_as_well(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: it is given up only when the attempt fails."""
    postbox = Postbox()
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, "one")
    messenger.round()
    raise_alerts(pipeline, "two")
    clock.pass_time(hours=25)

    assert messenger.round() == 1
    assert (postbox.told, postbox.given_up) == (["one", "two"], [])


def test_a_new_receiver_is_not_told_history(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: but those who run it are told that there is some."""
    raise_alerts(pipeline, *(f"old-{number}" for number in range(45)))
    clock.pass_time(hours=24)
    raise_alerts(pipeline, "young")
    postbox = Postbox()

    assert Messenger(pipeline, postbox).round() == 1
    assert postbox.told == ["young"]
    assert postbox.given_up == [(45, "they were raised long before a receiver was named")]


def test_one_tenants_trouble_is_not_anothers(pipeline: Pipeline) -> None:
    """SPEC M2: each tenant has its own line."""

    class Picky(Postbox):
        """Takes nothing of one tenant."""

        def deliver(self, notice: Notice) -> str | None:
            """Look whose it is."""
            self.because = "no" if msgspec.json.decode(notice.body)["tenant"] == TENANT else None
            return super().deliver(notice)

    postbox = Picky()
    raise_alerts(pipeline, "one")
    raise_alerts(pipeline, "two", tenant="globex")

    assert Messenger(pipeline, postbox).round() == 1
    assert postbox.told == ["two"]


def test_a_round_is_bounded_in_number(pipeline: Pipeline) -> None:
    """SPEC T8: the next round goes on, with whoever was not reached first."""
    for tenant in ("a", "b", "c", "d"):
        raise_alerts(pipeline, *(f"{tenant}-{number}" for number in range(30)), tenant=tenant)
    postbox = Postbox()
    messenger = Messenger(pipeline, postbox)
    rounds: list[int] = []
    while not rounds or rounds[-1]:
        rounds.append(messenger.round())

    assert max(rounds) <= DELIVERIES_MAX
    assert sum(rounds) == 120
    for tenant in ("a", "b", "c", "d"):
        mine = [about for about in postbox.told if about.startswith(tenant)]
        assert mine == [f"{tenant}-{number}" for number in range(30)]


def test_a_round_is_bounded_in_time(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8: a receiver that is slow holds nothing else up, and every tenant has its turn."""
    for tenant in ("a", "b", "c"):
        raise_alerts(pipeline, f"{tenant}-1", f"{tenant}-2", tenant=tenant)
    postbox = Postbox(clock)
    postbox.takes_seconds = 4.0
    messenger = Messenger(pipeline, postbox)

    assert [messenger.round() for _ in range(3)] == [1, 1, 1]
    assert postbox.told == ["a-1", "b-1", "c-1"]


def test_the_next_node_goes_on_where_this_one_stopped(engine: Engine, clock: MovableClock) -> None:
    """SPEC I3: what was taken is kept with the store, alert by alert."""
    with engine.open(clock) as first:
        postbox = Postbox()
        raise_alerts(first.pipeline, "one")
        Messenger(first.pipeline, postbox).round()
        raise_alerts(first.pipeline, "two")
    with engine.open(clock) as second:
        Messenger(second.pipeline, postbox).round()

        assert postbox.told == ["one", "two"]
        assert kept(second.pipeline) == 2


def test_what_was_taken_and_not_kept_is_told_again_with_the_same_id(pipeline: Pipeline) -> None:
    """SPEC I3: at least once; the receiver knows it by its id."""
    postbox = Postbox()
    raise_alerts(pipeline, "one")
    Messenger(pipeline, postbox).round()
    pipeline.store.keep_progress(PROGRESS, TENANT, 0)
    Messenger(pipeline, postbox).round()

    assert len({notice.id for notice in postbox.notices}) == 1
    assert postbox.told == ["one", "one"]


def test_the_lease_decides_who_tells(postgres_places: NewPlace, clock: MovableClock) -> None:
    """SPEC T8: of two nodes one does."""
    engine = PostgresEngine(postgres_places())
    with engine.open(clock) as one, engine.open(clock) as two:
        postboxes = [Postbox(), Postbox()]
        raise_alerts(one.pipeline, "one")
        told = [
            upkeep_round(node.pipeline, batch_size=10, messenger=Messenger(node.pipeline, postbox)).delivered
            for node, postbox in zip((one, two), postboxes, strict=True)
        ]

    assert told == [1, 0]
    assert [postbox.tried for postbox in postboxes] == [1, 0]


@pytest.fixture
def server() -> Iterator[Receiver]:
    """A receiver on this machine."""
    with receiver() as it:
        yield it


def with_webhook(url: str) -> Settings:
    """Settings of a store whose alerts go there."""
    return Settings(alerts=Alerts(webhook_url=url, webhook_secret=SECRET, webhook_allow=("127.0.0.1",)))


def told_over(node: Node) -> Any:
    """The messenger that the settings made."""
    assert node.messenger is not None
    return node.messenger


def test_the_settings_name_the_receiver(engine: Engine, clock: MovableClock, server: Receiver) -> None:
    """SPEC I3: signed with the secret, over real HTTP; after failures of every kind it gets each in order."""
    server.statuses = [500, 307]
    server.headers = {"location": f"{server.url}/elsewhere"}
    with engine.open(clock, with_webhook(server.url)) as node:
        raise_alerts(node.pipeline, "one", "two")
        for _ in range(3):
            told_over(node).round()
            clock.pass_time(minutes=1)

    assert [msgspec.json.decode(got.body)["about"] for got in server.got] == ["one", "one", "one", "two"]
    assert {got.path for got in server.got} == {"/hook"}
    for got in server.got:
        headers = [got.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
        assert headers[2] == signature(SECRET, headers[0], headers[1], got.body)
    assert len({got.headers["webhook-id"] for got in server.got}) == 2
    assert len({got.headers["webhook-timestamp"] for got in server.got}) == 3


def test_a_receiver_that_is_away_is_told_when_it_is_back(engine: Engine, clock: MovableClock) -> None:
    """SPEC I3: nobody listens at first."""
    with receiver() as gone:
        url = gone.url
    with engine.open(clock, with_webhook(url)) as node:
        raise_alerts(node.pipeline, "one")

        assert told_over(node).round() == 0
        assert kept(node.pipeline) == 0


def test_a_receiver_that_never_ends_its_answer_is_left(pipeline: Pipeline, server: Receiver) -> None:
    """SPEC I3: a time-out is a failure like any other."""
    server.drips = True
    webhook = Webhook(server.url, SECRET, allow=["127.0.0.1"], seconds_max=0.2)
    raise_alerts(pipeline, "one")

    assert Messenger(pipeline, webhook).round() == 0
    assert kept(pipeline) == 0


def test_without_a_receiver_there_is_no_messenger(engine: Engine, clock: MovableClock) -> None:
    """SPEC I3: alerts are in the list all the same."""
    with engine.open(clock) as node:
        assert node.messenger is None


def test_a_day_is_what_it_takes_to_give_up(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: not a second less."""
    postbox = Postbox()
    postbox.because = "down"
    messenger = Messenger(pipeline, postbox)
    raise_alerts(pipeline, "one")
    messenger.round()
    clock.pass_time(seconds=timedelta(days=1).total_seconds() - 1)
    messenger.round()
    assert postbox.given_up == []
    clock.pass_time(minutes=15)
    messenger.round()

    assert postbox.given_up == [(1, "down")]
