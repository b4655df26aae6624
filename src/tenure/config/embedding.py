"""The settings of embedders: which turns texts into vectors, and how a service that does so is asked."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from tenure.config.kinds import MASK, Name, SafeAddress

_ADDRESS: Final = "an https:// address, or http:// to this machine, without user or password"

Engine = Literal["local", "none", "minilm", "multilingual", "openai", "sentence-transformers", "fastembed"]

Prefix = Annotated[str, Meta(min_length=1, max_length=200)]


class Embedding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which engine finds memories by meaning."""

    engine: Annotated[
        Engine, Meta(description="What turns texts into vectors; without any, words and place find memories.")
    ] = "local"
    older: Annotated[
        tuple[Name, ...],
        Meta(
            description="Engines used before, whose vectors serve until the new ones cover everything.",
            extra={
                "accepts": "local, minilm, multilingual, or models of the service as "
                "`openai:NAME-DIMENSIONS/VERSION`"
            },
        ),
    ] = ()
    url: Annotated[
        SafeAddress | None,
        Meta(
            description="Service that speaks OpenAI's embeddings call, as https://api.openai.com/v1.",
            extra={"accepts": _ADDRESS},
        ),
    ] = None
    key: Annotated[Name | None, Meta(description="Key of that service.", extra={"is_secret": True})] = None
    model: Annotated[
        Name | None, Meta(description="Name of the model at the service, or in fastembed's own list.")
    ] = None
    folder: Annotated[
        Name | None,
        Meta(description="Folder with the model's files, for minilm, sentence-transformers and fastembed."),
    ] = None
    dimensions: Annotated[
        Annotated[int, Meta(ge=1, le=16_384)] | None,
        Meta(
            description="Numbers in a vector of the service's model.",
            extra={"accepts": "a whole number from 1 to 16384"},
        ),
    ] = None
    asks_for_dimensions: Annotated[
        bool, Meta(description="Whether the service is asked to shorten its vectors to that many.")
    ] = False
    version: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,40}$")],
        Meta(
            description="Version of a model of your own; another one embeds everything anew.",
            extra={"accepts": "up to 40 letters, digits and . _ -"},
        ),
    ] = "1"
    query_prefix: Annotated[
        Prefix | None,
        Meta(description="What the model wants before a question; a file keeps the space at its end."),
    ] = None
    passage_prefix: Annotated[Prefix | None, Meta(description="What the model wants before a memory.")] = None
    batch_size: Annotated[
        int, Meta(description="Texts that are embedded at once, in the background.", ge=1, le=2_048)
    ] = 32
    text_characters_max: Annotated[
        int, Meta(description="Characters of a text that the model is given.", ge=100, le=32_768)
    ] = 8_000
    seconds_max: Annotated[
        float, Meta(description="Longest wait for the service, retries included.", ge=0.1, le=600)
    ] = 30.0
    query_seconds_max: Annotated[
        float,
        Meta(description="The same for a question; a recall then does without meaning.", ge=0.05, le=60),
    ] = 2.0

    def __repr__(self) -> str:
        """Say whether there is a key, never which."""
        return f"Embedding({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Mask the key for pretty printers as well."""
        shown = msgspec.structs.asdict(self)
        return [(name, MASK if name == "key" and value else value) for name, value in shown.items()]
