"""The scanner for credentials: shapes of well-known keys, headers, addresses with passwords, and plain prose.

A key's shape is public knowledge of its issuer. In prose the words "the password is" are not enough: what
follows must look like a value (`values`), or half of what people write about passwords would be refused.
A finding has the rule and the place of what was found, and never the secret.
"""

import re

from tenure.core.scanning.findings import Finding
from tenure.core.scanning.matching import Accept, LatePattern, Rule, RulePack, any_of, starts_of
from tenure.core.scanning.normalising import View
from tenure.core.scanning.seed_phrases import seed_phrases
from tenure.core.scanning.token_shapes import TOKEN_SHAPES
from tenure.core.scanning.values import is_count, is_placeholder, is_technical, looks_like_secret

_LIKELY = 0.8

_NAME = any_of(
    "pass(?:word|phrase|code|wd)s?|pwd|(?:api|access|secret|encryption|license|signing|private|account)"
    "[ _-]?keys?",
    "(?:client|shared|webhook|signing|app)[ _-]?secrets?|(?:access|auth|api|bearer|refresh|session|login"
    "|bot)[ _-]?tokens?|session[ _-]?(?:cookies?|ids?)",
)
_NAME_STARTS = (
    "password passphrase passcode passwd pwd key keys apikey accesskey secretkey secret secrets token tokens"
    " cookie cookies id ids privatekey sessionid"
)
_NAME_LEADS = (
    "password passphrase passcode passwd pwd api apikey access secret encryption license signing client"
    " shared webhook app auth bearer refresh session login bot private account"
)
# Words with other meanings, so that only a value made by a machine counts behind them.
_WIDE_NAME = any_of("secrets?|tokens?|credentials?|log-?ins?")
_WIDE_NAME_STARTS = "secret secrets token tokens credentials login logins log"
_CODE_NAME = any_of(
    "pins?|pin[ -](?:code|number)s?|pass(?:word|code|phrase)s?|cvv2?|cvc|otp|combination",
    "(?:door|gate|alarm|safe|lock|vault|access|entry|security|unlock|log-?in|verification|recovery|backup"
    "|one-time|2fa|mfa|authenticator|sms)[ -](?:code|pin)s?",
)
_CODE_NAME_LEADS = (
    "pin pins password passcode passphrase cvv cvv2 cvc otp combination door gate alarm safe lock vault"
    " access entry security unlock login log verification recovery backup one 2fa mfa authenticator sms"
)
# What may stand between a name and its value: "for the staging server", then a verb or a sign.
_IS = (
    r"[\"'`]?(?:\s++(?:for|to|of|on|at|in)\s[^.!?;:=\n]{1,60}?)?(?:\s*+(?:=>|:=|[:=])\s*+"
    r"|\s++(?:is|are|was|were|will be|should be|has been|have been)\s++(?:now\s++|still\s++)?"
    r"(?:(?:set|changed|reset|updated|switched)\s++to\s++)?"
    r"|\s++(?:set|changed|reset|updated|switched)\s++to\s++)"
)
_START = "(?<![a-z])"
_WORD_VALUE = r"[\"'`(]{0,2}(?P<value>[^\s\"'`,;]{4,256})"
_CODE_VALUE = r"[\"'`(]{0,2}(?P<value>[0-9](?:[ -]?[0-9]){2,11})(?![\w@/]|[.,-][0-9])"

_RECOVERY = r"[a-z0-9]{4,6}-[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){0,2}|[a-z0-9]{8,12}"
_ORDINARY_WORDS = "the and for are not but our was has them which words your keep should must"
_NOT_SEED_WORDS = frozenset(_ORDINARY_WORDS.split())
_SEED_WORDS_COUNTS = frozenset((12, 15, 18, 21, 24))
_MADE_CHARACTERS_MIN = 8


def _written(view: View, match: re.Match[str]) -> str:
    """The value as it is written, in its own case and without the sentence's punctuation."""
    start, end = match.span("value")
    return view.text[start:end].rstrip(".,;:!?)")


def _is_secret(view: View, match: re.Match[str]) -> bool:
    """Whether the value looks made to open something."""
    return looks_like_secret(_written(view, match))


def _is_made(view: View, match: re.Match[str]) -> bool:
    """Whether the value is made by a machine, or nearly: long, with digits as well as letters."""
    value = _written(view, match)
    return any(map(str.isdigit, value)) and looks_like_secret(value, characters_min=_MADE_CHARACTERS_MIN)


def _is_code(view: View, match: re.Match[str]) -> bool:
    """Whether the digits are a code, and not a count of something."""
    return not is_count(view.folded[match.end() : match.end() + 20])


def _is_real(view: View, match: re.Match[str]) -> bool:
    """Whether the password in an address is more than the mark of its place."""
    return not is_placeholder(_written(view, match))


def _is_seed(_view: View, match: re.Match[str]) -> bool:
    """Whether the words behind "seed phrase" are a list of words, and not a sentence about one."""
    words = re.findall("[a-z]+", match["value"])
    return len(words) in _SEED_WORDS_COUNTS and _NOT_SEED_WORDS.isdisjoint(words)


def _are_codes(view: View, match: re.Match[str]) -> bool:
    """Whether what stands behind "recovery codes" has digits among its characters, as codes do."""
    value = _written(view, match)
    return any(map(str.isdigit, value)) and not is_placeholder(value) and not is_technical(value)


