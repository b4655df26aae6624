"""Guarded tools: what is sensitive is resolved, what is given is refused, nothing runs unasked (SPEC X2)."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, get_type_hints
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import token_of
from tests.stores.engine import Engine, SqliteEngine

from tenure import (
    AsyncClient,
    AsyncTenure,
    Client,
    Forbidden,
    InvalidRequest,
    NotFound,
    Source,
    Tenure,
    TenureError,
    ToolGuard,
    ToolRefused,
)
from tenure.config import Settings
from tenure.config.tools import ToolParameter, ToolSettings
from tenure.core.toolguard import Authorization
from tenure.entrypoints.library.sessions import Session

IBAN: Final = "DE89 3704 0044 0532 0130 00"
TRUE_IBAN: Final = "GB82WEST12345698765432"
MASTER: Final = {"s-7": TRUE_IBAN}
GUARDED: Final = ToolParameter(resolver="supplier-master")
SETTINGS: Final = Settings(
    tools={
        "pay_supplier": ToolSettings(parameters={"iban": GUARDED}),
        "transfer": ToolSettings(parameters={"payee.iban": GUARDED, "limit": GUARDED}),
    }
)
CLIENTS: Final = [Session, Client, AsyncClient]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """The embedded store alone: what the guard asks of a store is tried on both with the use case."""
    return SqliteEngine(tmp_path / "data")


@pytest.fixture
def store(engine: Engine, clock: MovableClock) -> Iterator[Tenure]:
    """A store whose operator declared two tools."""
    with Tenure(engine.open(clock, SETTINGS)) as opened:
        yield opened


@pytest.fixture
def bot(store: Tenure) -> Session:
    """A session that writes and reads."""
    return store.session("acme", "payables", "payables", "supplier-7")


@pytest.fixture
def guard(bot: Session) -> ToolGuard:
    """The guard of its tools."""
    return ToolGuard(bot)


def known_iban(supplier_id: str) -> str | None:
    """What the supplier master has."""
    return MASTER.get(supplier_id)


class Bank:
    """What really happened."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, str, str]] = []

    def pay(self, supplier_id: str, amount: str, *, iban: str) -> str:
        """Pay a supplier."""
        self.paid.append((supplier_id, amount, iban))
        return f"paid {amount}"


@pytest.fixture
def bank() -> Bank:
    """A bank without any payments."""
    return Bank()


@pytest.fixture
def pay(guard: ToolGuard, bank: Bank) -> Callable[..., str]:
    """The guarded tool."""

    @guard.tool("pay_supplier", resolve={"iban": known_iban})
    def pay_supplier(supplier_id: str, amount: str, *, iban: str) -> str:
        """Pay a supplier's invoice."""
        return bank.pay(supplier_id, amount, iban=iban)

    return pay_supplier


def events(store: Tenure) -> list[str]:
    """The names of what happened at acme."""
    auditor = store.session("acme", "payables", "payables", roles=["auditor"], name="aud")
    return [event.type for event in auditor.log().items if event.type.startswith("tool.")]


@pytest.mark.parametrize("kind", CLIENTS)
def test_everybody_asks_alike(kind: type) -> None:
    """SPEC S1: a session, a client and an awaited one have the same method."""
    method: Any = getattr(kind, "authorize_tool", None)

    assert inspect.signature(method) == inspect.signature(Session.authorize_tool)
    assert method.__doc__ == Session.authorize_tool.__doc__
    assert inspect.iscoroutinefunction(method) is (kind is AsyncClient)


def test_a_session_asks_for_itself(bot: Session) -> None:
    """SPEC X2: with what it recalled."""
    memory = bot.remember("The dock is 4711-9", kind="fact", source=Source.application("crm-1"))
    found = bot.recall("dock")

    answer = bot.authorize_tool("pay_supplier", {"iban": "47119"}, [found.receipt_id])

    assert (answer.allowed, answer.refused[0].memory_ids) == (False, (memory.id,))


@pytest.mark.parametrize(
    "arguments",
    [7, [], "{}", {"a": object()}, {"a": {object(): 1}}],
    ids=["a number", "a list", "a text", "a value that JSON lacks", "a key that JSON lacks"],
)
def test_arguments_that_are_no_object_are_refused(bot: Session, arguments: Any) -> None:
    """SPEC S2: named, and without what was given."""
    with pytest.raises(InvalidRequest) as refusal:
        bot.authorize_tool("pay_supplier", arguments)

    assert refusal.value.field == "arguments"


def test_arguments_that_hold_themselves_are_refused(bot: Session) -> None:
    """SPEC S2: and so is nesting without end."""
    endless: dict[str, Any] = {}
    endless["again"] = endless

    with pytest.raises(InvalidRequest):
        bot.authorize_tool("pay_supplier", endless)


