"""The policy that the settings name: the one that ships, or a document of the operator's (SPEC L2, S3)."""

from pathlib import Path

from tenure.config.loading import ConfigError
from tenure.config.settings import Settings
from tenure.core.admission import Policy, default_policy
from tenure.core.policy_cases import SHIPPED_CASES, failures
from tenure.core.policy_documents import Document, read
from tenure.core.policy_reading import DOCUMENT_CHARACTERS_MAX, BadPolicy
from tenure.core.vocabulary import Outcome

_DOCUMENT_BYTES_MAX = 4 * DOCUMENT_CHARACTERS_MAX


def policy_in_force(settings: Settings) -> Policy:
    """What decides on writes; raises ConfigError with every mistake of a document that is named.

    What is longer than ``admission.content_characters_max`` is not scanned, so no document lets it in. A
    document whose own tests fail is not put in force.
    """
    return document_in_force(settings).policy


def document_in_force(settings: Settings) -> Document:
    """The policy that decides on writes, and what its author expects of it."""
    admission = settings.admission
    if settings.policy_file is not None:
        return _read(settings.policy_file, admission.content_characters_max)
    policy = default_policy(
        content_characters_max=admission.content_characters_max,
        on_scanner_failure=outcome_of_failure(settings),
    )
    cases = tuple(case for case in SHIPPED_CASES if not any(failures(policy, (case,))))
    return Document(policy=policy, cases=cases)


def outcome_of_failure(settings: Settings) -> Outcome:
    """What the policy says of a failed scanner; what is to be deferred would otherwise wait for a person."""
    rejects = settings.admission.on_scanner_failure == "reject"
    return Outcome.REJECT if rejects else Outcome.QUARANTINE


def _read(file: str, content_characters_max: int) -> Document:
    try:
        return read(_text(file), content_characters_max=content_characters_max)
    except BadPolicy as bad:
        problems = tuple(f"policy_file ({file}), {mistake}" for mistake in bad.mistakes)
        raise ConfigError(problems) from None


def _text(file: str) -> str:
    try:
        with Path(file).open("rb") as opened:
            return opened.read(_DOCUMENT_BYTES_MAX + 1).decode()
    except OSError as fault:
        why = f"cannot be read ({fault.strerror}); name a file that this user may read"
    except UnicodeDecodeError:
        why = "is not text in UTF-8"
    raise ConfigError((f"policy_file ({file}): the file {why}.",))
