"""Whether a word behind "the password is" is a value that opens something, or just the rest of a sentence."""

import re

# What is written where a value should stand.
_PLACEHOLDER = re.compile(
    r"<.*>|\{.*\}|\[.*\]|\$\{?\w*\}?|%\w+%|[*.x_#-]+|(?:your|my|the|some|new|old|example|sample|test)[-_ ].*"
    r"|none|null|nil|undefined|true|false|string|redacted|masked|hidden|secret|password|passwd|pass|passcode"
    r"|placeholder|required|optional",
    re.IGNORECASE,
)
# Words with digits that belong to sentences about credentials: algorithms, sizes, ordinals, dates, versions.
_TECHNICAL = re.compile(
    r"(?:sha|md|[rhpe]s|ed|aes|rsa|utf|base|bcrypt|scrypt|argon|pbkdf|oauth|http|tls|ssl|ipv|py|fips|rfc"
    r"|iso|nist)-?[0-9]{1,6}(?:[-._/][a-z0-9]{1,8})*|[0-9]+[a-z]{1,5}|[0-9]+-[a-z]+(?:-[a-z]+)*"
    r"|[a-z]{1,3}[0-9]{1,2}|[0-9]{1,4}(?:[-/.][0-9]{1,4}){1,2}",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[\s-]*(?:%|(?:digits?|characters?|chars?|letters?|numbers?|symbols?|words?|bits?|bytes?|times"
    r"|minutes?|hours?"
    r"|days?|weeks?|months?|years?|seconds?|attempts?|tries|percent|or|to|and|[cmk]?m|ms|s|kb|mb|gb|v"
    r"|volts?)\b)"
)
_CALL_OR_PATH = re.compile(r"[(){}\[\]<>]|^[./~]|::|->|^[a-z_]\w*(?:\.[a-z_]\w*)+$", re.IGNORECASE)
_ADDRESS = re.compile(r"[^@]+@[\w-]+(?:\.[\w-]+)+|\w+://.*")
_SIGNS = frozenset("!@#$%^*")


def is_placeholder(value: str) -> bool:
    """Whether the value only marks the place of one."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_technical(value: str) -> bool:
    """Whether the value is a word with digits that sentences have: an algorithm, a size, a date."""
    return _TECHNICAL.fullmatch(value) is not None


def is_count(behind: str) -> bool:
    """Whether the text behind a number makes it a count, as in "4 digits"."""
    return _COUNTED.match(behind) is not None


def looks_like_secret(value: str, *, characters_min: int = 5) -> bool:
    """Whether one word, in its own case, looks made to open something rather than to be read."""
    if len(value) < characters_min or is_placeholder(value):
        return False
    if _CALL_OR_PATH.search(value) or _ADDRESS.fullmatch(value):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if any(map(str.isdigit, value)):
        return not is_technical(value)
    return not _SIGNS.isdisjoint(value[1:-1])
