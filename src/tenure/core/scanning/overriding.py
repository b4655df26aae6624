"""Attack rules: earlier instructions are set aside, or the agent's own prompt is asked for."""

from tenure.core.scanning.instruction_words import (
    EARLIER,
    EARLIER_STARTS,
    MADE_FOR_AGENTS,
    ORDERS,
    ORDERS_STARTS,
    OWN_PROMPT,
    OWN_PROMPT_STARTS,
    SET_ASIDE,
    SET_ASIDE_LEADS,
    SET_ASIDE_STARTS,
    SYSTEM_PROMPT,
    TELL,
    TELL_STARTS,
    is_not_denied,
    is_order,
)
from tenure.core.scanning.matching import phrase_rule

_FORGET = "ignore disregard forget"
_SURE = 0.95

OVERRIDE = (
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} <4> {EARLIER} <2> {ORDERS}\b",
        leads=SET_ASIDE_LEADS,
        words=EARLIER_STARTS,
        also=SET_ASIDE_STARTS,
        confidence=_SURE,
        accept=is_not_denied,
    ),
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} (?:all |any |every |of )*(?:your|the) (?:{EARLIER} "
        rf"|{MADE_FOR_AGENTS} ){{1,2}}{ORDERS}\b",
        leads=SET_ASIDE_LEADS,
        words=SET_ASIDE_STARTS,
        also=ORDERS_STARTS,
        accept=is_not_denied,
    ),
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} (?:all |any |every |both )?(?:of )?your <1> {ORDERS}\b",
        leads=SET_ASIDE_LEADS,
        words=SET_ASIDE_STARTS,
        also=ORDERS_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        r"\b(?:ignore|disregard|forget) (?:all |any |every |of |the |these |those |other |your |security "
        r"|content )*(?:instructions|guidelines|directives|restrictions|system prompts?|guardrails|safeguards"
        r"|(?:safety |ethical )+(?:guidelines|rules|protocols|measures|checks|instructions))\b",
        leads=_FORGET,
        words=_FORGET,
        also="instructions guidelines directives restrictions system guardrails safeguards safety ethical",
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        rf"\b(?:ignore|disregard|forget) (?:all |any |everything |the |of )*{EARLIER}"
        r" (?:context|messages|conversations?|text|content|dialogue|chat|inputs?)\b",
        leads=_FORGET,
        words=_FORGET,
        also=EARLIER_STARTS,
        accept=is_not_denied,
    ),
    phrase_rule(
        "attack.override",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what|whatever) <4> (?:above"
        r"|before (?:this|now)|you (?:were|know|learned|have been|'?ve been)|you(?:'ve| have) been)\b",
        leads=_FORGET,
        words=_FORGET,
        also="above before you",
        accept=is_not_denied,
    ),
    phrase_rule(
        "attack.override",
        r"\b(?:(?:your|all|all your) (?:previous|prior|earlier|original|system|safety|content"
        r"|ethical) (?:instructions"
        r"|directives|prompts?|restrictions|limitations|constraints|guidelines|programming|rules)"
        r"|your (?:instructions"
        r"|directives|prompts?|programming|guidelines)) <2> (?:are|is|were|have been|has been)"
        r" (?:now |hereby |all |no longer )?(?:void|null|revoked|obsolete|cancel+ed|superseded|overrid+en"
        r"|deprecated|lifted|suspended|removed|disabled|in effect|appl(?:y|icable)|erased|terminated)\b",
        leads="your all",
        words="void null revoked obsolete canceled cancelled superseded overridden deprecated lifted"
        " suspended removed disabled effect apply applicable erased terminated",
        also="your all",
    ),
    phrase_rule(
        "attack.override",
        r"\byour <1> (?:restrictions|guidelines|rules|programming|instructions|training|safeguards|filters"
        r"|guardrails)"
        r" (?:do not|don't|no longer|does not) (?:apply|bind|exist|matter|count|restrict)\b(?! to)",
        leads="your",
        words="apply bind exist matter count restrict",
        also="your",
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        r"(?:^|[\n.!:\]])\s*+(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt|directive"
        r"|objective)s?\s*+:[^\n]{0,60}?\b(?:you are|you must|ignore|disregard|override|reveal|bypass"
        r"|system)\b",
        words="instructions prompt directive objective",
        also="new updated real actual true",
    ),
)

PROMPT_LEAK = (
    phrase_rule(
        "attack.prompt-leak",
        rf"\b{TELL} <4> your <1> {OWN_PROMPT}\b",
        leads=TELL_STARTS,
        words=OWN_PROMPT_STARTS,
        also=TELL_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        rf"\b{TELL} <4> {SYSTEM_PROMPT}\b",
        leads=TELL_STARTS,
        words="prompts instructions directives preprompt pre",
        also=TELL_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        r"\bwhat (?:is|are|was|were|do|does) <2> your <1> (?:system (?:prompts?|instructions?|message)"
        r"|(?:initial|original|hidden|secret|exact|full|internal) <1> (?:instructions?|prompts?))\b",
        leads="what",
        words="prompts instructions message",
        also="what",
    ),
    phrase_rule(
        "attack.prompt-leak",
        r"\b(?:repeat|print|output|copy|echo|translate|recite|display|show|summari[sz]e) <3> (?:everything"
        r"|all|text|words"
        r"|lines?|contents?|instructions?|prompts?|message) <3> (?:above|before this|you were given"
        r"|you (?:were|have been) (?:told|given)|given to you)\b",
        leads="repeat print output copy echo translate recite display show summarize",
        words="repeat print output copy echo translate recite display show summarize summarise",
        also="above before given told",
        accept=is_order,
    ),
)
