"""The receiver of alerts, told as Standard Webhooks 1.0.0 has it: one POST, signed with HMAC-SHA256.

What is signed is ``ID.TIMESTAMP.BODY``. The id stays the same however often an alert is sent, so that the
receiver can tell a repetition; the time is that of the attempt.
"""

import base64
import hashlib
import hmac
import logging
from collections.abc import Iterable
from typing import Final

from tenure.engines.pinned_http import EXCHANGE_SECONDS_MAX, Allowed, PinnedHttp, Unreachable
from tenure.usecases.outward import Notice

_TAKEN: Final = range(200, 300)

_log: Final = logging.getLogger("tenure.webhook")


class Webhook:
    """Sends notices to one address; that and the secret never reach the log."""

    def __init__(
        self,
        url: str,
        secret: bytes,
        *,
        allow: Iterable[str] = (),
        seconds_max: float = EXCHANGE_SECONDS_MAX,
    ) -> None:
        self._url = url
        self._secret = secret
        self._http = PinnedHttp(allowed=Allowed(allow), seconds_max=seconds_max)

    def deliver(self, notice: Notice) -> str | None:
        """Send it; None once the receiver has it, else why not."""
        because = self._attempt(notice)
        if because is not None:
            _log.warning("an alert was not delivered: %s", because)
        return because

    def gave_up(self, number: int, because: str) -> None:
        """Tell whoever runs this that so many alerts were not sent and will not be."""
        _log.error("alerts given up: %d were not sent; 'tenure alerts' lists them: %s", number, because)

    def _attempt(self, notice: Notice) -> str | None:
        timestamp = str(int(notice.at.timestamp()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "tenure",
            "webhook-id": notice.id,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(self._secret, notice.id, timestamp, notice.body),
        }
        try:
            answer = self._http.post(self._url, notice.body, headers)
        except Unreachable as fault:
            return str(fault)
        return None if answer.status in _TAKEN else f"it answered with status {answer.status}"


def signature(secret: bytes, notice_id: str, timestamp: str, body: bytes) -> str:
    """What the receiver computes as well, with the same secret."""
    signed = b".".join((notice_id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
