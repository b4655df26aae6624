"""Attack rules: earlier instructions are set aside, or the agent's own prompt is asked for."""

from tenure.core.scanning.instruction_words import (
    EARLIER,
    EARLIER_STARTS,
    LIMITS,
    MADE_FOR_AGENTS,
    ORDERS,
    ORDERS_STARTS,
    OWN_PROMPT,
    OWN_PROMPT_STARTS,
    SET_ASIDE,
    SET_ASIDE_STARTS,
    SYSTEM_PROMPT,
    TELL,
    TELL_STARTS,
    is_order,
)
from tenure.core.scanning.matching import phrase_rule

_FORGET = "ignore disregard forget"
_SURE = 0.95

OVERRIDE = (
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} <4> {EARLIER} <2> {ORDERS}\b",
        words=EARLIER_STARTS,
        also=SET_ASIDE_STARTS,
        confidence=_SURE,
    ),
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} (?:all |any |every |of )*(?:your|the) (?:{EARLIER} "
        rf"|{MADE_FOR_AGENTS} ){{1,2}}{ORDERS}\b",
        words=SET_ASIDE_STARTS,
        also=ORDERS_STARTS,
    ),
    phrase_rule(
        "attack.override",
        rf"\b{SET_ASIDE} (?:all |any |every |both )?(?:of )?your <1> {ORDERS}\b",
        words=SET_ASIDE_STARTS,
        also=ORDERS_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        r"\b(?:ignore|disregard|forget) (?:all |any |every |of |the |these |those |other |your |security "
        r"|content )*"
        r"(?:instructions|guidelines|directives|restrictions|system prompts?|guardrails|safeguards"
        r"|(?:safety |ethical )+(?:guidelines|rules|protocols|measures|checks|instructions))\b",
        words=_FORGET,
        also="instructions guidelines directives restrictions system guardrails safeguards safety ethical",
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        rf"\b(?:ignore|disregard|forget) (?:all |any |everything |the |of )*{EARLIER}"
        r" (?:context|messages|conversations?|text|content|dialogue|chat|inputs?)\b",
        words=_FORGET,
        also=EARLIER_STARTS,
    ),
    phrase_rule(
        "attack.override",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what|whatever) <4> (?:above"
        r"|before (?:this|now)"
        r"|you (?:were|know|learned|have been|'?ve been)|you(?:'ve| have) been)\b",
        words=_FORGET,
        also="above before you",
    ),
    phrase_rule(
        "attack.override",
        rf"\b(?:your|all) <1> (?:{EARLIER} |{MADE_FOR_AGENTS} )?(?:instructions|directives|prompts?"
        r"|restrictions"
        r"|limitations|constraints|guidelines|programming|rules) <2> (?:are|is|were|have been|has been)"
        r" (?:now |hereby |all |no longer )?(?:void|null|revoked|obsolete|cancel+ed|superseded|overrid+en"
        r"|deprecated"
        r"|lifted|suspended|removed|disabled|in effect|appl(?:y|icable)|erased|terminated)\b",
        words="void null revoked obsolete canceled cancelled superseded overridden deprecated lifted"
        " suspended"
        " removed disabled effect apply applicable erased terminated",
        also="your all",
    ),
    phrase_rule(
        "attack.override",
        rf"\b(?:your|the|those|these|all) <2> (?:{LIMITS}|protocols|instructions|training)"
        r" (?:do not|don't|no longer|does not) (?:apply|bind|exist|matter|count|restrict)\b(?! to)",
        words="apply bind exist matter count restrict",
        also=f"{ORDERS_STARTS} limits filters filtering boundaries censorship morals ethics disclaimers"
        " refusals",
        accept=is_order,
    ),
    phrase_rule(
        "attack.override",
        r"(?:^|[\n.!:\]])\s*+(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt|directive"
        r"|objective)s?\s*+:",
        words="instructions prompt directive objective",
        also="new updated real actual true",
    ),
)

PROMPT_LEAK = (
    phrase_rule(
        "attack.prompt-leak",
        rf"\b{TELL} <4> (?:your|its) <1> {OWN_PROMPT}\b",
        words=OWN_PROMPT_STARTS,
        also=TELL_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        rf"\b{TELL} <4> {SYSTEM_PROMPT}\b",
        words="prompts instructions directives preprompt pre",
        also=TELL_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        r"\bwhat (?:is|are|was|were|do|does) <2> your <1> (?:system (?:prompts?|instructions?|message)"
        r"|(?:initial|original|hidden|secret|exact|full|internal) <1> (?:instructions?|prompts?))\b",
        words="prompts instructions message",
        also="what",
    ),
    phrase_rule(
        "attack.prompt-leak",
        r"\b(?:repeat|print|output|copy|echo|translate|recite|display|show|summari[sz]e) <3> (?:everything"
        r"|all|text|words"
        r"|lines?|contents?|instructions?|prompts?|message) <3> (?:above|before this|you were given"
        r"|you (?:were|have been) (?:told|given)|given to you)\b",
        words="repeat print output copy echo translate recite display show summarize summarise",
        also="above before given told",
        accept=is_order,
    ),
)
