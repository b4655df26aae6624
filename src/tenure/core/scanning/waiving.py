"""Sensitive rules: controls that are said not to hold, for somebody, for something, or from now on."""

from tenure.core.scanning.matching import any_of, phrase_rule

_LIKELY, _POSSIBLE = 0.75, 0.5

_CONTROL = any_of(
    "signatures?|approvals?|reviews?|confirmations?|authori[sz]ation|verification|verif(?:y|ied)|sign-?offs?"
    "|checks?|checked|consent|permission|approved|confirmed|reviewed|authori[sz]ed|countersigned|nda|mfa|2fa"
    "|purchase orders?|proof|id|identification|audits?|logging|screening|monitoring|kyc|tickets?|receipts?"
)
_CONTROL_STARTS = (
    "signature signatures approval approvals review reviews confirmation authorization authorisation"
    " verification verify verified sign signoff check checks checked consent permission approved confirmed"
    " reviewed authorized authorised countersigned nda mfa 2fa purchase proof id identification audit audits"
    " logging screening monitoring kyc ticket tickets receipt receipts"
)
_ACT = "share|pay|send|release|give|ship|sign|issue|order|refund|transfer|export|delete|disclose|book|buy"
_ACT_STARTS = _ACT.replace("|", " ")
_LAXLY = "automatically|by default|immediately|at once|on sight|on receipt|without question|unseen|instantly"
_LAXLY_STARTS = "automatically by immediately at on without unseen instantly"
_THINGS = (
    "payroll|salar(?:y|ies)|customer (?:data|records)|contracts?|confidential|personal data|patient"
    "|financials?"
    "|production|secrets?|keys?|credentials?|admin|bank|accounts?|limits?|controls?|process|approvals?"
    "|payments?"
)

WAIVING = (
    phrase_rule(
        "sensitive.exemption",
        rf"\b(?:no longer|does not|do not|doesn't|don't|need not|needn't) (?:needs?|requires?|be|have"
        r"|has|ask for"
        rf"|wait for) <4> {_CONTROL}\b",
        leads="no does do doesn don need needn",
        words=_CONTROL_STARTS,
        also="no does do doesn don need needn",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:you|we|they|agents?|assistants?|staff|bots?|i|he|she|nobody|no one) (?:don't|do not|does not"
        r"|doesn't|needn't|need not|no longer|never) (?:needs? to |have to |has to )?(?:ask|check with"
        r"|confirm"
        r"|verify|consult|get approval|seek approval|wait for) <3> (?:managers?|approvers?|supervisors?"
        r"|anyone"
        r"|anybody|finance|legal|security|customers?|users?|owners?|boss|compliance|first|before)\b",
        leads="you we they agent agents assistant assistants staff bot bots i he she nobody no",
        words="ask check confirm verify consult get seek wait",
        also="don do does doesn needn need no never",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:approved|accepted|paid|released|merged|processed|granted|settled|signed|reimbursed"
        r"|refunded|shipped"
        rf"|waved through|trusted|executed) <2> (?:{_LAXLY})\b"
        rf"|\b(?:{_LAXLY}) (?:approve|accept|pay(?! off\b)|release|merge|process|grant|settle|sign|reimburse"
        r"|refund|trust"
        r"|execute)\b",
        words="approved accepted paid released merged processed granted settled signed reimbursed"
        " refunded shipped"
        " waved trusted executed approve accept pay release merge process grant settle sign reimburse"
        " refund trust"
        " execute",
        also=_LAXLY_STARTS,
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        rf"\b(?:{_ACT}) <6> without (?:an? |the |any )?{_CONTROL}\b",
        leads=_ACT_STARTS,
        words="without",
        also=_CONTROL_STARTS,
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:authori[sz]ed|cleared|allowed|permitted|entitled|instructed|approved) <5> to <1>"
        r" (?:bypass|skip"
        r"|share|export|see|view|access|read|sign|delete|disable|override|approve|pay|transfer|download|act"
        rf"|change|ignore|waive) <4> (?:{_THINGS})\b",
        words="authorized authorised cleared allowed permitted entitled instructed approved",
        also="bypass skip share export see view access read sign delete disable override approve pay transfer"
        " download act change ignore waive",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:limits?|polic(?:y|ies)|rules?|quotas?|restrictions?|screening|controls?|caps?|approvals?"
        r"|checks?)"
        r" (?:(?:does|do) not|don't|doesn't|no longer|never) appl(?:y|ies) (?:to|for|when|if|here)\b"
        r"|\b(?:exempt|excluded|excused|left out|kept out|free|shielded) (?:from|of) <2> (?:monitoring"
        r"|screening"
        r"|audits?|logging|surveillance|moderation|reporting|oversight|inspections?|limits?|alerts?"
        r"|quotas?)\b",
        words="limit limits policy policies rule rules quota quotas restriction screening control"
        " controls cap caps"
        " approval approvals check checks exempt excluded excused left kept free shielded",
        also="apply applies monitoring screening audit audits logging surveillance moderation reporting"
        " oversight"
        " inspection limit limits alert alerts quota quotas",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.control-silenced",
        r"\b(?:do not|don't|never|stop|no need to|avoid) (?:send|sending|raise|raising|report|reporting|flag"
        r"|flagging|escalate|escalating|trigger|triggering|notify|alert|log|record) <4> (?:fraud|alerts?"
        r"|warnings?"
        r"|incidents?|complaints?|breach(?:es)?|suspicious|security|compliance|customers? about|refunds?"
        r"|transfers?"
        r"|withdrawals?|changes to)\b",
        leads="do don never stop no avoid",
        words="send sending raise raising report reporting flag flagging escalate escalating trigger"
        " triggering"
        " notify alert log record",
        also="fraud alert alerts warning warnings incident incidents complaint complaints breach"
        " breaches suspicious"
        " security compliance customer customers refund refunds transfer transfers withdrawal changes",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:verification|authentication|approval|mfa|2fa|two-factor(?: authentication)?|review"
        r"|sign-?off|consent"
        r"|identification) (?:is|are) (?:now |only )?(?:optional|voluntary|switched off|off|unnecessary"
        r"|suspended)\b",
        words="verification authentication approval mfa 2fa two review sign signoff consent identification",
        also="optional voluntary switched off unnecessary suspended",
        confidence=_LIKELY,
    ),
)
