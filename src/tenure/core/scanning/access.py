"""Sensitive rules: approvals waived, rights given, identities moved, orders to other agents."""

from tenure.core.scanning.instruction_words import is_order
from tenure.core.scanning.matching import any_of, phrase_rule

_LIKELY, _POSSIBLE = 0.75, 0.5

_CONTROL = any_of(
    "approvals?|reviews?|confirmations?|authori[sz]ation|verification|mfa|2fa|two-factor|sign-?offs?"
    "|checks?|consent",
    "audits?|auditing|logging|permission(?:s| checks?)?|validation|access controls?|export controls?|gates?"
    "|scans?",
    "scanning|controls|four-eyes|rate limit(?:s|ing)|quotas?|authentication|kyc|aml|signature checks?"
    "|safeguards",
)
_CONTROL_STARTS = (
    "approval review reviews confirmation authorization authorisation verification mfa 2fa two sign signoff"
    " check checks"
    " consent audit audits auditing logging permission validation access export gate gates scan scans"
    " scanning controls four rate quota quotas authentication kyc aml signature safeguards"
)
_POWER = any_of(
    "admin(?:istrator)?|root|owner|super-?user|sudo|full|unrestricted|unlimited|elevated|privileged"
    "|production|write",
    "read-write|permanent|global|domain admin|all",
)
_POWER_STARTS = (
    "admin administrator root owner super superuser sudo full unrestricted unlimited elevated privileged"
    " production write permanent global domain all"
)
_RIGHTS = any_of("access|rights?|privileges?|permissions?|roles?|control|credentials|authority|status")
_RIGHTS_STARTS = (
    "access right rights privileges permissions role roles control credentials authority status user users"
    " account accounts token tokens"
)
_MOVED = any_of(
    "(?:has|have|had|was|were|is|are)(?: been| now)* (?:changed|updated|moved|replaced|switched|different"
    "|new|closed)",
    "changed|moved|is now|are now|will be|should (?:now )?(?:go|be)",
)

ACCESS = (
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:exempt(?:ed)?|excused|excluded|released|waived|whitelisted|allow-?listed) (?:from"
        rf"|for) <4> {_CONTROL}\b",
        leads="exempt excused excluded released waived whitelisted allow",
        words="exempt excused excluded released waived whitelisted allowlisted listed allow",
        also="from for",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        rf"\b(?:no|without|zero) <2> {_CONTROL} <1> (?:is |are |be )?(?:needed|required|necessary|step"
        r"|at all)\b",
        leads="no without zero",
        words="needed required necessary step all",
        also="no without zero",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:execute|run|deploy|merge|transfer|pay|send|approve|accept|trust|release|publish|delete|issue"
        r"|sign|install"
        rf"|ship|proceed|commit|refund) <6> without <2> {_CONTROL}\b",
        leads="execute run deploy merge transfer pay send approve accept trust release publish delete issue"
        " sign install ship proceed commit refund",
        words="without",
        also="execute run deploy merge transfer pay send approve accept trust release publish delete issue"
        " sign install ship proceed commit refund",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:remove|lift|disable|raise|ignore|bypass|unlimited|no) (?:all |any |the |daily )*(?:payment"
        r"|transfer|spending"
        r"|withdrawal|transaction|refund|api|request|credit) (?:limits?|caps?|requests|fees)\b",
        leads="remove lift disable raise ignore bypass unlimited no",
        words="limit limits cap caps requests fees",
        also="remove lift disable raise ignore bypass unlimited no",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        rf"\b{_CONTROL} <3> (?:(?:is|are|was|were|has been|have been|can be|may be) )?(?:not (?:needed"
        r"|required|necessary)"
        r"|waived|skipped|bypassed|suspended|no longer (?:needed|required|necessary|applies)|does not apply"
        r"|do not apply|don't apply|optional for|considered answered|turned off|switched off)\b",
        leads=_CONTROL_STARTS,
        words="needed required necessary waived skipped bypassed suspended applies apply optional answered"
        " turned switched",
        also=_CONTROL_STARTS,
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:skip|bypass|waive|waived|waives|disable|turn off|circumvent|omit|ignore|deactivate|suspend"
        r"|switch off"
        rf"|skipping|bypassing|disabling|avoid|suppress|stop) <3> {_CONTROL}\b",
        leads="skip skipping bypass waive disable disabling turn circumvent omit ignore deactivate suspend"
        " switch avoid suppress stop",
        words="skip skipping bypass waive disable disabling turn circumvent omit ignore deactivate suspend"
        " switch avoid suppress stop",
        also=_CONTROL_STARTS,
        confidence=_POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:policy|standing|permanent|blanket|security|special|emergency|one-time) exceptions?\b"
        r"|\bexceptions? (?:was |is |has been |have been )?(?:granted|approved)\b|\b(?:auto|pre)-?approved?\b"
        r"|\bautomatically approve[sd]?\b|\balways approve\b|\bapproved? in advance\b",
        leads="policy standing permanent blanket security special emergency one exception auto autoapprove"
        " pre preapproved automatically always approve",
        words="exception approve approved autoapprove preapproved",
        confidence=_LIKELY,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:grant(?:s|ed|ing)?|give|gives|giving|gave|assign(?:s|ed)?|add|elevate|promote|escalate|raise"
        r"|extend|delegate"
        rf"|create|has|have|gets?|gain|obtain|make|mark|acquire) <5> {_POWER} <1> (?:{_RIGHTS}|users?"
        r"|accounts?|tokens?)\b",
        leads="grant give gives giving gave assign add elevate promote escalate raise extend delegate"
        " create has have get gets gain obtain make mark acquire",
        words=_POWER_STARTS,
        also=_RIGHTS_STARTS,
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:grant|grants|granted|granting) <6> (?:access|rights|privileges|permissions?|role|authority)\b",
        leads="grant",
        words="grant",
        confidence=_POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:change|switch|elevate|set|upgrade|make|promote|inherit|escalate) <4> (?:role|access level"
        r"|access|permissions?|privileges?|security context|account|trust) <3> (?:to |as |from "
        r"|= ?)(?:an? )?(?:admin|administrator|super-?user|root|owner|unrestricted|supervisor|privileged)\b",
        leads="change switch elevate set upgrade make promote inherit escalate",
        words="change switch elevate set upgrade make promote inherit escalate",
        also="admin administrator super superuser root owner unrestricted privileged",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\brole[\"']?\s*+(?:=|:|\s)\s*+[\"']?(?:admin|administrator|owner|root|superuser|supervisor)\b"
        r"|\bcluster-admin\b"
        r"|\bsame authority as\b|\b(?:does|do) not need to (?:confirm|verify|prove|authenticate)\b",
        leads="role cluster same does do",
        words="role cluster authority need",
        also="admin administrator owner root superuser as confirm verify prove authenticate",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:chmod (?:-r )?777|nopasswd|0\.0\.0\.0/0|(?:allow|permit)s? (?:all|any|everyone|public"
        r"|anonymous) <2> (?:access"
        r"|traffic|users?|connections?|reads?|writes?)|(?:disable|turn off) (?:the )?(?:firewall|antivirus"
        r"|selinux|tls|ssl|encryption|security))\b",
        words="chmod nopasswd allow permit permits disable turn",
        marks=("0.0.0.0",),  # noqa: S104 - a word to look for, not an address to bind
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.remote-program",
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,200}?\|\s*+(?:sudo\s++)?(?:ba|z|da)?sh\b"
        r"|\bpip3? install [^\n]{0,80}?(?:--index-url|--extra-index-url|-i)\s",
        leads="curl wget iwr invoke pip pip3",
        words="curl wget iwr webrequest pip pip3",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.agent-order",
        r"\b(?:all|every|each|any|other|downstream|peer|worker) (?:agents?|workers?|assistants?"
        r"|bots?) <6> (?:should|must|will"
        r"|are to|has to|have to|need to) <3> (?:accept|trust|obey|follow|treat|approve|execute|comply"
        r"|forward|skip|ignore|give|grant|add|use)\b"
        r"|\b(?:pass|hand|relay|forward) <4> (?:note|message|sentence|instruction|directive"
        r"|memory) <2> to <2> (?:agents?|workers?|assistants?)\b",
        leads="all every each any other downstream peer worker pass hand relay forward",
        words="agent agents worker workers assistants bot bots",
        confidence=_LIKELY,
    ),
)