def test_a_sensitive_value_comes_from_its_resolver(
    store: Tenure, pay: Callable[..., str], bank: Bank
) -> None:
    """SPEC X1, X2: the call runs with it, and is recorded before."""
    assert pay("s-7", amount="120.00") == "paid 120.00"
    assert bank.paid == [("s-7", "120.00", TRUE_IBAN)]
    assert events(store) == ["tool.authorized"]


@pytest.mark.parametrize("given", [IBAN, TRUE_IBAN, None, "", object(), Decimal(4711)])
def test_a_sensitive_value_that_is_given_stops_the_call(
    store: Tenure, pay: Callable[..., str], bank: Bank, given: object
) -> None:
    """SPEC X2: whatever it is, nothing runs, and the refusal is in the log."""
    with pytest.raises(ToolRefused) as refusal:
        pay("s-7", "120.00", iban=given)

    error = refusal.value
    assert (error.tool, [one.parameter for one in error.refused]) == ("pay_supplier", ["iban"])
    assert str(error) == "pay_supplier was not called: iban was supplied by model"
    assert (error.code, error.status, isinstance(error, Forbidden)) == ("forbidden", 403, True)
    assert isinstance(error, TenureError)
    assert bank.paid == []
    assert events(store) == ["tool.refused"]


def test_a_refusal_names_the_memory_that_the_value_came_from(
    store: Tenure, bot: Session, guard: ToolGuard, pay: Callable[..., str]
) -> None:
    """SPEC X2: parameter, why and ids, never the value."""
    mail = store.session("acme", "payables", "payables", "supplier-7", name="mail", source_types=["email"])
    ann = store.session("acme", "payables", "payables", name="ann", roles=["reviewer"])
    held = mail.remember(f"Our new account is {IBAN}", kind="fact", source=Source.email("m-1"))
    ann.promote(held.id, expected_version=1, reason="looks fine")
    found = bot.recall("new account")

    with guard.during(found), pytest.raises(ToolRefused) as refusal:
        pay("s-7", "120.00", iban=IBAN.replace(" ", ""))

    assert [memory.id for memory in found] == [held.id]
    assert str(held.id) in str(refusal.value)
    assert refusal.value.refused[0].memory_ids == (held.id,)
    assert "3704" not in str(refusal.value) + str(refusal.value.details)


def test_the_recalls_of_a_block_are_those_that_count(bot: Session, guard: ToolGuard) -> None:
    """SPEC X2, R7: inner blocks add theirs, other guards have their own, and the end of a block ends it."""
    asked: list[tuple[UUID, ...]] = []

    class Asking:
        def authorize_tool(
            self, tool: str, arguments: dict[str, Any], receipt_ids: tuple[UUID, ...]
        ) -> Authorization:
            asked.append(receipt_ids)
            return bot.authorize_tool(tool, arguments, receipt_ids)

    watched = ToolGuard(Asking())
    pay = watched.tool("pay_supplier", resolve={"iban": lambda: TRUE_IBAN})(lambda *, iban: iban)
    one, two = bot.recall("a"), bot.recall("b")

    with guard.during(two), watched.during(one):
        pay()
        with watched.during(two, one):
            pay()
            thread = threading.Thread(target=pay)
            thread.start()
            thread.join()
        pay()
    pay()

    first, both = (one.receipt_id,), (one.receipt_id, two.receipt_id)
    assert asked == [first, both, (), first, ()]


def test_a_model_is_not_shown_what_is_resolved(pay: Callable[..., str]) -> None:
    """SPEC X2: frameworks that read signatures do not offer it; name and docstring stay."""
    assert list(inspect.signature(pay).parameters) == ["supplier_id", "amount"]
    assert get_type_hints(pay) == {"supplier_id": str, "amount": str, "return": str}
    assert (pay.__name__, pay.__doc__) == ("pay_supplier", "Pay a supplier's invoice.")


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), (("s-7",), {}), (("s-7", "1", "x"), {}), (("s-7", "1"), {"memo": "x"})]
)
def test_arguments_that_are_not_the_functions_are_a_type_error(
    store: Tenure, pay: Callable[..., str], args: tuple[str, ...], named: dict[str, str]
) -> None:
    """As without a guard; nothing is asked."""
    with pytest.raises(TypeError):
        pay(*args, **named)

    assert events(store) == []


def test_a_sensitive_parameter_may_stand_anywhere(guard: ToolGuard) -> None:
    """SPEC X2: by position, with a default, among others; given by position it is given."""

    @guard.tool("pay_supplier", resolve={"iban": lambda supplier_id: MASTER[supplier_id]})
    def pay(supplier_id: str, iban: str = IBAN, amount: str = "1.00") -> tuple[str, str, str]:
        return supplier_id, iban, amount

    assert pay("s-7") == ("s-7", TRUE_IBAN, "1.00")
    assert pay("s-7", amount="2.00") == ("s-7", TRUE_IBAN, "2.00")
    with pytest.raises(ToolRefused):
        pay("s-7", "2.00")


