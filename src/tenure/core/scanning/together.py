"""Sensitive rules: two things said in one sentence, in whichever order, that make a change together.

What is said of money or of a control has countless forms; the pair is what they share: where money goes, and
that it is another place now; a control, and that it does not hold.
"""

from tenure.core.scanning.instruction_words import is_not_asked
from tenure.core.scanning.matching import Rule, phrase_rule

_POSSIBLE = 0.5

_PLACES = (
    "iban|remit|remittance|wire (?:instructions|details)|bank(?:ing)? (?:details|coordinates)|account"
    " number|sort code"
    "|routing number|payment (?:details|instructions)|payout (?:account|address)|wallet address|paypal|payee"
)
_PLACE_STARTS = (
    "iban remit remittance wire bank banking account sort routing payment payout wallet paypal payee"
)
_MOVED = (
    "new|revised|changed|updated|amended|corrected|replaced|instead|in future|in the future|going forward"
    "|from now on|following|henceforth|effective|different|no longer"
)
_MOVED_STARTS = (
    "new revised changed updated amended corrected replaced instead in going from following henceforth"
    " effective"
    " different no"
)

_CONTROLS = (
    "approvals?|four-eyes|two-person rule|dual control|sign-offs?|verification|identification|audit"
    " trail|audit logs?"
    "|spending (?:cap|limit)|change board|compliance|kyc|second signature|two-factor|mfa|background checks?"
    "|purchase orders?|security review|code review|content review|segregation of duties"
)
_CONTROL_STARTS = (
    "approval approvals four two dual sign signoff verification identification audit spending change"
    " compliance kyc"
    " second mfa background purchase security code content segregation"
)
_LIFTED = (
    "lifted|waived|waivers?|waives|skips?|skipped|bypass(?:es|ed)?|not asked|need not|suspended|dropped"
    "|disabled"
    "|relaxed|exempt(?:ed|ion)?|circumvent(?:ed|s)?|overridden|turned off|switched off|not informed|can"
    " be deleted"
    "|may be deleted|without a look"
)
_LIFTED_STARTS = (
    "lifted waived waiver waivers waives skip skips skipped bypass bypasses bypassed not need suspended"
    " dropped"
    " disabled relaxed exempt exempted exemption circumvent circumvented overridden turned switched can"
    " may without"
)

_POWERS = (
    "(?:admin(?:istrator)?|owner|root|superuser|read|write|full|unlimited|signing|editor) (?:rights"
    "|access|permissions?"
    "|privileges|role|authority|exports?)"
)
_POWER_STARTS = "admin administrator owner root superuser read write full unlimited signing editor"
_GIVEN = (
    "given|granted|grants?|gives?|whitelisted|run with|runs with|receives?|received|assigned|added"
    "|extended|delegated"
)
_GIVEN_STARTS = (
    "given granted grant grants give gives whitelisted run runs receive receives received assigned added"
    " extended"
    " delegated"
)


def _pair(name: str, one: str, one_starts: str, other: str, other_starts: str) -> Rule:
    """A rule for two things that stand within eight words of each other."""
    return phrase_rule(
        f"sensitive.{name}",
        rf"\b(?:{one}) <8> (?:{other})\b|\b(?:{other}) <8> (?:{one})\b",
        leads=f"{one_starts} {other_starts}",
        words=one_starts,
        also=other_starts,
        confidence=_POSSIBLE,
        accept=is_not_asked,
    )


