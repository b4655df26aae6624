"""Any classifier over HTTP that speaks a small contract, which docs/capabilities/scanners.md explains.

    POST URL        {"texts": ["…", "…"]}
    200             {"verdicts": [{"label": "attack", "score": 0.97}, {"label": "harmless", "score": 0.99}]}

One verdict for each text, in their order; the score says how sure it is of its label, from 0 to 1. What is
labelled otherwise than harmless, at the threshold or above, is a finding: a label nobody thought of counts.
"""

import hashlib
import logging
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from tenure.core.scanning import Finding, FindingKind
from tenure.engines.json_http import JsonHttp, NotAnswered

NAME: Final = "http-classifier"

_log: Final = logging.getLogger("tenure.scanning")


class _Verdict(msgspec.Struct, frozen=True):
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Answer(msgspec.Struct, frozen=True):
    verdicts: list[_Verdict]


class HttpClassifier:
    """Asks the classifier about texts; it is told nothing but them."""

    name = NAME

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        kind: FindingKind = FindingKind.ATTACK,
        threshold: float = 0.5,
        harmless_labels: Sequence[str] = ("harmless",),
        model_version: str = "1",
    ) -> None:
        self._kind = kind
        self._threshold = threshold
        self._harmless = frozenset(label.casefold() for label in harmless_labels)
        labels = "+".join(sorted(self._harmless))
        chosen = hashlib.sha256(f"{kind} {threshold} {labels}".encode()).hexdigest()[:8]
        self.version = f"{model_version}-{chosen}"
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._http = JsonHttp(url)

    def scan(self, texts: Sequence[str], *, seconds_max: float) -> list[list[Finding]]:
        """One finding over each text that it finds something in; raises NotAnswered."""
        try:
            verdicts = self._verdicts(texts, seconds_max)
        except NotAnswered as fault:
            _log.warning("%s did not answer: %s", NAME, fault)
            raise
        return [self._findings(text, verdict) for text, verdict in zip(texts, verdicts, strict=True)]

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _verdicts(self, texts: Sequence[str], seconds_max: float) -> list[_Verdict]:
        body = msgspec.json.encode({"texts": list(texts)})
        (said,) = self._http.post([body], self._headers, seconds_max=seconds_max)
        try:
            answer = msgspec.json.decode(said, type=_Answer)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise NotAnswered("its answer has another shape than documented") from None
        if len(answer.verdicts) != len(texts):
            raise NotAnswered("it answered about another number of texts")
        return answer.verdicts

    def _findings(self, text: str, verdict: _Verdict) -> list[Finding]:
        if verdict.label.casefold() in self._harmless or verdict.score < self._threshold:
            return []
        return [
            Finding(
                kind=self._kind,
                rule=f"{self._kind}.{NAME}",
                scanner=f"{NAME}/{self.version}",
                start=0,
                end=len(text),
                confidence=verdict.score,
            )
        ]