def test_a_sensitive_parameter_may_be_among_many(guard: ToolGuard) -> None:
    """SPEC X2: a function that takes whatever is named."""

    @guard.tool("pay_supplier", resolve={"iban": lambda **given: MASTER[given["supplier_id"]]})
    def pay(**given: str) -> dict[str, str]:
        return given

    assert pay(supplier_id="s-7", memo="x") == {"supplier_id": "s-7", "memo": "x", "iban": TRUE_IBAN}
    with pytest.raises(ToolRefused):
        pay(supplier_id="s-7", iban=IBAN)


def test_a_part_of_an_argument_may_be_sensitive(guard: ToolGuard) -> None:
    """SPEC X2: it is placed in a copy; what the caller gave stays as it was."""

    @guard.tool(
        "transfer",
        resolve={"payee.iban": lambda payee: MASTER[payee["id"]], "limit": lambda ceiling=5: ceiling},
    )
    def transfer(payee: dict[str, Any], limit: int) -> tuple[dict[str, Any], int]:
        return payee, limit

    payee = {"id": "s-7"}

    assert transfer(payee) == ({"id": "s-7", "iban": TRUE_IBAN}, 5)
    assert payee == {"id": "s-7"}
    assert list(inspect.signature(transfer).parameters) == ["payee"]
    for wrong in ({"id": "s-7", "iban": IBAN}, "s-7", None):
        with pytest.raises(ToolRefused):
            transfer(wrong)


def test_a_value_that_has_no_place_stops_the_call(guard: ToolGuard, bank: Bank) -> None:
    """SPEC X2: within a list the program would have to resolve each; it is told so."""

    @guard.tool("transfer", resolve={"payee.iban": lambda: TRUE_IBAN, "limit": lambda: 5})
    def transfer(payee: Any, limit: int) -> None:
        bank.pay(payee, "1.00", iban=str(limit))

    with pytest.raises(InvalidRequest, match=r"payee\.iban cannot be placed"):
        transfer([{"id": "s-7"}])
    assert bank.paid == []


def test_methods_are_guarded_too(guard: ToolGuard, bank: Bank) -> None:
    """SPEC X2: the object itself is no argument of the tool."""

    class Agent:
        name = "s-7"

        @guard.tool("pay_supplier", resolve={"iban": lambda self: MASTER[self.name]})
        def pay(self, amount: str, *, iban: str) -> str:
            return bank.pay(self.name, amount, iban=iban)

    Agent().pay("3.00")

    assert bank.paid == [("s-7", "3.00", TRUE_IBAN)]


def test_a_resolver_that_knows_nothing_stops_the_call(pay: Callable[..., str], bank: Bank) -> None:
    """SPEC X1: no value is no payment, and the error says who had none."""
    with pytest.raises(NotFound, match="supplier-master has no iban") as refusal:
        pay("s-8", "120.00")

    assert refusal.value.details == {"parameter": "iban"}
    assert bank.paid == []


def test_a_resolver_that_fails_stops_the_call(guard: ToolGuard, bank: Bank) -> None:
    """SPEC X1: its own error reaches the caller."""

    def lost() -> str:
        raise ConnectionError("the ERP is away")

    pay = guard.tool("pay_supplier", resolve={"iban": lost})(bank.pay)

    with pytest.raises(ConnectionError):
        pay("s-7", "1.00")
    assert bank.paid == []


def test_what_the_store_declares_must_be_resolved(guard: ToolGuard) -> None:
    """SPEC X2: a parameter that was forgotten in the program is an error at the first call."""

    @guard.tool("transfer", resolve={"limit": lambda: 5})
    def transfer(payee: dict[str, Any], limit: int) -> None:
        raise AssertionError((payee, limit))

    with pytest.raises(InvalidRequest, match=r"does not say how payee\.iban is resolved") as refusal:
        transfer({"id": "s-7"})
    assert refusal.value.field == "resolve"


def test_what_the_program_resolves_must_be_declared(guard: ToolGuard) -> None:
    """SPEC X2: or the store would let it pass; also where the whole tool is unknown to it."""
    for name, path in (("pay_suplier", "iban"), ("pay_supplier", "amount")):
        resolve = {path: lambda: "x", "iban": lambda: "x"}
        pay = guard.tool(name, resolve=resolve)(lambda **given: given)
        with pytest.raises(InvalidRequest, match="does not know that") as refusal:
            pay()
        assert f'[tools.{name}.parameters."{path}"]' in str(refusal.value.hint)