TOGETHER = (
    _pair("payment-change", _PLACES, _PLACE_STARTS, _MOVED, _MOVED_STARTS),
    _pair("exemption", _CONTROLS, _CONTROL_STARTS, _LIFTED, _LIFTED_STARTS),
    phrase_rule(
        "sensitive.permission-change",
        rf"\b(?:{_GIVEN}) <8> (?:{_POWERS})\b",
        leads=_GIVEN_STARTS,
        words=_GIVEN_STARTS,
        also=_POWER_STARTS,
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:is|are) (?:not|never) (?:reviewed|checked|verified|audited|screened|logged|monitored"
        r"|inspected)\b"
        r"|\b(?:order|orders|act|acts|pay|pays|buy|decide|decides|approve|approves|sign|deploy|release"
        r"|refund) <8> without"
        r" (?:an? |any )?(?:person|human|people|human being|colleague|second pair of eyes)\b"
        r"|\b(?:mark|marked|flag|flagged|record|recorded|list|listed) <4> as <1> (?:approved|verified"
        r"|reviewed|trusted"
        r"|pre-approved|authori[sz]ed|cleared|signed off)\b",
        words="reviewed checked verified audited screened logged monitored inspected without mark marked"
        " flag flagged"
        " record recorded list listed",
        also="not never person human people colleague second as",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:credit|spending|transfer|withdrawal|payment|purchase|order|daily|transaction|refund"
        r"|approval) (?:limits?"
        r"|caps?|ceilings?|thresholds?|budgets?|allowances?) <5> (?:unlimited|lifted|removed|raised"
        r"|increased|doubled"
        r"|suspended|set to)\b"
        r"|\b(?:log|audit|record|backup|evidence) retention <3> (?:shortened|cut|reduced|set|lowered"
        r"|dropped|zero)\b",
        words="limit limits cap caps ceiling ceilings threshold budget budgets allowance retention",
        also="unlimited lifted removed raised increased doubled suspended set shortened cut reduced"
        " lowered dropped"
        " zero",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.contact-change",
        r"\b(?:registered office|(?:postal|billing|delivery|mailing|invoice|shipping) address"
        r"|headquarters) <3> (?:moved"
        r"|relocated|changed|is now|will be)\b",
        words="registered postal billing delivery mailing invoice shipping headquarters",
        also="moved relocated changed now will",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:lawyer|attorney|solicitor|accountant|representative|broker|advis[eo]r|guardian|proxy"
        r"|trustee|executor"
        r"|account manager|contact person|main contact) <2> is now\b",
        words="lawyer attorney solicitor accountant representative broker adviser advisor guardian proxy"
        " trustee executor"
        " account contact main",
        also="now",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:paid|paid out|pay|pays|remit|credit(?:ed)?|transfer(?:red)?|refunded|wired|deposited) <6>"
        r" instead of"
        r" <2> (?:cards?|accounts?|iban|bank|cheque|usual|current|invoice address)\b",
        words="instead",
        also="paid pay pays remit credit credited transfer transferred refunded wired deposited",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:take|takes|treat|accept|regard|consider) <3> (?:word|words|statements?|messages?|requests?"
        r"|instructions?|orders?|approval) <1> as (?:final|binding|proof|verified|approved|sufficient"
        r"|authoritative"
        r"|law|gospel|true|genuine|authori[sz]ed)\b"
        r"|\b(?:mention|use|uses|contain|contains|say|says|give|gives) <2> code ?words? <6> (?:comes?|is"
        r"|are|be)"
        r" <1> (?:from|trusted|authori[sz]ed|approved|verified)\b",
        words="word words statement statements message messages request requests instruction"
        " instructions order"
        " orders approval code codeword codewords",
        also="take takes treat accept regard consider mention use uses contain contains say says give gives",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:may|can|is allowed to|is authori[sz]ed to|is entitled to) (?:now )?(?:sign|conclude"
        r"|approve|authori[sz]e)"
        r" <2> (?:contracts?|agreements?|payments?|invoices?|orders?|expenses?|releases?) (?:for|on"
        r" behalf|alone"
        r"|without|in the name|up to)\b",
        words="sign conclude approve authorize authorise",
        also="may can allowed authorized authorised entitled",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.health-record",
        r"\b(?:medications?|dosages?|doses?|prescriptions?|diagnos[ei]s|allerg(?:y|ies)) <3> (?:changed"
        r"|replaced|altered"
        r"|doubled|halved|reduced|increased|substituted|removed) <1> (?:to|by|with|from)\b",
        words="medication medications dosage dosages dose doses prescription prescriptions diagnosis"
        " diagnoses allergy"
        " allergies",
        also="changed replaced altered doubled halved reduced increased substituted removed",
        confidence=_POSSIBLE,
    ),
)