def _said(
    name: str,
    pattern: str,
    accept: Accept,
    *,
    leads: str = "",
    words: str = "",
    also: str = "",
    marks: tuple[str, ...] = (),
) -> Rule:
    """A rule for a credential that is only one by the words around it."""
    return Rule(
        name=f"credential.{name}",
        pattern=LatePattern(pattern),
        confidence=_LIKELY,
        leads=starts_of(leads),
        words=starts_of(words),
        also=starts_of(also),
        marks=marks,
        accept=accept,
    )


_SAID = (
    _said(
        "authorization-header",
        r"(?<![a-z])(?:authorization[\"']?\s*+[:=]\s*+[\"']?(?:bearer|basic|token)"
        r"|bearer)\s++(?P<value>[\w.~+/=-]{16,2048})",
        _is_made,
        leads="authorization bearer",
        words="authorization bearer",
    ),
    _said(
        "cookie",
        r"cookie[\"']?\s*+:[^\n]{0,80}?(?:sess|sid|auth|token)[\w-]{0,16}+=(?P<value>[\w.%~+/-]{12,2048})",
        _is_made,
        words="cookie",
    ),
    _said(
        "address-with-password",
        r"://[^\s/:@]{0,64}:(?P<value>[^\s/@]{1,128})@[\w\[]",
        _is_real,
        marks=("://",),
    ),
    _said(
        "command-with-password",
        r"\b(?:curl|wget)\s[^\n|]{0,200}?(?:-u|--user"
        r"|--password)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{1,128})",
        _is_real,
        leads="curl wget",
        words="curl wget",
    ),
    _said(
        "command-with-password",
        r"\b(?:docker|podman|mysql|mysqldump|psql|mongosh?|redis-cli|sshpass|smbclient|net use|htpasswd|oc|az"
        r"|helm|svn|ldapsearch|rclone)\s[^\n|]{0,160}?\s(?:-p|-w|-a|--pass(?:word)?)[ =]?[\"']?"
        r"(?P<value>[^\s\"'-][^\s\"']{4,128})",
        _is_secret,
        leads="docker podman mysql mysqldump psql mongo mongosh redis sshpass smbclient net htpasswd oc"
        " az helm"
        " svn ldapsearch rclone",
        words="docker podman mysql mysqldump psql mongo mongosh redis sshpass smbclient net htpasswd oc"
        " az helm"
        " svn ldapsearch rclone",
    ),
    _said(
        "stated-secret",
        r"\b(?:set|reset|change|update|switch)(?:s|ted|ting|ing|d)?\s++(?:[a-z']{1,12}\s++){0,4}?"
        rf"{_NAME}(?:\s++(?:for|of|on)\s[^.!?;:=\n]{{1,40}}?)?\s++(?:back\s++)?to\s++{_WORD_VALUE}",
        _is_secret,
        leads="set sets setting reset resets change changes changed update updates updated switch",
        words=_NAME_STARTS,
        also="set sets setting reset resets change changes changed update updates updated switch",
    ),
    _said(
        "recovery-code",
        r"(?<![a-z])(?:recovery|backup|scratch|one-time|emergency|2fa|mfa)[ -]"
        r"(?:codes?|keys?)(?:\s++(?:for|of)\s[^.!?;:=\n]{1,40}?)?(?:\s*+[:=]\s*+|\s++(?:is|are)\s++)"
        rf"[\"'`(]{{0,2}}(?P<value>{_RECOVERY})(?![\w@/])",
        _are_codes,
        leads="recovery backup scratch one emergency 2fa mfa",
        words="code codes key keys",
        also="recovery backup scratch one emergency 2fa mfa",
    ),
    _said(
        "stated-secret",
        f"{_START}{_NAME}{_IS}{_WORD_VALUE}",
        _is_secret,
        leads=_NAME_LEADS,
        words=_NAME_STARTS,
    ),
    _said(
        "stated-secret",
        f"{_START}{_WIDE_NAME}{_IS}{_WORD_VALUE}",
        _is_made,
        leads=_WIDE_NAME_STARTS,
        words=_WIDE_NAME_STARTS,
    ),
    _said(
        "stated-secret",
        rf"{_START}(?:password|passphrase|passcode)\s++{_WORD_VALUE}",
        _is_made,
        leads="password passphrase passcode",
        words="password passphrase passcode",
    ),
    _said(
        "stated-code",
        f"{_START}{_CODE_NAME}{_IS}{_CODE_VALUE}",
        _is_code,
        leads=_CODE_NAME_LEADS,
        words="pin pins code codes password passphrase passcode cvv cvv2 cvc otp combination",
    ),
    _said(
        "seed-phrase",
        r"(?<![a-z])(?:seed|recovery|mnemonic|backup)[ -](?:phrase|words)?[^.:=\n]{0,40}?(?:\s++(?:is"
        r"|are)\s++|\s*+[:=]\s*+)[\"'`]?(?P<value>(?:[a-z]{3,8}[\s,]++){11,23}[a-z]{3,8})(?![a-z])",
        _is_seed,
        leads="seed recovery mnemonic backup",
        words="seed recovery mnemonic backup",
    ),
)


class Credentials(RulePack):
    """The rules, and the rows of words that open a wallet."""

    def find(self, view: View) -> list[Finding]:
        """Everything in the view that looks made to open something."""
        return [*super().find(view), *seed_phrases(view, f"{self.name}/{self.version}")]


CREDENTIALS = Credentials("credentials", "3", (*TOKEN_SHAPES, *_SAID))