def test_a_decoration_that_cannot_work_is_refused_at_once(guard: ToolGuard) -> None:
    """SPEC S2: before any call, by what is wrong with it."""

    def pay(supplier_id: str, iban: str, /, *rest: str) -> None: ...

    def better(supplier_id: str, *, iban: str) -> None: ...

    async def later(supplier_id: str) -> str:
        return supplier_id

    wrong: list[tuple[Callable[..., Any], dict[str, Callable[..., Any]]]] = [
        (better, {"ibn": lambda: "x"}),
        (better, {"iban.part": dict.get}),
        (pay, {"iban": lambda: "x"}),
        (pay, {"rest": lambda: "x"}),
        (better, {"iban": lambda supplier: supplier}),
        (better, {"iban": lambda iban: iban}),
        (better, {"iban": MASTER.get}),
        (better, {"iban": later}),
    ]

    for function, resolve in wrong:
        with pytest.raises(InvalidRequest) as refusal:
            guard.tool("pay_supplier", resolve=resolve)(function)
        assert refusal.value.field == "resolve"


def test_an_async_tool_is_guarded_by_a_session_of_either_kind(engine: Engine) -> None:
    """SPEC S1: awaited or not, resolvers too."""

    async def iban_of(supplier_id: str) -> str:
        await asyncio.sleep(0)
        return MASTER[supplier_id]

    async def story() -> None:
        async with await AsyncTenure.open(**{**engine.opening, "settings": SETTINGS}) as store:
            awaited = store.session("acme", "payables", "payables", "supplier-7")
            guard = ToolGuard(awaited)
            for resolver in (iban_of, known_iban):

                @guard.tool("pay_supplier", resolve={"iban": resolver})
                async def pay(supplier_id: str, *, iban: str) -> str:
                    await asyncio.sleep(0)
                    return f"{supplier_id} {iban}"

                found = await awaited.recall("account")
                with guard.during(found):
                    assert await pay("s-7") == f"s-7 {TRUE_IBAN}"
                    with pytest.raises(ToolRefused):
                        await pay("s-7", iban=IBAN)
            with pytest.raises(InvalidRequest):
                guard.tool("pay_supplier", resolve={"iban": lambda: "x"})(lambda iban: iban)

    asyncio.run(story())


def test_an_async_tool_may_be_guarded_by_a_session_that_waits(bot: Session) -> None:
    """SPEC S1: the event loop goes on meanwhile, and the block counts there as well."""
    guard = ToolGuard(bot)
    memory = bot.remember("The dock is 4711-9", kind="fact", source=Source.application("crm-1"))

    @guard.tool("pay_supplier", resolve={"iban": lambda: TRUE_IBAN})
    async def pay(*, iban: str) -> str:
        return iban

    async def story() -> None:
        with guard.during(bot.recall("dock")):
            assert await pay() == TRUE_IBAN
            with pytest.raises(ToolRefused) as refusal:
                await pay(iban="4711-9")
        assert refusal.value.refused[0].memory_ids == (memory.id,)

    asyncio.run(story())


@pytest.fixture
def live(engine: Engine) -> Iterator[Live]:
    """A server of its own, with the same tools."""
    with serving(engine, SETTINGS) as server:
        yield server


def test_a_client_guards_as_a_session_does(live: Live) -> None:
    """SPEC S1: the same over HTTP, waited for and awaited, with the same error."""
    token = token_of(live, "bot", "writer", "reader")
    resolve = {"iban": lambda supplier_id: MASTER[supplier_id]}

    with Client(live.url, token, subject="supplier-7") as client:
        guard = ToolGuard(client)
        pay = guard.tool("pay_supplier", resolve=resolve)(
            lambda supplier_id, *, iban: f"{supplier_id} {iban}"
        )
        memory = client.remember("The dock is 4711-9", kind="fact", source=Source.application("crm-1"))
        with guard.during(client.recall("dock")):
            assert pay("s-7") == f"s-7 {TRUE_IBAN}"
            with pytest.raises(ToolRefused) as refusal:
                pay("s-7", iban="4711-9")
        assert refusal.value.refused[0].memory_ids == (memory.id,)

    async def story() -> None:
        async with AsyncClient(live.url, token, subject="supplier-7") as awaited:
            other = ToolGuard(awaited)

            @other.tool("pay_supplier", resolve=resolve)
            async def pay_later(supplier_id: str, *, iban: str) -> str:
                return f"{supplier_id} {iban}"

            assert await pay_later("s-7") == f"s-7 {TRUE_IBAN}"
            with pytest.raises(ToolRefused) as again:
                await pay_later("s-7", iban=IBAN)
            assert again.value.refused[0].because == "supplied_by_model"

    asyncio.run(story())
