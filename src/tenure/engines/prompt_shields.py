"""Azure AI Content Safety Prompt Shields, REST version 2024-09-01: asks about documents.

    POST {endpoint}/contentsafety/text:shieldPrompt?api-version=2024-09-01
    {"userPrompt": "", "documents": ["…"]}
    {"userPromptAnalysis": {"attackDetected": false}, "documentsAnalysis": [{"attackDetected": true}]}

Every text is a document: a memory is data that an agent will read. The service takes five documents and
10,000 characters in one request; longer texts are cut into pieces that overlap, so that no attack stands on a
cut.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from tenure.core.scanning import Finding, FindingKind
from tenure.engines.json_http import JsonHttp, NotAnswered

NAME: Final = "prompt-shields"
API_VERSION: Final = "2024-09-01"
DOCUMENTS_MAX: Final = 5
CHARACTERS_MAX: Final = 10_000
OVERLAP_CHARACTERS: Final = 500
CONFIDENCE: Final = 0.9
"""The service says yes or no, never how sure it is."""

_UNAUTHORISED: Final = 401
_log: Final = logging.getLogger("tenure.scanning")


class Identity(Protocol):
    """Who asks."""

    def headers(self) -> dict[str, str]:
        """The header that says so."""

    def refused(self) -> None:
        """The service did not take it."""

    def close(self) -> None:
        """Let go of what it holds."""


class KeyHeader:
    """A key of the Azure resource."""

    def __init__(self, key: str) -> None:
        self._key = key

    def headers(self) -> dict[str, str]:
        """The key, as Azure's services take it."""
        return {"Ocp-Apim-Subscription-Key": self._key}

    def refused(self) -> None:
        """There is no other."""

    def close(self) -> None:
        """There is nothing to let go of."""


class _Analysis(msgspec.Struct, frozen=True, rename="camel"):
    attack_detected: bool


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    documents_analysis: list[_Analysis]
    user_prompt_analysis: _Analysis | None = None


class _Piece(NamedTuple):
    """A stretch of one of the texts."""

    place: int
    start: int
    text: str


class PromptShields:
    """Asks the service about texts; it is told nothing but them."""

    name = NAME
    version = API_VERSION

    def __init__(self, endpoint: str, identity: Identity) -> None:
        self._identity = identity
        self._http = JsonHttp(
            f"{endpoint.rstrip('/')}/contentsafety/text:shieldPrompt?api-version={API_VERSION}"
        )

    def scan(self, texts: Sequence[str], *, seconds_max: float) -> list[list[Finding]]:
        """One finding for each piece of a text that the service calls an attack; raises NotAnswered."""
        found: list[list[Finding]] = [[] for _ in texts]
        requests = list(_requests(texts))
        try:
            for pieces, said in zip(requests, self._asked(requests, seconds_max), strict=True):
                for piece in _attacks(pieces, said):
                    found[piece.place].append(_finding(piece))
        except NotAnswered as fault:
            _log.warning("%s did not answer: %s", NAME, fault)
            raise
        return found

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._identity.close()

    def _asked(self, requests: Sequence[Sequence[_Piece]], seconds_max: float) -> list[bytes]:
        bodies = [
            msgspec.json.encode({"userPrompt": "", "documents": [piece.text for piece in pieces]})
            for pieces in requests
        ]
        headers = {"Content-Type": "application/json", **self._who()}
        try:
            return self._http.post(bodies, headers, seconds_max=seconds_max)
        except NotAnswered as fault:
            if fault.status == _UNAUTHORISED:
                self._identity.refused()
            raise

    def _who(self) -> dict[str, str]:
        try:
            return self._identity.headers()
        except Exception as fault:  # noqa: BLE001 -- a credential's own errors may quote what it was given
            raise NotAnswered(f"there is no token for it ({type(fault).__name__})") from None


def _attacks(pieces: Sequence[_Piece], said: bytes) -> list[_Piece]:
    try:
        answer = msgspec.json.decode(said, type=_Answer)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise NotAnswered("its answer has another shape than documented") from None
    if len(answer.documents_analysis) != len(pieces):
        raise NotAnswered("it answered about another number of documents")
    if answer.user_prompt_analysis is not None and answer.user_prompt_analysis.attack_detected:
        return list(pieces)
    analysed = zip(pieces, answer.documents_analysis, strict=True)
    return [piece for piece, analysis in analysed if analysis.attack_detected]


def _requests(texts: Sequence[str]) -> Iterator[list[_Piece]]:
    """The pieces, as many together as one request may carry."""
    waiting: list[_Piece] = []
    characters = 0
    for piece in _pieces(texts):
        if len(waiting) == DOCUMENTS_MAX or characters + len(piece.text) > CHARACTERS_MAX:
            yield waiting
            waiting, characters = [], 0
        waiting.append(piece)
        characters += len(piece.text)
    if waiting:
        yield waiting


def _pieces(texts: Sequence[str]) -> Iterator[_Piece]:
    for place, text in enumerate(texts):
        start = 0
        while start + CHARACTERS_MAX < len(text):
            yield _Piece(place, start, text[start : start + CHARACTERS_MAX])
            start += CHARACTERS_MAX - OVERLAP_CHARACTERS
        yield _Piece(place, start, text[start:])


def _finding(piece: _Piece) -> Finding:
    return Finding(
        kind=FindingKind.ATTACK,
        rule=f"attack.{NAME}",
        scanner=f"{NAME}/{API_VERSION}",
        start=piece.start,
        end=piece.start + len(piece.text),
        confidence=CONFIDENCE,
    )
