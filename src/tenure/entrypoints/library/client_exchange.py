"""One request on its way: what its answer means, and whether it is sent again. Knows no transport.

Laws: a write is sent again only under an idempotency key; Unavailable says whether the write may have been
done, also when it was an earlier attempt that may have done it; no error holds a token or what was sent.
"""

from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import httpx
import msgspec

from tenure.core.errors import (
    InvalidRequest,
    MemoryRejected,
    RateLimited,
    TenureError,
    TooLarge,
    Unavailable,
    VersionConflict,
)
from tenure.entrypoints.library.client_request import Request
from tenure.entrypoints.replies import PROBLEM_MEDIA_TYPE, PROBLEM_TYPE_PREFIX

T = TypeVar("T")

RETRY_SECONDS: Final = (0.1, 0.5)
"""How long to wait before each further attempt; as many as there are waits."""
RETRY_AFTER_SECONDS_MAX: Final = 5.0
"""A server that asks for more is not waited for here: its caller can wait better than a library."""
BODY_BYTES_LARGE: Final = 1_048_576
"""What a server takes unless it is set otherwise."""


class Again(msgspec.Struct, frozen=True):
    """Wait so long, then send the same request once more."""

    seconds: float


class Exchange(Generic[T]):
    """A request, and what became of its attempts so far."""

    def __init__(self, request: Request[T]) -> None:
        self.request = request
        self._retries = iter(RETRY_SECONDS if request.is_repeatable else ())
        self._may_be_done = False

    def settle(self, outcome: httpx.Response | httpx.RequestError) -> T | Again:
        """What an attempt's outcome comes to; raises the TenureError that the caller is to see."""
        if isinstance(outcome, httpx.RequestError):
            return self._failed(outcome)
        if outcome.is_success:
            return self._read(outcome)
        error = error_of(outcome)
        if not isinstance(error, Unavailable):
            raise error
        return self._unserved(error, outcome)

    def _read(self, response: httpx.Response) -> T:
        try:
            return self.request.read(response.content)
        except _UNREADABLE:
            # Raised outside, since the decoder's error may quote what was read.
            pass
        raise _foreign(response)

    def _failed(self, fault: httpx.RequestError) -> Again:
        if not isinstance(fault, _NOTHING_SENT):
            self._may_be_done |= self.request.is_write
        wait_seconds = next(self._retries, None) if isinstance(fault, _BROKEN) else None
        if wait_seconds is None:
            raise self._unavailable(Unavailable(_what_failed(fault), hint=_REACHING))
        return Again(wait_seconds)

    def _unserved(self, error: Unavailable, response: httpx.Response) -> Again:
        """A server did nothing unless it says that it does not know; whoever else answers cannot know."""
        if not _is_problem(response) or error.details.get("outcome_unknown"):
            self._may_be_done |= self.request.is_write
        asked_seconds = _asked_seconds(response)
        may_retry = response.status_code == Unavailable.status and asked_seconds <= RETRY_AFTER_SECONDS_MAX
        wait_seconds = next(self._retries, None) if may_retry else None
        if wait_seconds is None:
            raise self._unavailable(error)
        return Again(max(wait_seconds, asked_seconds))

    def _unavailable(self, error: Unavailable) -> Unavailable:
        """The same error, saying what may have become of a write."""
        said, hint = error.message, error.hint
        if error.details.get("outcome_unknown"):
            hint = hint if hint and self.request.goes_on else self._advice()
        elif self._may_be_done:
            said, hint = f"{said}; whether the write was done is not known", self._advice()
        elif self.request.is_write:
            said = f"{said}; nothing was written"
        settled = Unavailable(said, hint=hint)
        settled.details = error.details | {"outcome_unknown": self._may_be_done}
        return settled

    def _advice(self) -> str:
        """What to do about a write that may have been done."""
        if len(self.request.body or b"") > BODY_BYTES_LARGE:
            return _SEND_LESS
        if self.request.goes_on:
            return _GO_ON
        return _LOOK_FIRST if self.request.idempotency_key is None else _SAME_KEY


