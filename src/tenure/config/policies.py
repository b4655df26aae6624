"""The policy that the settings name: the one that ships, or a document of the operator's (SPEC L2, S3)."""

from pathlib import Path

from tenure.config.loading import ConfigError
from tenure.config.settings import Settings
from tenure.core.admission import Policy, bounded, default_policy
from tenure.core.policy_documents import DOCUMENT_CHARACTERS_MAX, BadPolicy, parse
from tenure.core.vocabulary import Outcome

_DOCUMENT_BYTES_MAX = 4 * DOCUMENT_CHARACTERS_MAX


def policy_in_force(settings: Settings) -> Policy:
    """What decides on writes; raises ConfigError with every mistake of a document that is named.

    What is longer than ``admission.content_characters_max`` is not scanned, so no document lets it in.
    """
    admission = settings.admission
    if settings.policy_file is None:
        return default_policy(
            content_characters_max=admission.content_characters_max,
            on_scanner_failure=Outcome(admission.on_scanner_failure),
        )
    policy = _read(settings.policy_file)
    return bounded(policy, content_characters_max=admission.content_characters_max)


def _read(file: str) -> Policy:
    try:
        return parse(_text(file))
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
