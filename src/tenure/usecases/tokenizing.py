"""What counts the tokens of a budget: a tokenizer that is named, or the estimate (SPEC R4)."""

from collections.abc import Callable
from typing import Final, Protocol

from tenure.core.errors import InvalidRequest
from tenure.core.token_estimate import estimate_tokens

ESTIMATE: Final = "estimate"

Count = Callable[[str], int]


class Tokenizers(Protocol):
    """Tokenizers of language models, by the names of their vocabularies."""

    @property
    def names(self) -> tuple[str, ...]:
        """Those that can be named here."""

    def count(self, name: str, text: str) -> int:
        """How many tokens the text has by one of them."""


class NoTokenizers:
    """Nothing but the estimate, where the extra is not installed."""

    names: Final[tuple[str, ...]] = ()

    def count(self, name: str, text: str) -> int:
        """Nobody asks for one that is not among the names."""
        raise LookupError(f"no tokenizer {name} for a text of {len(text):,} characters")


def counter(tokenizers: Tokenizers, name: str | None) -> Count:
    """What counts by this name, the estimate where there is none; raises InvalidRequest for one not known."""
    if name is None or name == ESTIMATE:
        return estimate_tokens
    if name not in tokenizers.names:
        known = ", ".join((ESTIMATE, *tokenizers.names))
        raise InvalidRequest(
            f"there is no tokenizer of this name here; there are: {known}",
            field="tokenizer",
            hint="Name one of these, or leave tokenizer out for an estimate that errs to the safe side."
            if tokenizers.names
            else "Leave tokenizer out for an estimate that errs to the safe side, or install real ones: "
            "pip install 'tenure[tokenizers]'.",
        )
    return lambda text: tokenizers.count(name, text)