def error_of(response: httpx.Response) -> TenureError:
    """The error that a refusal tells of, with the server's code, message, hint and details."""
    document = _document(response)
    prefix, _, code = str(document.get("type", "")).rpartition("/")
    if f"{prefix}/" != PROBLEM_TYPE_PREFIX:
        return _BY_STATUS.get(response.status_code, _foreign)(response)
    details = {name: value for name, value in document.items() if name not in _COMMON_MEMBERS}
    attributes = {name: details.get(name) for name in _ATTRIBUTES.get(code, {})}
    is_whole = all(isinstance(value, _ATTRIBUTES[code][name]) for name, value in attributes.items())
    kind = _KINDS.get(code, TenureError) if is_whole else TenureError
    error = kind.__new__(kind)
    # Some errors build their own message; this one already has it.
    TenureError.__init__(error, str(document.get("detail", "")), hint=_text(document.get("hint")))
    error.details = details
    vars(error).update(attributes)
    if kind is TenureError:
        vars(error).update(code=code, status=response.status_code, title=str(document.get("title", "")))
    return error


_COMMON_MEMBERS: Final = frozenset({"type", "title", "status", "detail", "hint", "instance"})
_KINDS: Final = {kind.code: kind for kind in TenureError.__subclasses__()}
_ATTRIBUTES: Final = MappingProxyType[str, dict[str, Any]](
    {
        InvalidRequest.code: {"field": str | None},
        VersionConflict.code: {"expected_version": int, "current_version": int},
        MemoryRejected.code: {"rule": str, "reason": str, "policy_version": str},
        RateLimited.code: {"retry_after_seconds": int},
    }
)
"""What some errors carry as attributes besides their details."""

_UNREADABLE: Final = (msgspec.DecodeError, RecursionError)
_NOTHING_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.LocalProtocolError,
    httpx.UnsupportedProtocol,
)
_BROKEN: Final = (httpx.NetworkError, httpx.RemoteProtocolError)
"""What another attempt may cure at once. A time-out is not among them: the caller has waited long enough."""

_REACHING: Final = "Check the address and that the server runs; timeout_seconds says how long to wait for it."
_LOOK_FIRST: Final = (
    "Look at what is there before you send it again; an idempotency key makes repeating safe."
)
_SEND_LESS: Final = "Send less at once: a server hangs up on a body that is larger than it takes."
_GO_ON: Final = "Ask again: what is done stays done, and the same call goes on from there."
_SAME_KEY: Final = "Send it again with the same idempotency key: it is done once."


def _what_failed(fault: httpx.RequestError) -> str:
    match fault:
        case httpx.ConnectError():
            return f"the server cannot be reached ({fault})"
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return "the server cannot be reached in time"
        case httpx.TimeoutException():
            return "the server did not answer in time"
        case _:
            # What the fault says by itself may quote a header or a body.
            return "the connection broke before the server had answered"


def _is_problem(response: httpx.Response) -> bool:
    media_type: str = response.headers.get("content-type", "")
    return media_type.partition(";")[0].strip() == PROBLEM_MEDIA_TYPE


def _document(response: httpx.Response) -> dict[str, Any]:
    """The members of a problem; none where the answer is no problem."""
    try:
        return msgspec.json.decode(response.content, type=dict[str, Any]) if _is_problem(response) else {}
    except _UNREADABLE:
        return {}


def _foreign(response: httpx.Response) -> TenureError:
    error = TenureError(
        f"the answer, of status {response.status_code}, is not one that this client knows from a server",
        hint="Check the address, and that client and server are of one version. Redirects are not followed.",
    )
    vars(error).update(status=response.status_code)
    return error


def _too_large(_response: httpx.Response) -> TenureError:
    return TooLarge("the request is larger than what stands before the server lets through")


def _no_server(response: httpx.Response) -> TenureError:
    return Unavailable(
        f"something before the server answered that it is not available (status {response.status_code})",
        hint="Try again later.",
    )


_BY_STATUS: Final = MappingProxyType({413: _too_large, 502: _no_server, 503: _no_server, 504: _no_server})
"""What is said by those that stand before a server: proxies and balancers, which know no problems of ours."""


def _asked_seconds(response: httpx.Response) -> float:
    """How long the server asks to wait."""
    asked = response.headers.get("retry-after", "")
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