IDENTITY = (
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:recovery|verified|contact|backup|primary|registered|login|account|reset) (?:e-?mail|phone"
        r"|number|address"
        rf"|contact|device|mobile)(?: (?:address|number))? <3> (?:{_MOVED}|(?:is|to) [\w.+-]{{1,64}}+@)",
        leads="recovery verified contact backup primary registered login account reset",
        words="email mail phone number address contact device mobile",
        also="recovery verified contact backup primary registered login account reset",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:change|update|replace|set|reset|switch) <3> (?:recovery|verified|backup|primary|login"
        r"|registered) (?:e-?mail|phone|number|address|contact|device)\b",
        leads="change update replace set reset switch",
        words="recovery verified backup primary login registered",
        also="change update replace set reset switch",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:password|reset|recovery|verification|one-time) (?:resets?|links?|codes?|e-?mails?) <4> (?:go"
        r"|goes|sent|send|forwarded|directed|delivered) <2> to\b"
        r"|\b(?:send|forward|redirect|deliver) <4> (?:reset|recovery|verification|one-time) (?:links?"
        r"|codes?|e-?mails?)\b",
        leads="password reset recovery verification one send forward redirect deliver",
        words="reset resets link links code codes email emails mail mails",
        also="go goes sent send forwarded directed delivered redirect deliver",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:now|henceforth|from now on|hereby) <2> (?:speaks?|acts?|decides?|signs?|answers?|has authority"
        r"|has the authority|is authori[sz]ed|may approve|can approve) (?:for|on behalf|to|as|in place)\b"
        r"|\b(?:account |new |system |data |project )owner is now\b"
        r"|\bis now the <2> (?:owner|admin|administrator|approver)\b",
        leads="now henceforth from hereby account new system data project is",
        words="now henceforth hereby",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:act|acts|behave|function|role-?play|pretend|assume the role|play the role|respond|operate) <2>"
        r" (?:as|of|to be|like) (?:an? |the )?(?:system |network |database |root )?(?:administrator|admin"
        r"|root|superuser"
        r"|sysadmin)\b",
        leads="act acts behave function role roleplay pretend assume play respond operate",
        words="administrator admin root superuser sysadmin",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:treat|accept|regard|consider|trust) <8> (?:as|from) <4> (?:the |an? )?(?:admin(?:istrator)?"
        r"|owner|user|authori[sz]ed|verified|trusted|genuine|official|ceo|cfo|cto|director|manager|board|boss"
        r"|bank|support|management)\b",
        leads="treat accept regard consider trust",
        words="treat accept regard consider trust",
        also="admin administrator owner user authorized authorised verified trusted genuine official ceo"
        " cfo cto"
        " director manager board boss bank support management",
        confidence=_LIKELY,
    ),
)
